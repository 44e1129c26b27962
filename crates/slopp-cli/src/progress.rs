//! Progress of long work on stderr: what is being done, how far it is, how long it will take.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use slopp::Progress;
use std::io::IsTerminal;
use std::time::Duration;

/// Work that is done sooner is not worth a bar.
const PATIENCE: Duration = Duration::from_millis(300);

/// A progress bar; invisible when stderr is no terminal or nobody wants to see it.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar that waits for its first stage, and shows up if the work takes long.
    pub(crate) fn new(quiet: bool) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{msg} [{bar:30}] {percent:>3}%  {eta} left");
        bar.set_style(style.expect("the template is well-formed").progress_chars("=> "));
        if !quiet && std::io::stderr().is_terminal() {
            let later = bar.clone();
            std::thread::spawn(move || {
                std::thread::sleep(PATIENCE);
                if !later.is_finished() {
                    later.set_draw_target(ProgressDrawTarget::stderr());
                    // Long steps still show that time goes on.
                    later.enable_steady_tick(Duration::from_millis(200));
                }
            });
        }
        Bar(bar)
    }

    /// What is being done now, within a stage.
    pub(crate) fn say(&self, what: String) {
        self.0.set_message(what);
    }
}

impl Progress for Bar {
    fn begin(&self, what: &str, steps: u64) {
        self.0.reset();
        self.0.set_length(steps);
        self.0.set_message(what.to_owned());
    }

    fn advance(&self, steps: u64) {
        self.0.inc(steps);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
