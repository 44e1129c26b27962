//! What a teacher says is possible, for a student that must keep to it.

use crate::data::Records;
use crate::infer::QueryError;
use crate::logic::{Limits, Manager, Rules, Stopped};
use crate::model::Certified;

/// How large the base of the teacher may be on the vtree of the student.
const BASE_NODES: usize = 2_000_000;

/// What a teacher that is deterministic says is possible, if that is not everything.
///
/// ```
/// use slopp::learn::{Learner, Task, TeacherBase, World, baseline::Factorised};
/// let records = slopp::example::records();
/// let teacher = slopp::example::psdd().into();
/// let base = TeacherBase::of(&teacher, &records)?.expect("some worlds are impossible");
/// let open = Factorised { world: World::Open, pseudocount: 1.0 };
/// let student = open.learn(&Task::new(&records), &())?.learned.psdd().unwrap().clone();
/// assert_eq!(student.model_count(), 16u32.into());
/// let student = base.given(&student.into())?;
/// assert_eq!(student.deterministic().unwrap().model_count(), slopp::example::psdd().model_count());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TeacherBase<'a>(&'a Certified);

/// Why a student cannot keep to the base of its teacher.
#[derive(Debug, thiserror::Error)]
pub enum BaseError {
    /// Records to learn from are outside.
    #[error("records of weight {outside} of {total} to learn from are impossible for the teacher")]
    Outside {
        /// The weight of those records.
        outside: f64,
        /// The weight of all records.
        total: f64,
    },
    /// The worlds of the columns could not be counted.
    #[error(transparent)]
    Columns(Stopped),
    /// The base is too large on the vtree of the student.
    #[error("the base of the teacher is too large on the vtree of the student: {0}")]
    TooLarge(#[source] Stopped),
    /// The student could not be conditioned, or the records are over other variables.
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl TeacherBase<'_> {
    /// The base of a teacher; `None` if it is not deterministic, so that its worlds cannot be counted, or if every world
    /// is possible in which columns have one value. The records must be inside.
    pub fn of<'a>(teacher: &'a Certified, train: &Records) -> Result<Option<TeacherBase<'a>>, BaseError> {
        let Ok(circuit) = teacher.deterministic() else { return Ok(None) };
        let columns = Rules::of_columns(train.names().clone());
        let everything = columns.compile(teacher.vtree().clone(), &Limits::default()).map_err(BaseError::Columns)?;
        let kept = teacher.column_without_one_value(train.names()).is_none();
        if kept && circuit.model_count() == everything.model_count() {
            return Ok(None);
        }
        let possible = teacher.possible(train)?;
        let weights = train.weights().iter().zip(possible);
        let outside: f64 = weights.filter(|(_, possible)| !possible).map(|(weight, _)| weight).sum();
        match outside > 0.0 {
            true => Err(BaseError::Outside { outside, total: train.total() }),
            false => Ok(Some(TeacherBase(teacher))),
        }
    }

    /// A student given what is possible for the teacher.
    pub fn given(&self, student: &Certified) -> Result<Certified, BaseError> {
        let mut manager = Manager::new(student.vtree().clone(), Limits::default().with_nodes(BASE_NODES));
        let base = manager.support_of(self.0, |var| var).map_err(BaseError::TooLarge)?;
        Ok(student.given(&manager.sdd(base))?.0)
    }
}
