//! Where work is done: off the interpreter's lock, on threads of our own, and so that Ctrl-C ends it.

use crate::error::{Answer, Failure};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use slopp::infer::QueryError;
use slopp::logic::Limits;
use slopp::{Progress, Records, RecordsBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often long work looks for Ctrl-C and reports its progress.
const TICK: Duration = Duration::from_millis(50);

/// So few rows are answered for without a thread of their own.
const FEW: usize = 64;

/// So many rows are answered for at a time.
const PART: usize = 2048;

/// The threads of this process: a child after `fork` has none of those of its parent.
static POOL: Mutex<Option<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(None);

/// The threads, made when first needed.
fn pool() -> Arc<ThreadPool> {
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let (process, threads) = (std::process::id(), slot.as_ref().map_or(0, |(_, threads, _)| *threads));
    if let Some((_, _, pool)) = slot.as_ref().filter(|(owner, ..)| *owner == process) {
        return pool.clone();
    }
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started"));
    // Dropped, the pool of a parent process would wait for threads that are not there.
    std::mem::forget(slot.replace((process, threads, pool.clone())));
    pool
}

/// More threads than this are a slip, and could take the machine down.
const MOST_THREADS: usize = 1024;

/// Use this many threads, 0 for all cores; results are the same on any number.
#[pyfunction]
pub(crate) fn set_threads(threads: i64) -> Answer<()> {
    let refused = |why: &str| {
        let text = format!("{threads} threads {why}; give a number from 1 to {MOST_THREADS}, or 0 for all cores");
        Failure::new("ArgumentError", text)
    };
    let wanted = usize::try_from(threads).ok().filter(|&threads| threads <= MOST_THREADS);
    let wanted = wanted.ok_or_else(|| refused("are not possible"))?;
    let pool = ThreadPoolBuilder::new().num_threads(wanted).build();
    let pool = Arc::new(pool.map_err(|error| refused(&format!("could not be started ({error})")))?);
    let old = POOL.lock().unwrap_or_else(PoisonError::into_inner).replace((std::process::id(), wanted, pool));
    std::mem::forget(old.filter(|(owner, ..)| *owner != std::process::id()));
    Ok(())
}

/// The limits of calls that take none.
pub(crate) fn usual_limits() -> Limits {
    Limits::default()
}

/// Work that is soon done.
pub(crate) fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| pool().install(work))
}

/// Answers for each distinct row, from what answers for all rows of some records: so many at a time that Ctrl-C is soon
/// seen. For questions that cost far more than to put rows together.
pub(crate) fn run_by_rows<T: Send + Clone + 'static>(
    py: Python<'_>,
    records: &Arc<Records>,
    ask: impl Fn(&Records) -> Result<Vec<T>, QueryError> + Send + 'static,
) -> Answer<Vec<T>> {
    let records = records.clone();
    if records.len() <= FEW {
        return Ok(run(py, move || ask(&records))?);
    }
    Ok(run_long(py, None, move |progress| {
        progress.begin("answering for records", records.len() as u64);
        let mut answers = Vec::with_capacity(records.len());
        for start in (0..records.len()).step_by(PART) {
            let rows = start..records.len().min(start + PART);
            let mut part = RecordsBuilder::new(records.names().clone());
            rows.clone().for_each(|row| part.push(records.row(row), 1.0));
            let part = part.finish();
            let found = ask(&part)?;
            answers.extend(part.original().iter().map(|&row| found[row as usize].clone()));
            progress.advance(rows.len() as u64);
        }
        Ok::<_, QueryError>(answers)
    })??)
}

/// Work about records that is soon done if they are few; otherwise Ctrl-C is seen at once, and the work ends by itself.
pub(crate) fn run_watched<T: Send + 'static>(
    py: Python<'_>,
    records: &Arc<Records>,
    work: impl FnOnce(&Records) -> T + Send + 'static,
) -> Answer<T> {
    let records = records.clone();
    match records.len() <= FEW {
        true => Ok(run(py, move || work(&records))),
        false => run_long(py, None, move |_| work(&records)),
    }
}

/// What a cancelled stage of work unwinds with; no panic, so nothing is printed.
struct Cancelled;

/// A stage of work: what is being done, the steps that are done, and how many there are.
type Stage = (String, u64, u64);

/// How far long work is, and whether it should stop.
#[derive(Default)]
pub(crate) struct Watch {
    cancelled: Arc<AtomicBool>,
    /// The stages since the callback last heard, the last of them under way: none is too short to be heard of.
    stages: Mutex<Vec<Stage>>,
}

impl Watch {
    /// Stops work on diagrams that nobody waits for any more.
    pub(crate) fn cancel(&self) -> Option<Arc<AtomicBool>> {
        Some(self.cancelled.clone())
    }

    /// The usual limits, within which work stops when it is cancelled.
    pub(crate) fn limits(&self) -> Limits {
        Limits { cancel: self.cancel(), ..usual_limits() }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Stage>)) {
        if self.cancelled.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Cancelled));
        }
        change(&mut self.stages.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The progress to report now.
    fn news(&self) -> Vec<Stage> {
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        let news = stages.clone();
        stages.drain(..news.len().saturating_sub(1));
        news
    }
}

impl Progress for Watch {
    fn begin(&self, what: &str, steps: u64) {
        self.change(|stages| stages.push((what.to_owned(), 0, steps)));
    }

    fn advance(&self, steps: u64) {
        self.change(|stages| stages.last_mut().into_iter().for_each(|stage| stage.1 += steps));
    }
}

/// Long work: `callback(what, done, steps)` hears of it, and an exception there or Ctrl-C ends it at its next step, and
/// diagrams within the limits of the watch soon.
pub(crate) fn run_long<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> Answer<T> {
    let watch = Arc::new(Watch::default());
    let (sender, receiver) = channel();
    let worker = watch.clone();
    std::thread::spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| pool().install(|| work(&worker))));
        // Nobody listens any more if the work was cancelled.
        let _ = sender.send(result);
    });
    let mut receiver = receiver;
    loop {
        let (back, message) = py.detach(move || {
            let message = receiver.recv_timeout(TICK);
            (receiver, message)
        });
        receiver = back;
        // Taken even if nobody listens, or stages would pile up.
        let news = watch.news();
        let reported = callback
            .as_ref()
            .map_or(Ok(()), |callback| news.into_iter().try_for_each(|stage| callback.call1(py, stage).map(drop)));
        if let Err(error) = py.check_signals().and(reported) {
            watch.cancelled.store(true, Ordering::Relaxed);
            return Err(error.into());
        }
        match message {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Disconnected) => unreachable!("the worker always sends"),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
