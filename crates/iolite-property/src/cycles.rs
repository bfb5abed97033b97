//! Strongly connected components, and the alternating cycle decomposition: the tree of maximal
//! cycles, each child a maximal cycle of the opposite verdict inside its parent.
//!
//! Every question about the infinitary part is a question about this tree. Its height is Wagner's
//! alternation; Landweber's tests read it off [Landweber 1969; Wagner 1979; Casares et al. 2021].

use crate::acceptance::{Colours, Condition};
use crate::structure::{AutomatonError, StateId, Structure};

/// Finds components of subsets of the states without clearing tables in between.
struct Components<'a> {
    structure: &'a Structure,
    /// The last call that had the state in its subset.
    member: Vec<u32>,
    /// Discovery number in the present call, with the call's stamp.
    visited: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    call: u32,
    /// States looked at in all calls.
    work: usize,
}

/// States that a forest may look at, counted each time: conditions with many pairs can have
/// exponentially many alternating cycles.
const MAX_WORK: usize = 1 << 26;

impl<'a> Components<'a> {
    fn new(structure: &'a Structure) -> Self {
        let n = structure.len();
        Self {
            structure,
            member: vec![0; n],
            visited: vec![0; n],
            low: vec![0; n],
            on_stack: vec![false; n],
            call: 0,
            work: 0,
        }
    }

    /// The components of the sub-graph on `subset`, successors before predecessors; with `trivial`
    /// also single states without a loop. Tarjan's algorithm without recursion.
    fn of(&mut self, subset: &[StateId], trivial: bool) -> Vec<Vec<StateId>> {
        self.call += 1;
        self.work += subset.len();
        for q in subset {
            self.member[q.index()] = self.call;
            self.visited[q.index()] = 0;
        }
        let mut counter = 0;
        let mut stack: Vec<StateId> = Vec::new();
        let mut found = Vec::new();
        let mut path: Vec<(StateId, usize)> = Vec::new();
        for &root in subset {
            if self.visited[root.index()] != 0 {
                continue;
            }
            path.push((root, 0));
            while let Some(&mut (q, ref mut edge)) = path.last_mut() {
                if *edge == 0 {
                    counter += 1;
                    self.visited[q.index()] = counter;
                    self.low[q.index()] = counter;
                    stack.push(q);
                    self.on_stack[q.index()] = true;
                }
                if let Some(&to) = self.structure.row(q).get(*edge) {
                    *edge += 1;
                    if self.member[to.index()] != self.call {
                        continue;
                    }
                    if self.visited[to.index()] == 0 {
                        path.push((to, 0));
                    } else if self.on_stack[to.index()] {
                        self.low[q.index()] = self.low[q.index()].min(self.visited[to.index()]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    self.low[parent.index()] = self.low[parent.index()].min(self.low[q.index()]);
                }
                if self.low[q.index()] == self.visited[q.index()] {
                    let mut component = Vec::new();
                    while let Some(top) = stack.pop() {
                        self.on_stack[top.index()] = false;
                        component.push(top);
                        if top == q {
                            break;
                        }
                    }
                    let loops = component.len() > 1 || self.structure.row(q).contains(&q);
                    if loops || trivial {
                        component.sort_unstable();
                        found.push(component);
                    }
                }
            }
        }
        found
    }
}

/// The strongly connected components, successors before predecessors.
pub(crate) fn components(structure: &Structure) -> Vec<Vec<StateId>> {
    let all: Vec<StateId> = structure.states().collect();
    Components::new(structure).of(&all, true)
}

/// The components with a cycle of the sub-graph on these states.
pub(crate) fn cyclic_components(structure: &Structure, subset: &[StateId]) -> Vec<Vec<StateId>> {
    Components::new(structure).of(subset, false)
}

/// A maximal cycle inside its parent of the other verdict.
#[derive(Clone, Debug)]
pub(crate) struct Cycle {
    /// In order.
    pub(crate) states: Vec<StateId>,
    pub(crate) accepting: bool,
    pub(crate) children: Vec<usize>,
    pub(crate) parent: Option<usize>,
}

impl Cycle {
    pub(crate) fn contains(&self, q: StateId) -> bool {
        self.states.binary_search(&q).is_ok()
    }
}

/// The forest of alternating cycles, one tree a component with a cycle.
#[derive(Clone, Debug)]
pub(crate) struct CycleForest {
    pub(crate) cycles: Vec<Cycle>,
    /// All components in the order of [`components`]; the tree's root where there is a cycle.
    pub(crate) components: Vec<(Vec<StateId>, Option<usize>)>,
    /// The root above each state.
    pub(crate) root_of: Vec<Option<usize>>,
}

impl CycleForest {
    /// With `whole`, all of it; else only the roots and their children, which suffices to tell
    /// what verdicts a component has.
    pub(crate) fn new(
        structure: &Structure,
        colours: &[Colours],
        mut condition: Condition,
        whole: bool,
    ) -> Result<Self, AutomatonError> {
        let mut finder = Components::new(structure);
        let all: Vec<StateId> = structure.states().collect();
        let mut forest = Self {
            cycles: Vec::new(),
            components: Vec::new(),
            root_of: vec![None; structure.len()],
        };
        for component in finder.of(&all, true) {
            let q = component[0];
            let root = if component.len() > 1 || structure.row(q).contains(&q) {
                let root = forest.grow(
                    &mut finder,
                    colours,
                    &mut condition,
                    component.clone(),
                    Some(whole),
                )?;
                for q in &component {
                    forest.root_of[q.index()] = Some(root);
                }
                Some(root)
            } else {
                None
            };
            forest.components.push((component, root));
        }
        Ok(forest)
    }

    fn grow(
        &mut self,
        finder: &mut Components<'_>,
        colours: &[Colours],
        condition: &mut Condition,
        states: Vec<StateId>,
        below: Option<bool>,
    ) -> Result<usize, AutomatonError> {
        if finder.work > MAX_WORK {
            return Err(AutomatonError::TooManyCycles);
        }
        let accepting = condition.accepts(&union(colours, &states));
        let node = self.cycles.len();
        self.cycles.push(Cycle {
            states,
            accepting,
            children: Vec::new(),
            parent: None,
        });
        // `below`: grow everything, or one more level, or nothing.
        let Some(whole) = below else { return Ok(node) };
        let mut inner = Vec::new();
        let states = &self.cycles[node].states;
        opposite_cycles(finder, colours, condition, states, accepting, &mut inner)?;
        inner.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        inner.dedup();
        let mut maximal: Vec<Vec<StateId>> = Vec::new();
        for cycle in inner {
            let inside = |big: &Vec<StateId>| cycle.iter().all(|q| big.binary_search(q).is_ok());
            if !maximal.iter().any(inside) {
                maximal.push(cycle);
            }
        }
        for cycle in maximal {
            let child = self.grow(finder, colours, condition, cycle, whole.then_some(true))?;
            self.cycles[child].parent = Some(node);
            self.cycles[node].children.push(child);
        }
        Ok(node)
    }

    pub(crate) fn roots(&self) -> impl Iterator<Item = usize> + '_ {
        self.components.iter().filter_map(|(_, root)| *root)
    }

    /// Whether some cycle with this verdict lies in the tree.
    pub(crate) fn has_cycle(&self, root: usize, accepting: bool) -> bool {
        self.cycles[root].accepting == accepting || !self.cycles[root].children.is_empty()
    }

    /// The most cycles of this verdict on a way from the root down.
    pub(crate) fn height(&self, node: usize, accepting: bool) -> usize {
        let below = self.cycles[node]
            .children
            .iter()
            .map(|&c| self.height(c, accepting))
            .max();
        below.unwrap_or(0) + usize::from(self.cycles[node].accepting == accepting)
    }
}

fn union(colours: &[Colours], states: &[StateId]) -> Colours {
    Colours::union_of(states.iter().map(|q| &colours[q.index()]))
}

/// Collects the maximal cycles inside `states` (itself a cycle) whose verdict is not `verdict`, and
/// maybe some that are not maximal.
fn opposite_cycles(
    finder: &mut Components<'_>,
    colours: &[Colours],
    condition: &mut Condition,
    states: &[StateId],
    verdict: bool,
    found: &mut Vec<Vec<StateId>>,
) -> Result<(), AutomatonError> {
    if finder.work > MAX_WORK {
        return Err(AutomatonError::TooManyCycles);
    }
    // A rejecting cycle breaks some pair, and then so does the component around it that lacks this
    // pair's recurrent states: for Streett's condition nothing is left to look for inside others.
    let shallow = verdict && matches!(condition, Condition::Streett(_));
    for allowed in condition.opposite(&union(colours, states))? {
        let rest: Vec<StateId> = states
            .iter()
            .copied()
            .filter(|q| colours[q.index()].is_subset(&allowed))
            .collect();
        for cycle in finder.of(&rest, false) {
            if condition.accepts(&union(colours, &cycle)) != verdict {
                found.push(cycle);
            } else if !shallow {
                // It lost a colour, so this ends.
                opposite_cycles(finder, colours, condition, &cycle, verdict, found)?;
            }
        }
    }
    Ok(())
}
