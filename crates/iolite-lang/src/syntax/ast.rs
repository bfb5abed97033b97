//! The tree of an `.iol` file. Every node knows its place.

use iolite_lts::LabelKind;

use crate::{LineIndex, Span};

/// A file: declarations and, beside the tree, comments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// In the order of the file.
    pub items: Vec<Item>,
    /// In the order of the file.
    pub comments: Vec<Comment>,
    /// Where the lines start.
    pub lines: LineIndex,
}

/// A comment with its marks (`// …` or `/* … */`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The comment as written.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A name at a place. Quotes are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name itself.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// `system S { … }`, `observer`, `purpose`, `test`, `traces F { … }`.
    Machine(Machine),
    /// `process P over {a, b} = …` or `system S = …`.
    Definition(Definition),
    /// `traces F = { ?a.!x, … }`.
    Traces(TraceList),
    /// `property P … = …`.
    Property(Property),
    /// `enum E { A, B }`.
    Enum(Enum),
    /// `record R { x: int }`.
    Record(Record),
    /// `type T = int[]`.
    Alias(Alias),
    /// `fn f(x: int): int = x + 1`.
    Function(Function),
}

impl Item {
    /// The declared name.
    pub fn name(&self) -> &Name {
        match self {
            Self::Machine(m) => &m.name,
            Self::Definition(d) => &d.name,
            Self::Traces(t) => &t.name,
            Self::Property(p) => &p.name,
            Self::Enum(e) => &e.name,
            Self::Record(r) => &r.name,
            Self::Alias(a) => &a.name,
            Self::Function(f) => &f.name,
        }
    }

    /// The whole declaration.
    pub fn span(&self) -> Span {
        match self {
            Self::Machine(m) => m.span,
            Self::Definition(d) => d.span,
            Self::Traces(t) => t.span,
            Self::Property(p) => p.span,
            Self::Enum(e) => e.span,
            Self::Record(r) => r.span,
            Self::Alias(a) => a.span,
            Self::Function(f) => f.span,
        }
    }

    /// The word that starts the declaration.
    pub fn keyword(&self) -> &'static str {
        match self {
            Self::Machine(m) => m.role.keyword(),
            Self::Definition(d) if d.is_system => "system",
            Self::Definition(_) => "process",
            Self::Traces(_) => "traces",
            Self::Property(_) => "property",
            Self::Enum(_) => "enum",
            Self::Record(_) => "record",
            Self::Alias(_) => "type",
            Self::Function(_) => "fn",
        }
    }
}

/// What a machine is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A model.
    System,
    /// A safety property [Rusu et al. 2004, def. 5].
    Observer,
    /// A test purpose.
    Purpose,
    /// A test case [Tretmans 1996, def. 3.1].
    Test,
    /// A set of traces, for `ioconf_F`.
    Traces,
}

impl Role {
    /// The word that starts the declaration.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Observer => "observer",
            Self::Purpose => "purpose",
            Self::Test => "test",
            Self::Traces => "traces",
        }
    }
}

/// States and transitions, possibly with data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// What it is for.
    pub role: Role,
    /// Its name.
    pub name: Name,
    /// The system after `for`.
    pub of: Option<Name>,
    /// Declarations and states, in the order of the file.
    pub members: Vec<Member>,
    /// The whole declaration.
    pub span: Span,
}

impl Machine {
    /// The states in order.
    pub fn states(&self) -> impl Iterator<Item = &State> + Clone {
        self.members.iter().filter_map(|m| match m {
            Member::State(s) => Some(s),
            _ => None,
        })
    }

    /// The declared labels with their kinds, in order.
    pub fn labels(&self) -> impl Iterator<Item = (LabelKind, &LabelDecl)> {
        self.members
            .iter()
            .filter_map(|m| match m {
                Member::Labels { kind, labels, .. } => Some((*kind, labels)),
                _ => None,
            })
            .flat_map(|(kind, labels)| labels.iter().map(move |l| (kind, l)))
    }

    /// The constants and the variables, in order; `true` for constants.
    pub fn bindings(&self) -> impl Iterator<Item = (bool, &Binding)> {
        self.members
            .iter()
            .filter_map(|m| match m {
                Member::Const(b) => Some((true, b)),
                Member::Var(b) => Some((false, b)),
                _ => None,
            })
            .flat_map(|(constant, b)| b.iter().map(move |b| (constant, b)))
    }

    /// Whether there are constants, variables, parameters, guards or effects.
    pub fn has_data(&self) -> bool {
        self.bindings().next().is_some()
            || self.labels().any(|(_, l)| !l.params.is_empty())
            || self
                .members
                .iter()
                .any(|m| matches!(m, Member::Assume { .. }))
            || self
                .states()
                .flat_map(|s| &s.transitions)
                .any(|t| t.guard.is_some() || !t.effects.is_empty())
    }
}

/// A part of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// `const max: int`.
    Const(Vec<Binding>),
    /// `var rn: int = 0`.
    Var(Vec<Binding>),
    /// `assume max >= 1`.
    Assume {
        /// The condition.
        condition: Expr,
        /// From the keyword on.
        span: Span,
    },
    /// `input REQ(l: int), ACK` and its siblings.
    Labels {
        /// Which of them.
        kind: LabelKind,
        /// The labels.
        labels: Vec<LabelDecl>,
        /// From the keyword on.
        span: Span,
    },
    /// `initial state Idle { … }`.
    State(State),
}

impl Member {
    /// Where the member stands.
    pub fn span(&self) -> Span {
        match self {
            Self::Const(b) | Self::Var(b) => b
                .first()
                .map_or(Span::default(), |first| first.span.to(b[b.len() - 1].span)),
            Self::Assume { span, .. } | Self::Labels { span, .. } => *span,
            Self::State(s) => s.span,
        }
    }
}

/// A constant or variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Its name.
    pub name: Name,
    /// Its sort.
    pub sort: Sort,
    /// Its value, or initial value.
    pub value: Option<Expr>,
    /// All of it.
    pub span: Span,
}

/// A declared label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelDecl {
    /// Its bare name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
}

/// A parameter or field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// Its sort.
    pub sort: Sort,
}

/// What a state is marked as, beside its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// s₀.
    Initial,
    /// A violating state of an observer.
    Violate,
    /// An accepting state of a purpose, or of a set of traces.
    Accept,
    /// A refusing state of a purpose.
    Refuse,
    /// A pass state of a test case.
    Pass,
    /// A fail state of a test case.
    Fail,
    /// An inconclusive state of a test case.
    Inconc,
}

impl Mark {
    /// The word in front of `state`.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Violate => "violate",
            Self::Accept => "accept",
            Self::Refuse => "refuse",
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconc => "inconc",
        }
    }
}

/// A state with its transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its name.
    pub name: Name,
    /// Its marks, in order, without repetition.
    pub marks: Vec<Mark>,
    /// Its transitions, in order.
    pub transitions: Vec<Transition>,
    /// All of it.
    pub span: Span,
}

/// `events [guard] / effects -> target`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// At least one.
    pub events: Vec<Event>,
    /// The guard.
    pub guard: Option<Expr>,
    /// Parallel assignments.
    pub effects: Vec<Effect>,
    /// The state it leads to.
    pub target: Name,
    /// All of it.
    pub span: Span,
}

/// What a transition or a prefix waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Which.
    pub kind: EventKind,
    /// Where.
    pub span: Span,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// `?a`, `!x(p, _)`, `plain`.
    Label {
        /// Input, output, or undirected for a bare name, which may be a declared internal action.
        kind: LabelKind,
        /// The bare name.
        name: Name,
        /// Names for the parameters, `_` for one that does not matter; `None` without parentheses.
        args: Option<Vec<Name>>,
    },
    /// `i`.
    Tau,
    /// `delta`.
    Delta,
    /// `*`: every action that labels no other transition of the state.
    Any,
}

/// `place := value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// A variable, or an element or a field of one.
    pub place: Expr,
    /// The new value.
    pub value: Expr,
}

/// `process P over {a, b} = B` or `system S = B`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Whether it is written `system`.
    pub is_system: bool,
    /// Its name.
    pub name: Name,
    /// The alphabet after `over`; without it, what occurs.
    pub over: Option<Vec<Event>>,
    /// What it does.
    pub body: Behaviour,
    /// All of it.
    pub span: Span,
}

/// A behaviour expression [Tretmans 1996, def. 2.4].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// Which.
    pub kind: BehaviourKind,
    /// Where.
    pub span: Span,
}

/// The kinds of behaviour expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BehaviourKind {
    /// `stop`.
    Stop,
    /// `a; b; B`.
    Prefix {
        /// At least one.
        events: Vec<Event>,
        /// What follows; itself no prefix.
        rest: Box<Behaviour>,
    },
    /// `B [] B`, at least two.
    Choice(Vec<Behaviour>),
    /// `B || B`, at least two.
    Parallel {
        /// How they run together.
        sync: Sync,
        /// The parts.
        parts: Vec<Behaviour>,
    },
    /// `hide a, b in B`.
    Hide {
        /// Bare names.
        labels: Vec<Name>,
        /// What is hidden in.
        body: Box<Behaviour>,
    },
    /// `rename a -> b in B`.
    Rename {
        /// Bare names, old and new.
        pairs: Vec<(Name, Name)>,
        /// What is renamed in.
        body: Box<Behaviour>,
    },
    /// `P` or `Sender(max = 3)`.
    Call {
        /// A process or system.
        name: Name,
        /// Values of its constants.
        args: Vec<(Name, Expr)>,
    },
    /// `each k in 0..2 ||| Cell(id = k)`.
    Each {
        /// The index.
        index: Name,
        /// First and last index.
        range: (Box<Expr>, Box<Expr>),
        /// How the instances run together.
        sync: Sync,
        /// One instance.
        body: Box<Behaviour>,
    },
    /// What could not be parsed.
    Error,
}

/// How processes run together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sync {
    /// `||`: on all visible actions.
    All,
    /// `|||`: on none.
    Interleave,
    /// `|[A]|`: on the actions of A, bare names.
    On(Vec<Name>),
}

/// A finite set of traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceList {
    /// Its name.
    pub name: Name,
    /// The system after `for`.
    pub of: Option<Name>,
    /// The traces; an empty one is written `eps`.
    pub traces: Vec<Trace>,
    /// All of it.
    pub span: Span,
}

/// `?a.!x.delta`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The actions.
    pub events: Vec<Event>,
    /// Where.
    pub span: Span,
}

/// `property P for S over {a, b} = …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub name: Name,
    /// The system after `for`.
    pub of: Option<Name>,
    /// The alphabet after `over`.
    pub over: Option<Vec<Event>>,
    /// What it says.
    pub body: Formula,
    /// All of it.
    pub span: Span,
}

/// A property in one of the three views, or a Boolean combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// Which.
    pub kind: FormulaKind,
    /// Where.
    pub span: Span,
}

/// The kinds of formulas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormulaKind {
    /// `not F`.
    Not(Box<Formula>),
    /// `F and F`, at least two.
    And(Vec<Formula>),
    /// `F or F`, at least two.
    Or(Vec<Formula>),
    /// `ltl …`, the logical view.
    Ltl(Ltl),
    /// `always R` and its siblings, the language view.
    Language {
        /// A, E, R or P.
        quantifier: Quantifier,
        /// Whether it is the finitary partner, `A_f` and so on.
        finitary: bool,
        /// The regular language.
        regex: Regex,
    },
    /// `streett { … }`, the automata view.
    Streett(Streett),
    /// Another property.
    Name(Name),
    /// What could not be parsed.
    Error,
}

/// Which prefixes belong to the language [Falcone et al. 2012, §3].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// A: all of them.
    Always,
    /// E: some of them.
    Eventually,
    /// R: infinitely many of them.
    Recurrently,
    /// P: all but finitely many of them.
    Persistently,
}

impl Quantifier {
    /// The word of the language.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Eventually => "eventually",
            Self::Recurrently => "recurrently",
            Self::Persistently => "persistently",
        }
    }
}

/// A formula of linear temporal logic over actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ltl {
    /// Which.
    pub kind: LtlKind,
    /// Where.
    pub span: Span,
}

/// The kinds of temporal formulas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LtlKind {
    /// `true`, `false`.
    Constant(bool),
    /// The current action is this one.
    Atom(Event),
    /// A unary operator.
    Unary(LtlUnary, Box<Ltl>),
    /// A binary operator.
    Binary(LtlBinary, Box<Ltl>, Box<Ltl>),
    /// What could not be parsed.
    Error,
}

/// Unary temporal operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LtlUnary {
    /// `not`.
    Not,
    /// `X`: next.
    Next,
    /// `G`: always from now on.
    Globally,
    /// `F`: now or later.
    Finally,
    /// `Y`: yesterday.
    Yesterday,
    /// `O`: once, now or before.
    Once,
    /// `H`: historically, always so far.
    Historically,
}

/// Binary temporal operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LtlBinary {
    /// `and`.
    And,
    /// `or`.
    Or,
    /// `->`.
    Implies,
    /// `<->`.
    Equivalent,
    /// `U`: until.
    Until,
    /// `W`: weak until.
    WeakUntil,
    /// `R`: release.
    Release,
    /// `S`: since.
    Since,
}

/// A regular expression over actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regex {
    /// Which.
    pub kind: RegexKind,
    /// Where.
    pub span: Span,
}

/// The kinds of regular expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegexKind {
    /// `eps`: the empty word.
    Empty,
    /// One action.
    Atom(Event),
    /// `.`: any action.
    Any,
    /// One after the other, at least two.
    Sequence(Vec<Regex>),
    /// `|`, at least two.
    Alternatives(Vec<Regex>),
    /// `*`.
    Star(Box<Regex>),
    /// `+`.
    Plus(Box<Regex>),
    /// `@F`: a declared set of traces.
    Traces(Name),
    /// What could not be parsed.
    Error,
}

/// A Streett automaton [Falcone et al. 2012, def. 2].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streett {
    /// Its states.
    pub states: Vec<State>,
    /// Its acceptance pairs.
    pub pairs: Vec<StreettPair>,
}

/// `pair recurrent {…} persistent {…}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreettPair {
    /// R.
    pub recurrent: Vec<Name>,
    /// P.
    pub persistent: Vec<Name>,
    /// Where.
    pub span: Span,
}

/// An enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// Its name.
    pub name: Name,
    /// Its values.
    pub values: Vec<Name>,
    /// All of it.
    pub span: Span,
}

/// A record sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its name.
    pub name: Name,
    /// Its fields.
    pub fields: Vec<Param>,
    /// All of it.
    pub span: Span,
}

/// Another name for a sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The name.
    pub name: Name,
    /// The sort.
    pub sort: Sort,
    /// All of it.
    pub span: Span,
}

/// A function without recursion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The sort of its value.
    pub result: Sort,
    /// Its value.
    pub body: Expr,
    /// All of it.
    pub span: Span,
}

/// A sort as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sort {
    /// Which.
    pub kind: SortKind,
    /// Where.
    pub span: Span,
}

/// The kinds of sorts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortKind {
    /// `bool`.
    Bool,
    /// `int`, unbounded.
    Int,
    /// `string`.
    String,
    /// `0..7`, both ends included.
    Range(Box<Expr>, Box<Expr>),
    /// An enumeration, a record or an alias.
    Name(String),
    /// `T[]`.
    Array(Box<Sort>),
    /// What could not be parsed.
    Error,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// Which.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// Decimal digits; integers are unbounded.
    Int(String),
    /// `true`, `false`.
    Bool(bool),
    /// `"text"`.
    Str(String),
    /// A variable, constant, parameter or enumeration value.
    Name(String),
    /// A unary operator.
    Unary(UnaryOp, Box<Expr>),
    /// A binary operator.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `f(x, y)`.
    Call(Name, Vec<Expr>),
    /// `a[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `r.x`.
    Field(Box<Expr>, Name),
    /// `[1, 2, 3]`.
    Array(Vec<Expr>),
    /// `Point { x = 1, y = 2 }`.
    Record(Name, Vec<(Name, Expr)>),
    /// What could not be parsed.
    Error,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`.
    Neg,
    /// `!`.
    Not,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `=>`.
    Implies,
    /// `||`.
    Or,
    /// `&&`.
    And,
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `++`: strings or arrays joined.
    Concat,
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`: SMT-LIB's `div`.
    Div,
    /// `%`: SMT-LIB's `mod`.
    Mod,
}

impl BinaryOp {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Implies,
        Self::Or,
        Self::And,
        Self::Eq,
        Self::Ne,
        Self::Lt,
        Self::Le,
        Self::Gt,
        Self::Ge,
        Self::Concat,
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Mod,
    ];

    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Implies => "=>",
            Self::Or => "||",
            Self::And => "&&",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Concat => "++",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Mod => "%",
        }
    }

    /// How tightly it binds; a higher number is tighter.
    pub fn precedence(self) -> u8 {
        match self {
            Self::Implies => 1,
            Self::Or => 2,
            Self::And => 3,
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge => 4,
            Self::Concat => 5,
            Self::Add | Self::Sub => 6,
            Self::Mul | Self::Div | Self::Mod => 7,
        }
    }

    /// Whether `a op b op c` is `a op (b op c)`.
    pub fn is_right_associative(self) -> bool {
        self == Self::Implies
    }

    /// Whether it compares, and so does not chain.
    pub fn is_comparison(self) -> bool {
        self.precedence() == 4
    }
}
