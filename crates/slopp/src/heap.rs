//! Entries of a heap: the highest score first, and of equals the smallest.

use std::cmp::Ordering;

/// Something with a score, which is greater the higher the score is and, of equal scores, the smaller it is itself: so
/// the order in which a heap gives entries does not depend on how they came in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scored<T> {
    pub(crate) score: f64,
    pub(crate) tie: T,
}

impl<T: Ord> Ord for Scored<T> {
    fn cmp(&self, other: &Scored<T>) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.tie.cmp(&self.tie))
    }
}

impl<T: Ord> PartialOrd for Scored<T> {
    fn partial_cmp(&self, other: &Scored<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> PartialEq for Scored<T> {
    fn eq(&self, other: &Scored<T>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T: Ord> Eq for Scored<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BinaryHeap;

    #[test]
    fn the_highest_score_comes_first_and_then_the_smallest() {
        let entries = [(1.0, 3), (2.0, 9), (f64::NEG_INFINITY, 0), (1.0, 1), (2.0, 4)];
        let mut heap: BinaryHeap<Scored<i32>> = entries.map(|(score, tie)| Scored { score, tie }).into();
        let order: Vec<i32> = std::iter::from_fn(|| heap.pop()).map(|entry| entry.tie).collect();
        assert_eq!(order, [4, 9, 1, 3, 0]);
    }
}
