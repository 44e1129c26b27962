//! Records with a structure worth learning.

use slopp::{Names, Random, Records};

/// A chain of noisy copies with a switch at its head that turns some of them round.
pub(crate) fn chain(vars: usize, rows: usize, seed: u64) -> Records {
    let mut random = Random::new(seed);
    let row = |random: &mut Random| {
        let mut row = vec![random.unit() < 0.4];
        for i in 1..vars {
            let copy = row[i - 1] ^ (row[0] && i % 3 == 0);
            row.push(if random.unit() < 0.85 { copy } else { random.unit() < 0.5 });
        }
        row
    };
    Records::from_rows(Names::numbered(vars), (0..rows).map(|_| row(&mut random)))
}
