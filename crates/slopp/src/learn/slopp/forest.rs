//! The Chow-Liu tree of the rest of an order, updated as variables are removed from its front.

use crate::learn::vtree::spanning_tree;

/// A maximum spanning tree over the remaining positions.
///
/// Removing a variable splits the tree into parts that stay maximal; only these parts are connected again.
pub(super) struct Forest<W> {
    neighbours: Vec<Vec<u32>>,
    weight: W,
}

/// The tree rooted at one of its positions; positions count from the first remaining one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hung {
    /// The parent of each position; `NO_PARENT` for the root.
    pub(super) parent: Vec<u32>,
}

/// The parent of the root, which is the first position.
pub(super) const NO_PARENT: u32 = u32::MAX;

impl Hung {
    /// A tree over `len` positions with these edges, rooted at the first.
    pub(super) fn new(len: usize, edges: Vec<(usize, usize)>) -> Hung {
        Forest::new(len, edges.into_iter(), ()).hung(0)
    }

    /// A maximum spanning tree over some of `len` positions; the others have no parent.
    pub(super) fn over(len: usize, positions: &[usize], weight: impl Fn(usize, usize) -> f64) -> Hung {
        let mut parent = vec![NO_PARENT; len];
        if !positions.is_empty() {
            let edges = spanning_tree(positions.len(), |i, j| weight(positions[i], positions[j]));
            for (&x, above) in positions.iter().zip(Hung::new(positions.len(), edges).parent) {
                parent[x] = if above == NO_PARENT { NO_PARENT } else { positions[above as usize] as u32 };
            }
        }
        Hung { parent }
    }
}

/// New edges of a tree, between positions.
pub(super) type Edges = Vec<[u32; 2]>;

impl<W: Fn(usize, usize) -> f64> Forest<W> {
    /// For each position the edges that replace it after all before it are removed. Done once for all later removals.
    pub(super) fn mended(mut self) -> Vec<Edges> {
        (0..self.neighbours.len()).map(|first| self.remove(first)).collect()
    }

    /// Removes the first position, and gives the edges that replace it.
    fn remove(&mut self, first: usize) -> Edges {
        let held = self.take_off(first);
        if held.len() < 2 {
            return Edges::new();
        }
        let mut parts: Vec<Vec<u32>> = held.iter().map(|&x| self.part(x)).collect();
        let largest = (0..parts.len()).rev().max_by_key(|&i| parts[i].len()).expect("at least two parts");
        let inside = parts.swap_remove(largest);
        // The positions outside, with their part and their best edge to the inside.
        let mut outside: Vec<(u32, usize, u32, f64)> = Vec::new();
        for (part, members) in parts.iter().enumerate() {
            outside.extend(members.iter().map(|&x| (x, part, inside[0], f64::NEG_INFINITY)));
        }
        let mut edges = Edges::new();
        let mut added: &[u32] = &inside;
        while !outside.is_empty() {
            for (x, _, nearest, best) in &mut outside {
                for &y in added {
                    let weight = (self.weight)(*x as usize, y as usize);
                    if weight > *best {
                        (*nearest, *best) = (y, weight);
                    }
                }
            }
            let better = |a: usize, b: usize| if outside[b].3 > outside[a].3 { b } else { a };
            let (x, part, nearest, _) = outside[(0..outside.len()).reduce(better).expect("a position is outside")];
            self.neighbours[x as usize].push(nearest);
            self.neighbours[nearest as usize].push(x);
            edges.push([x, nearest]);
            outside.retain(|entry| entry.1 != part);
            added = &parts[part];
        }
        edges
    }
}

impl<W> Forest<W> {
    /// The tree with these edges over `len` positions, maximal for `weight`.
    pub(super) fn new(len: usize, edges: impl Iterator<Item = (usize, usize)>, weight: W) -> Forest<W> {
        let mut neighbours = vec![Vec::new(); len];
        for (a, b) in edges {
            neighbours[a].push(b as u32);
            neighbours[b].push(a as u32);
        }
        Forest { neighbours, weight }
    }

    /// Replaces the first position by these edges.
    pub(super) fn replace(&mut self, first: usize, edges: &[[u32; 2]]) {
        self.take_off(first);
        for &[x, y] in edges {
            self.neighbours[x as usize].push(y);
            self.neighbours[y as usize].push(x);
        }
    }

    /// Removes the first position, and gives its neighbours.
    fn take_off(&mut self, first: usize) -> Vec<u32> {
        let held = std::mem::take(&mut self.neighbours[first]);
        for &x in &held {
            self.neighbours[x as usize].retain(|&y| y as usize != first);
        }
        held
    }

    /// The tree over the positions from `first` on.
    pub(super) fn hung(&self, first: usize) -> Hung {
        let len = self.neighbours.len() - first;
        let mut parent = vec![NO_PARENT; len];
        let mut found = vec![first as u32];
        let mut next = 0;
        while let Some(&x) = found.get(next) {
            next += 1;
            let above = parent[x as usize - first];
            let neighbours = &self.neighbours[x as usize];
            for &y in neighbours.iter().filter(|&&y| y - first as u32 != above) {
                parent[y as usize - first] = x - first as u32;
                found.push(y);
            }
        }
        Hung { parent }
    }

    fn part(&self, start: u32) -> Vec<u32> {
        let mut found = vec![(start, NO_PARENT)];
        let mut next = 0;
        while let Some(&(x, above)) = found.get(next) {
            next += 1;
            found.extend(self.neighbours[x as usize].iter().filter(|&&y| y != above).map(|&y| (y, x)));
        }
        found.into_iter().map(|(x, _)| x).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_rest_stays_maximal() {
        let mut random = Random::new(8);
        let len = 40;
        let matrix: Vec<f64> = (0..len * len).map(|_| random.unit()).collect();
        let weight = |i: usize, j: usize| matrix[i.min(j) * len + i.max(j)];
        let edges = spanning_tree(len, weight);
        let mended = Forest::new(len, edges.iter().copied(), weight).mended();
        let mut forest = Forest::new(len, edges.into_iter(), ());
        for first in 1..len {
            forest.replace(first - 1, &mended[first - 1]);
            let edges = spanning_tree(len - first, |i, j| weight(first + i, first + j));
            let expected: f64 = edges.iter().map(|&(i, j)| weight(first + i, first + j)).sum();
            let hung = forest.hung(first);
            let found = hung.parent.iter().enumerate().filter(|(_, p)| **p != NO_PARENT);
            let total: f64 = found.map(|(x, &p)| weight(first + x, first + p as usize)).sum();
            assert_eq!(hung.parent.iter().filter(|p| **p == NO_PARENT).count(), 1);
            assert!((total - expected).abs() < 1e-9, "{total} {expected} from {first}");
        }
    }
}
