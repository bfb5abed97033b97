//! Java-PT's XML, in and out, and its transcripts [PROP12, §10, fig. 18 and 19].

mod xml;

use std::fmt::Write as _;
use std::sync::Arc;

use iolite_property::alphabet::AlphabetError;
use iolite_property::class::{Class, syntactic};
use iolite_property::{
    Alphabet, AutomatonError, Basis, Pair, Relation, StateId, StateSet, StreettAutomaton,
    Structure, Testability,
};
use roxmltree::Node;
use thiserror::Error;

/// Why a text is no automaton of Java-PT.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum JavaPtError {
    /// Not XML, or more of it than is read.
    #[error("{message} at byte {at}")]
    Xml {
        /// Byte offset.
        at: usize,
        /// What is wrong.
        message: String,
    },
    /// An element or attribute is missing.
    #[error("<{element}> lacks {what}")]
    Missing {
        /// The element.
        element: String,
        /// What it lacks.
        what: &'static str,
    },
    /// A state or event that is not declared.
    #[error("unknown {kind} {name}")]
    Unknown {
        /// `state` or `event`.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// No state or more than one is marked as initial.
    #[error("{0} initial states, one expected")]
    Initial(usize),
    /// A state twice, or two transitions on one event.
    #[error("{0} is declared twice")]
    Twice(String),
    /// Streett automata are complete.
    #[error("state {state} has no transition on {event}")]
    Incomplete {
        /// The state.
        state: String,
        /// The event.
        event: String,
    },
    /// XML of Java-PT cannot tell another finite acceptance.
    #[error("the finite acceptance is not that of the pairs, which this format cannot express")]
    FiniteAcceptance,
    /// A name that the format cannot carry: pairs list states with commas.
    #[error("state name {0:?} contains a comma")]
    Comma(String),
    /// XML has no way to write most control characters.
    #[error("{0:?} contains a character that XML does not have")]
    Character(String),
    /// No alphabet.
    #[error(transparent)]
    Alphabet(#[from] AlphabetError),
    /// No automaton.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
}

/// An automaton with the text that describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaPtProperty {
    /// The automaton, states named as in the file.
    pub automaton: StreettAutomaton,
    /// The description.
    pub description: String,
}

/// Reads a property.
pub fn read(text: &str) -> Result<JavaPtProperty, JavaPtError> {
    let document = xml::parse(text)?;
    let root = document.root_element();
    let lacks = |element: Node, what| JavaPtError::Missing {
        element: element.tag_name().name().to_owned(),
        what,
    };
    if !root.has_tag_name("StreettAutomaton") {
        return Err(lacks(root, "the name StreettAutomaton"));
    }
    let child = |name: &'static str| all(root, name).next().ok_or_else(|| lacks(root, name));
    let attribute = |e: Node, what| {
        e.attribute(what)
            .map(str::to_owned)
            .ok_or_else(|| lacks(e, what))
    };
    let events = all(child("Alphabet")?, "Event")
        .map(|e| attribute(e, "id"))
        .collect::<Result<Vec<_>, _>>()?;
    let alphabet = Arc::new(Alphabet::of_names(events.iter().map(String::as_str))?);

    let states: Vec<Node> = all(child("States")?, "State").collect();
    let names = states
        .iter()
        .map(|&s| attribute(s, "id"))
        .collect::<Result<Vec<_>, _>>()?;
    let mut index = std::collections::BTreeMap::new();
    for (i, name) in names.iter().enumerate() {
        if index.insert(name.as_str(), i).is_some() {
            return Err(JavaPtError::Twice(format!("state {name}")));
        }
    }
    let state = |name: &str| {
        let unknown = || JavaPtError::Unknown {
            kind: "state",
            name: name.to_owned(),
        };
        index
            .get(name)
            .map(|&i| StateId::new(i))
            .ok_or_else(unknown)
    };
    let initial: Vec<usize> = (0..states.len())
        .filter(|&i| states[i].attribute("initial") == Some("true"))
        .collect();
    let [initial] = initial[..] else {
        return Err(JavaPtError::Initial(initial.len()));
    };

    let mut next = Vec::new();
    for (i, &element) in states.iter().enumerate() {
        let mut row = vec![None; alphabet.len()];
        for t in all(element, "Transition") {
            let event = attribute(t, "event")?;
            let unknown = || JavaPtError::Unknown {
                kind: "event",
                name: event.clone(),
            };
            let letter = alphabet.letter_of_text(&event).ok_or_else(unknown)?;
            if row[letter.index()]
                .replace(state(&attribute(t, "nextState")?)?)
                .is_some()
            {
                return Err(JavaPtError::Twice(format!(
                    "event {event} of state {}",
                    names[i]
                )));
            }
        }
        for (l, to) in row.into_iter().enumerate() {
            next.push(to.ok_or_else(|| JavaPtError::Incomplete {
                state: names[i].clone(),
                event: events[l].clone(),
            })?);
        }
    }
    let structure = Structure::new(alphabet, StateId::new(initial), next)?;

    let list = |text: &str| -> Result<StateSet, JavaPtError> {
        let mut set = StateSet::empty(names.len());
        for name in text.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            set.insert(state(name)?);
        }
        Ok(set)
    };
    let pairs = all(child("AcceptingCondition")?, "Pair")
        .map(|p| {
            let (r, per) = (attribute(p, "R")?, attribute(p, "P")?);
            Ok(Pair {
                recurrent: list(&r)?,
                persistent: list(&per)?,
            })
        })
        .collect::<Result<Vec<_>, JavaPtError>>()?;
    Ok(JavaPtProperty {
        automaton: StreettAutomaton::new(structure, pairs)?.with_names(names),
        description: all(root, "Description")
            .next()
            .map(|d| content(d).trim().to_owned())
            .unwrap_or_default(),
    })
}

/// The elements of a name inside another.
fn all<'a, 'input>(
    element: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    element.children().filter(move |c| c.has_tag_name(name))
}

/// The text inside an element, that of its elements left out.
fn content(element: Node) -> String {
    element
        .children()
        .filter(Node::is_text)
        .filter_map(|t| t.text())
        .collect()
}

/// Writes a property.
pub fn write(property: &JavaPtProperty) -> Result<String, JavaPtError> {
    let a = &property.automaton;
    if !a.follows_definition_3() {
        return Err(JavaPtError::FiniteAcceptance);
    }
    let s = a.structure();
    let sigma = a.alphabet();
    if let Some(q) = s.states().find(|&q| a.name(q).contains(',')) {
        return Err(JavaPtError::Comma(a.name(q)));
    }
    let unwritable = s
        .states()
        .map(|q| a.name(q))
        .chain(sigma.iter().map(|l| sigma.text(l)))
        .chain([property.description.clone()])
        .find(|text| !xml::can_carry(text));
    if let Some(text) = unwritable {
        return Err(JavaPtError::Character(text));
    }
    let e = |text: &str| xml::escape(text);
    let mut out = String::from("<StreettAutomaton>\n  <Alphabet>\n");
    for l in sigma.iter() {
        let _ = writeln!(out, "    <Event id=\"{}\"/>", e(&sigma.text(l)));
    }
    out.push_str("  </Alphabet>\n  <States class=\"tree-set\">\n    <no-comparator/>\n");
    for q in s.states() {
        let initial = if q == s.initial() {
            " initial=\"true\""
        } else {
            ""
        };
        let _ = writeln!(out, "    <State id=\"{}\"{initial}>", e(&a.name(q)));
        for l in sigma.iter() {
            let _ = writeln!(
                out,
                "      <Transition event=\"{}\" nextState=\"{}\"/>",
                e(&sigma.text(l)),
                e(&a.name(s.step(q, l)))
            );
        }
        out.push_str("    </State>\n");
    }
    let _ = writeln!(
        out,
        "  </States>\n  <Description>{}</Description>",
        e(&property.description)
    );
    out.push_str("  <AcceptingCondition>\n");
    for p in a.pairs() {
        let list = |set: &StateSet| {
            set.iter()
                .map(|q| e(&a.name(q)))
                .collect::<Vec<_>>()
                .join(",")
        };
        let _ = writeln!(
            out,
            "    <Pair P=\"{}\" R=\"{}\"/>",
            list(&p.persistent),
            list(&p.recurrent)
        );
    }
    out.push_str("  </AcceptingCondition>\n</StreettAutomaton>\n");
    Ok(out)
}

/// The relation behind Java-PT's option `-it R`. Only 1 is explained (§10.2); the others follow
/// the numbering of the introduction.
pub fn relation(number: u32) -> Option<Relation> {
    match number {
        1 => Some(Relation::Inclusion),
        2 => Some(Relation::Implementation),
        3 => Some(Relation::Equality),
        4 => Some(Relation::NonDisjointness),
        _ => None,
    }
}

/// What Java-PT prints for `-in FILE -dc -it R` [PROP12, fig. 19].
pub fn transcript(
    file: &str,
    automaton: &StreettAutomaton,
    relation: Relation,
) -> Result<String, AutomatonError> {
    let class = match syntactic(automaton) {
        Class::SafetyAndGuarantee | Class::Safety => "safety",
        Class::Guarantee => "guarantee",
        Class::Obligation(_) => "obligation",
        Class::Response => "response",
        Class::Persistence => "persistence",
        Class::Reactivity(_) => "reactivity",
    };
    let testable = Testability::new(automaton, relation, false, Basis::Partition)?.is_testable();
    let stars = "*".repeat(BANNER);
    Ok(format!(
        "{stars}\n* Java-PT: Properties and their Testability with Java\n{stars}\n\n\
         Try to load file {file}...ok\n\
         Property of file {file} is a {class} property.\n\
         Property of file {file} is Testable: {testable}\n"
    ))
}

/// The width of the banner in figure 19.
const BANNER: usize = 5;
