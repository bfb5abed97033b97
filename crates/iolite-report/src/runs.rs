//! The runs as the page keeps them: short, with each action once.

use std::collections::BTreeMap;

use iolite::Campaign;
use iolite_exec::{Event, Exit, ExitKind, Traffic, Way};
use serde::Serialize;

/// Events that a page holds at most; failing runs go first.
const MOST_EVENTS: usize = 300_000;

/// Runs that a page lists at most.
const MOST_RUNS: usize = 50_000;

/// Steps of a run that a page holds at most: its first and its last.
const MOST_STEPS: usize = 20_000;

/// Steps of all runs whose possible places are found out.
const MOST_LIT: usize = 50_000;

/// Characters of bytes that a page holds at most; failing runs go first.
const MOST_BYTES: usize = 4_000_000;

/// Characters of a text that a system wrote.
const MOST_TEXT: usize = 4000;

/// One row of a run: kind, action or text, microseconds since its start, and what else is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Row(
    /// `s` stimulus, `o` output, `d` silence, `x` end of the system, `c` repetition, `n` notice.
    pub(crate) char,
    /// Index of the action, or of a text.
    pub(crate) usize,
    pub(crate) u64,
    #[serde(skip_serializing_if = "Option::is_none")] pub(crate) Option<String>,
);

/// Bytes that went one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Piece(
    /// Number of the step; that of the steps for what came after the last.
    pub(crate) u64,
    /// `s` sent, `r` received, `e` standard error.
    pub(crate) char,
    /// Index of the channel's name among the actions and texts.
    pub(crate) Option<usize>,
    /// How many bytes there were.
    pub(crate) u64,
    /// Whether the content is in hexadecimal.
    pub(crate) bool,
    pub(crate) String,
);

/// A run.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct RunData {
    /// Its number.
    pub(crate) n: u64,
    pub(crate) seed: u64,
    /// Its verdict, `fault`, or `none`.
    pub(crate) verdict: String,
    /// Why it ended.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) end: String,
    pub(crate) steps: u64,
    /// How long it took.
    pub(crate) us: u64,
    /// What happened; empty where the page leaves it out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rows: Vec<Row>,
    /// Steps that are left out after the row with this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cut: Option<(usize, usize)>,
    /// The bytes of the steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) bytes: Vec<Piece>,
    /// Whether the page leaves bytes out that the journal has.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) without_bytes: bool,
    /// The sets of places before the first step and after each one, as far as they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) lit: Vec<usize>,
    /// What was observed, what was allowed and where, of a failing run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Failure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<String>,
    /// Verdicts of goals.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) goals: BTreeMap<String, String>,
}

/// What a failing run shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Failure {
    pub(crate) observed: String,
    pub(crate) allowed: Vec<String>,
    pub(crate) places: Vec<String>,
}

/// All runs.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Runs {
    pub(crate) actions: Vec<String>,
    /// Sets of places.
    pub(crate) sets: Vec<Vec<String>>,
    #[serde(rename = "runs")]
    pub(crate) listed: Vec<RunData>,
    /// Runs that are not even listed.
    pub(crate) unlisted: usize,
    /// Runs whose steps are left out.
    pub(crate) without_steps: usize,
}

/// Gives texts numbers.
#[derive(Default)]
struct Texts {
    numbers: BTreeMap<String, usize>,
    texts: Vec<String>,
}

impl Texts {
    fn number(&mut self, text: &str) -> usize {
        if let Some(&known) = self.numbers.get(text) {
            return known;
        }
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), self.texts.len() - 1);
        self.texts.len() - 1
    }
}

/// The beginning of a text that may be long.
pub(crate) fn brief(text: &str) -> String {
    let mut shown: String = text.chars().take(MOST_TEXT).collect();
    if shown.len() < text.len() {
        shown.push_str(" …");
    }
    shown
}

/// How a system ended, with what it had to say.
fn ending(exit: &Exit) -> String {
    let how = match &exit.how {
        ExitKind::Code(code) => format!("exit code {code}"),
        ExitKind::Signal(signal) => format!("signal {signal}"),
        ExitKind::Closed(channel) => format!("channel {channel} closed"),
        ExitKind::Panicked(message) => format!("panicked: {message}"),
    };
    if exit.stderr.is_empty() {
        return how;
    }
    brief(&format!("{how}\nstandard error:\n{}", exit.stderr))
}

/// The name of something that serialises as a word.
fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

fn read(run: &mut RunData, event: &Event, actions: &mut Texts) {
    if let Event::Bytes { step, traffic, .. } = event {
        run.bytes.push(piece(*step, traffic, actions));
        return;
    }
    let mut row = |kind: char, text: &str, at: u64, more: Option<String>| {
        run.rows.push(Row(kind, actions.number(text), at, more));
    };
    match event {
        Event::RunStarted { seed, .. } => run.seed = *seed,
        Event::Stimulus { action, at, .. } => row('s', &brief(action), *at, None),
        Event::Output {
            action,
            at,
            preempted,
            note,
            ..
        } => {
            let before = preempted
                .as_ref()
                .map(|a| format!("before {a} could be given"));
            let more: Vec<String> = before.into_iter().chain(note.clone()).collect();
            let more = (!more.is_empty()).then(|| brief(&more.join("\n")));
            row('o', &brief(action), *at, more);
        }
        Event::Quiescence { at, patience, .. } => row('d', "δ", *at, Some(patience.to_string())),
        Event::Deadlock { at, exit, .. } => row('x', "deadlock", *at, Some(ending(exit))),
        Event::Crash { at, exit, .. } => row('x', "crash", *at, Some(ending(exit))),
        Event::Confirmation {
            attempt,
            result,
            seen,
            ..
        } => {
            let seen = seen.as_ref().map(|seen| format!(", seen: {seen}"));
            let text = format!("repetition {attempt}: {}", word(result));
            row('c', &text, 0, seen.map(|s| brief(&s)));
        }
        Event::Notice { kind, message, .. } => row('n', kind, 0, Some(brief(message))),
        Event::RunEnded {
            verdict,
            end,
            steps,
            elapsed,
            certificate,
            results,
            ..
        } => {
            verdict.name().clone_into(&mut run.verdict);
            run.end = word(end);
            (run.steps, run.us) = (*steps, *elapsed);
            run.failure = certificate.as_ref().map(|c| Failure {
                observed: brief(c.observed.as_deref().unwrap_or("the end of the run")),
                allowed: c.allowed.iter().map(|a| brief(a)).collect(),
                places: c.locations.clone(),
            });
            let results = results
                .iter()
                .map(|(g, v)| (g.clone(), v.name().to_owned()));
            run.goals = results.collect();
        }
        Event::Fault {
            steps,
            code,
            message,
            ..
        } => {
            "fault".clone_into(&mut run.verdict);
            run.steps = *steps;
            run.fault = Some(brief(&format!("{code}: {message}")));
        }
        Event::Pause { .. }
        | Event::Bytes { .. }
        | Event::Progress { .. }
        | Event::CampaignEnded { .. } => {}
    }
}

fn piece(step: u64, traffic: &Traffic, texts: &mut Texts) -> Piece {
    let way = match traffic.way {
        Way::Sent => 's',
        Way::Received => 'r',
        Way::Stderr => 'e',
    };
    let channel = traffic.channel.as_deref().map(|name| texts.number(name));
    let (is_hex, content) = match (&traffic.text, &traffic.hex) {
        (Some(text), _) => (false, text.clone()),
        (None, Some(hex)) => (true, hex.clone()),
        (None, None) => (false, String::new()),
    };
    Piece(step, way, channel, traffic.length, is_hex, content)
}

/// Leaves out the bytes of steps that are not shown, and those beyond what a page holds.
fn bound_bytes(run: &mut RunData, left: &mut usize) {
    let steps_before =
        |rows: &[Row]| rows.iter().filter(|row| "sodx".contains(row.0)).count() as u64;
    if let Some((at, cut)) = run.cut {
        let first = steps_before(&run.rows[..at]);
        run.bytes
            .retain(|piece| piece.0 < first || piece.0 >= first + cut as u64);
    }
    let size: usize = run.bytes.iter().map(|piece| piece.5.len() + 20).sum();
    if run.rows.is_empty() || size > *left {
        run.without_bytes = !run.bytes.is_empty();
        run.bytes = Vec::new();
    } else {
        *left -= size;
    }
}

impl Runs {
    /// The runs of a journal, the possible places found out where the campaign is known.
    pub(crate) fn of(events: &[Event], campaign: Option<&Campaign>) -> Self {
        let mut actions = Texts::default();
        let mut found: BTreeMap<u64, RunData> = BTreeMap::new();
        for event in events {
            let Some(number) = event.run() else { continue };
            let run = found.entry(number).or_insert_with(|| RunData {
                n: number,
                verdict: "none".to_owned(),
                ..RunData::default()
            });
            read(run, event, &mut actions);
        }
        let mut runs: Vec<RunData> = found.into_values().collect();
        // Failing runs are looked at first, so they are the last to be left out.
        let quiet = |run: &RunData| run.failure.is_none() && run.fault.is_none();
        runs.sort_by_key(|run| (quiet(run), run.n));
        let unlisted = runs.len().saturating_sub(MOST_RUNS);
        runs.truncate(MOST_RUNS);
        let mut sets = Texts::default();
        let (mut events_left, mut lit_left, mut without_steps) = (MOST_EVENTS, MOST_LIT, 0);
        let mut bytes_left = MOST_BYTES;
        for run in &mut runs {
            if run.rows.len() > MOST_STEPS {
                let cut = run.rows.len() - MOST_STEPS;
                let at = MOST_STEPS / 2;
                run.rows.drain(at..at + cut);
                run.cut = Some((at, cut));
            }
            if run.rows.len() > events_left {
                run.rows = Vec::new();
                run.cut = None;
                without_steps += 1;
                bound_bytes(run, &mut bytes_left);
                continue;
            }
            bound_bytes(run, &mut bytes_left);
            events_left -= run.rows.len();
            if let Some(campaign) = campaign {
                light(run, campaign, &actions.texts, &mut sets, &mut lit_left);
            }
        }
        runs.sort_by_key(|run| run.n);
        let sets = sets.texts.iter();
        Self {
            actions: actions.texts,
            sets: sets
                .map(|set| serde_json::from_str(set).unwrap_or_default())
                .collect(),
            listed: runs,
            unlisted,
            without_steps,
        }
    }
}

/// Finds out where the model can have been along a run.
fn light(
    run: &mut RunData,
    campaign: &Campaign,
    actions: &[String],
    sets: &mut Texts,
    left: &mut usize,
) {
    let steps = run.rows.iter().filter_map(|row| match row.0 {
        's' | 'o' => Some(actions[row.1].as_str()),
        'd' => Some("delta"),
        'x' if actions[row.1] == "deadlock" => Some("deadlock"),
        _ => None,
    });
    let known = run.cut.map_or(usize::MAX, |(at, _)| at).min(*left);
    let steps: Vec<&str> = steps.take(known).collect();
    *left -= steps.len();
    // The picture is a help; a run that the model cannot follow has none.
    let places = campaign.places_along(&steps, known).unwrap_or_default();
    let set =
        |places: Vec<String>| sets.number(&serde_json::to_string(&places).unwrap_or_default());
    run.lit = places.into_iter().map(set).collect();
}
