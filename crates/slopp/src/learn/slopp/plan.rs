//! Plans of clones: which copies an edge gets, and in which order edges are served.

/// The way from a class to the next layer by a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) layer: u32,
    pub(super) class: u32,
    pub(super) value: bool,
}

/// Which classes an edge gets copies of: its target, and the targets of the copy where there is a plan for them.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// What the copies gain in log-likelihood, less what they cost.
    pub(super) gain: f64,
    pub(super) below: [Option<Box<Plan>>; 2],
}

impl Plan {
    /// How many copies it makes.
    pub(super) fn copies(&self) -> usize {
        1 + self.below.iter().flatten().map(|plan| plan.copies()).sum::<usize>()
    }

    /// Adds how many copies it makes in each layer, from that of its target on.
    pub(super) fn count(&self, copies: &mut [usize]) {
        copies[0] += 1;
        self.below.iter().flatten().for_each(|plan| plan.count(&mut copies[1..]));
    }
}

/// Records that copies of a plan take from a class.
pub(super) struct Taken {
    pub(super) layer: u32,
    pub(super) class: u32,
    pub(super) count: [f64; 2],
}
