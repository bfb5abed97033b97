//! Text that becomes part of a page.

/// A text as HTML, in elements and in attributes with double quotes. Control characters that no page has
/// become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\'' => result.push_str("&#39;"),
            '\n' | '\t' => result.push(c),
            c if c.is_control() => result.push('\u{fffd}'),
            c => result.push(c),
        }
    }
    result
}

/// A document as JSON that can stand in a script element: no `<`, so that no end tag is in it, and none of
/// the line ends that only JavaScript has.
pub(crate) fn json(document: &impl serde::Serialize) -> String {
    // The data of a page are plain data, which JSON has.
    let text = serde_json::to_string(document).unwrap_or_else(|_| "null".to_owned());
    text.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// A word as a shell reads it.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%#".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_is_markup(text in any::<String>()) {
            let escaped = escape(&text);
            prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
            let data = json(&text);
            prop_assert!(!data.contains(['<', '>', '&']));
            let read: String = serde_json::from_str(&data).expect("JSON");
            prop_assert_eq!(read, text);
        }
    }

    #[test]
    fn words() {
        assert_eq!(shell_word("a/b.iol#C"), "a/b.iol#C");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("$(x)"), "'$(x)'");
    }
}
