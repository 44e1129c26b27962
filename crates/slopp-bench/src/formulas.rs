//! Long and deep formulas: literals per second. Growth stays near 1 where time is linear.

use crate::measure::{Bar, Line, Report};
use slopp::logic::{Comparison, Formula, Limits};
use slopp::{Names, Var, Vtree};

const SIZES: [usize; 3] = [25_000, 50_000, 100_000];

/// A kind of text, made of so many literals.
type Text = (&'static str, fn(usize) -> String);

const TEXTS: [Text; 6] = [
    ("formula, conjunction", |len| chain(len, " & ")),
    ("formula, implications", |len| chain(len, " -> ")),
    ("formula, at_most", |len| format!("at_most(3, {})", chain(len, ", "))),
    ("formula, negations in each other", |len| nested(len, "!(", ")")),
    ("formula, alternating", |len| nested(len, "(x2 | x3 & ", ")")),
    ("formula, counts in each other", |len| nested(len, "exactly(1, x3, ", ")")),
];

pub(crate) fn measure(report: &mut Report) {
    for (what, text) in TEXTS {
        for len in SIZES {
            let (text, names, world) = (text(len), Names::numbered(len), vec![true; len]);
            report.time(line(what, len), || {
                let formula = Formula::parse(&text, &names).expect("it is a formula");
                (formula.display(&names).to_string(), formula.is_satisfied_by(&world), formula.conjuncts().len())
            });
        }
    }
    // What is counted many times is a weight.
    for len in SIZES {
        let lits = (0..len as u32).map(|i| Var((i % 7).min(3)).is(!i.is_multiple_of(5)).into());
        let formula = Formula::count(Comparison::AtLeast, len as u32 / 100 * 49, lits);
        let line = line("compile, repeated literals", len);
        report.time(line, || formula.compile(Vtree::balanced(4), &Limits::default()).is_ok());
    }
}

fn line(what: &str, len: usize) -> Line<'_> {
    Line { what, size: format!("{len} literals"), work: len as f64, unit: "literals", bar: Bar::None }
}

fn chain(len: usize, op: &str) -> String {
    (1..=len).map(|i| format!("x{i}")).collect::<Vec<_>>().join(op)
}

fn nested(len: usize, open: &str, close: &str) -> String {
    format!("{}x1{}", open.repeat(len), close.repeat(len))
}
