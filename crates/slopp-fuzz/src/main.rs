//! Seeded fuzzing of every reader: `slopp-fuzz [ROUNDS] [SEED]`.
//!
//! Each round takes a sample of the format, damages it and reads it. A reader may refuse, but must not panic, and what
//! it accepts must survive the first questions. A failure prints the target and the input, and exits with 1; the same
//! rounds and seed fail again in the same place.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

mod damage;
mod targets;

use slopp::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (Ok(rounds), Ok(seed)) = (arguments.next().unwrap_or(Ok(20_000)), arguments.next().unwrap_or(Ok(0))) else {
        eprintln!("usage: slopp-fuzz [ROUNDS] [SEED]");
        return ExitCode::from(2);
    };
    let mut failed = false;
    for (number, target) in targets::all().iter().enumerate() {
        let mut random = Random::stream(seed, number as u64);
        let mut accepted = 0;
        for round in 0..rounds {
            let sample = &target.samples[random.below(target.samples.len())];
            let input =
                if round < target.samples.len() as u64 { sample.clone() } else { damage::damaged(sample, &mut random) };
            match catch_unwind(AssertUnwindSafe(|| (target.read)(&input))) {
                Ok(ok) => accepted += u64::from(ok),
                Err(_) => {
                    eprintln!("{}: panic in round {round} of seed {seed} on\n{}", target.name, input.escape_ascii());
                    failed = true;
                    break;
                }
            }
        }
        println!("{:<14} {rounds} rounds, {accepted} accepted", target.name);
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
