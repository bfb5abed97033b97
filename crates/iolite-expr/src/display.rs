//! Terms as people write them.

mod amount;

use std::fmt;

use crate::term::{Kind, Op};
use crate::{Sort, Term, Value};

/// How tightly an operator binds, from loose to tight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Outer,
    Ite,
    Implies,
    Or,
    And,
    Compare,
    Sum,
    Product,
    Unary,
    Postfix,
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self, Level::Outer)
    }
}

fn level(op: &Op) -> Level {
    match op {
        Op::Ite => Level::Ite,
        Op::Implies => Level::Implies,
        Op::Or => Level::Or,
        Op::And => Level::And,
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Is(_) | Op::Has => Level::Compare,
        Op::Add | Op::Sub | Op::Concat | Op::Append => Level::Sum,
        Op::Mul | Op::Div | Op::Mod => Level::Product,
        Op::Not | Op::Neg => Level::Unary,
        Op::Exists(_) | Op::ForAll(_) | Op::ForSome(_) => Level::Outer,
        _ => Level::Postfix,
    }
}

fn tighter(level: Level) -> Level {
    match level {
        Level::Outer => Level::Ite,
        Level::Ite => Level::Implies,
        Level::Implies => Level::Or,
        Level::Or => Level::And,
        Level::And => Level::Compare,
        Level::Compare => Level::Sum,
        Level::Sum => Level::Product,
        Level::Product => Level::Unary,
        Level::Unary | Level::Postfix => Level::Postfix,
    }
}

fn write(f: &mut fmt::Formatter<'_>, term: &Term, outer: Level) -> fmt::Result {
    match term.kind() {
        Kind::Var(v) => write!(f, "{}", v.name),
        Kind::Lit(Value::Int(n)) if n.signum() < 0 && outer > Level::Sum => write!(f, "({n})"),
        Kind::Lit(Value::Decimal(n, _)) if n.signum() < 0 && outer > Level::Sum => {
            write!(f, "({})", term.as_value().unwrap_or(&Value::Bool(false)))
        }
        Kind::Lit(v) => write!(f, "{v}"),
        Kind::App(op, args) => {
            // The empty sum, product and string.
            if args.is_empty()
                && !matches!(
                    op,
                    Op::Array | Op::Set | Op::Map | Op::Record | Op::Construct(_) | Op::Call(_)
                )
            {
                return write!(
                    f,
                    "{}",
                    match op {
                        Op::And => "true",
                        Op::Or => "false",
                        Op::Add => "0",
                        Op::Mul => "1",
                        _ => "\"\"",
                    }
                );
            }
            if let Some(sum) = amount::sum(term) {
                return amount::write_sum(f, &sum, outer);
            }
            let own = level(op);
            let parens = own < outer;
            if parens {
                write!(f, "(")?;
            }
            write_app(f, term, op, args, own)?;
            if parens {
                write!(f, ")")?;
            }
            Ok(())
        }
    }
}

fn infix(f: &mut fmt::Formatter<'_>, args: &[Term], sign: &str, own: Level) -> fmt::Result {
    for (i, a) in args.iter().enumerate() {
        if i > 0 {
            write!(f, " {sign} ")?;
        }
        write(
            f,
            a,
            if i == 0 && own != Level::Compare {
                own
            } else {
                tighter(own)
            },
        )?;
    }
    Ok(())
}

fn compare(f: &mut fmt::Formatter<'_>, args: &[Term], sign: &str, own: Level) -> fmt::Result {
    amount::comparison(f, args, sign).unwrap_or_else(|| infix(f, args, sign, own))
}

fn call(f: &mut fmt::Formatter<'_>, name: &str, args: &[&Term]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (i, a) in args.iter().enumerate() {
        if i > 0 {
            write!(f, ", ")?;
        }
        write(f, a, Level::Outer)?;
    }
    write!(f, ")")
}

fn write_app(
    f: &mut fmt::Formatter<'_>,
    term: &Term,
    op: &Op,
    args: &[Term],
    own: Level,
) -> fmt::Result {
    match op {
        Op::Not => {
            write!(f, "!")?;
            write(f, &args[0], Level::Unary)
        }
        Op::Neg => {
            write!(f, "-")?;
            write(f, &args[0], Level::Unary)
        }
        Op::And => infix(f, args, "&&", own),
        Op::Or => infix(f, args, "||", own),
        Op::Implies => {
            write(f, &args[0], tighter(own))?;
            write!(f, " => ")?;
            write(f, &args[1], own)
        }
        Op::Ite => {
            write!(f, "if ")?;
            write(f, &args[0], tighter(own))?;
            write!(f, " then ")?;
            write(f, &args[1], tighter(own))?;
            write!(f, " else ")?;
            write(f, &args[2], own)
        }
        Op::Eq => compare(f, args, "==", own),
        Op::Ne => compare(f, args, "!=", own),
        Op::Lt => compare(f, args, "<", own),
        Op::Le => compare(f, args, "<=", own),
        Op::Gt => compare(f, args, ">", own),
        Op::Ge => compare(f, args, ">=", own),
        Op::Add => {
            for (i, a) in args.iter().enumerate() {
                match a.kind() {
                    Kind::Lit(Value::Int(n)) if i > 0 && n.signum() < 0 => {
                        write!(f, " - {}", n.abs())?;
                    }
                    Kind::App(Op::Neg, inner) if i > 0 => {
                        write!(f, " - ")?;
                        write(f, &inner[0], Level::Product)?;
                    }
                    _ => {
                        if i > 0 {
                            write!(f, " + ")?;
                        }
                        write(f, a, if i == 0 { own } else { tighter(own) })?;
                    }
                }
            }
            Ok(())
        }
        Op::Concat | Op::Append => infix(f, args, "++", own),
        Op::Sub => infix(f, args, "-", own),
        Op::Mul => infix(f, args, "*", own),
        Op::Div => infix(f, args, "/", own),
        Op::Mod => infix(f, args, "%", own),
        Op::Abs => call(f, "abs", &[&args[0]]),
        Op::StrLen | Op::Len => call(f, "len", &[&args[0]]),
        Op::Prefix => call(f, "prefix", &[&args[0], &args[1]]),
        Op::Suffix => call(f, "suffix", &[&args[0], &args[1]]),
        Op::Contains => call(f, "contains", &[&args[0], &args[1]]),
        Op::At => call(f, "at", &[&args[0], &args[1]]),
        Op::IndexOf => call(f, "indexOf", &[&args[0], &args[1]]),
        Op::Matches(re) => {
            write!(f, "matches(")?;
            write(f, &args[0], Level::Outer)?;
            write!(f, ", {:?})", re.source())
        }
        Op::Array => {
            write!(f, "[")?;
            for (i, a) in args.iter().enumerate() {
                if i > 0 {
                    write!(f, ", ")?;
                }
                write(f, a, Level::Outer)?;
            }
            write!(f, "]")
        }
        Op::Set => {
            write!(f, "{{")?;
            for (i, a) in args.iter().enumerate() {
                write!(f, "{}", if i > 0 { ", " } else { "" })?;
                write(f, a, Level::Outer)?;
            }
            write!(f, "}}")
        }
        Op::Map => {
            write!(f, "{{")?;
            for (i, pair) in args.chunks(2).enumerate() {
                write!(f, "{}", if i > 0 { ", " } else { "" })?;
                write(f, &pair[0], Level::Outer)?;
                write!(f, ": ")?;
                write(f, &pair[1], Level::Outer)?;
            }
            write!(f, "}}")
        }
        Op::Has => infix(f, args, "in", own),
        Op::Insert => call(f, "insert", &[&args[0], &args[1]]),
        Op::Put => call(f, "put", &[&args[0], &args[1], &args[2]]),
        Op::Remove => call(f, "remove", &[&args[0], &args[1]]),
        Op::Keys => call(f, "keys", &[&args[0]]),
        Op::Union => call(f, "union", &[&args[0], &args[1]]),
        Op::Intersection => call(f, "intersection", &[&args[0], &args[1]]),
        Op::Difference => call(f, "difference", &[&args[0], &args[1]]),
        Op::Units => call(f, "units", &[&args[0]]),
        Op::Decimal => match term.sort() {
            Sort::Decimal(scale) => {
                write!(f, "decimal(")?;
                write(f, &args[0], Level::Outer)?;
                write!(f, ", {scale})")
            }
            _ => write!(f, "?"),
        },
        Op::Select | Op::Lookup => {
            write(f, &args[0], Level::Postfix)?;
            write!(f, "[")?;
            write(f, &args[1], Level::Outer)?;
            write!(f, "]")
        }
        Op::Store => call(f, "store", &[&args[0], &args[1], &args[2]]),
        Op::Slice | Op::Substring => call(f, "slice", &[&args[0], &args[1], &args[2]]),
        Op::Record => {
            let Sort::Record(r) = term.sort() else {
                return write!(f, "?");
            };
            write!(f, "{} {{", r.name)?;
            for (i, ((name, _), a)) in r.fields.iter().zip(args).enumerate() {
                write!(f, "{} {name} = ", if i > 0 { "," } else { "" })?;
                write(f, a, Level::Outer)?;
            }
            write!(f, " }}")
        }
        Op::Construct(variant) => {
            let name = variant_name(term.sort(), *variant);
            if args.is_empty() {
                return write!(f, "{name}");
            }
            call(f, &name, &args.iter().collect::<Vec<_>>())
        }
        Op::Is(variant) => {
            write(f, &args[0], tighter(own))?;
            write!(f, " is {}", variant_name(args[0].sort(), *variant))
        }
        Op::Get(variant, field) => {
            write(f, &args[0], Level::Postfix)?;
            match args[0].sort() {
                Sort::Sum(s) => {
                    let fields = s.variant(*variant).map(|v| &v.fields);
                    let named = fields.and_then(|fields| fields.get(*field as usize));
                    write!(f, ".{}", named.map_or("?", |(n, _)| n))
                }
                _ => write!(f, ".#{field}"),
            }
        }
        Op::Call(callee) => call(f, callee.name(), &args.iter().collect::<Vec<_>>()),
        Op::ForAll(x) | Op::ForSome(x) => {
            let word = if matches!(op, Op::ForAll(_)) {
                "forall"
            } else {
                "exists"
            };
            write!(f, "{word} {} in ", x.name)?;
            write(f, &args[0], Level::Sum)?;
            write!(f, ": ")?;
            write(f, &args[1], Level::Outer)
        }
        Op::Field(i) => {
            write(f, &args[0], Level::Postfix)?;
            write!(f, ".{}", field_name(&args[0], *i))
        }
        Op::Update(i) => {
            write(f, &args[0], Level::Postfix)?;
            write!(f, " {{ {} := ", field_name(&args[0], *i))?;
            write(f, &args[1], Level::Outer)?;
            write!(f, " }}")
        }
        Op::Narrow => write(f, &args[0], Level::Postfix),
        Op::Exists(vars) => {
            write!(f, "exists ")?;
            for (i, v) in vars.iter().enumerate() {
                write!(f, "{}{}: {}", if i > 0 { ", " } else { "" }, v.name, v.sort)?;
            }
            write!(f, " . ")?;
            write(f, &args[0], Level::Outer)
        }
    }
}

fn variant_name(sort: &Sort, variant: u32) -> String {
    match sort {
        Sort::Sum(s) => s
            .variant(variant)
            .map_or_else(|| format!("#{variant}"), |v| v.name.to_string()),
        _ => format!("#{variant}"),
    }
}

fn field_name(record: &Term, i: u32) -> String {
    match record.sort() {
        Sort::Record(r) => r
            .fields
            .get(i as usize)
            .map_or_else(|| format!("#{i}"), |(n, _)| n.to_string()),
        _ => format!("#{i}"),
    }
}
