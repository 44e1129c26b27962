//! The one source of randomness: a named generator, so that seeds keep meaning.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded stream of random numbers (ChaCha8): same seed, same numbers, on every machine.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Random {
        Random(ChaCha8Rng::seed_from_u64(seed))
    }

    /// An independent stream of the same seed: `stream(s, 0)`, `stream(s, 1)`, … for parallel parts.
    pub fn stream(seed: u64, stream: u64) -> Random {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Random(rng)
    }

    /// 64 random bits, fit to seed another stream.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A uniform number in `0..n`, for `n > 0`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// An index drawn with probability proportional to its weight; `None` if all weights are zero.
    pub fn choose(&mut self, weights: &[f64]) -> Option<usize> {
        let total: f64 = weights.iter().sum();
        let mut rest = self.unit() * total;
        let mut last = None;
        for (i, &w) in weights.iter().enumerate().filter(|&(_, &w)| w > 0.0) {
            last = Some(i);
            rest -= w;
            if rest < 0.0 {
                break;
            }
        }
        last
    }

    /// Puts the items in a uniformly random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
