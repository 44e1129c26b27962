//! Sum-product networks as nested boxes: the table is the definition, written out.

use crate::{Dice, Table};

/// A network over any variables.
#[derive(Clone, Debug)]
pub enum Network {
    /// A variable with a probability of being true.
    Coin(usize, f64),
    /// Variables with, for each, the place of its parent and the probability of true given the parent's values.
    Tree(Vec<(usize, Option<usize>, [f64; 2])>),
    /// Independent parts.
    Product(Vec<Network>),
    /// A mixture.
    Sum(Vec<(f64, Network)>),
}

impl Network {
    /// A random network over these variables; parts are sometimes certain.
    pub fn random(vars: &[usize], depth: usize, dice: &mut Dice) -> Network {
        let p = |dice: &mut Dice| match dice.below(6) {
            0 => 0.0,
            1 => 1.0,
            _ => 0.05 + 0.9 * dice.unit(),
        };
        match (vars.len(), dice.below(4)) {
            (1, 0 | 1) => Network::Coin(vars[0], p(dice)),
            (_, 0) => {
                let mut tree = Vec::new();
                for (i, &x) in vars.iter().enumerate() {
                    let parent = (i > 0).then(|| dice.below(i));
                    let (no, yes) = (p(dice), p(dice));
                    tree.push((x, parent, if i == 0 { [no; 2] } else { [no, yes] }));
                }
                Network::Tree(tree)
            }
            (2.., 1) => {
                let mut parts = vec![Vec::new(); 2 + dice.below(vars.len() - 1)];
                for (i, &x) in vars.iter().enumerate() {
                    let part = if i < parts.len() { i } else { dice.below(parts.len()) };
                    parts[part].push(x);
                }
                Network::Product(parts.iter().map(|part| Network::random(part, depth, dice)).collect())
            }
            _ if depth == 0 => Network::Product(vars.iter().map(|&x| Network::Coin(x, p(dice))).collect()),
            _ => {
                let count = 1 + dice.below(3);
                let shares = dice.shares(count);
                Network::Sum(shares.into_iter().map(|w| (w, Network::random(vars, depth - 1, dice))).collect())
            }
        }
    }

    /// The probability of one world.
    pub fn probability(&self, world: usize) -> f64 {
        let coin = |x: usize, p: f64| if world >> x & 1 == 1 { p } else { 1.0 - p };
        match self {
            Network::Coin(x, p) => coin(*x, *p),
            Network::Tree(tree) => {
                let above = |parent: Option<usize>| parent.map_or(0, |i| world >> tree[i].0 & 1);
                tree.iter().map(|&(x, parent, p)| coin(x, p[above(parent)])).product()
            }
            Network::Product(parts) => parts.iter().map(|part| part.probability(world)).product(),
            Network::Sum(parts) => parts.iter().map(|(w, part)| w * part.probability(world)).sum(),
        }
    }

    /// The table over the variables `0..vars`.
    pub fn table(&self, vars: usize) -> Table {
        Table::new(vars, (0..1 << vars).map(|world| self.probability(world)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_sum_to_one() {
        let mut dice = Dice::new(3);
        for _ in 0..200 {
            let vars: Vec<usize> = (0..1 + dice.below(6)).collect();
            let table = Network::random(&vars, 3, &mut dice).table(vars.len());
            assert!((table.evidence(&vec![None; vars.len()]) - 1.0).abs() < 1e-12);
        }
    }
}
