//! What people write out of habit, from UML tools and other languages, and what stands for it here.

use super::{Kind, Parser};

/// Names of collections elsewhere.
const COLLECTIONS: &[&str] = &[
    "list", "List", "array", "Array", "vec", "Vec", "vector", "seq", "Seq", "sequence",
];

/// Operators of formulas that are read as names where `ltl` is missing.
const MODALITIES: &[&str] = &["G", "F", "X", "U", "R", "W", "H", "O", "S", "Y"];

impl Parser<'_> {
    /// A hint for what stands here instead of `expected`.
    pub(super) fn habit(&self, expected: &str) -> Option<String> {
        let before = self.tokens[self.at.saturating_sub(1)];
        let (word, last) = (self.word(), self.slice(before));
        let touches = self.at > 0 && before.span.end == self.span().start;
        let hint = match (word, expected) {
            ("=", "`:`") if before.kind == Kind::Ident => format!("its sort is missing: `{last}: int = …`"),
            ("=", _) if self.peek_is(1, "<") || self.peek_is(1, ">") => {
                let other = self.slice(self.peek(1));
                format!("at most is written `<=`, at least `>=`, not `={other}`")
            }
            ("=", _) => "equality is `==`, an assignment `:=`".to_owned(),
            ("++", "`:=`") => format!("write `{last} := {last} + 1`"),
            ("-", "`:=`") if self.peek_is(1, "-") => format!("write `{last} := {last} - 1`"),
            ("+" | "-" | "*", "`:=`") if self.peek_is(1, "=") => {
                format!("write `{last} := {last} {word} …`")
            }
            ("and", _) if self.is_keyword("and") => "in a guard, write `&&`".to_owned(),
            ("or", _) if self.is_keyword("or") => "in a guard, write `||`".to_owned(),
            ("not", _) if self.is_keyword("not") => "in a guard, write `!`".to_owned(),
            (">", "an expression") if last == "<" => "different is written `!=`".to_owned(),
            ("!" | "?", "an expression") if last == "/" => {
                "an effect assigns to variables; an output is a transition of its own: `?a -> t`, and `!x -> s` in \
                 state `t`"
                    .to_owned()
            }
            ("<", _) if COLLECTIONS.contains(&last) => {
                "an array of integers is written `int[]`".to_owned()
            }
            (_, "`and`, `or` or the next declaration") if MODALITIES.contains(&last) => {
                format!("a formula of temporal logic starts with `ltl`: `ltl {last}{word}…`")
            }
            _ if before.kind == Kind::Int && touches && self.token().kind == Kind::Ident => {
                format!("numbers have no units: leave `{word}` out, and count in one unit throughout")
            }
            _ => return None,
        };
        Some(hint)
    }
}
