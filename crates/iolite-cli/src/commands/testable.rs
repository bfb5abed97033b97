//! `iolite testable`: which verdicts testing can reach for a property.

use iolite_formats::javapt;
use iolite_property::{Alphabet, Basis, Determinacy, Reading, Relation, StateSet, Testability};
use serde::Serialize;

use crate::args::property::{BasisFlag, RelationFlag};
use crate::args::workspace;
use crate::output::{Exit, print, print_json};
use iolite::{Error, ModelRef, PropertyReadOptions, ReadOptions};

/// Which verdicts testing can reach for a property, with witnesses, or why there are none
///
/// Exit code 0 when the property is testable (`pass` or `fail` can be had; with --weak a weak verdict
/// will do) for the relation, or without --relation for one of the four; else 1.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Args {
    /// The property: FILE.iol#P, FILE.hoa, FILE.xml (Java-PT), or ltl:FORMULA
    property: ModelRef,
    /// The relation between executions and property [default: all four]
    #[arg(long, value_enum)]
    relation: Option<RelationFlag>,
    /// Weak verdicts count too
    #[arg(long)]
    weak: bool,
    /// Quiescence can be observed, an output lock told from a deadlock
    #[arg(long)]
    quiescence: bool,
    /// When a sequence determines the property
    #[arg(long, value_enum, default_value_t)]
    basis: BasisFlag,
    /// Print what Java-PT prints
    #[arg(long, conflicts_with_all = ["json", "weak", "quiescence", "basis"])]
    transcript: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: PropertyReadOptions,
}

#[derive(Serialize)]
struct Document {
    property: String,
    quiescence: bool,
    basis: &'static str,
    relations: Vec<RelationDocument>,
    /// Whether the readings of determinacy give the same states.
    readings_agree: bool,
    /// Shortest sequences after which they part.
    readings_part_after: Vec<String>,
}

#[derive(Serialize)]
struct RelationDocument {
    relation: &'static str,
    testable: bool,
    testable_with_weak_verdicts: bool,
    verdicts: Vec<VerdictDocument>,
    /// The same question in the other readings.
    testable_by: ReadingsDocument,
}

#[derive(Serialize)]
struct VerdictDocument {
    verdict: String,
    obtainable: bool,
    /// A shortest sequence, `ε` for the empty one.
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<String>,
}

#[derive(Serialize)]
struct ReadingsDocument {
    partition: bool,
    finite_and_infinite: bool,
    infinite: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let property = workspace(&ReadOptions::default()).property(&args.property, &args.read)?;
    let automaton = &property.automaton;
    let wrong =
        |e: iolite_property::AutomatonError| Error::input(format!("{}: {e}", property.name));
    let relations = match args.relation {
        Some(flag) => vec![flag.into()],
        None => Relation::ALL.to_vec(),
    };
    if args.transcript {
        let relation = Relation::from(args.relation.unwrap_or(RelationFlag::Inclusion));
        let file = property.reference.path().display().to_string();
        print(&javapt::transcript(&file, automaton, relation).map_err(wrong)?)?;
        let asked = Testability::new(automaton, relation, false, Basis::Partition);
        return Ok(exit(asked.map_err(wrong)?.is_testable()));
    }
    let sigma = automaton.alphabet();
    let mut documents = Vec::new();
    let mut testable = false;
    for relation in relations {
        let ask = |basis| Testability::new(automaton, relation, args.quiescence, basis);
        let answer = ask(args.basis.into()).map_err(wrong)?;
        let by = |basis| ask(basis).map(|t| t.is_testable()).map_err(wrong);
        let document = RelationDocument {
            relation: relation.name(),
            testable: answer.is_testable(),
            testable_with_weak_verdicts: answer.is_testable_with_weak_verdicts(),
            verdicts: verdicts(&answer, sigma),
            testable_by: ReadingsDocument {
                partition: by(Basis::Partition)?,
                finite_and_infinite: by(Basis::Determinacy(Reading::FiniteAndInfinite))?,
                infinite: by(Basis::Determinacy(Reading::Infinite))?,
            },
        };
        testable |= document.testable || args.weak && document.testable_with_weak_verdicts;
        documents.push(document);
    }
    let s = automaton.structure();
    let reachable = s.reach(s.initial());
    let parting: Vec<String> = Determinacy::parting(automaton)
        .map_err(wrong)?
        .into_iter()
        .filter(|&q| reachable.contains(q))
        .filter_map(|q| s.shortest(s.initial(), &StateSet::of(s.len(), |p| p == q)))
        .map(|word| sigma.show(&word))
        .collect();
    let document = Document {
        property: property.name,
        quiescence: args.quiescence,
        basis: match args.basis {
            BasisFlag::FiniteAndInfinite => "finite-and-infinite",
            BasisFlag::Infinite => "infinite",
            BasisFlag::Partition => "partition",
        },
        relations: documents,
        readings_agree: parting.is_empty(),
        readings_part_after: parting,
    };
    if args.json {
        print_json(&document)?;
    } else {
        print(&tell(&document))?;
    }
    Ok(exit(testable))
}

fn exit(testable: bool) -> Exit {
    if testable { Exit::Holds } else { Exit::Fails }
}

fn verdicts(answer: &Testability, sigma: &Alphabet) -> Vec<VerdictDocument> {
    let row = |o: &iolite_property::Obtainable| VerdictDocument {
        verdict: o.verdict.to_string(),
        obtainable: o.outcome.is_ok(),
        witness: o.outcome.as_ref().ok().map(|w| w.show(sigma)),
        why_not: o.outcome.as_ref().err().map(ToString::to_string),
    };
    answer.verdicts.iter().map(row).collect()
}

fn tell(document: &Document) -> String {
    let mut text = String::new();
    for r in &document.relations {
        let answer = match (r.testable, r.testable_with_weak_verdicts) {
            (true, _) => "testable",
            (false, true) => "not testable, but weak verdicts can be had",
            (false, false) => "not testable",
        };
        let quiet = if document.quiescence {
            " with quiescence"
        } else {
            ""
        };
        text += &format!("{} {}{quiet}: {answer}\n", document.property, r.relation);
        for v in &r.verdicts {
            let outcome = match (&v.witness, &v.why_not) {
                (Some(word), _) => format!("after {word}"),
                (None, why) => format!("no: {}", why.as_deref().unwrap_or("")),
            };
            text += &format!("  {:<10} {outcome}\n", v.verdict);
        }
        let by = &r.testable_by;
        if by.infinite != by.finite_and_infinite || by.partition != by.finite_and_infinite {
            let word = |yes| if yes { "testable" } else { "not testable" };
            text += &format!(
                "  by infinite continuations alone {}, by finite and infinite ones {}, by good and \
                 bad states {}\n",
                word(by.infinite),
                word(by.finite_and_infinite),
                word(by.partition)
            );
        }
    }
    if let Some(first) = document.readings_part_after.first() {
        text += &format!(
            "the readings of determinacy part here, first after {first}: infinite continuations \
             agree where finite ones do not\n"
        );
    }
    text
}
