//! "Did you mean" for the keys of a description.

/// The nearest known key for an unknown one, from the parser's message.
pub(crate) fn hint(message: &str) -> Option<String> {
    let rest = message.split("unknown field `").nth(1)?;
    let (unknown, rest) = rest.split_once('`')?;
    let nearest = rest
        .split('`')
        .skip(1)
        .step_by(2)
        .map(|known| (distance(unknown, known), known))
        .min()?;
    (nearest.0 <= 3).then(|| format!("did you mean {}?", nearest.1))
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
