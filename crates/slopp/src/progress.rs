//! Progress of long work; the library never prints.

/// Listens to long work. Methods may be called from several threads.
pub trait Progress: Sync {
    /// A new stage begins: what is being done, and how many steps it will take.
    fn begin(&self, what: &str, steps: u64);

    /// Some steps of the stage are done.
    fn advance(&self, steps: u64);
}

/// Nobody listens.
impl Progress for () {
    fn begin(&self, _what: &str, _steps: u64) {}

    fn advance(&self, _steps: u64) {}
}
