//! Progress of long work on stderr: what is being done, how far it is, how long it will take.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use slopp::Progress;
use slopp::names::visible;
use std::fmt;
use std::io::IsTerminal;
use std::time::Duration;

/// Work that is done sooner is not worth a bar.
const PATIENCE: Duration = Duration::from_millis(300);

/// A progress bar; invisible if stderr is not a terminal or --quiet is given.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar that waits for its first stage, and shows up if the work takes long.
    pub fn new(quiet: bool) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{msg} [{bar:30}] {percent:>3}%{left}");
        let style = style.expect("the template is well-formed").progress_chars("=> ");
        bar.set_style(style.with_key("left", |state: &ProgressState, text: &mut dyn fmt::Write| {
            // Nothing is lost if the time left cannot be shown.
            let _ = text.write_str(&time_left(state.fraction(), state.len().unwrap_or(0), state.eta()));
        }));
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
    pub fn say(&self, what: String) {
        self.0.set_message(visible(&what).into_owned());
    }
}

/// The time left, once it can be estimated: `eta` follows recent progress.
fn time_left(fraction: f32, steps: u64, eta: Duration) -> String {
    match steps > 1 && (0.05..1.0).contains(&fraction) {
        true => format!("  {} left", HumanDuration(eta)),
        false => String::new(),
    }
}

impl Progress for Bar {
    fn begin(&self, what: &str, steps: u64) {
        self.0.reset();
        self.0.set_length(steps);
        self.0.set_message(visible(what).into_owned());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_needs_some_progress() {
        let minute = Duration::from_secs(60);
        assert_eq!(time_left(0.04, 100, minute), "");
        assert_eq!(time_left(0.0, 1, Duration::ZERO), "");
        assert_eq!(time_left(0.5, 100, minute), "  60 seconds left");
    }
}
