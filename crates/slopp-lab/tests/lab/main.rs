//! The real binary, run as `slopp` runs it, and `slopp` itself beside it.

mod bench;
#[path = "../../../slopp-cli/tests/cli/folder.rs"]
#[allow(dead_code, reason = "shared with the tests of slopp-cli")]
mod folder;
mod handed_on;
mod reproduce;
#[path = "../../../slopp-cli/tests/cli/transcript.rs"]
mod transcript;

use std::path::{Path, PathBuf};

const LAB: &str = env!("CARGO_BIN_EXE_slopp-lab");

/// The binary that runs these arguments: the lab itself, without a detour, if the command is one of its own.
fn program(args: &[&str]) -> PathBuf {
    let own = args.iter().any(|arg| ["bench", "reproduce"].contains(arg));
    if own { LAB.into() } else { slopp().expect("the test asked for it") }
}

/// `slopp`, if it was built beside the lab, as `cargo test --workspace` does; otherwise says so loudly.
fn slopp() -> Option<PathBuf> {
    let slopp = Path::new(LAB).with_file_name(format!("slopp{}", std::env::consts::EXE_SUFFIX));
    if slopp.is_file() {
        return Some(slopp);
    }
    let required = std::env::var_os("SLOPP_REQUIRE_DATA").is_some_and(|value| value == "1");
    assert!(!required, "{} is not there: cargo build -p slopp-cli", slopp.display());
    #[allow(clippy::print_stderr, reason = "a test that does not run says so")]
    {
        eprintln!("SKIPPED: {} is not there: cargo build -p slopp-cli", slopp.display());
    }
    None
}
