//! Vtrees for rules.
//!
//! Two variables are neighbours if they share a rule. Variables are eliminated one by one, always the one that needs
//! the fewest new edges among its neighbours (min-fill). The elimination tree gives the vtree: a variable splits off
//! first, then the independent parts below it. The width of the order bounds the size of the diagram. A bounded local
//! search then rotates and swaps, keeping changes that compile no larger; where no single move helps, it continues some
//! random moves away from the best. It is skipped for clauses and counts that share no variable: their diagrams are
//! small in any order.
//!
//! References: A. Darwiche, SDD: A New Canonical Representation of Propositional Knowledge Bases, IJCAI 2011, section 6;
//! A. Choi and A. Darwiche, Dynamic Minimization of Sentential Decision Diagrams, AAAI 2013 (the local moves).

use super::formula::{Op, Rules};
use super::manager::Manager;
use super::sdd::Sdd;
use crate::limits::{Limit, Limits, Stopped, has_room};
use crate::random::Random;
use crate::var::Var;
use crate::vtree::{Step, Vtree, VtreeId};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Rules over more variables than this link them as a chain instead of all pairs.
const WIDE: usize = 40;

/// The bytes that a vtree from an elimination order, and a manager on it, take for each variable.
const BYTES_PER_VARIABLE: usize = 896;

/// How hard to look for a vtree.
#[derive(Clone, Debug)]
pub struct VtreeSearch {
    /// The largest number of changed vtrees; each costs a compilation.
    pub moves: usize,
    /// The total cost of all compilations, in steps of the manager, elements and vtree nodes.
    pub steps: u64,
}

/// A hundred moves, twenty million steps.
impl Default for VtreeSearch {
    fn default() -> VtreeSearch {
        VtreeSearch { moves: 100, steps: 20_000_000 }
    }
}

/// A vtree for rules, and their diagram.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompiledRules {
    /// The rules on the vtree.
    pub sdd: Sdd,
    /// The number of vtrees compiled, including failures.
    pub tried: usize,
    /// The elements on the first vtree of the search.
    pub first_elements: usize,
}

impl Rules {
    /// A vtree over the variables, from a min-fill elimination order of the rules.
    ///
    /// # Panics
    /// If there are no variables.
    pub fn min_fill_vtree(&self) -> Vtree {
        let order = min_fill(self.neighbours());
        elimination_vtree(&order)
    }

    /// Finds a vtree and compiles: the best of some vtrees from the min-fill order, improved by local search.
    ///
    /// Deterministic: costs are counted in steps, not in seconds. `report` gets the number of vtrees tried so far.
    ///
    /// # Panics
    /// If there are no variables.
    pub fn compile_with_search(
        &self,
        search: &VtreeSearch,
        limits: &Limits,
        report: &mut dyn FnMut(usize),
    ) -> Result<CompiledRules, Stopped> {
        self.check_room(limits)?;
        let order = min_fill(self.neighbours());
        let vars: Vec<Var> = order.iter().rev().map(|step| step.var).collect();
        let starts = [elimination_vtree(&order), Vtree::balanced_over(&vars), Vtree::right_linear_over(&vars)];
        let mut hunt = Hunt { rules: self, limits, left: search.steps, tried: 0, report };
        let mut best = hunt.first(&starts)?;
        let first_elements = best.size().1;
        let mut random = Random::new(0);
        let mut seen: FxHashSet<Vec<Step>> = FxHashSet::default();
        let mut current = best.clone();
        let moves = 3 * (self.var_count() - 1);
        let most = if self.is_apart() { 0 } else { search.moves };
        let (mut number, mut fruitless, mut known) = (0, 0, 0);
        // Few variables have few vtrees: the search ends when it meets only known ones.
        while hunt.tried < most && hunt.left > 0 && known <= 8 * moves && best.size().1 > 0 {
            let stuck = fruitless >= moves;
            let vtree = match stuck {
                // Moves are tried from the top down, where diagrams are largest, and continue there after a success.
                false => changed(current.vtree(), number % moves),
                true => Some(shaken(best.vtree(), &mut random)),
            };
            number += 1;
            fruitless = if stuck { 0 } else { fruitless + 1 };
            known += 1;
            let Some(vtree) = vtree.filter(|vtree| seen.insert(vtree.postfix().collect())) else { continue };
            known = 0;
            let Some(sdd) = hunt.attempt(vtree)? else { continue };
            if sdd.size().1 < best.size().1 {
                best = sdd.clone();
            }
            // Equal sizes are accepted too: many improvements start level.
            if stuck || sdd.size().1 <= current.size().1 {
                current = sdd;
                fruitless = 0;
            }
        }
        Ok(CompiledRules { sdd: best, tried: hunt.tried, first_elements })
    }

    /// Stops before anything is made of more variables than the limits have room for.
    pub(crate) fn check_room(&self, limits: &Limits) -> Result<(), Stopped> {
        let bytes = self.var_count().saturating_mul(BYTES_PER_VARIABLE);
        let limit = match bytes > limits.bytes {
            true => Limit::Bytes(limits.bytes),
            false if has_room(bytes) => return Ok(()),
            false => Limit::Memory,
        };
        Err(Stopped { limit, nodes: 0, bytes: 0, rules: Some((0, self.len())) })
    }

    /// Whether every rule is a clause or counts plain literals, and no variable is in two of them.
    fn is_apart(&self) -> bool {
        let mut seen = vec![false; self.var_count()];
        self.iter().all(|rule| {
            let ops = rule.formula.ops();
            let operands = match ops.split_last() {
                Some((Op::Count(..) | Op::Or(_), operands)) => operands,
                _ => ops,
            };
            operands.iter().enumerate().all(|(i, op)| match op {
                Op::Var(var) => !std::mem::replace(&mut seen[var.index()], true),
                Op::Not => i > 0 && matches!(operands[i - 1], Op::Var(_)),
                _ => false,
            })
        })
    }

    fn neighbours(&self) -> Vec<BTreeSet<u32>> {
        let mut neighbours = vec![BTreeSet::new(); self.var_count()];
        for rule in self.iter() {
            for part in rule.formula.conjuncts() {
                let vars = part.vars();
                // Counted variables, and those of other long rules, need no clique: a diagram follows them as a chain.
                let counted = matches!(part.ops().last(), Some(Op::Count(..) | Op::Xor(_)));
                let reach = if counted || vars.len() > WIDE { 1 } else { vars.len() };
                for (i, x) in vars.iter().enumerate() {
                    for y in vars[i + 1..].iter().take(reach) {
                        neighbours[x.index()].insert(y.0);
                        neighbours[y.index()].insert(x.0);
                    }
                }
            }
        }
        neighbours
    }
}

/// An eliminated variable, and the position in the order of the first of its later neighbours.
struct Eliminated {
    var: Var,
    parent: Option<usize>,
}

/// Eliminates the variable with the fewest missing edges among its neighbours, then with the fewest neighbours.
fn min_fill(mut neighbours: Vec<BTreeSet<u32>>) -> Vec<Eliminated> {
    let missing = |neighbours: &[BTreeSet<u32>], x: usize| {
        let around: Vec<u32> = neighbours[x].iter().copied().collect();
        // A variable with very many neighbours waits anyway.
        if around.len() > 200 {
            return around.len() * around.len();
        }
        let pairs = around.iter().enumerate().flat_map(|(i, a)| around[i + 1..].iter().map(move |b| (*a, *b)));
        pairs.filter(|(a, b)| !neighbours[*a as usize].contains(b)).count()
    };
    let len = neighbours.len();
    let mut cost: Vec<(usize, usize)> = (0..len).map(|x| (missing(&neighbours, x), neighbours[x].len())).collect();
    let mut queue: BTreeSet<((usize, usize), usize)> = cost.iter().copied().zip(0..).collect();
    let mut order: Vec<(u32, Vec<u32>)> = Vec::with_capacity(len);
    while let Some((_, x)) = queue.pop_first() {
        let around: Vec<u32> = std::mem::take(&mut neighbours[x]).into_iter().collect();
        let mut touched: FxHashSet<u32> = around.iter().copied().collect();
        for (i, &a) in around.iter().enumerate() {
            neighbours[a as usize].remove(&(x as u32));
            for &b in &around[i + 1..] {
                if neighbours[a as usize].insert(b) {
                    neighbours[b as usize].insert(a);
                    // The new edge is one less to add for every common neighbour.
                    let common = neighbours[a as usize].intersection(&neighbours[b as usize]);
                    touched.extend(common.copied());
                }
            }
        }
        let mut touched: Vec<u32> = touched.into_iter().collect();
        touched.sort_unstable();
        for y in touched.into_iter().map(|y| y as usize) {
            if queue.remove(&(cost[y], y)) {
                cost[y] = (missing(&neighbours, y), neighbours[y].len());
                queue.insert((cost[y], y));
            }
        }
        order.push((x as u32, around));
    }
    let mut position = vec![0; len];
    for (i, (x, _)) in order.iter().enumerate() {
        position[*x as usize] = i;
    }
    let parent = |around: &[u32]| around.iter().map(|y| position[*y as usize]).min();
    order.iter().map(|(x, around)| Eliminated { var: Var(*x), parent: parent(around) }).collect()
}

/// The vtree of an elimination order: each variable, then its subtrees, joined as evenly as possible.
fn elimination_vtree(order: &[Eliminated]) -> Vtree {
    let mut forest = Forest::default();
    let mut below: Vec<Vec<usize>> = order.iter().map(|_| Vec::new()).collect();
    let mut roots = Vec::new();
    for (i, eliminated) in order.iter().enumerate() {
        let mut tree = forest.push(1, Shape::Leaf(eliminated.var));
        if let Some(parts) = forest.evenly(&below[i]) {
            tree = forest.join(tree, parts);
        }
        match eliminated.parent {
            Some(parent) => below[parent].push(tree),
            None => roots.push(tree),
        }
    }
    let root = forest.evenly(&roots).expect("there are variables");
    Vtree::from_postfix(forest.postfix(root)).expect("every variable is eliminated once")
}

/// Vtrees under construction, with the number of their leaves.
#[derive(Default)]
struct Forest {
    trees: Vec<(usize, Shape)>,
}

#[derive(Clone, Copy)]
enum Shape {
    Leaf(Var),
    Join(usize, usize),
}

impl Forest {
    fn push(&mut self, leaves: usize, shape: Shape) -> usize {
        self.trees.push((leaves, shape));
        self.trees.len() - 1
    }

    fn join(&mut self, left: usize, right: usize) -> usize {
        self.push(self.trees[left].0 + self.trees[right].0, Shape::Join(left, right))
    }

    /// Joins the two smallest parts until one is left.
    fn evenly(&mut self, parts: &[usize]) -> Option<usize> {
        let mut queue: BTreeSet<(usize, usize)> = parts.iter().map(|&part| (self.trees[part].0, part)).collect();
        loop {
            let (_, first) = queue.pop_first()?;
            let Some((_, second)) = queue.pop_first() else { return Some(first) };
            let both = self.join(first, second);
            queue.insert((self.trees[both].0, both));
        }
    }

    fn postfix(&self, root: usize) -> Vec<Step> {
        // Parents before children, right before left, read backwards.
        let mut steps = Vec::new();
        let mut stack = vec![root];
        while let Some(tree) = stack.pop() {
            steps.push(match self.trees[tree].1 {
                Shape::Leaf(var) => Step::Leaf(var),
                Shape::Join(left, right) => {
                    stack.extend([left, right]);
                    Step::Join
                }
            });
        }
        steps.reverse();
        steps
    }
}

/// A vtree with one inner node swapped, rotated right or rotated left; `None` where that is impossible.
fn changed(vtree: &Vtree, number: usize) -> Option<Vtree> {
    let inner: Vec<VtreeId> = vtree.bottom_up().iter().rev().copied().filter(|v| !v.is_leaf()).collect();
    let (at, kind) = (*inner.get(number / 3)?, number % 3);
    let [left, right] = vtree.children(at)?;
    // Steps of whole subtrees are contiguous in postfix order.
    let steps: Vec<Step> = vtree.postfix().collect();
    let of = |v: VtreeId| {
        let end = vtree.rank(v) + 1;
        &steps[end - (2 * vtree.vars(v).len() - 1)..end]
    };
    let join = [Step::Join];
    let parts: Vec<&[Step]> = match kind {
        0 => vec![of(right), of(left), &join],
        // ((a b) c) becomes (a (b c)).
        1 => {
            let [a, b] = vtree.children(left)?;
            vec![of(a), of(b), of(right), &join, &join]
        }
        // (a (b c)) becomes ((a b) c).
        _ => {
            let [b, c] = vtree.children(right)?;
            vec![of(left), of(b), &join, of(c), &join]
        }
    };
    let end = vtree.rank(at) + 1;
    let start = end - of(at).len();
    let all = steps[..start].iter().chain(parts.into_iter().flatten()).chain(&steps[end..]);
    Some(Vtree::from_postfix(all.copied()).expect("the same leaves"))
}

/// A vtree some random moves away.
fn shaken(vtree: &Vtree, random: &mut Random) -> Vtree {
    /// Enough moves to leave a valley, few enough to keep most of the order.
    const MOVES: usize = 4;
    let mut shaken = vtree.clone();
    for _ in 0..MOVES {
        let number = random.below(3 * (vtree.var_count() - 1));
        shaken = changed(&shaken, number).unwrap_or(shaken);
    }
    shaken
}

/// A search in progress.
struct Hunt<'a> {
    rules: &'a Rules,
    limits: &'a Limits,
    /// The remaining steps.
    left: u64,
    tried: usize,
    report: &'a mut dyn FnMut(usize),
}

impl Hunt<'_> {
    /// The smallest diagram on some vtrees; budgets grow together until one of them is enough.
    fn first(&mut self, vtrees: &[Vtree]) -> Result<Sdd, Stopped> {
        let mut allowed: u64 = 100_000;
        loop {
            let (mut best, mut refused): (Option<Sdd>, Vec<Stopped>) = (None, Vec::new());
            for vtree in vtrees {
                match self.compile(vtree.clone(), self.limits.clone().with_steps(allowed.min(self.limits.steps))) {
                    Ok(sdd) if best.as_ref().is_none_or(|best| sdd.size().1 < best.size().1) => best = Some(sdd),
                    Ok(_) => {}
                    Err(stopped) if matches!(stopped.limit, Limit::Steps(n) if n < self.limits.steps) => {}
                    Err(stopped) if stopped.limit == Limit::Cancelled => return Err(stopped),
                    Err(stopped) => refused.push(stopped),
                }
            }
            if let Some(best) = best {
                return Ok(best);
            }
            // More steps do not help where the limits of the user were hit.
            if refused.len() == vtrees.len() {
                return Err(refused.swap_remove(0));
            }
            allowed = allowed.saturating_mul(8);
        }
    }

    /// The diagram on another vtree, unless a limit is hit.
    fn attempt(&mut self, vtree: Vtree) -> Result<Option<Sdd>, Stopped> {
        let limits = self.limits.clone().with_steps(self.left.min(self.limits.steps));
        match self.compile(vtree, limits) {
            Ok(sdd) => Ok(Some(sdd)),
            Err(stopped) if stopped.limit == Limit::Cancelled => Err(stopped),
            Err(_) => Ok(None),
        }
    }

    fn compile(&mut self, vtree: Vtree, limits: Limits) -> Result<Sdd, Stopped> {
        self.tried += 1;
        (self.report)(self.tried);
        let mut manager = Manager::new(vtree, limits);
        let outcome = manager.compile_rules(self.rules);
        // Where steps are few, preparing the vtree and copying the diagram takes most of the time.
        let copied = 4 * manager.vtree().node_count() + manager.element_count();
        self.left = self.left.saturating_sub(manager.steps() + copied as u64);
        Ok(manager.sdd(outcome?))
    }
}
