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

/// How templates are written.
const ACTIONS: &str = "messages are described action by action: write `[actions.NAME]`, and below it `send = \"…\"` \
                       for an input, `recv = \"…\"` for an output";

/// How the timeout is written.
const QUIESCENCE: &str = "write `[quiescence]`, and below it `timeout-ms = 100`";

/// What the parser expects where a table is meant, and how that is written.
const TABLES: &[(&str, &str)] = &[
    ("expected struct QuiescenceConfig", QUIESCENCE),
    ("expected struct ActionConfig", ACTIONS),
    (
        "expected struct UdpAddresses",
        "it needs two addresses: `udp = { own = \"127.0.0.1:7001\", peer = \"127.0.0.1:7002\" }`",
    ),
];

/// What to write instead, from the parser's message.
pub(crate) fn hint(message: &str) -> Option<String> {
    for (expected, hint) in TABLES {
        if message.contains(expected) {
            return Some((*hint).to_owned());
        }
    }
    if message.contains("expected a map") && message.contains("env =") {
        return Some("write `[env]`, and below it `NAME = \"value\"`".to_owned());
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
    if message.contains("unexpected key or value") && message.matches('"').count() > 2 {
        return Some(
            "a text with quotes in it is written in single quotes: '{\"a\":1}'".to_owned(),
        );
    }
    let negative = message.contains("invalid value: integer `-");
    if (negative || message.contains("invalid type: floating point"))
        && number.iter().any(|n| message.contains(n))
    {
        return Some("it is a whole number, and none below zero".to_owned());
    }
    nearest_word(message).or_else(|| nearest_key(message))
}

/// The nearest known word for an unknown one, such as `synchronous` for `sync`.
fn nearest_word(message: &str) -> Option<String> {
    let rest = message.split("unknown variant `").nth(1)?;
    let (unknown, rest) = rest.split_once('`')?;
    let mut known = rest.split('`').skip(1).step_by(2);
    let near = |word: &&str| word.starts_with(unknown) || is_slip(unknown, word);
    known.find(near).map(|word| format!("did you mean {word}?"))
}

/// Whether one word is the other with a slip or two.
fn is_slip(written: &str, meant: &str) -> bool {
    let slips = distance(written, meant);
    slips <= 3 && 3 * slips <= written.chars().count()
}

/// The nearest known key for an unknown one.
fn nearest_key(message: &str) -> Option<String> {
    let rest = message.split("unknown field `").nth(1)?;
    let (unknown, rest) = rest.split_once('`')?;
    let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    let templates = ["send", "recv", "codec", "templates", "messages"];
    if templates.contains(&unknown) && known.contains(&"actions") {
        return Some(ACTIONS.to_owned());
    }
    if ["timeout", "timeout-ms", "silence"].contains(&unknown) && known.contains(&"quiescence") {
        return Some(QUIESCENCE.to_owned());
    }
    let parts_of_a_request = ["method", "path", "body", "verb", "get", "post"];
    if parts_of_a_request.contains(&unknown) && known.contains(&"send") {
        return Some("an HTTP request is one template: send = \"GET /path/{n}\"".to_owned());
    }
    let synonym = SYNONYMS
        .iter()
        .find(|(other, key)| *other == unknown && known.contains(key));
    if let Some((_, key)) = synonym {
        return Some(format!("did you mean {key}?"));
    }
    let near = known.iter().filter(|key| is_slip(unknown, key));
    let nearest = near.min_by_key(|key| distance(unknown, key));
    let longer = || {
        known
            .iter()
            .find(|key| unknown.len() > 3 && key.contains(unknown))
    };
    let nearest = nearest.or_else(longer)?;
    Some(format!("did you mean {nearest}?"))
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
