//! The search: Boolean conflicts, bounds, branch and bound, the Omega test, strings, and lemmas
//! for what is not linear.

use std::time::Instant;

use super::nonlinear::{self, Allowance};
use super::omega;
use super::problem::{Definition, Lin, Problem, Str};
use super::sat::{BoolVar, Lit};
use super::simplex::{Because, Core, IntVar, Integral};
use super::words::{self, WordAssignment};
use crate::Int;
use crate::linear::Linear;

/// What the search may spend before it gives up. Counted in steps, so that the answer does not
/// depend on the machine; the deadline is the emergency exit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub(super) conflicts: u64,
    pub(super) pivots: u64,
    pub(super) lemmas: u32,
    pub(super) branches: u32,
    /// Steps of the Omega test, all calls together, and of one call.
    pub(super) omega: u64,
    pub(super) omega_call: u64,
    /// Coefficients that the simplex looks at, and clauses that the SAT core does.
    pub(super) coefficients: u64,
    pub(super) visits: u64,
    /// Nodes that derivatives look at to make the automata of texts, all rounds together.
    pub(super) automata: u64,
    /// Candidates for factors and divisors.
    pub(super) candidates: u32,
    pub(super) deadline: Option<Instant>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            conflicts: 50_000,
            pivots: 500_000,
            lemmas: 400,
            branches: 60,
            omega: 5_000_000,
            omega_call: 2_000_000,
            coefficients: 3_000_000,
            visits: 50_000_000,
            automata: 2_000_000,
            candidates: 6_000,
            deadline: None,
        }
    }
}

impl Budget {
    /// So many thousandths of it, with a time at which it ends in any case.
    pub(super) fn part(self, per_mille: u64, deadline: Option<Instant>) -> Self {
        let of = |n: u64| (n * per_mille).div_ceil(1_000);
        let small = |n: u32| u32::try_from(of(n.into())).unwrap_or(n);
        Self {
            conflicts: of(self.conflicts),
            pivots: of(self.pivots),
            lemmas: small(self.lemmas),
            branches: self.branches,
            omega: of(self.omega),
            omega_call: of(self.omega_call),
            coefficients: of(self.coefficients),
            visits: of(self.visits),
            automata: of(self.automata),
            candidates: small(self.candidates),
            deadline,
        }
    }
}

/// Assignments that may be passed over because they are too hard.
const MAX_GIVEN_UP: u32 = 10;

/// Machine words of the numbers in lemmas.
const MOST_WORDS: u64 = 16;

/// What a candidate and a round of lemmas count for, in conflicts and pivots.
const CANDIDATE: u64 = 5;
const LEMMA: u64 = 100;
/// Steps of the Omega test, and of automata and their words, that count for one.
const OMEGA: u64 = 64;
const AUTOMATA: u64 = 16;
/// Assignments that candidates for factors may refute one by one.
const MAX_REFUTED: u32 = 12;
/// Parts of a contradiction that are tried to be left out, and what each try may cost.
const MAX_TRIES: u32 = 40;
const TRY_OMEGA: u64 = 20_000;
const TRY_CANDIDATES: u32 = 50;

/// How the search ended.
pub(super) enum Outcome {
    Sat(Assignment),
    Unsat,
    Unknown(&'static str),
}

/// Values for what the problem is made of.
pub(super) struct Assignment {
    ints: Vec<Int>,
    bools: Vec<bool>,
    pub(super) words: WordAssignment,
}

impl Assignment {
    pub(super) fn bool(&self, l: Lit) -> bool {
        self.bools[l.var().index()] != l.is_negative()
    }

    pub(super) fn int(&self, l: &Lin) -> Int {
        l.terms.iter().fold(l.constant.clone(), |sum, (x, a)| {
            &sum + &(a * &self.ints[x.0])
        })
    }

    pub(super) fn text<'a>(&'a self, s: &'a Str) -> &'a str {
        match s {
            Str::Lit(text) => text,
            Str::Var(v) => self.words.get(*v),
        }
    }
}

pub(super) struct Search<'a> {
    problem: &'a mut Problem,
    /// The literals the simplex knows, and where its trail was before each.
    synced: Vec<(Lit, usize)>,
    /// What may be spent, as it was at first and as it is.
    whole: Budget,
    budget: Budget,
    allowance: Allowance,
    /// Assignments that candidates refuted.
    refuted: u32,
    /// Rounds of lemmas.
    lemmas: u32,
}

enum Final {
    Model(Assignment),
    Conflict(Vec<Lit>),
    Lemmas,
    /// This assignment is too hard; another one may not be.
    GiveUp,
    Unknown(&'static str),
}

impl<'a> Search<'a> {
    pub(super) fn new(problem: &'a mut Problem, budget: Budget) -> Self {
        problem.simplex.set_most_coefficients(budget.coefficients);
        Self {
            problem,
            synced: Vec::new(),
            whole: budget,
            budget,
            allowance: Allowance {
                nodes: budget.candidates,
                omega: budget.omega,
                deadline: budget.deadline,
            },
            refuted: 0,
            lemmas: 0,
        }
    }

    /// Searches, and adds the steps that neither SAT core nor simplex count.
    pub(super) fn run(mut self, work: &mut u64) -> Outcome {
        let outcome = self.search();
        let candidates = self.budget.candidates - self.allowance.nodes;
        let omega =
            (self.whole.omega - self.budget.omega) + (self.whole.omega - self.allowance.omega);
        let automata = (self.whole.automata - self.budget.automata) / AUTOMATA;
        *work += u64::from(candidates) * CANDIDATE + u64::from(self.lemmas) * LEMMA;
        *work += omega / OMEGA + automata;
        outcome
    }

    fn search(&mut self) -> Outcome {
        if let Err(core) = self.problem.simplex.check() {
            debug_assert!(core.iter().all(|b| *b == Because::Axiom));
            return Outcome::Unsat;
        }
        let mut given_up = 0;
        let mut steps = 0u32;
        loop {
            if self.problem.sat.is_unsat() {
                // Clauses against assignments that were too hard prove nothing.
                return if given_up == 0 {
                    Outcome::Unsat
                } else {
                    Outcome::Unknown("integer budget exhausted")
                };
            }
            steps = steps.wrapping_add(1);
            if self.is_exhausted() {
                return Outcome::Unknown("search budget exhausted");
            }
            if steps.is_multiple_of(16) && self.budget.deadline.is_some_and(|d| Instant::now() >= d)
            {
                return Outcome::Unknown("deadline passed");
            }
            if let Some(conflict) = self.propagate() {
                self.problem.sat.resolve(conflict);
                continue;
            }
            // The simplex may have ended early.
            if self.is_exhausted() {
                continue;
            }
            // A bound that never had a value is taken as the simplex has its variable now, so that
            // the decision costs no pivot.
            let (atoms, simplex) = (&self.problem.atoms, &self.problem.simplex);
            let wish = |v: BoolVar| match &atoms[v.index()] {
                Some((x, n)) => simplex.is_at_most(*x, n),
                None => false,
            };
            if self.problem.sat.decide(wish) {
                continue;
            }
            match self.final_check() {
                Final::Model(model) => return Outcome::Sat(model),
                Final::Conflict(clause) => self.problem.sat.resolve(clause),
                Final::GiveUp if given_up < MAX_GIVEN_UP => {
                    given_up += 1;
                    let clause = self.against_bounds();
                    self.problem.sat.resolve(clause);
                }
                Final::GiveUp => return Outcome::Unknown("integer budget exhausted"),
                Final::Lemmas => {
                    self.lemmas += 1;
                    if self.lemmas > self.budget.lemmas {
                        return Outcome::Unknown("too many lemmas for what is not linear");
                    }
                }
                Final::Unknown(why) => return Outcome::Unknown(why),
            }
        }
    }

    fn is_exhausted(&self) -> bool {
        let Problem { sat, simplex, .. } = &*self.problem;
        sat.conflicts > self.budget.conflicts
            || sat.visits > self.budget.visits
            || simplex.pivots > self.budget.pivots
            || simplex.is_exhausted()
    }

    fn clause_of(core: &Core) -> Vec<Lit> {
        let mut clause: Vec<Lit> = core
            .iter()
            .filter_map(|b| {
                if let Because::Lit(l) = b {
                    Some(!*l)
                } else {
                    None
                }
            })
            .collect();
        clause.sort_unstable();
        clause.dedup();
        clause
    }

    fn propagate(&mut self) -> Option<Vec<Lit>> {
        if let Some(conflict) = self.problem.sat.propagate() {
            return Some(conflict);
        }
        let same = self.problem.sat.kept.min(self.synced.len());
        self.problem.sat.kept = self.problem.sat.trail().len();
        if let Some(&(_, mark)) = self.synced.get(same) {
            self.problem.simplex.undo_to(mark);
            self.synced.truncate(same);
        }
        let mut changed = false;
        for i in same..self.problem.sat.trail().len() {
            let l = self.problem.sat.trail()[i];
            let simplex = &mut self.problem.simplex;
            self.synced.push((l, simplex.mark()));
            let Some((x, n)) = &self.problem.atoms[l.var().index()] else {
                continue;
            };
            changed = true;
            let asserted = if l.is_negative() {
                simplex.assert_lower(*x, n + &Int::ONE, Because::Lit(l))
            } else {
                simplex.assert_upper(*x, n.clone(), Because::Lit(l))
            };
            if let Err(core) = asserted {
                return Some(Self::clause_of(&core));
            }
        }
        if changed && let Err(core) = self.problem.simplex.check() {
            return Some(Self::clause_of(&core));
        }
        None
    }

    fn final_check(&mut self) -> Final {
        let ints = match self.integers().and_then(|ints| self.nonlinear(ints)) {
            Ok(ints) => ints,
            Err(result) => return result,
        };
        let mut bools = vec![false; self.problem.atoms.len()];
        for l in self.problem.sat.trail() {
            bools[l.var().index()] = !l.is_negative();
        }
        let mut model = Assignment {
            ints,
            bools,
            words: WordAssignment::default(),
        };
        match words::solve(self.problem, &model, &mut self.budget.automata) {
            words::Outcome::WordAssignment(found) => model.words = found,
            words::Outcome::Lemma(clause) => {
                self.problem.clause(clause);
                return Final::Lemmas;
            }
            words::Outcome::Unknown(why) => return Final::Unknown(why),
        }
        // Lemmas at a point hold its square, so that numbers that are long get longer with each round.
        let long = model.ints.iter().any(|n| n.words() > MOST_WORDS);
        if self.refine(&model) {
            if long {
                Final::Unknown("numbers grow too long")
            } else {
                Final::Lemmas
            }
        } else {
            Final::Model(model)
        }
    }

    fn integers(&mut self) -> Result<Vec<Int>, Final> {
        // A short search for the common case, the complete procedure, and where that is too
        // expensive a long search.
        self.branch_and_bound(self.budget.branches)
            .or_else(|| self.omega())
            .or_else(|| self.branch_and_bound(self.budget.branches * 50))
            .unwrap_or(Err(Final::GiveUp))
    }

    fn branch_and_bound(&mut self, mut branches: u32) -> Option<Result<Vec<Int>, Final>> {
        let simplex = &mut self.problem.simplex;
        match simplex.integral(&mut branches, 0) {
            Integral::Yes => Some(Ok((0..simplex.len())
                .map(|i| simplex.int_value(IntVar(i)).cloned().unwrap_or_default())
                .collect())),
            Integral::No(core) => Some(Err(Final::Conflict(Self::clause_of(&core)))),
            Integral::OutOfBudget => None,
        }
    }

    /// Values for all variables, forms included.
    fn completed(&self, model: &omega::Model) -> Vec<Int> {
        let simplex = &self.problem.simplex;
        let mut ints: Vec<Int> = (0..simplex.len())
            .map(|i| model.get(&i).cloned().unwrap_or_default())
            .collect();
        for i in (0..simplex.len()).filter(|i| !simplex.is_original(IntVar(*i))) {
            if let Some(form) = simplex.form(IntVar(i)) {
                let terms = form.terms.iter();
                ints[i] = terms.fold(form.constant.clone(), |sum, (x, a)| {
                    &sum + &(a * &ints[x.0])
                });
            }
        }
        ints
    }

    /// The integers, or others where they break the definition of a product or quotient.
    fn nonlinear(&mut self, ints: Vec<Int>) -> Result<Vec<Int>, Final> {
        let candidate = Assignment {
            ints,
            bools: Vec::new(),
            words: WordAssignment::default(),
        };
        let broken = |d: &Definition| match d {
            Definition::Product { product, a, b } => {
                candidate.int(&Lin::atom(*product)) != &candidate.int(a) * &candidate.int(b)
            }
            _ => false,
        };
        if self.allowance.nodes == 0 || !self.problem.definitions.iter().any(broken) {
            return Ok(candidate.ints);
        }
        let ge = self.problem.simplex.constraints();
        let variables = self.problem.simplex.len();
        let definitions = &self.problem.definitions;
        match nonlinear::solve(&ge, definitions, variables, &mut self.allowance) {
            nonlinear::Outcome::Values(model) => Ok(self.completed(&model)),
            nonlinear::Outcome::Impossible => {
                // Each refutes one assignment; where there are many of them, lemmas do better.
                self.refuted += 1;
                if self.refuted >= MAX_REFUTED {
                    self.allowance.nodes = 0;
                }
                let mut spent = 0;
                let clause = self.against(|rest| {
                    let nodes = TRY_CANDIDATES.min(self.allowance.nodes);
                    let mut own = Allowance {
                        nodes,
                        omega: self.allowance.omega.min(4 * TRY_OMEGA),
                        ..self.allowance
                    };
                    let outcome = nonlinear::solve(rest, definitions, variables, &mut own);
                    spent += nodes - own.nodes;
                    matches!(outcome, nonlinear::Outcome::Impossible)
                });
                self.allowance.nodes = self.allowance.nodes.saturating_sub(spent);
                Err(Final::Conflict(clause))
            }
            // What candidates do not settle, lemmas may.
            nonlinear::Outcome::Unknown => Ok(candidate.ints),
        }
    }

    fn omega(&mut self) -> Option<Result<Vec<Int>, Final>> {
        let plain = |l: &Lin| Linear {
            terms: l.terms.iter().map(|(x, a)| (x.0, a.clone())).collect(),
            constant: l.constant.clone(),
        };
        let ge = self.problem.simplex.constraints();
        let mut left = self.budget.omega;
        let mut solve = |ge: &[Lin], most: u64| {
            let most = most.min(left);
            let mut own = most;
            let found = omega::solve(ge.iter().map(plain).collect(), Vec::new(), &mut own);
            left -= most - own;
            found
        };
        let found = solve(&ge, self.budget.omega_call);
        let clause = matches!(found, Ok(None))
            .then(|| self.against(|rest| solve(rest, TRY_OMEGA) == Ok(None)));
        self.budget.omega = left;
        match found {
            Ok(Some(model)) => Some(Ok(self.completed(&model))),
            Ok(None) => Some(Err(Final::Conflict(clause.unwrap_or_default()))),
            Err(omega::OutOfBudget) => None,
        }
    }

    /// A clause against bounds that contradict each other: parts of them are left out as long as
    /// the rest is still refuted, since a clause against all bounds rules out little.
    fn against(&self, mut refuted: impl FnMut(&[Lin]) -> bool) -> Vec<Lit> {
        let mut kept = self.problem.simplex.reasons();
        let mut tries = MAX_TRIES;
        let mut chunk = kept.len().div_ceil(2);
        loop {
            let mut at = 0;
            while at < kept.len() && tries > 0 {
                let end = (at + chunk).min(kept.len());
                let only_axioms = kept[at..end].iter().all(|(_, b)| *b == Because::Axiom);
                if !only_axioms {
                    tries -= 1;
                    let rest = kept[..at].iter().chain(&kept[end..]);
                    let rest: Vec<Lin> = rest.map(|(l, _)| l.clone()).collect();
                    if refuted(&rest) {
                        kept.drain(at..end);
                        continue;
                    }
                }
                at = end;
            }
            if chunk <= 1 || tries == 0 {
                break;
            }
            chunk = chunk.div_ceil(2);
        }
        Self::clause_of(&kept.into_iter().map(|(_, b)| b).collect())
    }

    /// The clause against all bounds that hold now.
    fn against_bounds(&self) -> Vec<Lit> {
        let reasons = self.problem.simplex.reasons();
        Self::clause_of(&reasons.into_iter().map(|(_, b)| b).collect())
    }

    /// Adds lemmas where the model breaks a definition; whether there were some.
    fn refine(&mut self, model: &Assignment) -> bool {
        let mut lemmas: Vec<Vec<Lit>> = Vec::new();
        let definitions = std::mem::take(&mut self.problem.definitions);
        for d in &definitions {
            match d {
                Definition::Product { product, a, b } => {
                    let (p, x, y) = (model.int(&Lin::atom(*product)), model.int(a), model.int(b));
                    if p != &x * &y {
                        lemmas.push(self.product_lemma(*product, a, b, &x, &y));
                        let corners = self.corners(a, b, &x, &y, &p);
                        if corners.is_empty() {
                            self.tangents(*product, (a, &x), (b, &y), &p, &mut lemmas);
                        }
                        for (x, y, below) in &corners {
                            self.plane(*product, (a, x), (b, y), *below, &mut lemmas);
                        }
                    }
                }
                // Clauses and the product in them say it all.
                Definition::Quotient { .. } => {}
                Definition::Concat { whole, parts } => {
                    let text: String = parts.iter().map(|p| model.text(p)).collect();
                    if text != model.words.get(*whole) {
                        let mut lemma = self.words_differ(parts, model);
                        let equal = self.problem.eq_str(&Str::Var(*whole), &Str::Lit(text));
                        lemma.push(equal);
                        lemmas.push(lemma);
                    }
                }
                Definition::Test { lit, test, a, b } => {
                    let holds = test.holds(model.text(a), model.text(b));
                    if holds != model.bool(*lit) {
                        let mut lemma = self.words_differ(&[a.clone(), b.clone()], model);
                        lemma.push(if holds { *lit } else { !*lit });
                        lemmas.push(lemma);
                    }
                }
            }
        }
        self.problem.definitions = definitions;
        let any = !lemmas.is_empty();
        for lemma in lemmas {
            self.problem.clause(lemma);
        }
        any
    }

    fn differs(&mut self, l: &Lin, n: &Int) -> Vec<Lit> {
        let below = self.problem.le(l, &Lin::constant(n - &Int::ONE));
        let above = self.problem.le(&Lin::constant(n + &Int::ONE), l);
        // Staying at the point makes the rest linear; moving away would go on for ever.
        self.problem.sat.prefer(!below);
        self.problem.sat.prefer(!above);
        vec![below, above]
    }

    fn words_differ(&mut self, parts: &[Str], model: &Assignment) -> Vec<Lit> {
        parts
            .iter()
            .filter(|p| matches!(p, Str::Var(_)))
            .map(|p| {
                let text = model.text(p).to_owned();
                let equal = self.problem.eq_str(p, &Str::Lit(text));
                self.problem.sat.prefer(equal);
                !equal
            })
            .collect()
    }

    /// `a = x ⇒ product = x·b`, which is linear. The factor to fix is the one with fewer values
    /// to try, so that a product with one bounded factor is decided completely.
    fn product_lemma(&mut self, product: IntVar, a: &Lin, b: &Lin, x: &Int, y: &Int) -> Vec<Lit> {
        let bounded = |l: &Lin| l.terms.keys().all(|v| self.problem.simplex.has_bounds(*v));
        let fixed = |l: &Lin| l.terms.keys().all(|v| self.problem.simplex.is_fixed(*v));
        let first = match (fixed(a), fixed(b), bounded(a), bounded(b)) {
            (true, _, _, _) | (false, false, true, false) => true,
            (_, true, _, _) | (false, false, false, true) => false,
            _ => x.abs() <= y.abs(),
        };
        let (fixed, n, other) = if first { (a, x, b) } else { (b, y, a) };
        let mut lemma = self.differs(fixed, n);
        let equal = self.problem.eq_int(&Lin::atom(product), &other.scaled(n));
        lemma.push(equal);
        lemma
    }

    /// Corners of the box of two factors whose planes the product breaks: they hold as
    /// far as the bounds do.
    fn corners(&self, a: &Lin, b: &Lin, x: &Int, y: &Int, p: &Int) -> Vec<(Int, Int, bool)> {
        let bounds = |l: &Lin| {
            let v = l.terms.keys().next();
            let (lo, hi) = v.map_or((None, None), |v| self.problem.simplex.bounds(*v));
            [(lo, true), (hi, false)].map(|(n, low)| (n.cloned(), low))
        };
        let mut found = Vec::new();
        if a == b {
            return found;
        }
        for (u, u_low) in bounds(a) {
            for (v, v_low) in bounds(b) {
                let (Some(u), Some(v)) = (&u, v) else {
                    continue;
                };
                // (a − u)(b − v) is not negative where both are ends of one kind.
                let plane = &(&(&v * x) + &(u * y)) - &(u * &v);
                let below = u_low == v_low;
                if (below && *p < plane) || (!below && *p > plane) {
                    found.push((u.clone(), v, below));
                }
            }
        }
        found
    }

    /// Planes that touch the surface of a product where the model stands, on the side where it is
    /// wrong. The parabola of a square needs none between two integers.
    fn tangents(
        &mut self,
        product: IntVar,
        (a, x): (&Lin, &Int),
        (b, y): (&Lin, &Int),
        value: &Int,
        lemmas: &mut Vec<Vec<Lit>>,
    ) {
        let below = *value < x * y;
        if a == b {
            if below {
                let product = Lin::atom(product);
                // (a − x)(a − x − 1) ≥ 0 and (a − x)(a − x + 1) ≥ 0
                for other in [x + &Int::ONE, x - &Int::ONE] {
                    let mut chord = a.scaled(&(x + &other));
                    chord.constant = -(x * &other);
                    lemmas.push(vec![self.problem.le(&chord, &product)]);
                }
            }
            return;
        }
        self.plane(product, (a, x), (b, y), below, lemmas);
    }

    /// The plane that touches the surface of a product at (x, y): below it in the quadrants where
    /// both factors move the same way, above it in the others.
    fn plane(
        &mut self,
        product: IntVar,
        (a, x): (&Lin, &Int),
        (b, y): (&Lin, &Int),
        below: bool,
        lemmas: &mut Vec<Vec<Lit>>,
    ) {
        let product = Lin::atom(product);
        let mut plane = a.scaled(y).plus(&b.scaled(x));
        plane.constant = &plane.constant - &(x * y);
        let side = if below {
            self.problem.le(&plane, &product)
        } else {
            self.problem.le(&product, &plane)
        };
        let (at_x, at_y) = (Lin::constant(x.clone()), Lin::constant(y.clone()));
        let a_low = self.problem.le(a, &at_x);
        let a_high = self.problem.le(&at_x, a);
        let b_low = self.problem.le(b, &at_y);
        let b_high = self.problem.le(&at_y, b);
        let quadrants = if below {
            [(a_low, b_low), (a_high, b_high)]
        } else {
            [(a_low, b_high), (a_high, b_low)]
        };
        for (s, t) in quadrants {
            lemmas.push(vec![!s, !t, side]);
        }
    }
}
