//! The grammar for editors knows the keywords of the language, all of them and no other.

use std::collections::BTreeSet;
use std::path::Path;

/// The words of the first group `(a|b|c)` of a pattern.
fn alternatives(pattern: &str) -> BTreeSet<&str> {
    let from = pattern.find('(').expect("a group") + 1;
    let to = pattern.find(')').expect("its end");
    pattern[from..to].split('|').collect()
}

#[test]
fn keywords_of_the_grammar_are_those_of_the_language() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/iol.tmLanguage.json");
    let text = std::fs::read_to_string(path).expect("the grammar");
    let grammar: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let rule = |name: &str| {
        grammar["repository"][name]["match"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let (keyword, constant) = (rule("keyword"), rule("constant"));
    let mut words = alternatives(&keyword);
    words.extend(alternatives(&constant));
    // δ is a name that the language gives a meaning, not a keyword.
    assert!(words.remove("delta"));
    let keywords: BTreeSet<&str> = iolite_lang::syntax::KEYWORDS.iter().copied().collect();
    assert_eq!(words, keywords);
}
