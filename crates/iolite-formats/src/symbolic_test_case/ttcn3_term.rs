//! Terms, sorts and values of test cases with data in TTCN-3.

use iolite_expr::{Kind, Op, Sort, SumSort, Term, Value, Var};

use super::identifiers::identifier;
use super::quantifier::finite_values;

/// Values that a quantifier may list.
pub(super) const LISTED: u64 = 1_024;

/// A call, or a quantifier over too many values, in a term, and why there is nothing for it.
pub(super) fn without_counterpart(term: &Term) -> Option<(&Term, String)> {
    let Kind::App(op, args) = term.kind() else {
        return None;
    };
    match op {
        Op::Call(_) => {
            let why = "TTCN-3 evaluates all of a function that calls itself";
            return Some((term, why.to_owned()));
        }
        Op::Exists(vars) => {
            if let Err(why) = finite_values(vars, LISTED) {
                return Some((term, why));
            }
        }
        _ => {}
    }
    args.iter().find_map(without_counterpart)
}

/// The quantifiers of a term, the inner ones first, each once.
pub(super) fn note_quantified(term: &Term, all: &mut Vec<Term>) {
    let Kind::App(op, args) = term.kind() else {
        return;
    };
    for arg in args {
        note_quantified(arg, all);
    }
    let is_quantifier = matches!(op, Op::ForAll(_) | Op::ForSome(_) | Op::Exists(_));
    if is_quantifier && !all.contains(term) {
        all.push(term.clone());
    }
}

/// What a quantifier reads, without the variables that it binds.
pub(super) fn read_by(term: &Term) -> Vec<Var> {
    match term.kind() {
        // What it goes over is handed over as a whole.
        Kind::App(Op::ForAll(x) | Op::ForSome(x), args) => {
            let mut all = args[1].free_vars();
            all.retain(|v| v.id != x.id);
            all
        }
        _ => term.free_vars(),
    }
}

/// A term, with words for its variables; quantifiers are calls of their functions.
pub(super) fn text(term: &Term, var: &dyn Fn(&Var) -> String, quantified: &[Term]) -> String {
    let (op, args) = match term.kind() {
        Kind::Var(v) => return var(v),
        Kind::Lit(value) => return literal(value),
        Kind::App(op, args) => (op, args),
    };
    if let Some(i) = quantified.iter().position(|q| q == term) {
        let over = match op {
            Op::ForAll(_) | Op::ForSome(_) => Some(text(&args[0], var, quantified)),
            _ => None,
        };
        let read = read_by(term);
        let given: Vec<String> = over.into_iter().chain(read.iter().map(var)).collect();
        return format!("f_quantifier_{i}({})", given.join(", "));
    }
    let texts: Vec<String> = args.iter().map(|a| text(a, var, quantified)).collect();
    let between = |sign: &str| match texts.as_slice() {
        [one] => one.clone(),
        _ => format!("({})", texts.join(&format!(" {sign} "))),
    };
    match op {
        Op::Not => format!("not ({})", texts[0]),
        Op::And if texts.is_empty() => "true".into(),
        Op::Or if texts.is_empty() => "false".into(),
        Op::And => between("and"),
        Op::Or => between("or"),
        Op::Implies => format!("(not ({}) or {})", texts[0], texts[1]),
        Op::Eq => between("=="),
        Op::Ne => between("!="),
        Op::Lt => between("<"),
        Op::Le => between("<="),
        Op::Gt => between(">"),
        Op::Ge => between(">="),
        Op::Neg => format!("(-{})", texts[0]),
        Op::Add if texts.is_empty() => "0".into(),
        Op::Mul if texts.is_empty() => "1".into(),
        Op::Add => between("+"),
        Op::Sub => between("-"),
        Op::Mul => between("*"),
        // The remainder is never negative, so the quotient is exact.
        Op::Div => format!("(({0} - ({0} mod {1})) / {1})", texts[0], texts[1]),
        Op::Mod => between("mod"),
        Op::Concat | Op::Append => between("&"),
        Op::StrLen | Op::Len => format!("lengthof({})", texts[0]),
        Op::Select => format!("{}[{}]", texts[0], texts[1]),
        Op::Array | Op::Record => format!("{{ {} }}", texts.join(", ")),
        Op::Field(i) => match args[0].sort() {
            Sort::Record(r) => format!("{}.{}", texts[0], identifier(&r.fields[*i as usize].0)),
            _ => texts.concat(),
        },
        Op::Slice | Op::Substring => {
            format!("substr({0}, {1}, {2} - {1})", texts[0], texts[1], texts[2])
        }
        Op::Matches(regex) => format!("f_matches({}, {:?})", texts[0], regex.source()),
        // What TTCN-3 has no word for is a function of the harness.
        Op::Abs => format!("f_abs({})", texts[0]),
        Op::Ite => format!("f_if({})", texts.join(", ")),
        Op::Prefix => format!("f_prefix({})", texts.join(", ")),
        Op::Suffix => format!("f_suffix({})", texts.join(", ")),
        Op::Contains => format!("f_contains({})", texts.join(", ")),
        Op::Store => format!("f_store({})", texts.join(", ")),
        Op::Update(i) => format!("f_update_{i}({})", texts.join(", ")),
        Op::At => format!("substr({}, {}, 1)", texts[0], texts[1]),
        Op::IndexOf => format!("f_index_of({})", texts.join(", ")),
        // A decimal is the integer that counts its units.
        Op::Units | Op::Decimal | Op::Narrow => texts.concat(),
        Op::Set => format!("f_set({{ {} }})", texts.join(", ")),
        Op::Map => {
            let pairs = texts.chunks(2).map(|p| format!("{{ {} }}", p.join(", ")));
            format!("f_map({{ {} }})", pairs.collect::<Vec<_>>().join(", "))
        }
        Op::Has => format!("f_has({})", texts.join(", ")),
        Op::Insert => format!("f_insert({})", texts.join(", ")),
        Op::Put => format!("f_put({})", texts.join(", ")),
        Op::Remove => format!("f_remove({})", texts.join(", ")),
        Op::Lookup => format!("f_lookup({})", texts.join(", ")),
        Op::Keys => format!("f_keys({})", texts.join(", ")),
        Op::Union => format!("f_union({})", texts.join(", ")),
        Op::Intersection => format!("f_intersection({})", texts.join(", ")),
        Op::Difference => format!("f_difference({})", texts.join(", ")),
        Op::Construct(v) => match term.sort() {
            Sort::Sum(sum) => chosen(sum, *v, &texts),
            _ => texts.concat(),
        },
        Op::Is(v) => match args[0].sort() {
            Sort::Sum(sum) => format!("ischosen({}.{})", texts[0], choice(sum, *v)),
            _ => texts.concat(),
        },
        Op::Get(v, i) => match args[0].sort() {
            Sort::Sum(sum) => {
                let variant = sum.variant(*v);
                let field = variant.and_then(|v| v.fields.get(*i as usize));
                let field = field.map_or_else(String::new, |(n, _)| identifier(n));
                format!("{}.{}.{field}", texts[0], choice(sum, *v))
            }
            _ => texts.concat(),
        },
        // `write` refuses the former, and the others were found above.
        Op::Call(_) | Op::ForAll(_) | Op::ForSome(_) | Op::Exists(_) => String::new(),
    }
}

/// The name of a variant in its union.
fn choice(sum: &SumSort, variant: u32) -> String {
    let variant = sum.variant(variant);
    variant.map_or_else(String::new, |v| identifier(&v.name))
}

/// A value of a union.
fn chosen(sum: &SumSort, variant: u32, fields: &[String]) -> String {
    let fields = match fields {
        [] => "{}".to_owned(),
        fields => format!("{{ {} }}", fields.join(", ")),
    };
    format!("{{ {} := {fields} }}", choice(sum, variant))
}

pub(super) fn sort(sort: &Sort) -> String {
    match sort {
        Sort::Bool => "boolean".into(),
        Sort::Int | Sort::Decimal(_) => "integer".into(),
        Sort::Range(r) => format!("integer ({}..{})", r.lo, r.hi),
        Sort::String => "universal charstring".into(),
        Sort::Array(element) => format!("record of {}", self::sort(element)),
        Sort::Enum(e) => format!("E_{}", identifier(&e.name)),
        Sort::Record(r) => format!("R_{}", identifier(&r.name)),
        Sort::Set(element) => format!("set of {}", self::sort(element)),
        Sort::Map(m) => {
            let (key, value) = (self::sort(&m.0), self::sort(&m.1));
            format!("set of record {{ {key} key, {value} held }}")
        }
        Sort::Sum(s) => format!("U_{}", identifier(s.name())),
        // No datum has this sort.
        Sort::Member(_) => "anytype".into(),
    }
}

pub(super) fn list<'a>(items: impl IntoIterator<Item = &'a Value>) -> String {
    let items: Vec<String> = items.into_iter().map(literal).collect();
    format!("{{ {} }}", items.join(", "))
}

pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(n) if n.signum() < 0 => format!("({n})"),
        Value::Int(n) => n.to_string(),
        Value::Str(s) => format!(
            "\"{}\"",
            s.replace('"', "\"\"").replace(char::is_control, " ")
        ),
        Value::Enum(e, i) => identifier(&e.variants[*i as usize]),
        Value::Array(items) => list(items),
        Value::Set(items) => list(&**items),
        Value::Record(_, fields) => list(&**fields),
        Value::Decimal(units, _) if units.signum() < 0 => format!("({units})"),
        Value::Decimal(units, _) => units.to_string(),
        Value::Map(pairs) => {
            let pair = |(k, v): &(Value, Value)| format!("{{ {}, {} }}", literal(k), literal(v));
            let pairs: Vec<String> = pairs.iter().map(pair).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::Sum(sum) => {
            let fields: Vec<String> = sum.fields().iter().map(literal).collect();
            chosen(sum.sort(), sum.variant(), &fields)
        }
    }
}
