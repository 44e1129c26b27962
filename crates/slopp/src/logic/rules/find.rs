//! The search for the rules of a circuit, step by step.

use super::prove::Prover;
use super::{BaseRule, BaseRules, RuleKind, RuleSearch, index, literal};
use crate::circuit::{Circuit, Node};
use crate::data::{BitMatrix, MAX_PAIR_VARIABLES, ones};
use crate::limits::{Limits, Stopped};
use crate::logic::error::LogicError;
use crate::logic::formula::{Comparison, Formula, Rules};
use crate::logic::sdd::Sdd;
use crate::names::Names;
use crate::var::{Lit, Var};
use crate::vtree::Vtree;
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The rules of a circuit, none of which follows from the others, as far as that can be decided.
pub(super) fn find(circuit: &Circuit, search: &RuleSearch) -> Result<BaseRules, LogicError> {
    let variables = circuit.var_count();
    if variables > MAX_PAIR_VARIABLES {
        return Err(LogicError::TooManyVariables { variables });
    }
    let marginals = marginals(circuit);
    let pairs = Pairs::of(circuit);
    let mut rules = pairs.literals_and_classes(&marginals);
    let binary = pairs.reduced();
    let exactly_one = exactly_one(circuit, &pairs, &marginals);
    rules.extend(exactly_one.iter().map(|group| BaseRule::new(RuleKind::ExactlyOne, group.clone(), &marginals)));
    rules.extend(implications_and_exclusions(&pairs, &binary, &exactly_one, &marginals));
    let mut prover = Prover::new(&some_world(circuit));
    rules.iter().for_each(|rule| prover.add(&rule.to_clauses()));
    let longer = longer_clauses(circuit, &pairs, &marginals, search);
    let mut complete_to = longer.complete_to;
    let mut kept = 0;
    for clause in longer.clauses {
        // Undecided rules are kept: they stay true, though one may be redundant.
        if prover.is_implied(std::slice::from_ref(&clause), None) == Some(true) {
            continue;
        }
        if kept == search.most_clauses {
            complete_to = complete_to.min(clause.len() - 1);
            break;
        }
        kept += 1;
        prover.add(std::slice::from_ref(&clause));
        rules.push(BaseRule::new(RuleKind::Clause, clause, &marginals));
    }
    let mut is_minimal = true;
    let mut stays = vec![true; rules.len()];
    // The least readable first: where rules imply each other, the simpler ones stay.
    for i in (0..rules.len()).rev().filter(|&i| rules[i].kind >= RuleKind::ExactlyOne) {
        match prover.is_implied(&rules[i].to_clauses(), Some(i)) {
            Some(true) => {
                prover.drop(i);
                stays[i] = false;
            }
            Some(false) => {}
            None => is_minimal = false,
        }
    }
    let mut staying = stays.into_iter();
    rules.retain(|_| staying.next().unwrap_or(true));
    rules.sort_by(|a, b| {
        let length = |rule: &BaseRule| if rule.kind == RuleKind::Clause { rule.literals.len() } else { 0 };
        let first = (a.kind, length(a)).cmp(&(b.kind, length(b)));
        first.then(b.excluded.total_cmp(&a.excluded)).then_with(|| a.literals.cmp(&b.literals))
    });
    Ok(BaseRules { rules, complete_to, is_minimal })
}

/// The probability of *true* of every variable, from the flows of the circuit.
fn marginals(circuit: &Circuit) -> Vec<f64> {
    let mut flows = vec![0.0; circuit.nodes().len()];
    let mut marginals = vec![0.0; circuit.var_count()];
    flows[circuit.root().index()] = 1.0;
    for id in circuit.ids().rev() {
        let flow = flows[id.index()];
        match circuit.node(id) {
            Node::Literal(lit) => marginals[lit.var.index()] += flow * f64::from(lit.value),
            Node::Top { var, slot } => {
                marginals[var.index()] += flow * circuit.log_parameters().tops[slot as usize][1].exp();
            }
            Node::Sum { .. } => {
                // The parameters of a file may not quite add up to one.
                let total: f64 = circuit.elements_of(id).map(|(_, theta)| theta.exp()).sum();
                for (element, theta) in circuit.elements_of(id) {
                    let used = flow * theta.exp() / total;
                    flows[element.prime.index()] += used;
                    flows[element.sub.index()] += used;
                }
            }
        }
    }
    marginals.into_iter().map(|p| p.min(1.0)).collect()
}

/// A possible world: the first of every sum.
fn some_world(circuit: &Circuit) -> Vec<bool> {
    let mut world = vec![false; circuit.var_count()];
    let mut stack = vec![circuit.root()];
    while let Some(id) = stack.pop() {
        match circuit.node(id) {
            Node::Literal(lit) => world[lit.var.index()] = lit.value,
            Node::Top { .. } => {}
            Node::Sum { start, .. } => {
                let element = circuit.elements()[start as usize];
                stack.extend([element.prime, element.sub]);
            }
        }
    }
    world
}

/// All pairs of literals that can hold together, and one literal for each class of equivalent ones.
struct Pairs {
    together: BitMatrix,
    /// The classes of two or more equivalent literals, each class up to negation, the first literal positive.
    classes: Vec<Vec<Lit>>,
    /// Both literals of every variable that is neither fixed nor represented by another.
    literals: Vec<Lit>,
}

impl Pairs {
    fn of(circuit: &Circuit) -> Pairs {
        let count = 2 * circuit.var_count();
        let mut together = BitMatrix::zeros(count, count);
        let mut passes = Together::new(circuit);
        for first in (0..count).step_by(LANES) {
            let sets: Vec<[Lit; 1]> = (first..count.min(first + LANES)).map(|i| [literal(i)]).collect();
            let partners = passes.partners(&sets);
            for i in 0..sets.len() {
                for (j, mask) in partners.iter().enumerate().filter(|(_, mask)| lane(mask, i)) {
                    debug_assert!(lane(mask, i));
                    together.set(first + i, j);
                }
            }
        }
        let mut pairs = Pairs { together, classes: Vec::new(), literals: Vec::new() };
        let mut done = vec![false; count / 2];
        for v in 0..count / 2 {
            let first = literal(2 * v + 1);
            if done[v] || !pairs.both(first, first) || !pairs.both(!first, !first) {
                continue;
            }
            let mut class = vec![first];
            for other in (2 * v + 2..count).map(literal).filter(|lit| !done[lit.var.index()]) {
                // Equivalent literals are possible with the same literals; two tests decide.
                if pairs.both(other, other) && pairs.implies(first, other) && pairs.implies(other, first) {
                    class.push(other);
                }
            }
            class.iter().for_each(|lit| done[lit.var.index()] = true);
            pairs.literals.extend([!first, first]);
            if class.len() > 1 {
                pairs.classes.push(class);
            }
        }
        pairs
    }

    /// Whether two literals can hold together; a literal with itself, whether it can hold at all.
    fn both(&self, a: Lit, b: Lit) -> bool {
        self.together.bit(index(a), index(b))
    }

    fn implies(&self, a: Lit, b: Lit) -> bool {
        !self.both(a, !b)
    }

    /// The rules about literals that always hold and about classes.
    fn literals_and_classes(&self, marginals: &[f64]) -> Vec<BaseRule> {
        let all = (0..self.together.lines()).map(literal);
        let fixed = all.filter(|&lit| !self.both(!lit, !lit));
        let fixed = fixed.map(|lit| BaseRule::new(RuleKind::Literal, vec![lit], marginals));
        let classes = self.classes.iter();
        fixed.chain(classes.map(|class| BaseRule::new(RuleKind::Equivalence, class.clone(), marginals))).collect()
    }

    /// The clauses of two literals that do not follow from other clauses of two literals.
    ///
    /// Entailed implications are transitive, and without equivalent literals they have no cycles. So exactly one
    /// minimal set implies all: the implications without a literal between.
    fn reduced(&self) -> Vec<[Lit; 2]> {
        let count = self.together.lines();
        let mut implied = BitMatrix::zeros(count, count);
        for &a in &self.literals {
            for &b in self.literals.iter().filter(|&&b| b != a && self.implies(a, b)) {
                implied.set(index(a), index(b));
            }
        }
        let mut clauses = Vec::new();
        let mut direct = vec![0; implied.line(0).len()];
        for &a in &self.literals {
            let all = implied.line(index(a));
            direct.copy_from_slice(all);
            for between in ones(all) {
                direct.iter_mut().zip(implied.line(between)).for_each(|(word, beyond)| *word &= !beyond);
            }
            for b in ones(&direct).map(literal) {
                // Every clause is two implications; the one from the smaller negated literal is taken.
                if !a < b {
                    clauses.push([!a, b]);
                }
            }
        }
        clauses.sort_unstable();
        clauses
    }
}

const WORDS: usize = 4;
/// The number of sets tested at once.
const LANES: usize = 64 * WORDS;

type Mask = [u64; WORDS];

/// The passes over one circuit, with their scratch.
struct Together<'a> {
    circuit: &'a Circuit,
    up: Vec<Mask>,
    down: Vec<Mask>,
    /// By literal: the sets that exclude it.
    excluded: Vec<Mask>,
    /// By literal: the sets it can hold together with.
    seen: Vec<Mask>,
}

impl<'a> Together<'a> {
    fn new(circuit: &'a Circuit) -> Together<'a> {
        let (nodes, literals) = (circuit.nodes().len(), 2 * circuit.var_count());
        Together {
            circuit,
            up: vec![[0; WORDS]; nodes],
            down: vec![[0; WORDS]; nodes],
            excluded: vec![[0; WORDS]; literals],
            seen: vec![[0; WORDS]; literals],
        }
    }

    /// Whether each set is possible; the literals of a set are of different variables.
    fn possible<S: AsRef<[Lit]>>(&mut self, sets: &[S]) -> Mask {
        debug_assert!(sets.len() <= LANES);
        self.excluded.fill([0; WORDS]);
        for (lane, set) in sets.iter().enumerate() {
            for &lit in set.as_ref() {
                self.excluded[index(!lit)][lane / 64] |= 1 << (lane % 64);
            }
        }
        let elements = self.circuit.elements();
        for (i, node) in self.circuit.nodes().iter().enumerate() {
            self.up[i] = match *node {
                Node::Literal(lit) => self.excluded[index(lit)].map(|word| !word),
                Node::Top { .. } => [u64::MAX; WORDS],
                Node::Sum { start, end, .. } => {
                    let mut sum = [0; WORDS];
                    for e in &elements[start as usize..end as usize] {
                        let (prime, sub) = (&self.up[e.prime.index()], &self.up[e.sub.index()]);
                        for w in 0..WORDS {
                            sum[w] |= prime[w] & sub[w];
                        }
                    }
                    sum
                }
            };
        }
        self.up[self.circuit.root().index()]
    }

    /// For every literal the sets that it can hold together with; none for impossible sets.
    fn partners<S: AsRef<[Lit]>>(&mut self, sets: &[S]) -> &[Mask] {
        let possible = self.possible(sets);
        self.seen.fill([0; WORDS]);
        self.down.fill([0; WORDS]);
        self.down[self.circuit.root().index()] = possible;
        let elements = self.circuit.elements();
        for (i, node) in self.circuit.nodes().iter().enumerate().rev() {
            let here = self.down[i];
            if here == [0; WORDS] {
                continue;
            }
            match *node {
                Node::Literal(lit) => {
                    let seen = &mut self.seen[index(lit)];
                    (0..WORDS).for_each(|w| seen[w] |= here[w]);
                }
                Node::Top { var, .. } => {
                    for lit in [var.is(false), var.is(true)] {
                        let (seen, excluded) = (&mut self.seen[index(lit)], &self.excluded[index(lit)]);
                        (0..WORDS).for_each(|w| seen[w] |= here[w] & !excluded[w]);
                    }
                }
                Node::Sum { start, end, .. } => {
                    for e in &elements[start as usize..end as usize] {
                        let [prime, sub] = [e.prime.index(), e.sub.index()];
                        let used: Mask = std::array::from_fn(|w| here[w] & self.up[prime][w] & self.up[sub][w]);
                        (0..WORDS).for_each(|w| self.down[prime][w] |= used[w]);
                        (0..WORDS).for_each(|w| self.down[sub][w] |= used[w]);
                    }
                }
            }
        }
        &self.seen
    }
}

/// Whether a lane of a mask is set.
fn lane(mask: &Mask, lane: usize) -> bool {
    mask[lane / 64] >> (lane % 64) & 1 == 1
}

impl BaseRules {
    /// The worlds that the rules allow, as a diagram.
    ///
    /// Every rule is entailed by the base, so the rules are the whole base iff they allow as many worlds as it has.
    ///
    /// ```
    /// use slopp::logic::{Limits, RuleSearch};
    /// let psdd = slopp::example::psdd();
    /// let allowed = |length| {
    ///     let found = psdd.rules(&RuleSearch { length, ..RuleSearch::default() }).unwrap();
    ///     found.compile(psdd.vtree().clone(), &Limits::default()).unwrap().model_count()
    /// };
    /// assert!(allowed(2) > psdd.model_count());
    /// assert_eq!(allowed(4), psdd.model_count());
    /// ```
    ///
    /// # Panics
    /// If the vtree has fewer variables than the circuit of the rules.
    pub fn compile(&self, vtree: impl Into<Arc<Vtree>>, limits: &Limits) -> Result<Sdd, Stopped> {
        let vtree = vtree.into();
        let names = Names::numbered(vtree.var_count());
        Rules::new(names, self.rules.iter().map(BaseRule::formula)).compile(vtree, limits)
    }
}

impl BaseRule {
    /// The rule as a formula.
    pub fn formula(&self) -> Formula {
        let mut lits = self.literals.iter().map(|&lit| Formula::literal(lit));
        match self.kind {
            RuleKind::ExactlyOne => Formula::count(Comparison::Exactly, 1, lits),
            RuleKind::Exclusion => Formula::count(Comparison::AtMost, 1, lits),
            RuleKind::Literal | RuleKind::Clause => Formula::or(lits),
            RuleKind::Implication => {
                let first = lits.next().expect("an implication has two literals");
                first.implies(Formula::or(lits))
            }
            RuleKind::Equivalence => {
                let all: Vec<Formula> = lits.collect();
                let none = all.iter().map(|lit| !lit.clone());
                Formula::or([Formula::and(none), Formula::and(all.iter().cloned())])
            }
        }
    }
}

/// The most partial groups visited.
const STEPS: usize = 1_000_000;
/// How far below one the probabilities of a group may add up to: only rounding, as the circuit decides.
const SLACK: f64 = 1e-4;

/// The groups of three or more variables with exactly one true.
///
/// One of several exclusive variables always holds iff their probabilities add up to one. So partial groups that cannot
/// get there are dropped at once, and the few that do are proved by the circuit.
fn exactly_one(circuit: &Circuit, pairs: &Pairs, marginals: &[f64]) -> Vec<Vec<Lit>> {
    let positive: Vec<Lit> = pairs.literals.iter().copied().filter(|lit| lit.value).collect();
    let p = |lit: &Lit| marginals[lit.var.index()];
    let mut passes = Together::new(circuit);
    let mut groups = Vec::new();
    let mut steps = 0;
    for (i, &first) in positive.iter().enumerate() {
        let others: Vec<Lit> = positive[i + 1..].iter().copied().filter(|&lit| !pairs.both(first, lit)).collect();
        // A partial group, and its possible extensions.
        let mut stack = vec![(vec![first], others)];
        while let Some((group, others)) = stack.pop() {
            steps += 1;
            if steps > STEPS {
                return groups;
            }
            let sum: f64 = group.iter().chain(&others).map(p).sum();
            if sum < 1.0 - SLACK {
                continue;
            }
            let Some((&next, rest)) = others.split_first() else {
                let none: Vec<Lit> = group.iter().map(|&lit| !lit).collect();
                if group.len() > 2 && passes.possible(&[none])[0] & 1 == 0 {
                    groups.push(group);
                }
                continue;
            };
            stack.push((group.clone(), rest.to_vec()));
            let with: Vec<Lit> = rest.iter().copied().filter(|&lit| !pairs.both(next, lit)).collect();
            stack.push(([&group[..], &[next]].concat(), with));
        }
    }
    groups
}

/// The rules about two literals: implications, and exclusions joined to groups with at most one true.
///
/// Exclusions that follow from a group of exactly one are left out.
fn implications_and_exclusions(
    pairs: &Pairs,
    clauses: &[[Lit; 2]],
    exactly_one: &[Vec<Lit>],
    marginals: &[f64],
) -> Vec<BaseRule> {
    let mut rules = Vec::new();
    let mut open: BTreeSet<[Lit; 2]> = BTreeSet::new();
    for &[a, b] in clauses {
        match (a.value, b.value) {
            (false, false) => drop(open.insert([!a, !b])),
            // A consequence reads best as it is, a condition as its negation.
            (false, _) => rules.push(BaseRule::new(RuleKind::Implication, vec![!a, b], marginals)),
            (true, false) => rules.push(BaseRule::new(RuleKind::Implication, vec![!b, a], marginals)),
            (true, true) => rules.push(BaseRule::new(RuleKind::Implication, vec![!a, b], marginals)),
        }
    }
    for group in exactly_one {
        open.retain(|pair| !pair.iter().all(|lit| group.contains(lit)));
    }
    while let Some(pair) = open.pop_first() {
        let mut group = pair.to_vec();
        let candidates: BTreeSet<Lit> = open.iter().flatten().copied().collect();
        for lit in candidates {
            let joins = |member: &Lit| open.contains(&[*member.min(&lit), *member.max(&lit)]);
            if !group.contains(&lit) && group.iter().all(|&member| !pairs.both(member, lit)) && group.iter().any(joins)
            {
                group.push(lit);
            }
        }
        group.sort_unstable();
        open.retain(|pair| !pair.iter().all(|lit| group.contains(lit)));
        rules.push(BaseRule::new(RuleKind::Exclusion, group, marginals));
    }
    rules
}

impl BaseRules {
    /// The same rules, with the rule that a column has one value in terms of its own values.
    ///
    /// Of equivalent literals the search keeps the first, so a column may be described by the values of another. Here
    /// the equivalent values of the column are put back, so the consequences stay the same.
    #[must_use]
    pub fn with_whole_columns(mut self, names: &Names) -> BaseRules {
        // Each variable as the first of its equivalent literals.
        let mut first: Vec<Lit> = (0..names.len()).map(|i| Var(i as u32).is(true)).collect();
        let mut never = vec![false; names.len()];
        for rule in &self.rules {
            match rule.kind {
                RuleKind::Equivalence => {
                    let one = rule.literals[0];
                    let others = rule.literals[1..].iter();
                    others.for_each(|lit| first[lit.var.index()] = if lit.value { one } else { !one });
                }
                RuleKind::Literal => never[rule.literals[0].var.index()] = !rule.literals[0].value,
                _ => {}
            }
        }
        let same = |lit: &Lit| if lit.value { first[lit.var.index()] } else { !first[lit.var.index()] };
        let mut is_changed = false;
        for group in names.groups() {
            let values: Vec<Lit> = group.vars().filter(|var| !never[var.index()]).map(|var| var.is(true)).collect();
            let expected: BTreeSet<Lit> = values.iter().map(same).collect();
            let is_own =
                |lits: &[Lit]| names.groups().iter().any(|group| lits.iter().all(|lit| group.contains(lit.var)));
            let mut rules = self.rules.iter_mut().filter(|rule| rule.kind == RuleKind::ExactlyOne);
            let found = rules.find(|rule| {
                !is_own(&rule.literals) && rule.literals.iter().map(same).collect::<BTreeSet<_>>() == expected
            });
            if let Some(rule) = found {
                rule.literals = values;
                is_changed = true;
            }
        }
        // Only an equivalence can have become redundant.
        self.is_minimal &= !is_changed || self.no_equivalence_follows(names.len());
        self
    }

    /// Whether it is proved that no equivalence follows from the other rules.
    fn no_equivalence_follows(&self, vars: usize) -> bool {
        let mut prover = Prover::new(&vec![false; vars]);
        let clauses: Vec<Vec<Vec<Lit>>> = self.rules.iter().map(|rule| rule.to_clauses()).collect();
        clauses.iter().for_each(|clauses| prover.add(clauses));
        let equivalences = (0..self.rules.len()).filter(|&i| self.rules[i].kind == RuleKind::Equivalence);
        equivalences.into_iter().all(|i| prover.is_implied(&clauses[i], Some(i)) == Some(false))
    }
}

struct Longer {
    /// Shorter ones first, then those that exclude most.
    clauses: Vec<Vec<Lit>>,
    /// All minimal entailed clauses of at most this length are found, or are pairs.
    complete_to: usize,
}

/// The number of passes before large lists of sets are cut.
const BLOCK: usize = 4;
/// The most clauses of one length.
const FOUND_LIMIT: usize = 100_000;

/// A set of literals and the probability that all hold, if they were independent.
type Set = (Vec<Lit>, f64);

fn longer_clauses(circuit: &Circuit, pairs: &Pairs, marginals: &[f64], search: &RuleSearch) -> Longer {
    let p = |lit: Lit| if lit.value { marginals[lit.var.index()] } else { 1.0 - marginals[lit.var.index()] };
    let mut longer = Longer { clauses: Vec::new(), complete_to: search.length.max(2) };
    let mut steps = search.steps;
    let literals = &pairs.literals;
    // Clauses longer than the number of variables say the same as shorter ones.
    let longest = search.length.min(circuit.var_count());
    let heavy = |mass: f64| mass >= search.least_excluded;
    let mut sets: Vec<Set> = Vec::new();
    if longest > 2 {
        // A few more than there are steps, or the list of pairs would dominate the memory.
        for (i, &a) in literals.iter().enumerate() {
            let behind = literals[i + 1..].iter().copied().filter(|b| b.var != a.var && pairs.both(a, *b));
            sets.extend(behind.map(|b| (vec![a, b], p(a) * p(b))).filter(|&(_, mass)| heavy(mass)));
            if sets.len() > steps.saturating_mul(4).saturating_add(1024) {
                cut(&mut sets, steps, &mut longer, 2);
            }
        }
    }
    let mut impossible: FxHashSet<Vec<Lit>> = FxHashSet::default();
    for length in 3..=longest {
        cut(&mut sets, steps, &mut longer, length - 1);
        steps -= sets.len();
        let grow_on = length < longest && steps > 0;
        if length < longest && steps == 0 {
            longer.complete_to = longer.complete_to.min(length);
        }
        let mut found: Vec<Set> = Vec::new();
        let mut grown: Vec<Set> = Vec::new();
        // Block by block, so that lists are cut before they fill the memory.
        for block in sets.chunks(BLOCK * LANES) {
            // Once there are as many as steps, only heavier ones help.
            let floor = if steps > 0 && grown.len() == steps { grown[steps - 1].1 } else { 0.0 };
            let grow_above = grow_on.then_some(floor);
            let parts: Vec<(Vec<Set>, Vec<Set>)> = block
                .par_chunks(LANES)
                .map_init(|| Together::new(circuit), |passes, sets| extend(passes, sets, pairs, &p, &heavy, grow_above))
                .collect();
            for (new, next) in parts {
                found.extend(new.into_iter().filter(|(set, _)| !has_part(&impossible, set)));
                grown.extend(next);
            }
            cut(&mut grown, steps, &mut longer, length);
            cut(&mut found, FOUND_LIMIT, &mut longer, length - 1);
        }
        sets = grown;
        heaviest_first(&mut found);
        longer.clauses.extend(found.iter().map(|(set, _)| set.iter().map(|&lit| !lit).collect()));
        impossible.extend(found.into_iter().map(|(set, _)| set));
    }
    longer
}

/// The sets that one more literal makes impossible, and those that it does not, each with this literal.
fn extend(
    passes: &mut Together<'_>,
    sets: &[Set],
    pairs: &Pairs,
    p: &impl Fn(Lit) -> f64,
    heavy: &impl Fn(f64) -> bool,
    grow_above: Option<f64>,
) -> (Vec<Set>, Vec<Set>) {
    let literals = &pairs.literals;
    let lits: Vec<&[Lit]> = sets.iter().map(|(set, _)| &set[..]).collect();
    let partners = passes.partners(&lits);
    let (mut found, mut next) = (Vec::new(), Vec::new());
    for (i, (set, mass)) in sets.iter().enumerate() {
        let last = set[set.len() - 1];
        // Only after the last literal, or every set would be found several times.
        let behind = literals.partition_point(|&lit| lit <= last);
        for &lit in literals[behind..].iter().filter(|lit| lit.var != last.var) {
            let mass = mass * p(lit);
            let possible = lane(&partners[index(lit)], i);
            let grows = grow_above.is_some_and(|floor| mass >= floor);
            if !heavy(mass) || possible && !grows || set.iter().any(|&other| !pairs.both(lit, other)) {
                continue;
            }
            let with = (set.iter().copied().chain([lit]).collect(), mass);
            if possible { next.push(with) } else { found.push(with) }
        }
    }
    (found, next)
}

/// Keeps the sets that exclude most if there are too many; then only clauses up to `length` are complete.
fn cut(sets: &mut Vec<Set>, most: usize, longer: &mut Longer, length: usize) {
    if sets.len() > most {
        heaviest_first(sets);
        sets.truncate(most);
        longer.complete_to = longer.complete_to.min(length);
    }
}

fn heaviest_first(sets: &mut [Set]) {
    sets.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
}

/// Whether a proper part of three or more literals of a set is known to be impossible.
fn has_part(impossible: &FxHashSet<Vec<Lit>>, set: &[Lit]) -> bool {
    let n = set.len();
    // Sets are short: all parts of three or more, by their bits.
    (1u64..(1 << n) - 1).filter(|bits| bits.count_ones() > 2).any(|bits| {
        let part: Vec<Lit> = (0..n).filter(|i| bits >> i & 1 == 1).map(|i| set[i]).collect();
        impossible.contains(&part)
    })
}
