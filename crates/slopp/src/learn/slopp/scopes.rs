//! The first structure on any vtree: classes of records for every vtree node, merged as on a right-linear one.
//!
//! A derivation passes every vtree node once, so the records are divided into classes at each of them. A class also has
//! a *term*: the literals of its scope by which trees above separated it from others. Only classes with equal terms are
//! merged. So in an open world the support of a class is every world that agrees with its term. The primes of one sum
//! are exclusive, since their terms are the leaves of one decision tree (the separation lemma of `learn/separate.rs`).
//!
//! Terms, and classes with them, could multiply on the way down. So the trees of a vtree node may make at most as many
//! terms for its left child as classes are allowed there; classes with many records come first. Terms of the right
//! child are parts of those above. So there are never more terms than allowed classes, and merging can keep to that
//! number.

use super::Start;
use super::agglomerate::{Sets, agglomerate};
use super::forest::Hung;
use super::surrogate::{Count, Logs, Surrogate};
use super::view::View;
use crate::circuit::{BuildError, Builder, NodeId, Sharing};
use crate::data::Choice;
use crate::learn::grow::{Cluster, Database, Part, Task};
use crate::learn::separate::{self, Separating};
use crate::progress::Progress;
use crate::var::{Lit, Var};
use crate::vtree::{Vtree, VtreeId};
use std::collections::BTreeMap;

/// The largest number of clusters of a class.
const CLUSTERS: usize = 4;

/// Fewer records than this are not clustered.
const FEW: f64 = 4.0;

/// How far classes are split and merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    /// The largest number of classes of a vtree node.
    pub(super) classes: usize,
    /// The gain that a class or a cluster needs, in nats.
    pub(super) per_class: f64,
    /// The gain that a class needs for each of its parameters, in nats.
    pub(super) per_parameter: f64,
}

/// The classes of one vtree node.
#[derive(Default)]
struct Layer {
    /// The class that each element above leads to.
    class_of: Vec<u32>,
    /// Where the elements of each class begin among those of the layer.
    starts: Vec<usize>,
    /// The term of each class.
    terms: Vec<Vec<Lit>>,
    /// The weight of each element; at a leaf, of each value of each class.
    counts: Vec<f64>,
}

/// Work to do at a vtree node: for each row the element above that it comes from, and the terms of these elements.
struct Asked {
    vtree: VtreeId,
    element_of: Vec<u32>,
    terms: Vec<Vec<Lit>>,
}

/// The structure of the records on the vtree of a database. The weights in the builder are counts.
pub(super) fn grow(
    database: &Database<'_>,
    information: &dyn Fn(Var, Var) -> f64,
    limits: Limits,
    progress: &dyn Progress,
) -> Result<(Builder, NodeId), BuildError> {
    let vtree = &database.vtree;
    let of = |&column: &Var| database.columns().at(column).clone();
    let columns: Vec<Choice> = database.columns_below(vtree.root()).iter().map(of).collect();
    let view = View::unsorted(database.records, &columns);
    let trees =
        separate::Limits { leaves: CLUSTERS, min_records: FEW, gain: limits.per_class, gain_per_parameter: 0.0 };
    let mut growth = Growth {
        database,
        information,
        limits,
        logs: Logs::new(view.total()),
        view,
        cluster: Separating::new(database, trees, information).through_free(),
    };
    let mut layers: Vec<Layer> = (0..vtree.node_count()).map(|_| Layer::default()).collect();
    let all = Asked { vtree: vtree.root(), element_of: vec![0; database.records.len()], terms: vec![Vec::new()] };
    let mut stack = vec![all];
    while let Some(asked) = stack.pop() {
        let v = asked.vtree;
        let (layer, below) = growth.layer(asked);
        layers[v.index()] = layer;
        stack.extend(below.into_iter().flatten());
        progress.advance(1);
    }
    build(database, &layers)
}

struct Growth<'a> {
    database: &'a Database<'a>,
    information: &'a dyn Fn(Var, Var) -> f64,
    limits: Limits,
    view: View,
    logs: Logs,
    cluster: Separating<'a>,
}

impl Growth<'_> {
    /// The classes of a vtree node, and the work for its children.
    fn layer(&mut self, asked: Asked) -> (Layer, Option<[Asked; 2]>) {
        let vtree = &self.database.vtree;
        let Asked { vtree: v, mut element_of, terms } = asked;
        let class_of = match self.view.is_whole() {
            true => self.merged::<u32>(v, &element_of, &terms),
            false => self.merged::<f64>(v, &element_of, &terms),
        };
        element_of.iter_mut().for_each(|row| *row = class_of[*row as usize]);
        let len = class_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut of_class = vec![Vec::new(); len];
        class_of.iter().zip(terms).for_each(|(&class, term)| of_class[class as usize] = term);
        let mut rows = vec![Vec::new(); len];
        element_of.iter().enumerate().for_each(|(row, &class)| rows[class as usize].push(row as u32));
        let mut layer = Layer { class_of, starts: Vec::with_capacity(len), terms: of_class, counts: Vec::new() };
        if self.database.column_at(v).is_some() {
            let position = self.database.column_range(v).start;
            let (values, cells) = (self.view.values(position), self.view.column(position));
            layer.counts = vec![0.0; values * len];
            for (row, (&class, weight)) in element_of.iter().zip(self.view.weights()).enumerate() {
                layer.counts[values * class as usize + cells.at(row)] += weight;
            }
            return (layer, None);
        }
        let sides = vtree.children(v).expect("a leaf is a column");
        let parts = self.clustered(v, &mut rows, &layer.terms);
        let mut below = sides.map(|vtree| Asked { vtree, element_of: Vec::new(), terms: Vec::new() });
        for ((rows, term), parts) in rows.iter().zip(&layer.terms).zip(parts) {
            layer.starts.push(layer.counts.len());
            let mut rows = &rows[..];
            for part in parts {
                let (own, rest) = rows.split_at(part.rows);
                rows = rest;
                own.iter().for_each(|&row| element_of[row as usize] = layer.counts.len() as u32);
                layer.counts.push(self.database.weight(own));
                for asked in &mut below {
                    asked.terms.push(term_below(vtree, asked.vtree, term, &part.literals));
                }
            }
        }
        below[0].element_of = element_of.clone();
        below[1].element_of = element_of;
        (layer, Some(below))
    }

    /// The clusters of each class of an inner vtree node; the rows of the class are reordered. Large classes come
    /// first; where terms for the left child run short, trees are smaller.
    fn clustered(&mut self, v: VtreeId, rows: &mut [Vec<u32>], terms: &[Vec<Lit>]) -> Vec<Vec<Part>> {
        let vtree = &self.database.vtree;
        let left = vtree.children(v).expect("an inner vtree node")[0];
        // A variable has at most three terms, which do not count as classes.
        let room = if vtree.children(left).is_none() { usize::MAX } else { self.limits.classes };
        // The terms of the left child so far, with the number of elements that need each.
        let mut asked: BTreeMap<Vec<Lit>, usize> = BTreeMap::new();
        for term in terms {
            *asked.entry(term_below(vtree, left, term, &[])).or_default() += 1;
        }
        let weights: Vec<f64> = rows.iter().map(|rows| self.database.weight(rows)).collect();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
        let mut fixed = vec![false; vtree.var_count()];
        let mut parts: Vec<Vec<Part>> = rows.iter().map(|_| Vec::new()).collect();
        for class in order {
            let own = term_below(vtree, left, &terms[class], &[]);
            let unused = usize::from(asked[&own] == 1);
            let leaves = (room - (asked.len() - unused)).min(CLUSTERS);
            if leaves < 2 {
                parts[class] = vec![Part { rows: rows[class].len(), literals: Vec::new() }];
                continue;
            }
            terms[class].iter().for_each(|lit| fixed[lit.var.index()] = true);
            self.cluster.set_leaves(leaves);
            let task = Task { database: self.database, vtree: v, rows: &mut rows[class], fixed: &fixed, seed: 0 };
            let found = self.cluster.cluster(task);
            terms[class].iter().for_each(|lit| fixed[lit.var.index()] = false);
            if unused == 1 {
                asked.remove(&own);
            } else {
                *asked.get_mut(&own).expect("counted above") -= 1;
            }
            for part in &found {
                *asked.entry(term_below(vtree, left, &terms[class], &part.literals)).or_default() += 1;
            }
            parts[class] = found;
        }
        parts
    }

    /// The class of each set of rows: sets with equal terms are merged as far as it pays, judged by their free
    /// variables.
    fn merged<T: Count>(&self, v: VtreeId, set_of: &[u32], terms: &[Vec<Lit>]) -> Vec<u32> {
        let (columns, scope) = (self.database.columns_below(v), self.database.column_range(v));
        let of_variables = self.database.columns().are_variables();
        let mut numbers: BTreeMap<&[Lit], usize> = BTreeMap::new();
        for term in terms {
            let next = numbers.len();
            numbers.entry(term).or_insert(next);
        }
        let terms_of: Vec<usize> = terms.iter().map(|term| numbers[&term[..]]).collect();
        let mut sets = vec![0; numbers.len()];
        terms_of.iter().for_each(|&term| sets[term] += 1);
        let mut trees: Vec<Option<Hung>> = vec![None; numbers.len()];
        for (term, number) in numbers {
            // A single set is not compared, so it needs no tree. Trees may differ over variables only.
            let is_free =
                |x: &usize| !of_variables || sets[number] > 1 && term.iter().all(|lit| lit.var != columns[*x]);
            let free: Vec<usize> = (0..columns.len()).filter(is_free).collect();
            let information = |i: usize, j: usize| (self.information)(columns[i], columns[j]);
            trees[number] = Some(Hung::over(columns.len(), &free, information));
        }
        let trees: Vec<Hung> = trees.into_iter().flatten().collect();
        let of_set = terms_of.iter().map(|&term| &trees[term]).collect();
        let penalty = self.limits.per_parameter;
        let sets = Surrogate::<T>::new(&self.view, scope, set_of, (of_set, &self.logs), Start::Whole(penalty));
        // Fixed variables have no parameters. Of other columns, only values that occur are charged.
        let names = self.database.records.names();
        let is_variable = |lit: &&Lit| of_variables || names.group_of(lit.var).is_none();
        let variables = |term: &Vec<Lit>| term.iter().filter(is_variable).count();
        let spared = terms.iter().map(|term| 2.0 * penalty * variables(term) as f64).collect();
        agglomerate(&mut SameTerm { sets, terms: terms_of, spared }, self.limits.per_class, self.limits.classes)
    }
}

/// The literals of a term and of a path below it that are in the scope of a vtree node.
fn term_below(vtree: &Vtree, v: VtreeId, term: &[Lit], path: &[Lit]) -> Vec<Lit> {
    let lits = term.iter().chain(path).copied();
    let mut term: Vec<Lit> = lits.filter(|lit| vtree.is_below(vtree.leaf(lit.var), v)).collect();
    term.sort_unstable();
    term
}

/// Sets that may be merged only if their terms are equal.
struct SameTerm<S> {
    sets: S,
    terms: Vec<usize>,
    /// The penalty that the surrogate charges for variables that the term fixes, in nats.
    spared: Vec<f64>,
}

impl<S: Sets> Sets for SameTerm<S> {
    fn len(&self) -> usize {
        self.sets.len()
    }

    fn loss(&self, i: usize, j: usize) -> f64 {
        if self.terms[i] == self.terms[j] { self.sets.loss(i, j) + self.spared[i] } else { f64::INFINITY }
    }

    fn merge(&mut self, i: usize, j: usize) {
        self.sets.merge(i, j);
    }

    fn cost(&self) -> usize {
        self.sets.cost()
    }
}

/// The nodes of all classes, from the leaves up.
fn build(database: &Database<'_>, layers: &[Layer]) -> Result<(Builder, NodeId), BuildError> {
    let vtree = &database.vtree;
    let mut builder = Builder::new(vtree.clone(), Sharing::LiteralsOnly);
    let mut primes = database.primes();
    let mut made: Vec<Vec<NodeId>> = vec![Vec::new(); layers.len()];
    for &v in vtree.bottom_up() {
        let layer = &layers[v.index()];
        let mut nodes = Vec::with_capacity(layer.terms.len());
        for (class, term) in layer.terms.iter().enumerate() {
            let node = if let Some(column) = database.column_at(v) {
                let choice = database.columns().at(column);
                let counts = &layer.counts[class * choice.values()..][..choice.values()];
                let is_in = |value: usize| term.iter().all(|&lit| choice.allows(value, lit));
                primes[column.index()].node(&mut builder, counts, is_in)?
            } else {
                let sides = vtree.children(v).expect("a leaf is a column");
                let end = layer.starts.get(class + 1).copied().unwrap_or(layer.counts.len());
                let node = |side: VtreeId, e: usize| made[side.index()][layers[side.index()].class_of[e] as usize];
                let element = |e: usize| (node(sides[0], e), node(sides[1], e), layer.counts[e]);
                builder.sum(v, &(layer.starts[class]..end).map(element).collect::<Vec<_>>())?
            };
            nodes.push(node);
        }
        made[v.index()] = nodes;
    }
    let root = made[vtree.root().index()][0];
    Ok((builder, root))
}
