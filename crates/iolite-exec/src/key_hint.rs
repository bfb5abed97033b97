//! "Did you mean" for the keys of a description.

/// Keys that people write for others, too far from them to be found as slips.
const SYNONYMS: &[(&str, &str)] = &[
    ("cmd", "command"),
    ("exec", "command"),
    ("program", "command"),
    ("args", "command"),
    ("cwd", "dir"),
    ("folder", "dir"),
    ("url", "http"),
    ("address", "tcp"),
    ("host", "tcp"),
    ("port", "tcp"),
    ("ws", "websocket"),
    ("timeout", "timeout-ms"),
    ("delimiter", "framing"),
];

/// What to write instead, from the parser's message.
pub(crate) fn hint(message: &str) -> Option<String> {
    if message.contains("expected struct QuiescenceConfig") {
        return Some("write `[quiescence]`, and below it `timeout-ms = 100`".to_owned());
    }
    let number = [
        "expected u64",
        "expected u32",
        "expected u16",
        "expected usize",
    ];
    if message.contains("invalid type: string") && number.iter().any(|n| message.contains(n)) {
        return Some("a number is written without quotes".to_owned());
    }
    nearest_key(message)
}

/// The nearest known key for an unknown one.
fn nearest_key(message: &str) -> Option<String> {
    let rest = message.split("unknown field `").nth(1)?;
    let (unknown, rest) = rest.split_once('`')?;
    let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    let synonym = SYNONYMS
        .iter()
        .find(|(other, key)| *other == unknown && known.contains(key));
    if let Some((_, key)) = synonym {
        return Some(format!("did you mean {key}?"));
    }
    let nearest = known
        .iter()
        .map(|key| (distance(unknown, key), *key))
        .min()?;
    (nearest.0 <= 3 && nearest.0 < unknown.chars().count())
        .then(|| format!("did you mean {}?", nearest.1))
}

/// Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != *y))
                .min(row[j] + 1)
                .min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}
