//! A trace as a sequence chart in the terminal, observed against allowed.

use std::fmt::Write;

use iolite_derive::told_places;

use crate::Certificate;

/// Steps of a long trace that are drawn; the middle is left out.
const DRAWN: usize = 40;

/// Between the two lifelines.
const WIDTH: usize = 34;

fn clip(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        text.into()
    } else {
        let mut clipped: String = text.chars().take(width - 1).collect();
        clipped.push('…');
        clipped
    }
}

fn arrow(text: &str) -> String {
    let text = clip(text, WIDTH - 8);
    let pad = WIDTH - 2 - text.chars().count();
    let (left, right) = (pad / 2, pad - pad / 2);
    match text.as_bytes().first() {
        Some(b'?') => format!(
            "─{} {text} {}▶",
            "─".repeat(left - 1),
            "─".repeat(right - 1)
        ),
        Some(b'!') => format!(
            "◀{} {text} {}─",
            "─".repeat(left - 1),
            "─".repeat(right - 1)
        ),
        _ => {
            let shown = match &*text {
                "delta" => "δ (silence)",
                "deadlock" => "δ_d (ended)",
                "crash" => "crash (ended)",
                other => other,
            };
            let pad = WIDTH - 2 - shown.chars().count();
            format!(
                "{} {shown} {}",
                "·".repeat(pad / 2),
                "·".repeat(pad - pad / 2)
            )
        }
    }
}

/// Draws the certificate: the tester's lifeline on the left, the system's on the right, and below
/// what was observed beside what was allowed.
pub fn chart(certificate: &Certificate) -> String {
    let mut out = String::new();
    let head = WIDTH - 10;
    let _ = writeln!(out, "        tester{}system under test", " ".repeat(head));
    let total = certificate.trace.len();
    let hidden = total.saturating_sub(DRAWN);
    let row = |out: &mut String, number: &str, body: &str, mark: &str| {
        let _ = writeln!(out, "{number:>8}   │{body}│{mark}");
    };
    for (i, step) in certificate.trace.iter().enumerate() {
        if hidden > 0 && i >= DRAWN / 2 && i < DRAWN / 2 + hidden {
            if i == DRAWN / 2 {
                let note = format!("{hidden} steps");
                let pad = WIDTH - note.chars().count();
                let body = format!("{}{note}{}", " ".repeat(pad / 2), " ".repeat(pad - pad / 2));
                row(&mut out, "⋮", &body, "");
            }
            continue;
        }
        let is_unexplained = certificate.unexplained == Some(i + 1);
        let mark = if is_unexplained { " ✗" } else { "" };
        row(&mut out, &(i + 1).to_string(), &arrow(step), mark);
    }
    if certificate.trace_omitted > 0 {
        let note = format!("{} steps in the journal", certificate.trace_omitted);
        let pad = WIDTH.saturating_sub(note.chars().count());
        let body = format!("{}{note}{}", " ".repeat(pad / 2), " ".repeat(pad - pad / 2));
        row(&mut out, "⋮", &body, "");
    }
    if let Some(observed) = &certificate.observed {
        let number = (total as u64 + certificate.trace_omitted + 1).to_string();
        row(
            &mut out,
            &number,
            &arrow(observed),
            &format!(" ✗ {}", certificate.verdict),
        );
    }
    let observed = certificate.observed.as_deref();
    let _ = write!(
        out,
        "\nobserved: {}",
        observed.unwrap_or("the end of the run")
    );
    if let Some(patience) = certificate.patience {
        let _ = write!(out, ", after {} ms of silence", patience / 1000);
    }
    if let Some(exit) = &certificate.exit {
        let _ = write!(out, ": {exit}");
    }
    out.push('\n');
    if !certificate.instead.is_empty() {
        let _ = writeln!(
            out,
            "repeated: with more time {} came instead, which is forbidden too",
            certificate.instead.join(", ")
        );
    }
    if let Some(step) = certificate.unexplained
        && let Some(output) = step.checked_sub(1).and_then(|k| certificate.trace.get(k))
    {
        let _ = writeln!(
            out,
            "so:       no order of the messages explains {output} (step {step}); nothing that could is on its way any more"
        );
    }
    let allowed = if certificate.allowed.is_empty() {
        "nothing".into()
    } else {
        certificate.allowed.join(", ")
    };
    let _ = writeln!(out, "allowed:  {allowed}");
    if !certificate.locations.is_empty() {
        let Certificate {
            locations,
            context,
            trace,
            ..
        } = certificate;
        let places = told_places(locations, context.name(), trace);
        let _ = writeln!(out, "in:       {places}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelRef;
    use iolite_derive::Verdict;

    fn certificate(steps: usize) -> Certificate {
        let mut trace = vec!["?coin".to_owned(), "delta".into(), "?push".into()];
        trace.extend((3..steps).map(|i| format!("!x{i}")));
        Certificate {
            format: String::new(),
            kind: iolite_derive::Criterion::default(),
            model: ModelRef::default(),
            context: iolite_derive::Context::default(),
            channels: Vec::new(),
            verdict: Verdict::Fail,
            trace,
            trace_omitted: 0,
            observed: Some("!stone".into()),
            instead: Vec::new(),
            unexplained: None,
            exit: None,
            patience: None,
            allowed: vec!["!candy".into(), "delta".into()],
            locations: vec!["Paid".into()],
            run: 0,
            seed: 0,
        }
    }

    #[test]
    fn a_short_trace_is_drawn_whole() {
        expect_test::expect![[r"
                    tester                        system under test
                   1   │───────────── ?coin ─────────────▶│
                   2   │·········· δ (silence) ···········│
                   3   │───────────── ?push ─────────────▶│
                   4   │◀──────────── !stone ─────────────│ ✗ fail

            observed: !stone
            allowed:  !candy, delta
            in:       Paid
        "]]
        .assert_eq(&chart(&certificate(3)));
    }

    #[test]
    fn silence_is_shown_with_its_length() {
        let mut silent = certificate(3);
        silent.observed = Some("delta".into());
        silent.patience = Some(250_000);
        let drawn = chart(&silent);
        assert!(
            drawn.contains("observed: delta, after 250 ms of silence\n"),
            "{drawn}"
        );
    }

    #[test]
    fn what_came_in_repetitions_is_told() {
        let mut late = certificate(3);
        late.observed = Some("delta".into());
        late.instead = vec!["!stone".into()];
        assert!(chart(&late).contains("with more time !stone came instead"));
    }

    #[test]
    fn an_output_that_nothing_explains_is_blamed_not_the_silence_after_it() {
        let mut late = certificate(4);
        late.observed = Some("delta".into());
        late.unexplained = Some(4);
        let drawn = chart(&late);
        let mut rows = drawn.lines();
        let is_marked = rows.any(|row| row.contains(" !x3 ") && row.ends_with("│ ✗"));
        assert!(is_marked, "{drawn}");
        assert!(
            drawn.contains("no order of the messages explains !x3 (step 4)"),
            "{drawn}"
        );
        // A journal may say anything.
        late.unexplained = Some(0);
        assert!(!chart(&late).contains("so: "));
    }

    #[test]
    fn a_long_trace_is_cut_in_the_middle() {
        let drawn = chart(&certificate(5000));
        assert!(drawn.contains("4960 steps") && drawn.lines().count() < 60);
        let mut wide = certificate(3);
        wide.observed = Some(format!("!{}", "ä".repeat(500)));
        chart(&wide);
    }
}
