//! What people write out of habit, from UML tools and other languages, and what stands for it here.

use super::{Kind, Parser};

/// Names of collections elsewhere.
const COLLECTIONS: &[&str] = &[
    "list", "List", "array", "Array", "vec", "Vec", "vector", "seq", "Seq", "sequence",
];

/// Operators of formulas that are read as names where `ltl` is missing.
const MODALITIES: &[&str] = &["G", "F", "X", "U", "R", "W", "H", "O", "S", "Y"];

/// What functions are called elsewhere, as methods or between their arguments; with the call that stands for
/// `a.name(b)` here.
const FUNCTIONS: &[(&str, &str)] = &[
    ("length", "len(a)"),
    ("len", "len(a)"),
    ("size", "len(a)"),
    ("count", "len(a)"),
    ("isEmpty", "len(a) == 0"),
    (
        "contains",
        "contains(a, b)` for texts, `b in a` for sets, the keys of maps and arrays",
    ),
    (
        "includes",
        "contains(a, b)` for texts, `b in a` for sets, the keys of maps and arrays",
    ),
    (
        "has",
        "contains(a, b)` for texts, `b in a` for sets, the keys of maps and arrays",
    ),
    ("startsWith", "prefix(b, a)"),
    ("startswith", "prefix(b, a)"),
    ("endsWith", "suffix(b, a)"),
    ("endswith", "suffix(b, a)"),
    ("indexOf", "indexOf(a, b)"),
    ("charAt", "at(a, b)"),
    ("substring", "slice(a, from, to)"),
    ("slice", "slice(a, from, to)"),
    ("matches", "matches(a, \"[A-Z]*\")"),
    ("abs", "abs(a)"),
    ("keys", "keys(a)"),
    ("insert", "insert(a, b)"),
    ("add", "insert(a, b)` for sets, `a ++ [b]` for arrays"),
    ("push", "a ++ [b]"),
    ("append", "a ++ [b]"),
    ("remove", "remove(a, b)"),
    ("put", "put(a, key, value)"),
];

impl Parser<'_> {
    /// A hint where a function is called like a method, `a.f(b)`, or stands between its arguments, `a f b`.
    fn called_elsewhere(&self) -> Option<String> {
        let token = |back: usize| self.at.checked_sub(back).map(|at| self.tokens[at]);
        let before = token(1)?;
        let (name, written) = if self.is("(") && before.kind == Kind::Ident {
            let name = self.slice(before);
            (self.slice(token(2)?) == ".").then_some((name, format!("a.{name}(…)")))?
        } else {
            let operand = matches!(before.kind, Kind::Ident | Kind::Str | Kind::Int)
                || matches!(self.slice(before), ")" | "]" | "}");
            let name = self.word();
            (operand && self.token().kind == Kind::Ident).then(|| (name, format!("a {name} b")))?
        };
        let known = FUNCTIONS.iter().find(|(other, _)| *other == name);
        match known {
            Some((_, call)) => Some(format!("for `{written}` write `{}", closed(call))),
            None if self.is("(") => Some(format!("values have no methods: write `{name}(a, b)`")),
            None => None,
        }
    }

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
            _ => return self.called_elsewhere(),
        };
        Some(hint)
    }
}

/// The end of the quotes, unless the text has its own.
fn closed(call: &str) -> String {
    if call.contains('`') {
        call.to_owned()
    } else {
        format!("{call}`")
    }
}
