//! The Chow-Liu tree, and the vtrees that follow it.

use super::{Step, Vtree};
use crate::data::SymmetricMatrix;
use crate::var::Var;

/// The tree over the variables with the largest total mutual information (Chow and Liu, 1968).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChowLiuTree {
    /// Neighbours of each variable, ascending.
    neighbours: Vec<Vec<Var>>,
}

/// A Chow-Liu tree rooted at one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RootedTree {
    root: Var,
    parent: Vec<Option<Var>>,
    children: Vec<Vec<Var>>,
    top_down: Vec<Var>,
}

impl ChowLiuTree {
    /// The maximum spanning tree of a matrix of mutual information, in `n²` steps.
    ///
    /// The first of equal edges is kept: growth starts at the first variable and prefers the first variable outside.
    ///
    /// # Panics
    /// If the matrix is empty: a tree has at least one variable.
    pub(crate) fn new(information: &SymmetricMatrix) -> ChowLiuTree {
        let len = information.len();
        assert!(len > 0, "a Chow-Liu tree needs at least one variable");
        ChowLiuTree::from_edges(len, &spanning_tree(len, |i, j| information.at(i, j)))
    }

    fn from_edges(len: usize, edges: &[(usize, usize)]) -> ChowLiuTree {
        let mut neighbours = vec![Vec::new(); len];
        for &(a, b) in edges {
            neighbours[a].push(Var(b as u32));
            neighbours[b].push(Var(a as u32));
        }
        neighbours.iter_mut().for_each(|list| list.sort_unstable());
        ChowLiuTree { neighbours }
    }

    /// The number of variables.
    pub(crate) fn var_count(&self) -> usize {
        self.neighbours.len()
    }

    /// The neighbours of a variable, ascending.
    pub(crate) fn neighbours(&self, var: Var) -> &[Var] {
        &self.neighbours[var.index()]
    }

    /// The graph centre: the variable whose farthest variable is nearest; the first of two.
    pub(crate) fn centre(&self) -> Var {
        // Removing all leaves repeatedly leaves the one or two centres.
        let mut degree: Vec<usize> = self.neighbours.iter().map(Vec::len).collect();
        let mut left = self.var_count();
        let mut leaves: Vec<Var> = (0..left as u32).map(Var).filter(|x| degree[x.index()] <= 1).collect();
        while left > 2 {
            left -= leaves.len();
            let mut next = Vec::new();
            for x in leaves {
                for y in &self.neighbours[x.index()] {
                    degree[y.index()] -= 1;
                    if degree[y.index()] == 1 {
                        next.push(*y);
                    }
                }
            }
            leaves = next;
        }
        leaves.into_iter().min().expect("a tree has a centre")
    }

    /// The tree with all edges directed away from `root`.
    pub(crate) fn rooted_at(&self, root: Var) -> RootedTree {
        let mut parent = vec![None; self.var_count()];
        let mut top_down = vec![root];
        for i in 0..self.var_count() {
            let x = top_down[i];
            let above = parent[x.index()];
            for &y in self.neighbours(x).iter().filter(|&&y| Some(y) != above) {
                parent[y.index()] = Some(x);
                top_down.push(y);
            }
        }
        let mut children = self.neighbours.clone();
        for (list, parent) in children.iter_mut().zip(&parent) {
            list.retain(|y| Some(*y) != *parent);
        }
        RootedTree { root, parent, children, top_down }
    }

    /// The vtree of the paper: the tree rooted at its centre, see [`RootedTree::vtree`].
    pub(crate) fn vtree(&self) -> Vtree {
        self.rooted_at(self.centre()).vtree()
    }

    /// The variables depth-first from the centre, small subtrees first.
    pub(crate) fn linear_order(&self) -> Vec<Var> {
        self.rooted_at(self.centre()).depth_first()
    }
}

impl RootedTree {
    /// The parent of a variable; `None` for the root.
    pub(crate) fn parent(&self, var: Var) -> Option<Var> {
        self.parent[var.index()]
    }

    /// The children of a variable, ascending.
    pub(crate) fn children(&self, var: Var) -> &[Var] {
        &self.children[var.index()]
    }

    /// All variables, parents before children.
    pub(crate) fn top_down(&self) -> &[Var] {
        &self.top_down
    }

    /// The vtree that Strudel and the paper use.
    ///
    /// A variable with children becomes `(variable, children)`; several children, in ascending order, become a
    /// balanced tree of their vtrees, with the smaller half of an odd number on the left.
    pub(crate) fn vtree(&self) -> Vtree {
        enum Task<'a> {
            Tree(Var),
            Forest(&'a [Var]),
            Join,
        }
        let mut steps = Vec::with_capacity(2 * self.parent.len());
        let mut tasks = vec![Task::Tree(self.root)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Join => steps.push(Step::Join),
                Task::Tree(x) => {
                    steps.push(Step::Leaf(x));
                    if !self.children(x).is_empty() {
                        tasks.extend([Task::Join, Task::Forest(self.children(x))]);
                    }
                }
                Task::Forest(&[x]) => tasks.push(Task::Tree(x)),
                Task::Forest(trees) => {
                    let (left, right) = trees.split_at(trees.len() / 2);
                    tasks.extend([Task::Join, Task::Forest(right), Task::Forest(left)]);
                }
            }
        }
        Vtree::from_postfix(steps).expect("a tree has every variable once")
    }

    /// The variables depth-first, small subtrees before large ones, so that subtrees are soon finished.
    pub(crate) fn depth_first(&self) -> Vec<Var> {
        let mut size = vec![1usize; self.parent.len()];
        for x in self.top_down.iter().rev() {
            if let Some(parent) = self.parent(*x) {
                size[parent.index()] += size[x.index()];
            }
        }
        let mut order = Vec::with_capacity(size.len());
        let mut stack = vec![self.root];
        while let Some(x) = stack.pop() {
            order.push(x);
            let start = stack.len();
            stack.extend(self.children(x));
            stack[start..].sort_by_key(|y| std::cmp::Reverse((size[y.index()], *y)));
        }
        order
    }
}

/// The edges `(inside, added)` of a maximum spanning tree of the complete graph, by Prim's algorithm in `n²` steps.
///
/// The first of equal edges is kept: growth starts at zero and prefers the first position outside.
pub(crate) fn spanning_tree(len: usize, weight: impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    let mut edges = Vec::with_capacity(len.saturating_sub(1));
    // The positions outside, in order, each with its best edge into the tree.
    let mut outside: Vec<(usize, usize, f64)> = (1..len).map(|x| (x, 0, weight(0, x))).collect();
    while !outside.is_empty() {
        let mut place = 0;
        for i in 1..outside.len() {
            if outside[i].2 > outside[place].2 {
                place = i;
            }
        }
        // `remove` keeps the order, which the tie rule needs.
        let (added, inside, _) = outside.remove(place);
        edges.push((inside, added));
        for (x, nearest, best) in &mut outside {
            let candidate = weight(added, *x);
            if candidate > *best {
                (*nearest, *best) = (added, candidate);
            }
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn random_matrix(len: usize, seed: u64) -> SymmetricMatrix {
        let mut random = Random::new(seed);
        let mut matrix = SymmetricMatrix::zeros(len);
        (0..len).for_each(|i| (0..i).for_each(|j| matrix.set(i, j, random.unit())));
        matrix
    }

    /// Every edge in both directions.
    fn edges(tree: &ChowLiuTree) -> impl Iterator<Item = (usize, usize)> {
        let of = |a: usize| tree.neighbours[a].iter().map(move |b| (a, b.index()));
        (0..tree.var_count()).flat_map(of)
    }

    /// The distances between all variables, by brute force.
    fn distances(tree: &ChowLiuTree) -> Vec<Vec<usize>> {
        let n = tree.var_count();
        let mut d = vec![vec![n; n]; n];
        (0..n).for_each(|i| d[i][i] = 0);
        edges(tree).for_each(|(a, b)| d[a][b] = 1);
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    d[i][j] = d[i][j].min(d[i][k] + d[k][j]);
                }
            }
        }
        d
    }

    #[test]
    fn the_tree_is_maximal() {
        // Kruskal's algorithm is the independent computation.
        for seed in 0..20 {
            let len = 2 + seed as usize;
            let matrix = random_matrix(len, seed);
            let mut pairs: Vec<_> = (0..len).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
            pairs.sort_by(|&(i, j), &(k, l)| matrix.at(k, l).total_cmp(&matrix.at(i, j)));
            let mut component: Vec<usize> = (0..len).collect();
            let mut total = 0.0;
            for (i, j) in pairs {
                if component[i] != component[j] {
                    total += matrix.at(i, j);
                    let (old, new) = (component[i], component[j]);
                    component.iter_mut().filter(|c| **c == old).for_each(|c| *c = new);
                }
            }
            let tree = ChowLiuTree::new(&matrix);
            assert_eq!(edges(&tree).count(), 2 * (len - 1));
            assert!((edges(&tree).map(|(a, b)| matrix.at(a, b)).sum::<f64>() - 2.0 * total).abs() < 1e-12);
        }
    }

    #[test]
    fn the_centre_has_the_least_height() {
        for seed in 0..30 {
            let tree = ChowLiuTree::new(&random_matrix(1 + seed as usize % 15, seed));
            let heights: Vec<usize> = distances(&tree).iter().map(|line| *line.iter().max().unwrap()).collect();
            let best = *heights.iter().min().unwrap();
            let expected = heights.iter().position(|&height| height == best).unwrap();
            assert_eq!(tree.centre(), Var(expected as u32));
        }
    }

    #[test]
    fn equal_edges_give_a_star() {
        let tree = ChowLiuTree::new(&SymmetricMatrix::zeros(6));
        assert_eq!(tree.neighbours(Var(0)), [1, 2, 3, 4, 5].map(Var));
        assert_eq!(tree.vtree().to_string(), "(1,((2,3),(4,(5,6))))");
    }

    #[test]
    fn vtree_and_linear_order_of_a_known_tree() {
        let tree = ChowLiuTree::from_edges(7, &[(3, 5), (3, 1), (1, 0), (1, 2), (5, 4), (4, 6)]);
        assert_eq!(tree.centre(), Var(3));
        let rooted = tree.rooted_at(Var(3));
        assert_eq!((rooted.parent(Var(4)), rooted.parent(Var(3))), (Some(Var(5)), None));
        assert_eq!(rooted.top_down(), [3, 1, 5, 0, 2, 4, 6].map(Var));
        assert_eq!(rooted.vtree().to_string(), "(4,((2,(1,3)),(6,(5,7))))");
        assert_eq!(tree.linear_order(), [3, 1, 0, 2, 5, 4, 6].map(Var));
        assert_eq!(tree.rooted_at(Var(1)).depth_first(), [1, 0, 2, 3, 5, 4, 6].map(Var));
    }

    #[test]
    fn long_chains_do_not_overflow_the_stack() {
        let edges: Vec<_> = (1..50_000).map(|i| (i - 1, i)).collect();
        let chain = ChowLiuTree::from_edges(50_000, &edges);
        assert_eq!(chain.centre(), Var(24_999));
        assert_eq!(chain.vtree().depth(), 25_001);
        assert_eq!(chain.linear_order().len(), 50_000);
    }
}
