//! The page itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use iolite_exec::report::{Discovery, ResidualRisk};
use iolite_exec::{Event, Sink, Summary};
use iolite_formats::drawing::{Drawing, Edge};
use iolite_formats::svg;
use serde::Serialize;

use crate::groups::{Changes, Group, Members, groups};
use crate::html::{escape, json, shell_word};
use crate::response_times::{ResponseTimes, shown};
use crate::runs::Runs;
use crate::sha256::source_expression;
use crate::{ModelPart, Report, requirements, shrunk, values};

const STYLE: &str = include_str!("../../../web/report/report.css");
const SCRIPT: &str = include_str!("../../../web/report/report.js");

/// What the script draws.
#[derive(Serialize)]
struct PageData<'a> {
    #[serde(flatten)]
    runs: &'a Runs,
    /// Commands about a run, `{run}` for its number.
    commands: Vec<String>,
    /// Names of the states in the picture.
    nodes: Vec<&'a str>,
    /// Arrows of the picture, by the numbers of their states: `seen`, `part` or `missed`.
    edges: BTreeMap<String, &'static str>,
}

/// A verdict with its colour.
pub(crate) fn verdict(name: &str) -> String {
    format!("<span class=\"verdict v-{0}\">{0}</span>", escape(name))
}

/// The text of the page.
pub fn page(report: &Report<'_>) -> String {
    let header = &report.journal.header;
    let model = report.model.as_ref();
    let runs = Runs::of(&report.journal.events, model.map(|m| m.campaign));
    let summary = Summary::of_events(&report.journal.events);
    let title = format!("{} {}", header.model, header.kind);
    let drawing = model.and_then(|m| m.drawing.as_ref());
    let picture = drawing.and_then(|drawing| {
        let mut text = String::new();
        svg::write(drawing, &mut text).ok().map(|()| text)
    });
    let data = PageData {
        runs: &runs,
        commands: commands(report),
        nodes: drawing
            .iter()
            .flat_map(|d| &d.nodes)
            .map(|n| n.name.as_str())
            .collect(),
        edges: painted(drawing, model),
    };
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        source_expression(SCRIPT),
        source_expression(STYLE)
    );
    let mut body = String::new();
    head(&mut body, report, &title, &summary);
    failures(&mut body, &groups(&report.journal.events));
    shrunk::write(&mut body, &report.shrunk, &report.journal.events);
    if let Some((name, before)) = &report.against {
        changes(&mut body, name, &Changes::between(before, report.journal));
    }
    list_of_runs(&mut body, &runs);
    one_run(&mut body, picture.as_deref());
    coverage(&mut body, model, picture.as_deref());
    times(&mut body, &ResponseTimes::of(&report.journal.events));
    next_run(&mut body, &report.journal.events);
    constants(&mut body, model);
    let tried = model.and_then(|m| m.values.as_ref());
    values::write(&mut body, tried, picture.as_deref());
    requirements::write(&mut body, &runs.listed, &summary);
    source(&mut body, model, &header.model.to_string());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n{body}<script type=\"application/json\" id=\"data\">{}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        escape(&title),
        json(&data)
    )
}

/// The lines that repeat a run.
fn commands(report: &Report<'_>) -> Vec<String> {
    let trust = if report.trust { " --trust" } else { "" };
    let place = shell_word(&report.place);
    let line = |command: &str| format!("iolite {command} {place} --run {{run}}{trust}");
    vec![line("replay"), line("shrink")]
}

fn head(out: &mut String, report: &Report<'_>, title: &str, summary: &Summary) {
    let header = &report.journal.header;
    let _ = write!(
        out,
        "<a class=\"skip\" href=\"#runs-title\">to the runs</a>\n<header>\n<h1>{}</h1>\n<p>",
        escape(title)
    );
    for (name, count) in &summary.verdicts {
        let _ = write!(out, "{} × {count} ", verdict(name.name()));
    }
    if !summary.faults.is_empty() {
        let _ = write!(out, "{} × {} ", verdict("fault"), summary.faults.len());
    }
    if summary.verdicts.is_empty() && summary.faults.is_empty() {
        out.push_str("no run came to a verdict");
    }
    out.push_str("</p>\n<dl class=\"facts\">");
    let command: Vec<String> = header.command.iter().map(|word| shell_word(word)).collect();
    let sut = &header.sut;
    let system = ["command", "model", "tcp", "udp", "http", "websocket"];
    let system = system
        .into_iter()
        .find_map(|key| Some(format!("{key}: {}", sut.get(key)?)));
    let share = header
        .description
        .as_ref()
        .and_then(|d| match (d.share, d.runs) {
            (Some(share), _) if share.is_whole() => None,
            (Some(share), Some(runs)) => Some(format!("{share} of {runs}")),
            (Some(share), None) => Some(share.to_string()),
            (None, runs) => Some(format!("some of {}", runs.unwrap_or_default())),
        });
    let facts = [
        ("model", Some(header.model.to_string())),
        ("hash of its file", header.model.hash.clone()),
        ("system", system),
        ("context", Some(header.context.to_string())),
        ("seed", Some(header.seed.to_string())),
        (
            "runs",
            Some(format!("{} in {}", summary.runs(), shown(micros(summary)))),
        ),
        ("share", share),
        ("steps", Some(summary.steps.to_string())),
        ("tested by", Some(format!("iolite {}", header.version))),
        (
            "page by",
            Some(format!("iolite {}", env!("CARGO_PKG_VERSION"))),
        ),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            let _ = write!(out, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
        }
    }
    out.push_str("</dl>\n");
    if !command.is_empty() {
        let _ = writeln!(
            out,
            "<h3>Command</h3><pre id=\"command\">{}</pre>\
             <button type=\"button\" class=\"script\" hidden data-copy=\"command\">copy</button>",
            escape(&command.join(" "))
        );
    }
    let _ = writeln!(
        out,
        "<details><summary>The system as it was understood</summary><pre>{}</pre></details>",
        escape(&serde_json::to_string_pretty(sut).unwrap_or_default())
    );
    if report.journal.torn {
        out.push_str("<p class=\"card\">The journal is torn: the tester was killed.</p>\n");
    }
    if report.model.is_none() {
        out.push_str("<p class=\"card\">The model was not at hand when this page was made: pictures and coverage are missing.</p>\n");
    }
    out.push_str("</header>\n<main>\n");
}

fn micros(summary: &Summary) -> u64 {
    u64::try_from(summary.elapsed.as_micros()).unwrap_or(u64::MAX)
}

/// Places with a link to their line.
fn places(names: &[String]) -> String {
    let linked = |name: &String| {
        let line = name
            .rsplit_once(" (line ")
            .and_then(|(_, rest)| rest.strip_suffix(')'));
        match line.filter(|line| line.bytes().all(|b| b.is_ascii_digit())) {
            Some(line) => format!("<a href=\"#L{line}\">{}</a>", escape(name)),
            None => escape(name),
        }
    };
    names.iter().map(linked).collect::<Vec<_>>().join(", ")
}

fn failures(out: &mut String, groups: &BTreeMap<Group, Members>) {
    if groups.is_empty() {
        return;
    }
    out.push_str(
        "<section aria-labelledby=\"failures\"><h2 id=\"failures\">Failures</h2><div class=\"scroll\"><table>\
         <thead><tr><th>verdict</th><th>in</th><th>observed</th><th>allowed</th><th>runs</th></tr></thead><tbody>",
    );
    let mut sorted: Vec<_> = groups.iter().collect();
    sorted.sort_by_key(|(_, members)| (members.flaky, std::cmp::Reverse(members.count)));
    for (group, members) in sorted {
        let runs = members
            .runs
            .iter()
            .map(|n| format!("<a href=\"#run-{n}\">{n}</a>"));
        let mut runs = runs.collect::<Vec<_>>().join(", ");
        if members.count > members.runs.len() as u64 {
            runs += ", …";
        }
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}</td><td class=\"mono\">{}</td><td class=\"mono\">{}</td><td>{}: {runs}</td></tr>",
            verdict(&group.verdict),
            places(&group.places),
            escape(&members.tell_observed()),
            escape(&members.allowed.join("   ")),
            members.count
        );
    }
    out.push_str("</tbody></table></div></section>\n");
}

fn changes(out: &mut String, name: &str, changes: &Changes) {
    let _ = write!(
        out,
        "<section aria-labelledby=\"changes\"><h2 id=\"changes\">Changes since {}</h2><div class=\"scroll\"><table>\
         <thead><tr><th>verdict</th><th>then</th><th>now</th></tr></thead><tbody>",
        escape(name)
    );
    for (name, (then, now)) in &changes.verdicts {
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{then}</td><td>{now}</td></tr>",
            verdict(name)
        );
    }
    out.push_str("</tbody></table></div>");
    for (what, groups) in [
        ("New failures", &changes.new),
        ("Gone failures", &changes.gone),
    ] {
        let _ = write!(out, "<h3>{what}: {}</h3><ul class=\"plain\">", groups.len());
        for group in groups {
            let _ = write!(
                out,
                "<li>{} {} in {}</li>",
                verdict(&group.verdict),
                escape(&group.observed),
                places(&group.places)
            );
        }
        out.push_str("</ul>");
    }
    let _ = write!(
        out,
        "<p>{} ways to fail were there before.</p>",
        changes.still
    );
    match &changes.difference {
        Some(why) => {
            let _ = write!(
                out,
                "<p class=\"soft\">Runs are not compared one by one: {}.</p>",
                escape(why)
            );
        }
        None if changes.changed.is_empty() => {
            out.push_str("<p>No run that both made has another verdict.</p>");
        }
        None => {
            out.push_str("<h3>Runs with another verdict</h3><ul class=\"plain\">");
            for (run, then, now) in &changes.changed {
                let (then, now) = (verdict(then), verdict(now));
                let _ = write!(
                    out,
                    "<li><a href=\"#run-{run}\">run {run}</a>: {then} → {now}</li>"
                );
            }
            out.push_str("</ul>");
        }
    }
    out.push_str("</section>\n");
}

fn list_of_runs(out: &mut String, runs: &Runs) {
    let mut verdicts: Vec<&str> = runs.listed.iter().map(|run| run.verdict.as_str()).collect();
    verdicts.sort_unstable();
    verdicts.dedup();
    out.push_str(
        "<section aria-labelledby=\"runs-title\"><h2 id=\"runs-title\" tabindex=\"-1\">Runs</h2>\
         <div class=\"bar script\" hidden><label for=\"filter-verdict\">verdict <select id=\"filter-verdict\">\
         <option value=\"all\">all</option><option value=\"failing\">failing</option>",
    );
    for name in verdicts {
        let _ = write!(out, "<option value=\"{0}\">{0}</option>", escape(name));
    }
    out.push_str(
        "</select></label><label for=\"filter-text\">number or action <input id=\"filter-text\" type=\"search\"></label>\
         <span id=\"runs-count\" role=\"status\"></span></div>\
         <div class=\"scroll\"><table id=\"runs\"><thead><tr><th>run</th><th>verdict</th><th>steps</th><th>time</th>\
         <th>observed, or how it ended</th></tr></thead><tbody>",
    );
    // For a reader without scripts: the first runs. The script replaces them.
    for run in runs.listed.iter().take(100) {
        let what = run
            .failure
            .as_ref()
            .map_or(run.end.as_str(), |f| f.observed.as_str());
        let _ = write!(
            out,
            "<tr><td>run {}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"mono\">{}</td></tr>",
            run.n,
            verdict(&run.verdict),
            run.steps,
            shown(run.us),
            escape(what)
        );
    }
    out.push_str(
        "</tbody></table></div><button type=\"button\" id=\"more\" hidden>more runs</button>",
    );
    if runs.unlisted > 0 || runs.without_steps > 0 {
        let _ = write!(
            out,
            "<p class=\"card\">The page leaves out {} runs, and the steps of {} more; failing runs are kept first. \
             The journal has all of them.</p>",
            runs.unlisted, runs.without_steps
        );
    }
    out.push_str("</section>\n");
}

fn one_run(out: &mut String, picture: Option<&str>) {
    out.push_str(
        "<section id=\"run\" aria-labelledby=\"run-title\" hidden><h2 id=\"run-title\" tabindex=\"-1\">Run</h2>\
         <dl class=\"facts\" id=\"run-facts\"></dl><div id=\"run-why\"></div>\
         <pre id=\"run-commands\"></pre><button type=\"button\" data-copy=\"run-commands\">copy</button>\
         <div id=\"run-chart\"><div class=\"bar\"><button type=\"button\" id=\"previous\" aria-label=\"previous step\">◀</button>\
         <input type=\"range\" id=\"step\" min=\"0\" max=\"0\" value=\"0\" aria-label=\"step of the run\">\
         <button type=\"button\" id=\"next\" aria-label=\"next step\">▶</button></div>\
         <p id=\"where\" role=\"status\"></p><pre id=\"step-more\" hidden></pre><p id=\"cut\" class=\"soft\" hidden></p>",
    );
    match picture {
        Some(picture) => {
            let _ = write!(
                out,
                "<div class=\"beside\"><div class=\"chart\" id=\"run-svg\"></div>\
                 <div><div class=\"picture\" id=\"model\" tabindex=\"0\" role=\"group\" \
                 aria-label=\"the model, places where the run can be in yellow\">{}</div></div></div>",
                local(picture, "a")
            );
        }
        None => out.push_str(
            "<div class=\"chart\" id=\"run-svg\"></div><p class=\"soft\">The model has no picture of a size that one can read.</p>",
        ),
    }
    out.push_str(
        "<section id=\"bytes\" aria-labelledby=\"bytes-title\" hidden><h3 id=\"bytes-title\">Bytes and standard error</h3>\
         <p class=\"soft\" id=\"bytes-note\"></p><div class=\"scroll bytes\" tabindex=\"0\" role=\"group\" \
         aria-labelledby=\"bytes-title\"><table><thead><tr><th>step</th><th>action</th><th>way</th><th>text</th>\
         <th>bytes</th></tr></thead><tbody id=\"bytes-rows\"></tbody></table></div></section>",
    );
    out.push_str("</div></section>\n");
}

/// A picture whose ids are its own: the page has several. The name of its XML space is not needed in HTML, and
/// the page names no address at all.
fn local(picture: &str, name: &str) -> String {
    picture
        .replace(" xmlns=\"http://www.w3.org/2000/svg\"", "")
        .replace("id=\"arrow\"", &format!("id=\"arrow-{name}\""))
        .replace("url(#arrow)", &format!("url(#arrow-{name})"))
}

/// What the script finds the arrow of an edge by.
fn key(edge: &Edge) -> String {
    format!("{}-{}", edge.source.index(), edge.target.index())
}

/// Which arrows of the picture were taken.
fn painted(
    drawing: Option<&Drawing>,
    model: Option<&ModelPart<'_>>,
) -> BTreeMap<String, &'static str> {
    let (Some(drawing), Some(model)) = (drawing, model) else {
        return BTreeMap::new();
    };
    let mut counts: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    if let Some(values) = &model.values {
        // With data, transitions between the same places are not told apart.
        for edge in &drawing.edges {
            let name = |id| drawing.node(id).name.clone();
            if let Some(&count) = values.taken.get(&(name(edge.source), name(edge.target))) {
                counts.insert(key(edge), count);
            }
        }
    }
    for edge in &drawing.edges {
        let Some(covered) = &model.covered else {
            break;
        };
        // Pictures write τ where texts write i.
        let label = if edge.label == "τ" { "i" } else { &edge.label };
        let name = |id| drawing.node(id).name.clone();
        let taken = (name(edge.source), label.to_owned(), name(edge.target));
        let (seen, all) = counts.entry(key(edge)).or_default();
        *all += 1;
        *seen += u32::from(covered.seen.contains(&taken));
    }
    let kind = |(seen, all)| match seen {
        0 => "missed",
        n if n == all => "seen",
        _ => "part",
    };
    counts
        .into_iter()
        .map(|(key, count)| (key, kind(count)))
        .collect()
}

/// The picture whose arrows the script colours, with what the colours mean.
pub(crate) fn painted_picture(out: &mut String, picture: &str) {
    let _ = write!(
        out,
        "<p class=\"key\"><span class=\"seen\">taken</span><span class=\"part\">some labels taken</span>\
         <span class=\"missed\">not taken</span></p><div class=\"picture\" id=\"covered\" tabindex=\"0\" role=\"group\" \
         aria-label=\"the model, transitions by whether a run took them\">{}</div>",
        local(picture, "b")
    );
}

fn coverage(out: &mut String, model: Option<&ModelPart<'_>>, picture: Option<&str>) {
    let Some(covered) = model.and_then(|m| m.covered.as_ref()) else {
        return;
    };
    let report = &covered.report;
    out.push_str("<section aria-labelledby=\"coverage\"><h2 id=\"coverage\">Coverage</h2><dl class=\"facts\">");
    for (name, count) in [
        (
            "transitions of the suspension automaton",
            report.transitions,
        ),
        ("its states", report.states),
        ("transitions of the model", report.model_transitions),
        ("states of the model", report.model_states),
    ] {
        let _ = write!(
            out,
            "<dt>{name}</dt><dd>{} of {} ({:.0} %)</dd>",
            count.seen,
            count.total,
            count.percentage()
        );
    }
    out.push_str("</dl>");
    if let Some(picture) = picture {
        painted_picture(out, picture);
    }
    if report.left.is_empty() {
        out.push_str("<p>Nothing is left.</p>");
    } else {
        let _ = write!(
            out,
            "<h3>Not seen: {} transitions of the suspension automaton</h3><ul class=\"plain mono\">",
            report.transitions.total - report.transitions.seen
        );
        for left in &report.left {
            let _ = write!(out, "<li>{}</li>", escape(left));
        }
        if report.left.len() < report.transitions.total - report.transitions.seen {
            out.push_str("<li>…</li>");
        }
        out.push_str("</ul>");
    }
    out.push_str("</section>\n");
}

/// A histogram on a logarithmic axis.
fn times(out: &mut String, times: &ResponseTimes) {
    let (Some(&first), Some(&last)) = (times.buckets.keys().next(), times.buckets.keys().last())
    else {
        return;
    };
    let high = times.timeouts.last().map_or(0, |t| t.ilog2()).max(last);
    let (low, buckets) = (first, f64::from(high - first + 1));
    let most = times.buckets.values().max().copied().unwrap_or(1).max(1);
    let (width, height) = (700.0, 150.0);
    let step = width / buckets;
    let _ = write!(
        out,
        "<section aria-labelledby=\"times\"><h2 id=\"times\">Response times</h2>\
         <p>From a stimulus to the next output; the longest is {}.</p>\
         <div class=\"scroll times\"><svg viewBox=\"0 0 740 200\" width=\"740\" height=\"200\" role=\"img\" aria-label=\"how often \
         answers took how long\">",
        shown(times.longest)
    );
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    for (&bucket, &count) in &times.buckets {
        let x = 20.0 + f64::from(bucket - low) * step;
        let h = (count as f64 / most as f64 * height).max(2.0);
        let _ = write!(
            out,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{h:.1}\"><title>{} to {}: {count}</title></rect>",
            170.0 - h,
            (step - 2.0).max(1.0),
            shown(1 << bucket),
            shown(1u64 << (bucket + 1).min(63))
        );
    }
    let every = (high - low) / 8 + 1;
    for bucket in (low..=high).step_by(every as usize) {
        let x = 20.0 + f64::from(bucket - low) * step;
        let _ = write!(
            out,
            "<text x=\"{x:.1}\" y=\"188\">{}</text>",
            shown(1 << bucket)
        );
    }
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    for &timeout in &times.timeouts {
        let place = (timeout as f64).log2() - f64::from(low);
        if place >= 0.0 {
            let x = 20.0 + place * step;
            let anchor = if x > 500.0 { "end" } else { "start" };
            let _ = write!(
                out,
                "<line x1=\"{x:.1}\" y1=\"8\" x2=\"{x:.1}\" y2=\"170\"></line><text x=\"{x:.1}\" y=\"10\" \
                 text-anchor=\"{anchor}\" dx=\"{}\">quiescence {}</text>",
                if anchor == "end" { -6 } else { 6 },
                shown(timeout)
            );
        }
    }
    out.push_str("</svg></div></section>\n");
}

/// What one more run may show.
fn next_run(out: &mut String, events: &[Event]) {
    let mut risk = ResidualRisk::default();
    for event in events {
        // It counts in memory, so it cannot fail.
        let _ = risk.event(event);
    }
    if let Some(discovery) = risk.discovery() {
        let _ = writeln!(
            out,
            "<section aria-labelledby=\"next\"><h2 id=\"next\">The next run</h2><p>It shows {}, if {}.</p></section>",
            escape(&discovery.tell()),
            escape(Discovery::ASSUMPTIONS)
        );
    }
}

fn constants(out: &mut String, model: Option<&ModelPart<'_>>) {
    if let Some(constants) = model.and_then(|m| m.constants.as_ref()) {
        let _ = writeln!(
            out,
            "<section aria-labelledby=\"constants\"><h2 id=\"constants\">Constants</h2><pre>{}</pre></section>",
            escape(&constants.tell())
        );
    }
}

fn source(out: &mut String, model: Option<&ModelPart<'_>>, name: &str) {
    let Some(text) = model.and_then(|m| m.source.as_ref()) else {
        out.push_str("</main>\n");
        return;
    };
    let _ = write!(
        out,
        "<section aria-labelledby=\"source\"><h2 id=\"source\">{}</h2><div class=\"source\" tabindex=\"0\" role=\"group\" \
         aria-label=\"the text of the model\">",
        escape(name)
    );
    for (k, line) in text.lines().enumerate() {
        let _ = write!(
            out,
            "<code id=\"L{}\">{}\u{200b}</code>",
            k + 1,
            escape(line)
        );
    }
    out.push_str("</div></section>\n</main>\n");
}
