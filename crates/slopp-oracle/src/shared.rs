//! Benchmark data and fixtures that are not part of the repository.

use std::path::{Path, PathBuf};

/// The path of a shared file or folder, such as `fixtures/zoo` or `data/nltcs`.
///
/// Looked up below the environment variable `SLOPP_DATA`, by default `../shared`, relative to the repository.
/// `None`, with a loud word on stderr, if it is not there.
///
/// # Panics
/// If it is not there and `SLOPP_REQUIRE_DATA` is set to `1`, as in CI.
#[allow(clippy::print_stderr)]
pub fn shared(path: &str) -> Option<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("SLOPP_DATA").unwrap_or_else(|| "../shared".into());
    let found = repository.join(folder).join(path);
    if found.exists() {
        return Some(found);
    }
    let missing = format!(
        "SHARED DATA NOT FOUND: {}; set SLOPP_DATA to the folder that holds data/ and fixtures/",
        found.display()
    );
    assert!(std::env::var("SLOPP_REQUIRE_DATA").as_deref() != Ok("1"), "{missing}");
    eprintln!("{missing}: TEST SKIPPED");
    None
}
