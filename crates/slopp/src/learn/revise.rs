//! Revision: records that a PSDD excludes become possible, and nothing else does.
//!
//! The base becomes `base ∨ r₁ ∨ … ∨ rₘ` for the impossible records `r`: the least change that makes room for them. The
//! distribution becomes the mixture `(N·P + Σ wᵢ δᵢ) / (N + Σ wᵢ)` of the circuit, which stands for `N` records, and
//! the new records. Worlds that were possible keep their proportions. Both are exact, because a PSDD can be split
//! around a single world (`draft`). A formula with very many new worlds is added as a diagram (`grow`).
//!
//! [`Psdd::given`] does the opposite: it removes worlds by a rule.

mod draft;
mod grow;

use super::error::LearnError;
use crate::circuit::{BuildError, Circuit, Node, Psdd, Weights};
use crate::data::{Records, RecordsBuilder};
use crate::infer::{Evidence, QueryError};
use crate::logic::{Formula, Handle, Limits, Manager, Rules, Sdd};
use crate::logspace::log_share;
use crate::model::Model;
use crate::names::Names;
use draft::Draft;
use num_bigint::BigUint;
use std::sync::Arc;

/// The largest number of new models of a formula that are added one by one, each with the same weight.
const WORLD_LIMIT: usize = 4096;

/// How many records are added before equal nodes are shared again.
const CHUNK: usize = 128;

/// A PSDD with room for more worlds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Revised {
    /// The PSDD.
    pub psdd: Psdd,
    /// How many distinct worlds became possible.
    pub added: BigUint,
    /// The probability of these worlds together.
    pub share: f64,
}

/// The worlds by which a model is revised.
#[derive(Clone, Copy, Debug)]
pub enum Revision<'a> {
    /// These records become possible.
    Records(&'a Records),
    /// All worlds of a formula become possible; the new ones weigh this many records together.
    Formula(&'a Formula, f64),
    /// All worlds that break a formula become impossible.
    Rule(&'a Formula),
}

impl Model {
    /// The revised PSDD, whose origin says by what, and the probability of its new worlds; if worlds were removed,
    /// minus the probability that they had.
    ///
    /// The model weighs `weight` records, by default the number it was counted on. A rule that holds already changes
    /// nothing, counts included; any other one leaves no counts.
    ///
    /// ```
    /// use slopp::Model;
    /// use slopp::learn::Revision;
    /// use slopp::logic::{Formula, Limits};
    /// let model = Model::new(slopp::example::records().names().clone(), slopp::example::psdd());
    /// let rule = Formula::parse("X1 -> X2", &model.names)?;
    /// let (narrower, share) = model.revise(Revision::Rule(&rule), None, &Limits::default())?;
    /// assert!(share < 0.0);
    /// assert_eq!(narrower.origin["revised"], "& X1 -> X2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn revise(&self, by: Revision<'_>, weight: Option<f64>, limits: &Limits) -> Result<(Model, f64), LearnError> {
        let psdd = self.psdd().ok_or(QueryError::OtherKind("a PSDD"))?;
        let (kind, share, by) = match by {
            Revision::Records(records) => {
                let revised = psdd.revise(records, weight, limits)?;
                (revised.psdd, revised.share, "records".to_owned())
            }
            Revision::Formula(formula, together) => {
                let revised = psdd.revise_by_formula(formula, &self.names, together, weight, limits)?;
                (revised.psdd, revised.share, format!("| {}", formula.display(&self.names)))
            }
            Revision::Rule(formula) => {
                let sdd = formula.compile(psdd.vtree().clone(), limits).map_err(QueryError::from)?;
                let (narrower, log) = psdd.given(&sdd, limits)?;
                let by = format!("& {}", formula.display(&self.names));
                // Counts are exact, and the probability of a rule that holds anyway is one but for rounding.
                match narrower.model_count() == psdd.model_count() {
                    true => (psdd.clone(), 0.0, by),
                    false => (narrower, log.exp_m1().min(0.0), by),
                }
            }
        };
        let mut origin = self.origin.clone();
        origin.insert("revised".to_owned(), by);
        Ok((Model { names: self.names.clone(), kind: kind.into(), origin }, share))
    }
}

impl Psdd {
    /// Makes room for records that are impossible, and for nothing else.
    ///
    /// The circuit weighs `weight` records, by default the number it was counted on. New records keep their weights in
    /// `records`. Records that are already possible change nothing; [`Psdd::add_records`] counts them too. If the
    /// circuit has counts, the result has expected ones, so that records can be added later; [`Psdd::fit`] fits it
    /// exactly. Records must be complete, and every column in them must have exactly one value.
    ///
    /// ```
    /// use slopp::logic::Limits;
    /// use slopp::{Names, Records};
    /// let psdd = slopp::example::psdd();
    /// let record = [false, false, true, false];
    /// assert!(!psdd.is_possible(&record)?);
    /// let revised = psdd.revise(&Records::from_rows(Names::numbered(4), [record]), None, &Limits::default())?;
    /// // One record more than the thirty that the circuit was learned from.
    /// assert!((revised.psdd.log_probability(&record)?.exp() - 1.0 / 31.0).abs() < 1e-12);
    /// assert_eq!(revised.psdd.model_count(), psdd.model_count() + 1u32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn revise(&self, records: &Records, weight: Option<f64>, limits: &Limits) -> Result<Revised, LearnError> {
        weight.map_or(Ok(0.0), check_weight)?;
        if !records.is_empty() && !self.entailed_by(records)? {
            let possible = self.possible(records)?;
            let rows = (0..records.len()).filter(|&row| !possible[row]);
            let new: Vec<(Vec<bool>, f64)> =
                rows.map(|row| (records.row(row).flatten().collect(), records.weights()[row])).collect();
            check_columns(records, &possible)?;
            return self.with_worlds(&new, weight, limits);
        }
        Ok(self.unchanged())
    }

    fn unchanged(&self) -> Revised {
        Revised { psdd: self.clone(), added: BigUint::ZERO, share: 0.0 }
    }

    /// Makes room for the worlds of a formula over these names, as [`Psdd::revise_by`] does for a diagram.
    ///
    /// A world in which a column has two values or none stays impossible, even if the formula allows it.
    ///
    /// ```
    /// use slopp::logic::{Formula, Limits, Rules};
    /// use slopp::{Kind, Names, Vtree};
    /// let colors = Kind::Values(["green", "red"].map(String::from).to_vec());
    /// let names = std::sync::Arc::new(Names::of_columns([("color".into(), colors), ("hot".into(), Kind::Boolean)])?);
    /// let rules = Rules::parse_with("exactly(1, color=green, color=red)\n!hot", names.clone())?;
    /// let psdd = rules.compile(Vtree::balanced(3), &Limits::default())?.to_circuit()?.certify(&Limits::default())?;
    /// let hot = Formula::parse("hot", &names)?;
    /// let revised = psdd.revise_by_formula(&hot, &names, 1.0, Some(1.0), &Limits::default())?;
    /// assert_eq!(revised.added, 2u32.into());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn revise_by_formula(
        &self,
        formula: &Formula,
        names: &Arc<Names>,
        weight: f64,
        own_weight: Option<f64>,
        limits: &Limits,
    ) -> Result<Revised, LearnError> {
        let of_columns = Rules::of_columns(names.clone()).formula();
        let diagram = Formula::and([formula.clone(), of_columns]).compile(self.vtree().clone(), limits)?;
        if diagram.model_count() == BigUint::ZERO {
            // The formula is the first rule, and those of columns follow.
            let rules = Rules::new(names.clone(), [formula.clone()]).with_columns();
            let conflict = rules.conflict(self.vtree().clone(), limits)?.expect("no world is left");
            let columns = conflict.rules.iter().filter_map(|rule| names.groups().get(rule.checked_sub(1)?));
            let columns: Vec<String> = columns.map(|group| group.name().to_owned()).collect();
            if !columns.is_empty() {
                return Err(LearnError::NoWorldOfColumns { columns });
            }
        }
        self.revise_by(&diagram, weight, own_weight, limits)
    }

    /// Makes room for all models of a formula, and for nothing else; the new ones share `weight` records.
    ///
    /// They share them evenly if there are at most 4096. More are added as a diagram: in vtree order, the
    /// circuit gives the probability of the longest possible part of a new world, and the rest is uniform. The formula
    /// is compiled on the vtree of the circuit. The circuit weighs `own_weight` records, by default the number it was
    /// counted on.
    ///
    /// Finding and adding new worlds keeps within the limits. If finding them as a diagram takes too much, up to 4096
    /// models are checked one by one.
    pub fn revise_by(
        &self,
        formula: &Sdd,
        weight: f64,
        own_weight: Option<f64>,
        limits: &Limits,
    ) -> Result<Revised, LearnError> {
        if self.vtree() != formula.vtree() {
            return Err(QueryError::FormulaVtree.into());
        }
        check_weight(weight)?;
        own_weight.map_or(Ok(0.0), check_weight)?;
        let allowed = formula.to_circuit()?;
        // If the base is too large for a diagram, all models are checked.
        let new = self.without_base(formula, limits);
        let circuit = match &new {
            None => allowed,
            Some((_, _, Handle::FALSE)) => return Ok(self.unchanged()),
            Some((manager, _, new)) => manager.sdd(*new).to_circuit()?,
        };
        let circuit = circuit.certify_deterministic(limits)?;
        let models = circuit.model_count();
        if models > BigUint::from(WORLD_LIMIT) {
            return match new {
                Some((manager, bases, new)) => {
                    self.with_region(manager, bases, new, [weight, self.own_weight(own_weight)?], limits)
                }
                None => Err(LearnError::TooManyModels { models, limit: WORLD_LIMIT }),
            };
        }
        let mut builder = RecordsBuilder::new(Names::numbered(self.var_count()));
        for world in circuit.worlds(&Evidence::none(self.var_count()))? {
            builder.push(world.into_iter().map(Some), 1.0);
        }
        let records = builder.finish();
        let possible = self.possible(&records)?;
        let new: Vec<usize> = (0..records.len()).filter(|&row| !possible[row]).collect();
        if new.is_empty() {
            return Ok(self.unchanged());
        }
        let each = weight / new.len() as f64;
        let worlds: Vec<_> = new.iter().map(|&row| (records.row(row).flatten().collect(), each)).collect();
        self.with_worlds(&worlds, own_weight, limits)
    }

    /// The models of a formula that are impossible, with the bases of all nodes; `None` if that takes too large a
    /// diagram.
    fn without_base(&self, formula: &Sdd, limits: &Limits) -> Option<(Manager, Vec<Handle>, Handle)> {
        let mut manager = Manager::new(self.vtree().clone(), limits.clone());
        let bases = manager.bases_of(self).ok()?;
        let formula = manager.import(formula).ok()?;
        let new = manager.and(formula, !bases[self.root().index()]).ok()?;
        Some((manager, bases, new))
    }

    /// Room for the worlds of a diagram, all of which are impossible.
    fn with_region(
        &self,
        manager: Manager,
        bases: Vec<Handle>,
        new: Handle,
        [weight, own]: [f64; 2],
        limits: &Limits,
    ) -> Result<Revised, LearnError> {
        check_weight(own + weight)?;
        let apart = |error| too_far_apart(error, own, weight);
        let log_ratio = finite(weight.ln() - own.ln()).map_err(apart)?;
        let circuit = grow::grown(self, manager, bases, new, log_ratio).map_err(apart)?;
        let psdd = self.counted(circuit, own + weight, limits)?;
        let added = psdd.model_count() - self.model_count();
        Ok(Revised { psdd, added, share: weight / (own + weight) })
    }

    /// How many records the circuit weighs.
    fn own_weight(&self, weight: Option<f64>) -> Result<f64, LearnError> {
        let kept = self.kept_values().and_then(|values| values.first().map(|[f, t]| f + t));
        check_weight(weight.or(kept).ok_or(LearnError::NoWeight)?)
    }

    /// A revised circuit, certified. If this one has counts, so has the result: those expected of `total` records.
    fn counted(&self, circuit: Circuit, total: f64, limits: &Limits) -> Result<Psdd, LearnError> {
        let circuit = match self.counts() {
            None => circuit,
            Some(_) => {
                let counts = expected(&circuit, total);
                circuit.with_counts(counts).expect("made for this circuit")
            }
        };
        Ok(circuit.certify(limits)?)
    }

    fn with_worlds(
        &self,
        worlds: &[(Vec<bool>, f64)],
        weight: Option<f64>,
        limits: &Limits,
    ) -> Result<Revised, LearnError> {
        let own = self.own_weight(weight)?;
        let new: f64 = worlds.iter().map(|(_, weight)| weight).sum();
        check_weight(own + new)?;
        let apart = |error| too_far_apart(error, own, new);
        let mut total = own;
        let mut circuit = Circuit::clone(self);
        for chunk in worlds.chunks(CHUNK) {
            let mut draft = Draft::new(&circuit);
            for (world, weight) in chunk {
                // Both from the parts: a difference with the total would cancel.
                let [log_keep, log_new] = [log_share(total, *weight), log_share(*weight, total)];
                draft.add(world, finite(log_keep).map_err(apart)?, finite(log_new).map_err(apart)?);
                total += weight;
            }
            circuit = draft.finish().map_err(|error| apart(error.into()))?;
        }
        let psdd = self.counted(circuit, total, limits)?;
        Ok(Revised { psdd, added: worlds.len().into(), share: new / total })
    }
}

/// Refuses the first impossible record in which a column has no value or several.
fn check_columns(records: &Records, possible: &[bool]) -> Result<(), LearnError> {
    for (record, &row) in records.original().iter().enumerate().filter(|&(_, &row)| !possible[row as usize]) {
        for group in records.names().groups() {
            let values = group.vars().filter(|&var| records.cell(row as usize, var) == Some(true)).count();
            if values != 1 {
                return Err(LearnError::Column { record: record + 1, column: group.name().to_owned(), values });
            }
        }
    }
    Ok(())
}

fn check_weight(weight: f64) -> Result<f64, LearnError> {
    if weight.is_finite() && weight > 0.0 { Ok(weight) } else { Err(LearnError::Weight(weight)) }
}

/// A log-parameter, or the error of one that is log zero.
fn finite(value: f64) -> Result<f64, LearnError> {
    if value.is_finite() { Ok(value) } else { Err(BuildError::Parameter { value }.into()) }
}

/// The error about the weights, if a parameter is log zero, or about the new worlds.
fn too_far_apart(error: LearnError, own: f64, new: f64) -> LearnError {
    match error {
        LearnError::Build(BuildError::Parameter { .. }) => LearnError::TooFarApart { own, new },
        LearnError::Query(QueryError::Compile(error)) => LearnError::NewWorlds(error),
        error => error,
    }
}

/// How many of `total` records are expected to use each parameter.
fn expected(circuit: &Circuit, total: f64) -> Weights {
    let logs = circuit.log_parameters();
    let mut counts = Weights::zeros(logs.tops.len(), logs.elements.len());
    let mut flows = vec![0.0; circuit.nodes().len()];
    flows[circuit.root().index()] = total;
    for id in circuit.ids().rev() {
        let flow = flows[id.index()];
        if let Node::Top { slot, .. } = circuit.node(id) {
            counts.tops[slot as usize] = logs.tops[slot as usize].map(|log| flow * log.exp());
        }
        for e in circuit.element_range(id) {
            let (element, used) = (circuit.elements()[e], flow * logs.elements[e].exp());
            counts.elements[e] = used;
            flows[element.prime.index()] += used;
            flows[element.sub.index()] += used;
        }
    }
    counts
}
