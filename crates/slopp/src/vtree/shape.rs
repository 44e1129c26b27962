//! Vtrees of a given shape, independent of data.

use super::{Step, Vtree};
use crate::random::Random;
use crate::var::Var;

impl Vtree {
    /// The balanced vtree over `0..len` in order: every node has the same number of variables on both sides, or one
    /// more on the left.
    ///
    /// # Panics
    /// If `len` is zero, like the other shapes.
    pub fn balanced(len: usize) -> Vtree {
        Vtree::balanced_over(&in_order(len))
    }

    /// The balanced vtree whose leaves are `order` from left to right.
    pub fn balanced_over(order: &[Var]) -> Vtree {
        Vtree::from_splits(order, |len| len.div_ceil(2))
    }

    /// The vtree whose left children are single variables: `(1,(2,(3,4)))`.
    pub fn right_linear(len: usize) -> Vtree {
        Vtree::right_linear_over(&in_order(len))
    }

    /// The right-linear vtree whose leaves are `order` from left to right.
    pub fn right_linear_over(order: &[Var]) -> Vtree {
        Vtree::from_splits(order, |_| 1)
    }

    /// The vtree whose right children are single variables: `(((1,2),3),4)`.
    pub fn left_linear(len: usize) -> Vtree {
        Vtree::from_splits(&in_order(len), |len| len - 1)
    }

    /// A random vtree: variables in random order, every node split at a uniformly random place.
    pub fn random(len: usize, seed: u64) -> Vtree {
        let mut random = Random::new(seed);
        let mut order = in_order(len);
        random.shuffle(&mut order);
        Vtree::from_splits(&order, |len| 1 + random.below(len - 1))
    }

    /// The vtree over `order` that gives the first `split(len)` of `len` variables to the left.
    fn from_splits(order: &[Var], mut split: impl FnMut(usize) -> usize) -> Vtree {
        enum Task {
            Split(usize, usize),
            Join,
        }
        let mut steps = Vec::with_capacity(2 * order.len());
        let mut tasks = vec![Task::Split(0, order.len())];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Join => steps.push(Step::Join),
                Task::Split(start, end) if end - start == 1 => steps.push(Step::Leaf(order[start])),
                Task::Split(start, end) => {
                    assert!(start < end, "a vtree needs at least one variable");
                    let middle = start + split(end - start);
                    tasks.extend([Task::Join, Task::Split(middle, end), Task::Split(start, middle)]);
                }
            }
        }
        Vtree::from_postfix(steps).expect("splits of a permutation form a vtree")
    }
}

fn in_order(len: usize) -> Vec<Var> {
    (0..len as u32).map(Var).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        assert_eq!(Vtree::balanced(5).to_string(), "(((1,2),3),(4,5))");
        assert_eq!(Vtree::right_linear(4).to_string(), "(1,(2,(3,4)))");
        assert_eq!(Vtree::left_linear(4).to_string(), "(((1,2),3),4)");
        assert_eq!(Vtree::balanced(1).to_string(), "1");
        assert!(Vtree::right_linear(9).is_right_linear() && !Vtree::balanced(9).is_right_linear());
    }

    #[test]
    fn random_vtrees_follow_the_seed() {
        assert_eq!(Vtree::random(30, 7), Vtree::random(30, 7));
        assert_ne!(Vtree::random(30, 7), Vtree::random(30, 8));
    }

    #[test]
    fn deep_vtrees_do_not_overflow_the_stack() {
        assert_eq!(Vtree::left_linear(100_000).depth(), 99_999);
    }
}
