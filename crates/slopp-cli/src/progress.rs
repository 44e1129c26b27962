//! Progress of long work on stderr: what is being done, how far it is, how long it will take.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use slopp::Progress;
use std::io::IsTerminal;
use std::time::Duration;

/// A progress bar; invisible when stderr is no terminal or nobody wants to see it.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar that waits for its first stage.
    pub(crate) fn new(quiet: bool) -> Bar {
        let bar = ProgressBar::new(0);
        let visible = !quiet && std::io::stderr().is_terminal();
        bar.set_draw_target(if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() });
        let style = ProgressStyle::with_template("{msg} [{bar:30}] {percent:>3}%  {eta} left");
        bar.set_style(style.expect("the template is well-formed").progress_chars("=> "));
        Bar(bar)
    }
}

impl Progress for Bar {
    fn begin(&self, what: &str, steps: u64) {
        self.0.set_message(what.to_owned());
        self.0.set_length(steps);
        self.0.reset();
        // Long steps still show that time goes on.
        if !self.0.is_hidden() {
            self.0.enable_steady_tick(Duration::from_millis(200));
        }
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
