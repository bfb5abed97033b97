//! S-expressions, as solvers print them.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sexpr {
    Atom(String),
    /// A string literal, its quotes removed.
    Text(String),
    List(Vec<Sexpr>),
}

/// The first expression of the text. Without recursion: what a broken solver prints may nest at
/// will.
pub(super) fn parse(text: &str) -> Option<Sexpr> {
    let mut stack: Vec<Vec<Sexpr>> = Vec::new();
    let mut chars = text.chars().peekable();
    loop {
        let done = match chars.next()? {
            '(' => {
                stack.push(Vec::new());
                continue;
            }
            ')' => Sexpr::List(stack.pop()?),
            '"' => {
                let mut out = String::new();
                loop {
                    match chars.next()? {
                        '"' if chars.peek() == Some(&'"') => {
                            chars.next();
                            out.push('"');
                        }
                        '"' => break,
                        c => out.push(c),
                    }
                }
                Sexpr::Text(out)
            }
            c if c.is_whitespace() => continue,
            '|' => {
                let mut out = String::new();
                loop {
                    match chars.next()? {
                        '|' => break,
                        c => out.push(c),
                    }
                }
                Sexpr::Atom(out)
            }
            c => {
                let mut out = String::from(c);
                while let Some(&c) = chars.peek() {
                    if c.is_whitespace() || matches!(c, '(' | ')' | '"') {
                        break;
                    }
                    out.push(c);
                    chars.next();
                }
                Sexpr::Atom(out)
            }
        };
        match stack.last_mut() {
            Some(list) => list.push(done),
            None => return Some(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_solvers_print() {
        let atom = |s: &str| Sexpr::Atom(s.into());
        assert_eq!(
            parse("((x (- 5))\n (s \"a\"\"b\"))"),
            Some(Sexpr::List(vec![
                Sexpr::List(vec![atom("x"), Sexpr::List(vec![atom("-"), atom("5")])]),
                Sexpr::List(vec![atom("s"), Sexpr::Text("a\"b".into())]),
            ]))
        );
        assert_eq!(parse("(a"), None);
        assert_eq!(parse(")"), None);
        assert_eq!(parse(&"(".repeat(1_000_000)), None);
    }
}
