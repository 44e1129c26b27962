//! Distillation: one PSDD from a teacher that is larger, or no PSDD at all.
//!
//! What limits a single model is the noise in choosing its transitions, not its parameters. A teacher that averages
//! over many structures has less of it; records drawn from the teacher are as many as wanted, and a structure learned
//! from them is better than one learned from the real records. Its parameters then are refitted to those.

use super::LearnError;
use super::error::{check_records, check_validation, check_weights};
use super::judge::score;
use super::slopp::{Slopp, learn};
use super::task::Task;
use crate::certified::Certified;
use crate::circuit::Psdd;
use crate::data::{MAX_RECORDS, Records, RecordsBuilder};
use crate::infer::{Distribution, Evidence, count_shares};
use crate::logic::Limits;
use crate::progress::Progress;
use rayon::prelude::*;

/// How a student learns from synthetic and real records.
#[derive(Clone, Debug, PartialEq)]
pub struct Distil {
    /// How the model is learned from synthetic and real records together.
    pub student: Slopp,
    /// The weights of the parameters learned from all in the fit to the real records that are tried, in records.
    pub strengths: Vec<f64>,
}

impl Default for Distil {
    fn default() -> Distil {
        Distil::new(Slopp::default())
    }
}

impl Distil {
    /// With more classes, unless these settings have a cap on them, and a higher price of copies, since records are many.
    pub fn new(model: Slopp) -> Distil {
        let max_classes = if model.capped { model.max_classes } else { model.max_classes.max(64) };
        let student = Slopp { max_classes, clone_penalty: 1.0, ..model };
        Distil { student, strengths: vec![5.0, 10.0, 25.0, 50.0, 100.0, 200.0, 500.0, 5000.0] }
    }

    /// The same with another largest number of elements.
    pub(super) fn within(&self, max_elements: usize) -> Distil {
        Distil { student: self.student.with_max_elements(max_elements), ..self.clone() }
    }
}

/// What a teacher was distilled to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Distilled {
    /// The PSDD, with the counts of the real records.
    pub(super) psdd: Psdd,
    /// The weight of the parameters learned from all records that was best.
    pub(super) strength: f64,
    /// The log-likelihood per record of those it was chosen by, before held-out records came in.
    pub(super) log_likelihood: f64,
    /// The weight of the records that were held out to choose by.
    pub(super) held_out: f64,
}

/// Learns one PSDD from synthetic and real records together, and refits its parameters to the real ones, with those
/// learned from all as the prior. All is chosen by the validation records; without any by a tenth of the real ones, held out
/// by seed, and the parameters are then fitted to all of those.
pub(super) fn distil(
    task: &Task,
    synthetic: &Records,
    config: &Distil,
    progress: &dyn Progress,
) -> Result<Distilled, LearnError> {
    let train = task.train;
    check_records(train)?;
    check_validation(train, task.valid)?;
    check_validation(train, Some(synthetic))?;
    check_weights("strengths", &config.strengths)?;
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
    let best = best.expect("at least one strength");
    match parts.is_divided() {
        true => Ok(Distilled { psdd: fitted_to(train, best.strength)?, ..best }),
        false => Ok(best),
    }
}

/// The usual number of records to draw from a teacher: ten for each real one, at least 50 000 and at most
/// 600 000.
pub(super) fn sample_size(train: &Records) -> usize {
    (10.0 * train.total()).clamp(50_000.0, 600_000.0) as usize
}

/// Records drawn from a teacher; at most [`MAX_RECORDS`].
pub(super) fn synthetic(
    teacher: &dyn Distribution,
    like: &Records,
    count: usize,
    seed: u64,
) -> Result<Records, LearnError> {
    if count > MAX_RECORDS {
        return Err(LearnError::setting("samples", count, format!("at most {MAX_RECORDS}")));
    }
    let mut builder = RecordsBuilder::new(like.names().clone());
    for part in teacher.sample_in_parts(count, &Evidence::none(teacher.var_count()), seed)? {
        (0..part.len()).for_each(|i| builder.push_words(part.rows().line(i), 1.0));
    }
    Ok(builder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;

    #[test]
    fn samples_grow_with_the_records_between_bounds() {
        for (weight, expected) in [(1.0, 50_000), (5000.0, 50_000), (7000.0, 70_000), (1e6, 600_000)] {
            let mut builder = RecordsBuilder::new(Names::numbered(1));
            builder.push([Some(true)], weight);
            assert_eq!(sample_size(&builder.finish()), expected);
        }
    }

    #[test]
    fn synthetic_records_are_drawn_from_the_teacher() {
        let (teacher, train) = (crate::example::psdd(), crate::example::records());
        let drawn = synthetic(&Certified::from(teacher.clone()), &train, 20_000, 1).unwrap();
        assert_eq!((drawn.total(), drawn.names()), (20_000.0, train.names()));
        for (i, p) in teacher.marginals(&Evidence::none(4)).unwrap().into_iter().enumerate() {
            let share = drawn.count_values(crate::Var(i as u32))[1] / drawn.total();
            assert!((share - p).abs() < 0.02, "variable {i}: {share} drawn, {p} expected");
        }
    }
}
