//! Signals. Ctrl-C and requests to end: half-written files are removed, complete ones stay, and both are reported.

use crate::report::counted;
use std::io::Write;
use std::process::exit;

/// What shells take for an end by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Ends the process cleanly when it is interrupted, from now on.
pub fn watch() {
    // Without a handler the process ends all the same, only not as tidily.
    let _ = ctrlc::set_handler(|| {
        let outcome = match slopp::io::abandon_writing() {
            0 => "no file was left half-written".to_owned(),
            files => format!("{} complete before", counted(files, "file")),
        };
        let _ = writeln!(std::io::stderr(), "\ninterrupted; {outcome}");
        exit(INTERRUPTED)
    });
}

/// Makes a limit on the size of files a reported error of writing instead of the end of the process.
pub(crate) fn outlive_file_limit() {
    #[cfg(unix)]
    {
        use std::sync::atomic::AtomicBool;
        // That it is caught is all that is needed.
        static CAUGHT: AtomicBool = AtomicBool::new(false);
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, &CAUGHT);
    }
}
