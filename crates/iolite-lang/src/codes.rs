//! Every diagnostic code with its long explanation.
//!
//! Codes are stable: a code is never given another meaning. 0xx syntax, 1xx names, 2xx types,
//! 3xx observers, purposes and properties, 4xx lowering, 5xx lints, 8xx foreign formats.

use std::fmt;

/// A stable diagnostic code, printed as `IOL104`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(u16);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IOL{:03}", self.0)
    }
}

/// What a code means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The code.
    pub code: Code,
    /// One line.
    pub title: &'static str,
    /// The long form.
    pub text: &'static str,
}

macro_rules! codes {
    ($($number:literal $name:ident $title:literal $text:literal)*) => {
        $(#[doc = $title] pub const $name: Code = Code($number);)*

        /// All codes in order.
        pub const ALL: &[Explanation] = &[
            $(Explanation { code: $name, title: $title, text: $text },)*
        ];
    };
}

/// The explanation of a code written `IOL104` (in any case, or as the bare number).
pub fn explain(code: &str) -> Option<&'static Explanation> {
    let digits = code
        .get(..3)
        .filter(|p| p.eq_ignore_ascii_case("iol"))
        .map_or(code, |_| &code[3..]);
    let number: u16 = digits.parse().ok()?;
    ALL.iter().find(|e| e.code.0 == number)
}

codes! {
    1 BAD_CHARACTER "a character that the language does not know"
        "The character starts no word, number, string or operator. Labels and states with unusual \
         names are written in quotes: `?\"G !TRUE\"`."
    2 UNCLOSED "something is opened and never closed"
        "A brace, a string or a comment is opened and the file, the line or the next declaration \
         comes before it is closed."
    3 BAD_STRING "a string with an unknown escape"
        "Strings know the escapes \\\" \\\\ \\n \\r \\t and \\u{…} with a hexadecimal number."
    4 EXPECTED "something else was expected here"
        "The parser cannot go on with what stands here. It skips to the next transition, state or \
         declaration and goes on there, so that all mistakes of a file are reported at once: names and \
         types, too, of the declarations that have no syntax error."
    5 EXPECTED_DECLARATION "no declaration starts here"
        "At the outermost level a file consists of declarations: `system`, `process`, `observer`, \
         `purpose`, `property`, `traces`, `test`, `enum`, `record`, `type`, `fn`."
    6 NO_DECLARATION "a file without declarations"
        "The file is empty or holds only comments."
    7 KEYWORD_NAME "a keyword as a name"
        "Words that start declarations cannot be bare names. States and labels may have any name in \
         quotes; after `?` and `!` a keyword is a label like any other."
    8 TOO_DEEP "nested too deeply"
        "Parentheses, chains of operators or sorts are nested beyond the limit. The limit keeps \
         every walk over the tree within the stack; no model written by a person comes near it."
    9 REPEATED_MARK "a mark is repeated"
        "A state is marked `initial`, `accept` and so on once."
    10 NOT_ASSIGNABLE "an effect assigns to something that is no variable"
        "The left side of `:=` is a variable, an element `a[i]` or a field `r.x` of one."
    11 CHAINED_COMPARISON "comparisons do not chain"
        "`a < b < c` would compare a truth value with a number. Write `a < b && b < c`."
    12 MIXED_PARALLEL "different parallel operators side by side"
        "`||`, `|||` and `|[A]|` with different sets are not associative with one another, so the \
         order must be written with parentheses."
    13 LTL_NEGATION "`!` in a temporal formula"
        "In temporal formulas over actions `!x` is the output x where the alphabet has it. Negation is \
         written `not`, or `!` with a blank or a parenthesis behind it."
    100 DUPLICATE_NAME "a name is declared twice"
        "Declarations of a file share one space of names, and so do the constants and variables of a \
         system, the parameters of a label, the fields of a record and the values of all enumerations."
    101 UNKNOWN_NAME "no declaration of this name"
        "The name refers to a declaration that the file does not have. Names are case-sensitive."
    102 WRONG_KIND "a name of the wrong kind"
        "The name is declared, but as something else: a process is composed of systems and \
         processes, a property of properties, `for` names a system."
    103 DUPLICATE_STATE "a state is declared twice"
        "The states of one automaton have different names. Transitions of one state are written in \
         one block."
    104 UNKNOWN_STATE "no state of this name"
        "A transition leads to a state, or an acceptance pair names one, that the automaton does not \
         declare."
    105 UNKNOWN_LABEL "no label of this name"
        "A system that declares labels (`input`, `output`, `internal`, `action`) uses only those. \
         Observers, purposes and properties use the labels of their system. A system without any \
         declaration has the labels that occur in it."
    106 LABEL_DIRECTION "a label of another direction"
        "A label of this name exists, but with another mark: inputs are written `?a`, outputs `!x`, \
         internal and plain actions without a mark."
    107 DUPLICATE_LABEL "a label is declared twice"
        "A label is declared once. An input and an output may share a name (`?ping`, `!ping`); an \
         internal or plain action shares its name with no other label."
    108 NO_INITIAL "no initial state"
        "One state is marked: `initial state Idle { … }`."
    109 MANY_INITIAL "several initial states"
        "Exactly one state is marked `initial`. A choice at the start is written as internal steps \
         from one initial state."
    110 MARK_NOT_HERE "a mark that means nothing here"
        "`violate` belongs to observers, `accept` to purposes and sets of traces, `refuse` to \
         purposes, `pass`, `fail` and `inconc` to test cases."
    111 EVENT_NOT_HERE "an event that cannot stand here"
        "`*` and `delta` belong to observers, purposes and properties, which watch a system; a system \
         names its own actions, and its quiescence is computed. Internal actions cannot be watched."
    112 EVENT_ARITY "the wrong number of parameters"
        "An event names each parameter of its label, `_` for one that does not matter, or leaves the \
         parentheses out."
    113 INSTANCE_ARGUMENT "values that do not fit what is called"
        "`Sender(max = 3)` gives values to constants that the system declares with `const`; \
         `Cell(k = 1)` gives one value to each parameter of `process Cell(k: 0..2) = …`, which is no \
         system without them."
    114 PARAMETER_HIDES "a parameter hides a variable"
        "Parameters of events are new names. To say that the parameter has the value of a variable, \
         give it another name and compare the two in the guard: `!MSG(m) [m == x]`."
    200 UNKNOWN_SORT "no sort of this name"
        "Sorts are `bool`, `int`, `string`, ranges `0..7`, arrays `T[]`, and what the file declares \
         with `enum`, `record` and `type`."
    201 SORT_MISMATCH "an expression of the wrong sort"
        "Guards and assumptions are of sort bool; a value has the sort of what it is given to. Ranges \
         and `int` go together, but a number outside of the range does not."
    202 OPERAND_SORT "an operand of the wrong sort"
        "Arithmetic and `<` need integers, `&&`, `||`, `=>` and `!` need bool, `==` compares values of \
         one sort, `++` joins two strings or two arrays."
    203 UNDECLARED "a name that is not declared"
        "Expressions read constants, variables, the parameters that every event of the transition \
         binds, and enumeration values."
    204 EMPTY_RANGE "an empty range"
        "The first number of a range is not above the last: both ends belong to it. The end of a slice \
         does not, so `slice(a, k, k)` is empty and all right, and `slice(a, 2, 1)` is not."
    205 CYCLIC_SORT "a sort contains itself"
        "Values are finite, so a record or alias cannot contain itself. A sort with variants may, since \
         one of them can do without it: `type List = Nil | Cons(head: int, tail: List)`."
    206 RECURSIVE_FUNCTION "a function calls itself"
        "A function may call itself, but not whatever happens: then it has no value anywhere. An `if`, a \
         `match`, `&&` or `||` says where it ends. One that does not end all the same runs out of a bound, \
         and what depends on it is undecided."
    207 UNKNOWN_FUNCTION "no function of this name"
        "Functions are declared with `fn`; built in are abs(n), min(m, n) and max(m, n) of integers; \
         len(x) of a string or an array; of strings prefix(p, s) and suffix(p, s), whether s starts or \
         ends with p, contains(s, part), matches(s, \"regular expression\"), which the whole of s \
         must match, at(s, i), the character at an index, and indexOf(s, part), where part occurs first, \
         or -1; of arrays store(a, i, v), which is a with v at index i; of both slice(a, from, to), \
         the elements from to to - 1. Indices count from 0; one that is out of range is a fault."
    208 ARITY "the wrong number of arguments"
        "A function is called with one argument for each of its parameters."
    209 UNKNOWN_FIELD "no field of this name"
        "The record has no such field, nor has any variant of the sum; the declaration lists the fields."
    210 MISSING_FIELD "a record value lacks a field"
        "The value of a record or a variant gives each of its fields a value."
    211 ASSIGNED_CONSTANT "an assignment to a constant or parameter"
        "Effects change variables only: constants are fixed, and parameters are lost after the event."
    212 ASSIGNED_TWICE "a variable is assigned twice"
        "The assignments of a transition happen at once, so a variable can have one new value only."
    213 NO_FINITE_VALUE "a sort without a finite value"
        "Each variant of the sort contains the sort again, so that a value of it would never end. One \
         variant has to do without: `type List = Nil | Cons(head: int, tail: List)`."
    214 UNKNOWN_VARIANT "no variant of this name"
        "`is` and the cases of `match` name variants of the sort of what they look at; the declaration \
         `type S = A | B(n: int)` lists them. Those of an enumeration are its values."
    215 MATCH_CASES "a match with missing or superfluous cases"
        "Every value has a case of `match`, and every case takes some value that those before it leave. \
         `_ => …` takes all that is left, so nothing comes after it."
    300 NO_VIOLATE "an observer without a violating state"
        "An observer says by reaching a state marked `violate` that the property is broken. Without one \
         it never says anything [SAFE04, def. 5]."
    301 VIOLATE_LEFT "a violating state with transitions"
        "A violation is final: the violating state has no transitions [SAFE04, def. 5]."
    302 VIOLATE_INITIAL "a violating initial state"
        "The property would be broken before anything happened [SAFE04, def. 5]."
    303 VIOLATE_BY_INPUT "an input enters a violating state"
        "Inputs come from the environment, so the system cannot be blamed for one: a violating state is \
         entered by outputs and δ only [SAFE04, def. 5]. Beware that `*` stands for the inputs, too."
    304 NONDETERMINISTIC "two transitions for one action"
        "Observers, purposes and property automata are deterministic: an action leads to one state."
    305 WILDCARD_TWICE "a second `*`"
        "`*` stands for every action that labels no other transition of the state, so there is one of \
         them at most."
    306 NO_ACCEPT "a purpose without an accepting state"
        "A test purpose describes what a test should reach, by a state marked `accept`."
    307 CYCLIC_PROPERTY "a property defined by itself"
        "A Boolean combination of properties cannot contain itself, directly or through others."
    308 TEST_VERDICT "a state of a test case without one verdict"
        "The verdict function of a test case gives each state one verdict [LTS96, def. 3.1]."
    309 TEST_CYCLE "a test case that does not end"
        "A test case has finite behaviour [LTS96, def. 3.1]: no state can be reached from itself."
    310 INCOMPLETE "a state of a Streett automaton without a transition on an action"
        "Streett automata are complete [PROP12, def. 2]: every state has a transition on each \
         action. `* -> q` takes all actions that the state's other transitions do not."
    311 FINITE_LANGUAGE "a language of finite sequences where a property is meant"
        "A property tells finite and infinite sequences. `always R` and its siblings mean the pair of both \
         languages, `always_f R` the finitary one alone."
    312 NO_AUTOMATON "a property without an automaton"
        "The property cannot become a Streett automaton: it speaks of no action, is larger than the \
         constructions follow, or uses what they do not know."
    400 UNGUARDED "recursion without an action"
        "The process reaches a call of itself without doing anything first, as in `P = P [] a; stop`. \
         The rules then give it no first step. Put an action before the call, `i` if nothing else."
    401 OVER_BUDGET "more states than the budget allows"
        "A process that calls itself beside `|||` or `||` has infinitely many states; a composition may \
         have finitely many but too many. Raise the budget, or use a command that works on the fly."
    402 NOT_EXPLICIT "a system with data where an explicit one is needed"
        "Systems with variables, parameters, guards or constants have symbolic semantics. They are no \
         explicit transition systems until their data are finite and unfolded."
    403 GATE_MISMATCH "a directed and a plain action cannot meet"
        "On a gate an output meets an input or an output, an input an input, a plain action a plain \
         one. One side has the label with a direction and the other without."
    404 EACH_RANGE "a bad range of instances"
        "`each k in first..last ||| P(n = k)` makes one instance for each number of the range, at least \
         one and at most 1024. The index may stand in actions, `on(k)`, in values and guards; the ends \
         of the range may depend on parameters and on indices further out."
    405 BAD_TERM "data without a meaning"
        "An expression, a sort or a value that the semantics of data has no meaning for: a value out of \
         its range, a regular expression that is none or is not a literal, an expression that grows too \
         large, an action without a direction in a system with data."
    406 DATA_COMPOSITION "systems with data that do not fit together"
        "Composed systems must agree on the parameters of the actions they share, an instance must give \
         its constants values that the assumptions allow. Actions of processes that carry values meet those \
         of systems with data, and have the sorts that these declare. Where a part has data, `hide`, \
         `rename` and `|[…]|` take an action with all its values, never one instance `on(1)`."
    407 INFINITE_DATA "data that do not unfold"
        "The command needs an explicit system, and a constant, a variable or a parameter takes infinitely \
         or too many values. Give constants values (`Sender(max = 3)`), sorts ranges (`0..7`), guards \
         bounds; or test the system as it is with `iolite test`, which needs no unfolding."
    408 UNFOLDING_BOUND "data that do not unfold within a bound"
        "The command needs an explicit system, and the data are finite but more than the bound on states \
         allows, or the solver gave up on them. Nothing is known then: the exit code is 3. Allow more with \
         `--max-states`, give constants values and sorts smaller ranges, or test the system as it is with \
         `iolite test`, which needs no unfolding."
    409 EXIT_VALUES "exits that do not fit together"
        "`exit(a, b)` hands values on to `>> accept x: int, y: bool in …`: as many, and of these sorts. \
         Alternatives, and parts that run together, exit with values of the same sorts; a part that leaves \
         a value to the others writes `any int`."
    410 UNBOUNDED_PROCESS "a process with data and unboundedly many parts"
        "A process whose data are infinite is made into a system with finitely many places and variables. \
         One that calls itself beside `|||`, before `>>` or `[>`, or within `hide` or `rename` has ever \
         more parts, and so no such form. Let it call itself as the last thing it does, or give its data \
         finite sorts and its calls an end."
    411 HIDDEN_CHOICE "a choice among infinitely many values that no action carries"
        "`choice x: int [] B` chooses a value with the first action of B. Where that action does not carry \
         `x`, the value would be chosen behind the environment's back among infinitely many. Let the action \
         carry it, choose with an internal step, `i; …`, or give `x` a finite sort."
    500 UNREACHABLE_STATE "a state that cannot be reached"
        "No sequence of transitions leads from the initial state here, whatever the guards say. Often a \
         transition is missing, or its target has a wrong name."
    501 UNUSED_LABEL "a label that no transition carries"
        "The label is declared and belongs to the alphabet: an implementation that shows it is compared \
         with a specification that never does. If that is meant, ignore this."
    502 UNKNOWN_GATE "a label that nothing here does"
        "`hide`, `rename` or `|[…]|` names an action that none of the composed processes has, so it has no \
         effect, or blocks what it should not."
    503 SYSTEM_ELSEWHERE "the system is not in this file"
        "An observer, purpose or property may be about a system of another file. Its labels are then \
         checked when the two are brought together."
    504 NEVER_TRUE "a guard that is never true"
        "No values of variables, constants and parameters make the guard true, under the assumptions on \
         constants. The transition can never be taken."
    505 OVERLAPPING_GUARDS "two transitions of one action can both be taken"
        "In one state the guards of two transitions of the same action hold together for the values that \
         are shown, and they lead to different places or have different effects. The system is then \
         nondeterministic, which is allowed; it is often a slip in a bound."
    506 RACE "an input and an output that may cross"
        "Over a pipe or a socket the tester's input may be under way while the system sends an output. \
         The tester then sees the input first, whichever the system did first. Where the two do not \
         commute, testing through queues cannot tell the orders apart: `iolite check --context queues` \
         lists these places with the two traces that look alike. It is a note, not a mistake. If the \
         system answers only when it is asked and each answer is awaited, test it with `--context \
         synchronous`; else let the protocol say which came first, or wait for silence before the input."
    507 GUARD_FAULT "a guard of a property that may have no value"
        "For some values of the parameters the guard has no value, as `10 / x > 1` for 0. A property that meets \
         such an action cannot say what it is, and is `unknown` from there on. `x != 0 && 10 / x > 1` always has \
         a value: what stands on the right is looked at only where it is needed."
    508 GUARD_DOUBT "guards of a property that could not be told apart"
        "The letters of a property are the combinations of its guards that some values meet. The solver did not \
         find out whether this one is possible. It is kept, so verdicts stay right; the class of the property, and \
         what tests can say of it, may be judged too pessimistically."
    509 NEVER_EXITS "what is before `>>` never exits"
        "What follows `>>` begins when what stands before it exits. Nothing there does: `exit` is missing, or \
         a part that runs beside it never exits, and parts that run together exit together."
    800 EMPTY_FILE "the file is empty"
        "The file holds nothing but white space. A truncated download or a failed export often \
         leaves such a file behind."
    801 NOT_UTF8 "text that is not valid UTF-8"
        "Names and labels are UTF-8. The position is that of the first bytes that are not. \
         Convert the file, for example with iconv; guessing an encoding could make two different \
         labels equal."
    810 AUT_HEADER "no .aut header"
        "An Aldebaran file starts with `des (initial, transitions, states)`: the number of the \
         initial state, the number of transitions, the number of states (at least one)."
    811 AUT_LINE "a line of an .aut file is no transition"
        "After the header each line is `(source, label, target)`: two state numbers and between \
         the first and the last comma the label, quoted or not."
    812 AUT_STATE_RANGE "a state number beyond the limit"
        "States are numbered from 0 to 4294967294, and a file may not name a state whose number \
         is out of all proportion to the length of the file."
    813 AUT_TRANSITION_COUNT "the header's number of transitions is wrong"
        "The second number of the header is the number of transition lines. When they differ, the \
         file is cut off or was edited by hand, and judging from part of a model would be wrong."
    814 AUT_STATE_COUNT "the header's number of states is wrong"
        "The third number of the header is the number of states. A transition names a state beyond \
         it, or it is out of all proportion to the file."
    815 AUT_STATE_COUNT_LINT "states that no transition names"
        "The header promises more states than the transitions name. The system is used as the \
         header says; the extra states are unreachable."
    820 DELTA_NOT_LOOP "δ leads to another state"
        "Quiescence (δ) is the observation that no output comes; it leaves a system in the state it \
         is in. Only the determinised suspension automaton of a system has δ-steps between \
         different states; read such a file with δ kept as an action."
    821 DELTA_NOT_QUIESCENT "a δ-loop at a state that is not quiescent"
        "A state is quiescent when it enables no output and no internal action, or when it lies on \
         a cycle of internal actions (livelock). The file draws δ at a state that is not, so the \
         file and Iolite would disagree on what the system may do."
    822 DELTA_MISSING "δ is drawn at some quiescent states only"
        "The file writes quiescence out, but some states that are quiescent have no δ-loop. Iolite \
         computes quiescence itself, so these states count as quiescent all the same."
    830 DOT_SYNTAX "the DOT file cannot be parsed"
        "The reader knows the DOT language: one `digraph { … }` with node, edge and attribute \
         statements, subgraphs, quoted names and comments. The message tells what was expected."
    831 DOT_UNDIRECTED "an undirected graph"
        "Transitions have a direction: write `digraph` and `->`."
    832 DOT_HTML "an HTML label"
        "Labels in angle brackets are markup for Graphviz. The only form that is understood is the \
         automata wiki's `<input<br />output>` of Mealy machines. Write others as quoted strings."
    833 DOT_TOO_BIG "the graph is out of proportion to the file"
        "Subgraphs nested too deeply, or groups of nodes joined by edges that would multiply to far \
         more transitions than the file has bytes."
    834 DOT_NO_STATES "a graph without states"
        "The graph has no node that could be a state."
    835 DOT_NO_INITIAL "no initial state is marked"
        "None of the known marks is there: an edge without label from `__start0`, `start` or a node \
         of shape none or point; an attribute `initial=true` or `init=true`. The first node of the \
         file is taken as the initial state."
    836 DOT_MANY_INITIAL "several initial states are marked"
        "A system has one initial state. Remove the other marks, or put an internal step before them."
    837 DOT_EDGE_LABEL "an edge without a label"
        "Each transition has a label: `?a`, `!x`, `tau`, or for Mealy machines `input/output`."
    838 DOT_START_LABEL "a label on the mark of the initial state"
        "The edge that marks the initial state is no transition; its label is ignored."
    839 MEALY_LABEL "not a Mealy label"
        "An edge of a Mealy machine is labelled `input/output`; the first slash separates them. \
         Neither part is empty."
    840 JSON_SYNTAX "the JSON file cannot be read"
        "The file is not JSON, or not of the documented schema `iolite/lts/1`."
    841 JSON_CONTENT "the JSON system contradicts itself"
        "A transition names a state or a label that the document does not list, the initial state \
         does not exist, or the version of the schema is another one."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_sorted_and_explained() {
        assert!(ALL.is_sorted_by(|a, b| a.code < b.code));
        for e in ALL {
            assert!(e.text.len() > 40 && e.text.ends_with('.'), "{}", e.code);
            assert_eq!(explain(&e.code.to_string()), Some(e));
        }
        assert_eq!(explain("iol810").map(|e| e.code), Some(AUT_HEADER));
        assert_eq!(explain("IOL999"), None);
        assert_eq!(explain("δδ"), None);
    }
}
