//! Texts that differ in one place.

/// Texts beside a text: programs that compare too little are found there and hardly anywhere else. The
/// text itself is the last.
pub(super) fn near_texts(text: &str) -> [String; 6] {
    let text: Vec<char> = text.chars().collect();
    let (last, rest) = match text.split_last() {
        Some((last, rest)) => (*last, rest),
        None => ('a', &text[..]),
    };
    let other = if last == 'x' { 'y' } else { 'x' };
    let with = |head: &[char], tail: &[char]| head.iter().chain(tail).collect::<String>();
    let flipped = |c: char| {
        if c.is_lowercase() {
            c.to_uppercase().collect()
        } else {
            c.to_lowercase().collect::<String>()
        }
    };
    [
        with(rest, &[other]),
        with(rest, &[]),
        with(&text, &['x']),
        with(&['x'], &text),
        text.iter().map(|c| flipped(*c)).collect(),
        text.iter().collect(),
    ]
}
