//! Properties: Boolean combinations of temporal formulas, languages and Streett automata.

use iolite_lts::LabelKind;

use super::{Kind, Parsed, Parser, Unparsed};
use crate::syntax::ast::{
    Event, EventKind, Formula, FormulaKind, Ltl, LtlBinary, LtlKind, LtlUnary, Name, Property,
    PropertyEvent, Quantifier, Regex, RegexKind, Sort, Streett, StreettPair,
};
use crate::{Diagnostic, Span, codes};

const UNARY: &[(&str, LtlUnary)] = &[
    ("X", LtlUnary::Next),
    ("G", LtlUnary::Globally),
    ("F", LtlUnary::Finally),
    ("Y", LtlUnary::Yesterday),
    ("O", LtlUnary::Once),
    ("H", LtlUnary::Historically),
];

/// Letters of operators that are written together.
const MAX_PREFIX: usize = 16;

const BINARY: &[(&str, LtlBinary)] = &[
    ("U", LtlBinary::Until),
    ("W", LtlBinary::WeakUntil),
    ("R", LtlBinary::Release),
    ("V", LtlBinary::Release),
    ("M", LtlBinary::StrongRelease),
    ("S", LtlBinary::Since),
    ("T", LtlBinary::Trigger),
];

impl Parser<'_> {
    pub(super) fn property(&mut self, start: Span) -> Parsed<Property> {
        let name = self.ident("the name of the property")?;
        let mut of = None;
        let mut over = None;
        loop {
            if of.is_none() && self.eat_keyword("for") {
                of = Some(self.ident("the name of a system")?);
            } else if over.is_none() && self.eat_keyword("over") {
                over = Some(self.braced(Self::property_event)?);
            } else {
                break;
            }
        }
        self.expect("=")?;
        let body = self.formula()?;
        if !self.at_end() && !self.starts_item() {
            return Err(self.expected("`and`, `or` or the next declaration"));
        }
        Ok(Property {
            name,
            of,
            over,
            body,
            span: self.since(start),
        })
    }

    fn formula(&mut self) -> Parsed<Formula> {
        self.nested(|p| {
            p.formulas("or", FormulaKind::Or, |p| {
                p.formulas("and", FormulaKind::And, Self::formula_operand)
            })
        })
    }

    fn formulas(
        &mut self,
        operator: &str,
        many: fn(Vec<Formula>) -> FormulaKind,
        mut one: impl FnMut(&mut Self) -> Parsed<Formula>,
    ) -> Parsed<Formula> {
        let first = one(self)?;
        if !self.is_keyword(operator) {
            return Ok(first);
        }
        let start = first.span;
        let mut parts = vec![first];
        while self.eat_keyword(operator) {
            parts.push(one(self)?);
        }
        Ok(Formula {
            kind: many(parts),
            span: self.since(start),
        })
    }

    fn formula_operand(&mut self) -> Parsed<Formula> {
        let start = self.span();
        let kind = if self.eat_keyword("not") {
            FormulaKind::Not(Box::new(self.nested(Self::formula_operand)?))
        } else if self.eat("(") {
            let mut inner = self.formula()?;
            self.expect(")")?;
            inner.span = self.since(start);
            return Ok(inner);
        } else if self.is_word("ltl") {
            self.bump();
            FormulaKind::Ltl(self.ltl()?)
        } else if self.is_word("streett") && self.peek_is(1, "{") {
            self.bump();
            FormulaKind::Streett(self.streett()?)
        } else if let Some((quantifier, finitary)) = self.quantifier() {
            self.bump();
            FormulaKind::Language {
                quantifier,
                finitary,
                regex: self.regex()?,
            }
        } else if self.token().kind == Kind::Ident {
            FormulaKind::Name(self.ident("a property")?)
        } else {
            return Err(self.expected("`ltl`, `always`, `eventually`, `streett` or a property"));
        };
        Ok(Formula {
            kind,
            span: self.since(start),
        })
    }

    fn quantifier(&self) -> Option<(Quantifier, bool)> {
        if self.token().kind != Kind::Ident {
            return None;
        }
        let word = self.word();
        let (stem, finitary) = word
            .strip_suffix("_f")
            .map_or((word, false), |stem| (stem, true));
        let quantifier = match stem {
            "always" | "A" => Quantifier::Always,
            "eventually" | "E" => Quantifier::Eventually,
            "recurrently" | "R" => Quantifier::Recurrently,
            "persistently" | "P" => Quantifier::Persistently,
            _ => return None,
        };
        // A property may be called `P`: a language must follow for it to be the quantifier.
        let next = self.peek(1);
        let follows = match next.kind {
            Kind::Punct(p) => matches!(p, "(" | "?" | "!" | "." | ".." | "@"),
            Kind::Ident | Kind::Int | Kind::Str => true,
            Kind::Keyword | Kind::End => false,
        };
        follows.then_some((quantifier, finitary))
    }

    fn streett(&mut self) -> Parsed<Streett> {
        let brace = self.expect("{")?;
        let mut result = Streett {
            states: Vec::new(),
            pairs: Vec::new(),
        };
        loop {
            if self.eat("}") {
                return Ok(result);
            }
            if self.is_word("pair") {
                result.pairs.push(self.pair()?);
            } else if self.is_keyword("state") || self.is_keyword("initial") {
                result.states.push(self.state()?);
            } else if self.at_end() || self.starts_item() {
                let error = Diagnostic::error(
                    codes::UNCLOSED,
                    brace,
                    "the brace of the automaton is never closed",
                );
                return Err(self.report(error));
            } else {
                return Err(self.expected("`state`, `pair` or `}`"));
            }
        }
    }

    fn pair(&mut self) -> Parsed<StreettPair> {
        let start = self.bump().span;
        let mut pair = StreettPair {
            recurrent: Vec::new(),
            persistent: Vec::new(),
            span: start,
        };
        loop {
            if self.is_word("recurrent") {
                self.bump();
                pair.recurrent.extend(self.braced(|p| p.name("a state"))?);
            } else if self.is_word("persistent") {
                self.bump();
                pair.persistent.extend(self.braced(|p| p.name("a state"))?);
            } else {
                break;
            }
        }
        pair.span = self.since(start);
        Ok(pair)
    }

    fn ltl(&mut self) -> Parsed<Ltl> {
        self.ltl_binary(0)
    }

    /// `<->` 1, `->` 2 (to the right), `or` 3, `and` 4, `U` and its kin 5 (to the right).
    fn ltl_operator(&self) -> Option<(LtlBinary, u8, bool)> {
        if self.is("<->") || self.is_double_arrow() {
            return Some((LtlBinary::Equivalent, 1, false));
        }
        if self.is("->") || self.is("=>") {
            return Some((LtlBinary::Implies, 2, true));
        }
        if self.is_keyword("or") || self.is("||") || self.is("|") {
            return Some((LtlBinary::Or, 3, false));
        }
        if self.is_keyword("and") || self.is("&&") || self.is("&") {
            return Some((LtlBinary::And, 4, false));
        }
        BINARY
            .iter()
            .find(|(word, _)| self.is_word(word))
            .map(|&(_, op)| (op, 5, true))
    }

    /// `<=>`, which is two tokens.
    fn is_double_arrow(&self) -> bool {
        self.is("<=") && self.peek_is(1, ">") && self.is_tight()
    }

    /// Whether the next token follows this one without a blank.
    fn is_tight(&self) -> bool {
        self.span().end == self.peek(1).span.start
    }

    fn ltl_binary(&mut self, least: u8) -> Parsed<Ltl> {
        self.nested(|p| {
            let mut left = p.ltl_unary()?;
            while let Some((op, precedence, right)) = p.ltl_operator()
                && precedence > least
            {
                p.operator()?;
                if p.is_double_arrow() {
                    p.bump();
                }
                p.bump();
                let operand = p.ltl_binary(precedence - u8::from(right))?;
                left = Ltl {
                    span: left.span.to(operand.span),
                    kind: LtlKind::Binary(op, Box::new(left), Box::new(operand)),
                };
            }
            Ok(left)
        })
    }

    fn ltl_unary(&mut self) -> Parsed<Ltl> {
        let start = self.span();
        let unary = UNARY
            .iter()
            .find(|(word, _)| self.is_word(word))
            .map(|&(_, op)| op)
            .or_else(|| (self.is_keyword("not") || self.negates()).then_some(LtlUnary::Not));
        let kind = if let Some(op) = unary {
            self.bump();
            let operand = self.nested(Self::ltl_unary)?;
            LtlKind::Unary(op, Box::new(operand))
        } else if let Some((operators, tokens)) = self.ltl_prefix() {
            for _ in 0..tokens {
                self.bump();
            }
            let operand = self.nested(Self::ltl_unary)?;
            let span = self.since(start);
            let wrapped = operators.iter().rev().fold(operand, |inner, &op| Ltl {
                kind: LtlKind::Unary(op, Box::new(inner)),
                span,
            });
            return Ok(wrapped);
        } else if self.eat_keyword("true") {
            LtlKind::Constant(true)
        } else if self.eat_keyword("false") {
            LtlKind::Constant(false)
        } else if self.eat("(") {
            let mut inner = self.ltl()?;
            self.expect(")")?;
            inner.span = self.since(start);
            return Ok(inner);
        } else if self.is("!") && matches!(self.peek(1).kind, Kind::Punct(_) | Kind::End) {
            let error = Diagnostic::error(
                codes::LTL_NEGATION,
                self.span(),
                "`!` stands before neither an output nor a formula",
            )
            .hint("`!x` is the output x, `not x` or `! x` its negation");
            return Err(self.report(error));
        } else if self.is("{") {
            return self.ltl_set(start);
        } else if self.starts_event() && !self.is("*") {
            LtlKind::Atom(Box::new(self.property_event()?))
        } else {
            let message = format!("expected a temporal formula, found {}", self.found_here());
            let error = Diagnostic::error(codes::EXPECTED, self.span(), message)
                .hint("`[]`, `<>`, `G`, `F`, `X` stand before a formula: `[] (?a -> <> !b)`");
            return Err(self.report(error));
        };
        Ok(Ltl {
            kind,
            span: self.since(start),
        })
    }

    /// Whether `!` negates: it marks an output where the name follows at once.
    fn negates(&self) -> bool {
        if !self.is("!") {
            return false;
        }
        match self.peek(1).kind {
            Kind::Punct(p) => matches!(p, "(" | "?" | "!" | "[" | "<" | "{"),
            Kind::Ident | Kind::Keyword | Kind::Int | Kind::Str => !self.is_tight(),
            Kind::End => false,
        }
    }

    /// `{?a, !x}`: the action is one of these.
    fn ltl_set(&mut self, start: Span) -> Parsed<Ltl> {
        let events = self.braced(|p| {
            p.operator()?;
            p.property_event()
        })?;
        let atom = |event: PropertyEvent| Ltl {
            span: event.event.span,
            kind: LtlKind::Atom(Box::new(event)),
        };
        let any = events.into_iter().map(atom).reduce(|left, right| Ltl {
            span: left.span.to(right.span),
            kind: LtlKind::Binary(LtlBinary::Or, Box::new(left), Box::new(right)),
        });
        any.ok_or_else(|| {
            let message = "a set of actions has at least one";
            self.report(Diagnostic::error(
                codes::EXPECTED,
                self.since(start),
                message,
            ))
        })
    }

    /// `[]`, `<>`, `Z`, and letters written together, such as `GF`; and how many tokens they are. A word
    /// with no operand behind it is an action's name.
    fn ltl_prefix(&self) -> Option<(Vec<LtlUnary>, usize)> {
        if self.is("[") && self.peek_is(1, "]") {
            return Some((vec![LtlUnary::Globally], 2));
        }
        if self.is("<") && self.peek_is(1, ">") {
            return Some((vec![LtlUnary::Finally], 2));
        }
        if self.token().kind != Kind::Ident {
            return None;
        }
        let next = self.peek(1);
        let operand = match next.kind {
            Kind::Punct(p) => matches!(p, "(" | "?" | "!" | "[" | "<"),
            Kind::Ident => !BINARY.iter().any(|(word, _)| self.slice(next) == *word),
            Kind::Keyword => matches!(self.slice(next), "not" | "true" | "false"),
            _ => false,
        };
        let word = self.word();
        if !operand || word.len() > MAX_PREFIX {
            return None;
        }
        let letter = |c: char| match c {
            'G' => Some(LtlUnary::Globally),
            'F' => Some(LtlUnary::Finally),
            'X' => Some(LtlUnary::Next),
            'Z' if word == "Z" => Some(LtlUnary::WeakYesterday),
            _ => None,
        };
        let operators: Option<Vec<LtlUnary>> = word.chars().map(letter).collect();
        operators.map(|operators| (operators, 1))
    }

    fn regex(&mut self) -> Parsed<Regex> {
        self.nested(|p| {
            let first = p.regex_sequence()?;
            if !p.is("|") {
                return Ok(first);
            }
            let start = first.span;
            let mut parts = vec![first];
            while p.eat("|") {
                parts.push(p.regex_sequence()?);
            }
            Ok(Regex {
                kind: RegexKind::Alternatives(parts),
                span: p.since(start),
            })
        })
    }

    fn starts_regex(&self) -> bool {
        self.is("(")
            || self.is(".")
            || self.is("..")
            || self.is("@")
            || (self.starts_event() && !self.is("*"))
    }

    fn regex_sequence(&mut self) -> Parsed<Regex> {
        let start = self.span();
        let mut parts = Vec::new();
        while self.starts_regex() {
            self.regex_item(&mut parts)?;
        }
        match parts.len() {
            0 => Err(self.expected("a regular expression")),
            1 => parts.pop().ok_or(Unparsed),
            _ => Ok(Regex {
                kind: RegexKind::Sequence(parts),
                span: self.since(start),
            }),
        }
    }

    fn regex_item(&mut self, parts: &mut Vec<Regex>) -> Parsed<()> {
        let start = self.span();
        let any = |span| Regex {
            kind: RegexKind::Any,
            span,
        };
        let kind = if self.eat("(") {
            let inner = self.regex()?;
            self.expect(")")?;
            inner.kind
        } else if self.eat(".") {
            RegexKind::Any
        } else if self.eat("..") {
            parts.push(any(start));
            RegexKind::Any
        } else if self.eat("@") {
            RegexKind::Traces(self.ident("the name of a set of traces")?)
        } else if self.is_word("eps") {
            self.bump();
            RegexKind::Empty
        } else {
            RegexKind::Atom(Box::new(self.regex_event()?))
        };
        let mut regex = Regex {
            kind,
            span: self.since(start),
        };
        loop {
            let wrap: &[fn(Box<Regex>) -> RegexKind] = if self.is("*") {
                &[RegexKind::Star]
            } else if self.is("+") {
                &[RegexKind::Plus]
            } else if self.is("++") {
                &[RegexKind::Plus, RegexKind::Plus]
            } else {
                break;
            };
            self.operator()?;
            self.bump();
            for w in wrap {
                regex = Regex {
                    span: self.since(start),
                    kind: w(Box::new(regex)),
                };
            }
        }
        parts.push(regex);
        Ok(())
    }

    /// `!reply(code)`, `!reply(code: int)`, `!reply(code) [code >= 500]`.
    fn property_event(&mut self) -> Parsed<PropertyEvent> {
        let mut sorts = Vec::new();
        let event = self.event_with(|p, kind, name| {
            let args = if p.is("(") {
                let (names, found) = p.property_params()?;
                sorts = found;
                Some(names)
            } else {
                None
            };
            Ok(EventKind::Label { kind, name, args })
        })?;
        // `[]` is an operator.
        let guard = if self.peek_is(1, "]") {
            None
        } else {
            self.guard()?
        };
        Ok(PropertyEvent {
            event,
            sorts,
            guard,
        })
    }

    /// Names for parameters, with a sort for each or for none.
    fn property_params(&mut self) -> Parsed<(Vec<Name>, Vec<Sort>)> {
        if !(self.peek(1).kind == Kind::Ident && self.peek_is(2, ":")) {
            return Ok((self.event_args()?, Vec::new()));
        }
        self.expect("(")?;
        let (mut names, mut sorts) = (Vec::new(), Vec::new());
        while !self.is(")") {
            let param = self.param()?;
            names.push(param.name);
            sorts.push(param.sort);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok((names, sorts))
    }

    /// An action of a language: what stands in parentheses is a list of parameters only where a guard
    /// follows.
    fn regex_event(&mut self) -> Parsed<PropertyEvent> {
        let name = usize::from(self.is("?") || self.is("!"));
        if self.peek_is(name + 1, "(") {
            let mut at = name + 2;
            while !matches!(self.peek(at).kind, Kind::End | Kind::Punct("(" | ")")) {
                at += 1;
            }
            if self.peek_is(at, ")") && self.peek_is(at + 1, "[") {
                return self.property_event();
            }
        }
        Ok(PropertyEvent {
            event: self.event_without_args()?,
            sorts: Vec::new(),
            guard: None,
        })
    }

    /// In `a (b | c)` the parenthesis is a group, not a list of parameters.
    fn event_without_args(&mut self) -> Parsed<Event> {
        let start = self.span();
        let kind = if self.token().kind == Kind::Ident && !self.peek_is(1, "(") {
            return self.event();
        } else if self.eat("?") {
            LabelKind::Input
        } else if self.eat("!") {
            LabelKind::Output
        } else {
            LabelKind::Undirected
        };
        let word = (self.token().kind == Kind::Ident && kind == LabelKind::Undirected)
            .then(|| self.word());
        let kind = match word {
            Some("i" | "tau" | "τ") => {
                self.bump();
                EventKind::Tau
            }
            Some("delta" | "δ") => {
                self.bump();
                EventKind::Delta
            }
            _ => EventKind::Label {
                kind,
                name: self.label_name(kind != LabelKind::Undirected)?,
                args: None,
            },
        };
        Ok(Event {
            kind,
            span: self.since(start),
        })
    }
}
