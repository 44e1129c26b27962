//! The places of sums and elements of a circuit: columns by depth in the vtree, few crossings, straight edges.
//!
//! A *block* is a sum with its elements stacked next to it. Children of a sum are one level deeper in the vtree, so
//! edges join neighbouring columns only, and the blocks of a column only need an order and distances.

use crate::circuit::{Circuit, Node, NodeId};

/// The height of a prime or a sub.
pub(super) const CELL: f64 = 19.0;
/// The distance between elements of a sum.
const ELEMENT_GAP: f64 = 9.0;
/// The distance between blocks.
const BLOCK_GAP: f64 = 22.0;
/// Sweeps for fewer crossings, and then for straighter edges.
const SWEEPS: usize = 12;

/// A sum with its elements.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The sum.
    pub(super) node: NodeId,
    /// Its vertical centre.
    pub(super) y: f64,
    /// Edges to blocks of the next column: the cell they start at (two per element) and the number of the block.
    targets: Vec<(usize, usize)>,
    /// Edges from blocks of the previous column: the number of the block and the cell.
    sources: Vec<(usize, usize)>,
    cells: usize,
}

/// The blocks of a circuit in columns.
pub(super) struct Layout {
    /// All blocks; columns refer to them.
    pub(super) blocks: Vec<Block>,
    /// For each depth, its blocks from top to bottom.
    pub(super) columns: Vec<Vec<usize>>,
    /// The block of each sum, by node.
    block_of: Vec<Option<usize>>,
}

impl Block {
    fn height(&self) -> f64 {
        let elements = (self.cells / 2) as f64;
        (elements * (2.0 * CELL + ELEMENT_GAP) - ELEMENT_GAP).max(2.0 * CELL)
    }

    /// The centre of a cell, relative to the centre of the block.
    fn offset(&self, cell: usize) -> f64 {
        let element = (cell / 2) as f64;
        element * (2.0 * CELL + ELEMENT_GAP) + CELL * ((cell % 2) as f64 + 0.5) - self.height() / 2.0
    }

    /// The top of an element.
    pub(super) fn element_top(&self, element: usize) -> f64 {
        self.y + self.offset(2 * element) - CELL / 2.0
    }
}

impl Layout {
    pub(super) fn new(circuit: &Circuit) -> Layout {
        let mut layout = Layout::in_depth_first_order(circuit);
        layout.reduce_crossings();
        layout.place();
        layout
    }

    /// The block of a sum.
    pub(super) fn block(&self, node: NodeId) -> Option<&Block> {
        self.block_of[node.index()].map(|i| &self.blocks[i])
    }

    /// Blocks in depth-first order, which has no crossings where the circuit is a tree.
    fn in_depth_first_order(circuit: &Circuit) -> Layout {
        let vtree = circuit.vtree();
        let mut depth = vec![0; vtree.node_count()];
        for &v in vtree.bottom_up().iter().rev() {
            depth[v.index()] = vtree.parent(v).map_or(0, |parent| depth[parent.index()] + 1);
        }
        let mut layout = Layout {
            blocks: Vec::new(),
            columns: vec![Vec::new(); vtree.depth() + 1],
            block_of: vec![None; circuit.nodes().len()],
        };
        let mut stack = vec![circuit.root()];
        while let Some(node) = stack.pop() {
            if !matches!(circuit.node(node), Node::Sum { .. }) || layout.block_of[node.index()].is_some() {
                continue;
            }
            let cells = 2 * circuit.elements_of(node).len();
            layout.block_of[node.index()] = Some(layout.blocks.len());
            layout.columns[depth[circuit.vtree_of(node).index()]].push(layout.blocks.len());
            layout.blocks.push(Block { node, y: 0.0, targets: Vec::new(), sources: Vec::new(), cells });
            let children: Vec<NodeId> = circuit.elements_of(node).flat_map(|(e, _)| [e.prime, e.sub]).collect();
            stack.extend(children.iter().rev());
        }
        layout.columns.retain(|column| !column.is_empty());
        for i in 0..layout.blocks.len() {
            let children = circuit.elements_of(layout.blocks[i].node).flat_map(|(e, _)| [e.prime, e.sub]);
            for (cell, child) in children.enumerate() {
                if let Some(target) = layout.block_of[child.index()] {
                    layout.blocks[i].targets.push((cell, target));
                    layout.blocks[target].sources.push((i, cell));
                }
            }
        }
        layout
    }

    /// Sorts columns by the centre of their neighbours, back and forth, and keeps the best order.
    fn reduce_crossings(&mut self) {
        let mut best = (self.crossings(), self.columns.clone());
        for sweep in 0..SWEEPS {
            if best.0 == 0 {
                break;
            }
            let columns: Vec<usize> = match sweep % 2 {
                0 => (1..self.columns.len()).collect(),
                _ => (0..self.columns.len()).rev().skip(1).collect(),
            };
            let mut rank = self.ranks();
            for column in columns {
                let middle = |&i: &usize| -> f64 {
                    let block = &self.blocks[i];
                    let cell = |&(source, cell): &(usize, usize)| {
                        rank[source] + cell as f64 / self.blocks[source].cells as f64
                    };
                    let ranks: Vec<f64> = match sweep % 2 {
                        0 => block.sources.iter().map(cell).collect(),
                        _ => block.targets.iter().map(|&(_, target)| rank[target]).collect(),
                    };
                    if ranks.is_empty() { rank[i] } else { ranks.iter().sum::<f64>() / ranks.len() as f64 }
                };
                let mut order: Vec<(f64, usize)> = self.columns[column].iter().map(|i| (middle(i), *i)).collect();
                order.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.columns[column] = order.into_iter().map(|(_, i)| i).collect();
                self.columns[column].iter().enumerate().for_each(|(place, &i)| rank[i] = place as f64);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.columns.clone());
            }
        }
        self.columns = best.1;
    }

    /// The place of each block in its column.
    fn ranks(&self) -> Vec<f64> {
        let mut rank = vec![0.0; self.blocks.len()];
        for column in &self.columns {
            column.iter().enumerate().for_each(|(place, &i)| rank[i] = place as f64);
        }
        rank
    }

    /// The number of crossing pairs of edges.
    fn crossings(&self) -> usize {
        let rank = self.ranks();
        let mut crossings = 0;
        for (column, next) in self.columns.iter().zip(self.columns.iter().skip(1)) {
            // Edges in the order of their starts: those that end in the opposite order cross. A tree of partial sums
            // counts the earlier edges that end further down.
            let mut ended = vec![0usize; next.len() + 1];
            let targets = column.iter().flat_map(|&i| self.blocks[i].targets.iter().map(|&(_, target)| target));
            for (earlier, target) in targets.enumerate() {
                let end = rank[target] as usize + 1;
                let up = std::iter::successors(Some(end), |&i| Some(i & (i - 1)).filter(|&i| i > 0));
                crossings += earlier - up.map(|i| ended[i]).sum::<usize>();
                let down = std::iter::successors(Some(end), |&i| Some(i + (i & i.wrapping_neg())));
                down.take_while(|&i| i <= next.len()).for_each(|i| ended[i] += 1);
            }
        }
        crossings
    }

    /// Places blocks near their neighbours, without overlaps.
    fn place(&mut self) {
        for column in 0..self.columns.len() {
            self.place_column(column, |_, _| 0.0);
        }
        for sweep in 0..2 * SWEEPS {
            let columns = self.columns.len();
            for i in 0..columns {
                let column = if sweep % 2 == 0 { i } else { columns - 1 - i };
                self.place_column(column, |layout, i| layout.wish(i));
            }
        }
        let top = self.blocks.iter().map(|block| block.y - block.height() / 2.0).fold(f64::INFINITY, f64::min);
        self.blocks.iter_mut().for_each(|block| block.y -= top);
    }

    /// The place of a block with the straightest edges.
    fn wish(&self, i: usize) -> f64 {
        let block = &self.blocks[i];
        let from = block.sources.iter().map(|&(source, cell)| self.blocks[source].y + self.blocks[source].offset(cell));
        let to = block.targets.iter().map(|&(cell, target)| self.blocks[target].y - block.offset(cell));
        let (sum, count) = from.chain(to).fold((0.0, 0), |(sum, count), y| (sum + y, count + 1));
        if count == 0 { block.y } else { sum / f64::from(count) }
    }

    /// Moves the blocks of a column as near to their wishes as order and distances allow, in least squares.
    fn place_column(&mut self, column: usize, wish: impl Fn(&Layout, usize) -> f64) {
        let order = self.columns[column].clone();
        // Less the room taken above, wishes only have to ascend: pool neighbours that do not.
        let mut room = 0.0;
        let mut pools: Vec<(f64, usize)> = Vec::new();
        let mut rooms = Vec::with_capacity(order.len());
        for &i in &order {
            let half = self.blocks[i].height() / 2.0;
            rooms.push(room + half);
            pools.push((wish(self, i) - room - half, 1));
            room += 2.0 * half + BLOCK_GAP;
            while let [.., (a, n), (b, m)] = pools[..] {
                if a <= b {
                    break;
                }
                pools.truncate(pools.len() - 2);
                pools.push(((a * n as f64 + b * m as f64) / (n + m) as f64, n + m));
            }
        }
        let ys = pools.iter().flat_map(|&(y, n)| std::iter::repeat_n(y, n));
        for ((&i, room), y) in order.iter().zip(rooms).zip(ys) {
            self.blocks[i].y = y + room;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples::random_circuit;

    #[test]
    fn blocks_of_a_column_do_not_overlap() {
        for seed in 0..20 {
            let layout = Layout::new(&random_circuit(2 + seed as usize % 8, 3, seed));
            for column in &layout.columns {
                for pair in column.windows(2) {
                    let [a, b] = [&layout.blocks[pair[0]], &layout.blocks[pair[1]]];
                    assert!(a.y + a.height() / 2.0 + BLOCK_GAP <= b.y - b.height() / 2.0 + 1e-6);
                }
            }
            assert!(layout.blocks.iter().all(|block| block.y.is_finite() && block.y >= 0.0));
        }
    }

    #[test]
    fn crossings_are_counted_pair_by_pair() {
        for seed in 0..20 {
            let layout = Layout::in_depth_first_order(&random_circuit(7, 4, seed));
            let rank = layout.ranks();
            let mut expected = 0;
            for column in &layout.columns {
                let edges = column.iter().flat_map(|&i| layout.blocks[i].targets.iter().map(|edge| rank[edge.1]));
                let ends: Vec<f64> = edges.collect();
                expected += (0..ends.len()).map(|i| ends[..i].iter().filter(|&e| *e > ends[i]).count()).sum::<usize>();
            }
            assert_eq!(layout.crossings(), expected);
        }
    }

    #[test]
    fn sorting_never_adds_crossings() {
        for seed in 0..20 {
            let circuit = random_circuit(6, 3, seed);
            let before = Layout::in_depth_first_order(&circuit);
            assert!(Layout::new(&circuit).crossings() <= before.crossings());
        }
    }
}
