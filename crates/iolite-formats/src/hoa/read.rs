//! Reading HOA.

use std::sync::Arc;

use iolite_property::acceptance::{AcceptanceFormula, Colours};
use iolite_property::alphabet::Alphabet;
use iolite_property::omega::OmegaAutomaton;
use iolite_property::state_set::StateSet;
use iolite_property::streett::StreettAutomaton;
use iolite_property::structure::{AutomatonError, DEFAULT_BUDGET, StateId, Structure};

use super::label::{Aliases, Label, expression, label};
use super::lex::{Lexer, Token};
use super::nondeterministic::Nondeterministic;
use super::rows::{Entered, Rows};
use super::{HoaError, acc_name};

/// How propositions are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum HoaReading {
    /// By the header `iolite-alphabet:`, valuations without it.
    #[default]
    AsMarked,
    /// A letter is a valuation.
    Valuations,
    /// A letter is a proposition: exactly one holds at a time.
    Actions,
}

pub(super) const MAX_STATES: usize = 1 << 22;
const MAX_WORK: usize = 1 << 28;
/// Entries of the table of states and letters, which are lists: a gigabyte.
const MAX_ENTRIES: usize = 1 << 25;
/// Parentheses in an acceptance, which is read by recursion.
const MAX_DEPTH: usize = 800;
/// Acceptance sets that are numbered: one set of all of them takes 128 kB.
const MAX_SETS: usize = 1 << 20;
/// Bits of the colours of all states, and of all edges, together: 128 MB.
const MAX_MARKS: usize = 1 << 30;

/// Reads an automaton as a Streett automaton. One that is not deterministic is determinised.
pub fn read(text: &str, reading: HoaReading) -> Result<StreettAutomaton, HoaError> {
    let Parts { omega, finite } = read_parts(text, reading)?;
    let streett = match omega.pairs_on_the_spot() {
        Some(pairs) => {
            StreettAutomaton::new(omega.structure.clone(), pairs)?.with_finite(omega.finite)
        }
        None => omega.to_streett(DEFAULT_BUDGET)?,
    };
    Ok(match finite {
        FiniteWords::Marked => streett,
        FiniteWords::Definition3 => {
            StreettAutomaton::new(streett.structure().clone(), streett.pairs().to_vec())?
        }
        FiniteWords::Induced => iolite_property::finitary_part::induced(&streett)?.reduced(),
    })
}

/// Reads an automaton with its own acceptance, moved to the states. Its finitary part is empty unless the
/// text marks one.
pub fn read_omega(text: &str, reading: HoaReading) -> Result<OmegaAutomaton, HoaError> {
    Ok(read_parts(text, reading)?.omega)
}

#[derive(Default)]
pub(super) struct Header {
    states: Option<usize>,
    pub(super) start: Vec<usize>,
    propositions: Option<Vec<String>>,
    acceptance: Option<AcceptanceFormula>,
    sets: usize,
    /// Colours that stand for the complement of a set: (set, colour).
    complements: Vec<(u32, u32)>,
    aliases: Aliases,
    actions: bool,
    finite: Option<Vec<usize>>,
    /// The words of `acc-name:`.
    acc_name: Option<Vec<String>>,
}

impl Header {
    /// Colours of a set of acceptance sets, with those of complemented sets.
    fn colours(&self, mut set: Colours) -> Colours {
        for &(of, colour) in &self.complements {
            if !set.contains(of) {
                set.insert(colour);
            }
        }
        set
    }

    /// Colours of acceptance sets, of complemented ones, and one for a sink.
    fn colour_count(&self) -> usize {
        self.sets + self.complements.len() + 1
    }
}

#[derive(Default)]
pub(super) struct State {
    seen: bool,
    colours: Colours,
    /// Label (none: by position), target, colours.
    pub(super) edges: Vec<(Option<Label>, usize, Colours)>,
}

/// Where the finite words of an automaton come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FiniteWords {
    /// The text marks them.
    Marked,
    /// The acceptance of its states says them [PROP12, def. 3].
    Definition3,
    /// Its states are not those of the text: the infinite words induce them, as for formulas.
    Induced,
}

struct Parts {
    omega: OmegaAutomaton,
    finite: FiniteWords,
}

fn read_parts(text: &str, reading: HoaReading) -> Result<Parts, HoaError> {
    let mut lexer = Lexer::new(text);
    let mut header = read_header(&mut lexer)?;
    match reading {
        HoaReading::AsMarked => {}
        HoaReading::Valuations => header.actions = false,
        HoaReading::Actions => header.actions = true,
    }
    let states = read_body(&mut lexer, &header, text.len())?;
    build(&lexer, &header, &states)
}

fn read_header(lexer: &mut Lexer<'_>) -> Result<Header, HoaError> {
    match (lexer.next()?, lexer.next()?) {
        (Some(Token::Header(h)), Some(Token::Name(v))) if h == "HOA" && v.starts_with("v1") => {}
        _ => return Err(lexer.error("HOA: v1 expected")),
    }
    let mut header = Header::default();
    loop {
        let name = match lexer.next()? {
            Some(Token::Header(name)) => name,
            Some(Token::Body) => {
                check_acc_name(lexer, &header)?;
                return Ok(header);
            }
            _ => return Err(lexer.error("header expected")),
        };
        match &*name {
            "States" => header.states = Some(lexer.number()?),
            "Start" => {
                let start = lexer.number()?;
                if lexer.eat('&')? {
                    return Err(HoaError::Alternating);
                }
                header.start.push(start);
            }
            "AP" => {
                let count = lexer.number()?;
                let mut names = Vec::new();
                while let Some(Token::Text(_)) = lexer.peek()? {
                    if let Some(Token::Text(name)) = lexer.next()? {
                        names.push(name);
                    }
                }
                if names.len() != count {
                    return Err(lexer.error("wrong number of propositions"));
                }
                let mut sorted = names.clone();
                sorted.sort_unstable();
                if let Some([twice, ..]) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                    return Err(lexer.error(format!("proposition \"{twice}\" twice")));
                }
                if header.propositions.is_some() {
                    return Err(lexer.error("a second header AP"));
                }
                header.propositions = Some(names);
            }
            "Acceptance" => {
                if header.acceptance.is_some() {
                    return Err(lexer.error("a second header Acceptance"));
                }
                header.sets = lexer.number()?;
                if header.sets > MAX_SETS {
                    let sets = header.sets;
                    return Err(HoaError::TooLarge(format!("{sets} acceptance sets")));
                }
                let formula = acceptance(lexer, &mut header, 0)?;
                header.acceptance = Some(formula);
            }
            "Alias" => {
                let Some(Token::Alias(name)) = lexer.next()? else {
                    return Err(lexer.error("alias expected"));
                };
                let value = expression(lexer, &header.aliases, 0)?;
                header.aliases.insert(name, value);
            }
            "acc-name" => {
                let mut words = Vec::new();
                loop {
                    match lexer.peek()? {
                        Some(Token::Name(word)) => words.push(word.clone()),
                        Some(Token::Number(n)) => words.push(n.to_string()),
                        _ => break,
                    }
                    lexer.next()?;
                }
                header.acc_name = Some(words);
            }
            "iolite-alphabet" => {
                header.actions = lexer.next()? == Some(Token::Name("actions".into()));
            }
            "iolite-finite" => {
                let mut list = Vec::new();
                while let Some(Token::Number(_)) = lexer.peek()? {
                    list.push(lexer.number()?);
                }
                header.finite = Some(list);
            }
            other => {
                // A header with a capital letter may change the meaning.
                let known = ["tool", "name", "properties", "controllable-AP"];
                if !known.contains(&other) && other.starts_with(|c: char| c.is_uppercase()) {
                    return Err(lexer.error(format!("unknown header {other}")));
                }
                while !matches!(lexer.peek()?, None | Some(Token::Header(_) | Token::Body)) {
                    lexer.next()?;
                }
            }
        }
    }
}

fn check_acc_name(lexer: &Lexer<'_>, header: &Header) -> Result<(), HoaError> {
    let (Some(words), Some(formula)) = (&header.acc_name, &header.acceptance) else {
        return Ok(());
    };
    match acc_name::fits(words, header.sets, formula, |set| header.colours(set)) {
        Some(false) => Err(lexer.error(format!(
            "acc-name: {} is not what Acceptance: says",
            words.join(" ")
        ))),
        // Other names exist, and the formula alone says what is meant.
        Some(true) | None => Ok(()),
    }
}

fn acceptance(
    lexer: &mut Lexer<'_>,
    header: &mut Header,
    depth: usize,
) -> Result<AcceptanceFormula, HoaError> {
    if depth > MAX_DEPTH {
        return Err(lexer.error("acceptance is nested too deep"));
    }
    let mut alternatives = vec![acceptance_and(lexer, header, depth)?];
    while lexer.eat('|')? {
        alternatives.push(acceptance_and(lexer, header, depth)?);
    }
    Ok(if alternatives.len() == 1 {
        alternatives.remove(0)
    } else {
        AcceptanceFormula::Or(alternatives)
    })
}

fn acceptance_and(
    lexer: &mut Lexer<'_>,
    header: &mut Header,
    depth: usize,
) -> Result<AcceptanceFormula, HoaError> {
    let mut parts = vec![acceptance_atom(lexer, header, depth)?];
    while lexer.eat('&')? {
        parts.push(acceptance_atom(lexer, header, depth)?);
    }
    Ok(if parts.len() == 1 {
        parts.remove(0)
    } else {
        AcceptanceFormula::And(parts)
    })
}

fn acceptance_atom(
    lexer: &mut Lexer<'_>,
    header: &mut Header,
    depth: usize,
) -> Result<AcceptanceFormula, HoaError> {
    if lexer.eat('(')? {
        let inner = acceptance(lexer, header, depth + 1)?;
        lexer.expect(')')?;
        return Ok(inner);
    }
    let Some(Token::Name(name)) = lexer.next()? else {
        return Err(lexer.error("acceptance condition expected"));
    };
    let build = match &*name {
        "t" => return Ok(AcceptanceFormula::True),
        "f" => return Ok(AcceptanceFormula::False),
        "Inf" => AcceptanceFormula::Inf,
        "Fin" => AcceptanceFormula::Fin,
        _ => return Err(lexer.error("Inf, Fin, t or f expected")),
    };
    lexer.expect('(')?;
    let negated = lexer.eat('!')?;
    let set = lexer.number()?;
    lexer.expect(')')?;
    if set >= header.sets {
        return Err(lexer.error(format!("acceptance set {set} does not exist")));
    }
    let colour = if negated {
        let found = header
            .complements
            .iter()
            .find(|(s, _)| *s as usize == set)
            .map(|(_, c)| *c);
        let fresh = (header.sets + header.complements.len()) as u32;
        found.unwrap_or_else(|| {
            header.complements.push((set as u32, fresh));
            fresh
        })
    } else {
        set as u32
    };
    Ok(build(colour))
}

/// What a set takes beyond one of few colours.
fn bits(colours: &Colours) -> usize {
    let few = Colours::default().len_words();
    64 * (colours.len_words() - few)
}

/// `{…}`, if it is there; `left` are the bits that all of them may take still.
fn marks(lexer: &mut Lexer<'_>, header: &Header, left: &mut usize) -> Result<Colours, HoaError> {
    let mut colours = Colours::default();
    if lexer.eat('{')? {
        while !lexer.eat('}')? {
            let set = lexer.number()?;
            if set >= header.sets {
                return Err(lexer.error(format!("acceptance set {set} does not exist")));
            }
            colours.insert(set as u32);
        }
    }
    let rest = left.checked_sub(bits(&colours));
    *left = rest.ok_or_else(|| HoaError::TooLarge("edges in many acceptance sets".into()))?;
    Ok(colours)
}

/// The states of a text of this length. States are numbered without gaps, so none has a larger
/// number than that.
fn read_body(
    lexer: &mut Lexer<'_>,
    header: &Header,
    length: usize,
) -> Result<Vec<State>, HoaError> {
    let mut states: Vec<State> = Vec::new();
    let mut left = MAX_MARKS;
    let grow = |states: &mut Vec<State>, id: usize| -> Result<(), HoaError> {
        if id
            >= header
                .states
                .unwrap_or(MAX_STATES)
                .min(MAX_STATES)
                .min(length)
        {
            return Err(match header.states {
                Some(states) if id >= states => {
                    HoaError::Automaton(AutomatonError::UnknownState(id))
                }
                _ => HoaError::TooLarge(format!("state {id}")),
            });
        }
        if states.len() <= id {
            states.resize_with(id + 1, State::default);
        }
        Ok(())
    };
    loop {
        match lexer.next()? {
            Some(Token::End) => break,
            Some(Token::Header(h)) if h == "State" => {}
            _ => return Err(lexer.error("State: or --END-- expected")),
        }
        let on_state = label(lexer, &header.aliases)?;
        let id = lexer.number()?;
        grow(&mut states, id)?;
        if matches!(lexer.peek()?, Some(Token::Text(_))) {
            lexer.next()?;
        }
        let colours = marks(lexer, header, &mut left)?;
        if std::mem::replace(&mut states[id].seen, true) {
            return Err(lexer.error(format!("state {id} twice")));
        }
        states[id].colours = colours;
        while !matches!(lexer.peek()?, None | Some(Token::Header(_) | Token::End)) {
            let own = label(lexer, &header.aliases)?;
            let to = lexer.number()?;
            if lexer.eat('&')? {
                return Err(HoaError::Alternating);
            }
            grow(&mut states, to)?;
            let colours = marks(lexer, header, &mut left)?;
            states[id]
                .edges
                .push((own.or_else(|| on_state.clone()), to, colours));
        }
    }
    if lexer.next()?.is_some() {
        return Err(HoaError::Several);
    }
    if let Some(id) = states.iter().position(|s| !s.seen) {
        return Err(lexer.error(format!("state {id} is named and not declared")));
    }
    Ok(states)
}

fn build(lexer: &Lexer<'_>, header: &Header, states: &[State]) -> Result<Parts, HoaError> {
    let acceptance = header
        .acceptance
        .clone()
        .ok_or_else(|| lexer.error("header Acceptance is missing"))?;
    if header.start.is_empty() {
        return Err(lexer.error("header Start is missing"));
    }
    let names = header.propositions.clone().unwrap_or_default();
    let alphabet = Arc::new(if header.actions {
        Alphabet::of_names(names.iter().map(String::as_str))?
    } else {
        Alphabet::valuations(&names)?
    });
    let k = alphabet.len();
    let labels = states.iter().flat_map(|s| &s.edges);
    let labels = labels.filter_map(|(label, _, _)| label.as_ref());
    if let Some(needed) = labels.map(|l| l.propositions).max()
        && needed > names.len()
    {
        return Err(lexer.error(format!("proposition {} does not exist", needed - 1)));
    }
    if let Some(&start) = header.start.iter().find(|&&q| q >= states.len()) {
        return Err(AutomatonError::UnknownState(start).into());
    }
    if alphabet.is_wide() {
        let rows = Rows::of_labels(lexer, states, &alphabet)?;
        if let Some(choice) = rows.choice.clone().or_else(|| several_starts(header)) {
            return determinised(header, states, acceptance, alphabet, rows, choice);
        }
        let (structure, meaning) = rows.explored(header, &alphabet)?;
        return finished(header, states, acceptance, structure, &meaning);
    }
    let edges: usize = states
        .iter()
        .flat_map(|s| &s.edges)
        .map(|(label, _, _)| label.as_ref().map_or(1, |l| l.size))
        .fold(0, usize::saturating_add);
    let marks: usize = states
        .iter()
        .flat_map(|s| &s.edges)
        .map(|e| bits(&e.2))
        .sum();
    if marks.saturating_mul(k) > MAX_MARKS {
        return Err(HoaError::TooLarge(format!(
            "edges in many acceptance sets over {k} letters"
        )));
    }
    if edges.saturating_mul(k) > MAX_WORK || states.len().saturating_mul(k) > MAX_ENTRIES {
        return Err(HoaError::TooLarge(format!(
            "{edges} edges over {k} letters"
        )));
    }
    // One row a state: targets and colours; no entry where the automaton has no edge.
    let mut table: Vec<Vec<(u32, Colours)>> = vec![Vec::new(); states.len() * k];
    let mut choice = several_starts(header);
    for (id, state) in states.iter().enumerate() {
        let implicit = !state.edges.is_empty() && state.edges.iter().all(|(g, _, _)| g.is_none());
        if implicit && state.edges.len() != k {
            return Err(lexer.error(format!("state {id} needs {k} edges or labels")));
        }
        for (position, (guard, to, colours)) in state.edges.iter().enumerate() {
            for l in 0..k {
                let takes = match guard {
                    None if implicit => position == l,
                    None => return Err(lexer.error(format!("state {id} mixes labels and none"))),
                    Some(g) if header.actions => g.holds(&|p| p == l),
                    Some(g) => g.holds(&|p| l >> p & 1 == 1),
                };
                if takes {
                    let entry = (*to as u32, colours.clone());
                    let entries = &mut table[id * k + l];
                    if !entries.contains(&entry) {
                        entries.push(entry);
                    }
                    if entries.len() > 1 && choice.is_none() {
                        let letter = alphabet.text(iolite_property::alphabet::Letter::new(l));
                        choice = Some(format!("state {id} on {letter}"));
                    }
                }
            }
        }
    }
    if let Some(choice) = choice {
        let rows = Rows::of_table(&table, k)?;
        return determinised(header, states, acceptance, alphabet, rows, choice);
    }
    let start = header.start[0];
    // A state is (old state, colours of the edge into it); None is the sink for missing edges.
    let (structure, meaning) = Structure::explore(
        alphabet,
        Some((start as u32, Colours::default())),
        MAX_STATES,
        |from: &Entered, l| {
            let next = |q: u32| table[q as usize * k + l.index()].first().cloned();
            Ok::<_, HoaError>(from.as_ref().and_then(|(q, _)| next(*q)))
        },
    )?;
    finished(header, states, acceptance, structure, &meaning)
}

fn several_starts(header: &Header) -> Option<String> {
    (header.start.len() > 1).then(|| "several initial states".to_owned())
}

/// An automaton with choices as a deterministic one.
fn determinised(
    header: &Header,
    states: &[State],
    acceptance: AcceptanceFormula,
    alphabet: Arc<Alphabet>,
    rows: Rows,
    choice: String,
) -> Result<Parts, HoaError> {
    if header.finite.is_some() {
        return Err(HoaError::Nondeterministic(choice));
    }
    let source = Nondeterministic {
        alphabet,
        start: header.start.iter().map(|&q| q as u32).collect(),
        diagrams: rows.diagrams,
        rows: rows.of,
        choices: rows.choices,
        marks: states.iter().map(|s| s.colours.clone()).collect(),
        acceptance,
    };
    Ok(Parts {
        omega: source.determinise(|set| header.colours(set))?,
        finite: FiniteWords::Induced,
    })
}

fn finished(
    header: &Header,
    states: &[State],
    acceptance: AcceptanceFormula,
    structure: Structure,
    meaning: &[Entered],
) -> Result<Parts, HoaError> {
    // Sets on the edge into a state and on the state itself are met together.
    let dead = (header.sets + header.complements.len()) as u32;
    let width = bits(&Colours::of(header.colour_count() as u32));
    if meaning.len().saturating_mul(width) > MAX_MARKS {
        let (states, sets) = (meaning.len(), header.sets);
        return Err(HoaError::TooLarge(format!(
            "{states} states with {sets} acceptance sets"
        )));
    }
    let colours = meaning
        .iter()
        .map(|m| match m {
            None => Colours::of(dead),
            Some((q, edge)) => header.colours(edge.union(&states[*q as usize].colours)),
        })
        .collect();
    let n = structure.len();
    let acceptance = if meaning.contains(&None) {
        AcceptanceFormula::And(vec![acceptance, AcceptanceFormula::Fin(dead)])
    } else {
        acceptance
    };
    let mut listed = vec![false; states.len()];
    for &q in header.finite.as_deref().unwrap_or_default() {
        *listed.get_mut(q).ok_or(AutomatonError::UnknownState(q))? = true;
    }
    let finite = StateSet::of(n, |q: StateId| {
        let entered = meaning[q.index()].as_ref();
        entered.is_some_and(|(old, _)| listed[*old as usize])
    });
    let omega = OmegaAutomaton {
        structure,
        colours,
        acceptance,
        finite,
    };
    let finite = match header.finite {
        Some(_) => FiniteWords::Marked,
        None => FiniteWords::Definition3,
    };
    Ok(Parts { omega, finite })
}
