//! Limits of memory, against what was really allocated. A test binary of its own, as it counts for the whole process.

use peak_alloc::PeakAlloc;
use slopp::Random;
use slopp::logic::{Limit, Limits, Rules};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Random clauses of three literals, whose diagram is huge.
fn clauses(variables: usize, count: usize) -> Rules {
    let mut random = Random::new(1);
    let mut clause = || {
        let mut literal = |_| {
            let sign = if random.below(2) == 0 { "" } else { "!" };
            format!("{sign}x{}", random.below(variables))
        };
        (0..3).map(&mut literal).collect::<Vec<_>>().join(" | ")
    };
    let lines: Vec<String> = (0..count).map(|_| clause()).collect();
    Rules::parse(&lines.join("\n")).unwrap()
}

#[test]
fn a_compilation_that_stops_has_taken_no_more_than_its_limit() {
    let rules = clauses(80, 240);
    let vtree = rules.min_fill_vtree();
    for bytes in [40 << 20, 100 << 20] {
        let before = ALLOCATED.current_usage();
        ALLOCATED.reset_peak_usage();
        let stopped = rules.compile(vtree.clone(), &Limits { bytes, ..Limits::default() }).unwrap_err();
        let taken = ALLOCATED.peak_usage() - before;
        assert_eq!(stopped.limit, Limit::Bytes(bytes));
        assert!(taken > bytes / 4 && taken <= bytes, "{taken} of {bytes}, {stopped}");
    }
}
