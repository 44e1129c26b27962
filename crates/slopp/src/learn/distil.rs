//! Distillation: one PSDD from a teacher that is larger, or no PSDD at all.
//!
//! What limits a single model is the noise in choosing its transitions, not its parameters. A teacher that averages
//! over many structures has less of it; records drawn from the teacher are as many as wanted, and a structure learned
//! from them is better than one learned from the real records. Its parameters then are refitted to those.

use super::LearnError;
use super::error::{check_records, check_validation};
use super::judge::score;
use super::slopp::{SloppConfig, learn};
use super::task::Task;
use crate::certified::Certified;
use crate::circuit::Psdd;
use crate::data::{MAX_RECORDS, Records, RecordsBuilder};
use crate::infer::{Distribution, Evidence, count_shares};
use crate::logic::Limits;
use crate::progress::Progress;
use rayon::prelude::*;

/// Settings of [`distil`].
#[derive(Clone, Debug, PartialEq)]
pub struct Distil {
    /// How the model is learned from synthetic and real records together.
    pub student: SloppConfig,
    /// The weights of the parameters learned from all in the fit to the real records that are tried, in records.
    pub strengths: Vec<f64>,
}

impl Default for Distil {
    fn default() -> Distil {
        Distil::new(SloppConfig::default())
    }
}

impl Distil {
    /// With more classes, unless these settings have a cap on them, and a higher price of copies, since records are many.
    pub fn new(model: SloppConfig) -> Distil {
        let max_classes = if model.capped { model.max_classes } else { model.max_classes.max(64) };
        let student = SloppConfig { max_classes, clone_penalty: 1.0, ..model };
        Distil { student, strengths: vec![5.0, 10.0, 25.0, 50.0, 100.0, 200.0, 500.0, 5000.0] }
    }

    /// The same with another largest number of elements.
    pub(super) fn within(&self, max_elements: usize) -> Distil {
        Distil { student: self.student.within(max_elements), ..self.clone() }
    }
}

/// What a teacher was distilled to.
#[derive(Clone, Debug, PartialEq)]
pub struct Distilled {
    /// The PSDD, with the counts of the real records.
    pub psdd: Psdd,
    /// The weight of the parameters learned from all records that was best.
    pub strength: f64,
    /// The log-likelihood per record of those it was chosen by, before held-out records came in.
    pub log_likelihood: f64,
    /// The weight of the records that were held out to choose by.
    pub held_out: f64,
}

/// Learns one PSDD from synthetic and real records together, and refits its parameters to the real ones, with those
/// learned from all as the prior. All is chosen by the validation records; without any by a tenth of the real ones, held out
/// by seed, and the parameters are then fitted to all of those.
///
/// The synthetic records may come from [`synthetic`], or from anywhere else.
pub fn distil(
    task: &Task,
    synthetic: &Records,
    config: &Distil,
    progress: &dyn Progress,
) -> Result<Distilled, LearnError> {
    let train = task.train;
    check_records(train)?;
    check_validation(train, task.valid)?;
    check_validation(train, Some(synthetic))?;
    if let Some(value) = config.strengths.iter().find(|x| !(x.is_finite() && **x > 0.0)) {
        let (name, expected) = ("strengths", "finite numbers above 0");
        return Err(LearnError::Setting { name, value: value.to_string(), expected: expected.into() });
    }
    let parts = task.parts()?;
    let Some(judge) = parts.judge() else { return Err(LearnError::NothingToChooseBy) };
    let mut all = RecordsBuilder::new(train.names().clone());
    for records in [parts.train(), synthetic] {
        for (row, &weight) in records.weights().iter().enumerate() {
            all.push_words(records.rows().line(row), weight);
        }
    }
    let all = all.finish();
    let student = learn(&Task { train: &all, valid: Some(judge), ..*task }, &config.student, progress)?.psdd;
    let fitted_to = |records: &Records, strength: f64| -> Result<Psdd, LearnError> {
        let counts = count_shares(&student, 1, records, records.weights()).counts.swap_remove(0);
        Ok(student.with_estimates_towards(counts, strength)?.certify(&Limits::default())?)
    };
    let refitted = config.strengths.par_iter().map(|&strength| {
        let psdd = fitted_to(parts.train(), strength)?;
        let log_likelihood = score(&Certified::from(psdd.clone()), judge)?;
        Ok(Distilled { psdd, strength, log_likelihood, held_out: parts.held_out() })
    });
    let refitted: Vec<Distilled> = refitted.collect::<Result<_, LearnError>>()?;
    let best = refitted.into_iter().reduce(|a, b| if b.log_likelihood > a.log_likelihood { b } else { a });
    let nothing = LearnError::Setting { name: "strengths", value: "empty".to_owned(), expected: "at least one".into() };
    let best = best.ok_or(nothing)?;
    match parts.is_divided() {
        true => Ok(Distilled { psdd: fitted_to(train, best.strength)?, ..best }),
        false => Ok(best),
    }
}

/// How many records to draw from a teacher unless somebody says so: ten for each real one, at least 50 000 and at most
/// 600 000.
pub fn sample_size(train: &Records) -> usize {
    (10.0 * train.total()).clamp(50_000.0, 600_000.0) as usize
}

/// Records drawn from a teacher, to be learned from beside real ones; at most [`MAX_RECORDS`].
pub fn synthetic(teacher: &dyn Distribution, like: &Records, count: usize, seed: u64) -> Result<Records, LearnError> {
    if count > MAX_RECORDS {
        let (name, value) = ("samples", count.to_string());
        return Err(LearnError::Setting { name, value, expected: "at most 1000000000".into() });
    }
    let mut builder = RecordsBuilder::new(like.names().clone());
    for part in teacher.sample_in_parts(count, &Evidence::none(teacher.var_count()), seed)? {
        (0..part.len()).for_each(|i| builder.push_words(part.rows().line(i), 1.0));
    }
    Ok(builder.finish())
}
