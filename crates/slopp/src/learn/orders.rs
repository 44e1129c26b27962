//! Orders of the variables that are worth trying.

use super::LearnError;
use super::slopp::{SloppConfig, find, order};
use super::task::Task;
use super::vtree::{ChowLiuTree, Gathered, pair_information};
use crate::progress::Progress;
use crate::var::Var;
use crate::vtree::Vtree;
use rayon::prelude::*;
use std::sync::Arc;

/// Random roots among the orders that are tried.
const ROOTS: usize = 6;

/// With more variables than this, linear arrangements cost more than they are worth, and only roots are tried.
const MANY_VARIABLES: usize = 300;

/// Orders worth trying, the best of a quick run first.
pub(super) fn ranked_orders(
    task: &Task,
    config: &SloppConfig,
    progress: &dyn Progress,
) -> Result<Vec<Vec<Var>>, LearnError> {
    let Task { train, seed, .. } = *task;
    let information = pair_information(train)?;
    let gathered = Gathered::new(train.names());
    let information = gathered.information(&information);
    let mut orders = match gathered.len(train.var_count()) > MANY_VARIABLES {
        true => order::depth_first_orders(&information, ROOTS, seed),
        false => order::candidates(&information, ROOTS, seed),
    };
    orders.insert(0, gathered.along(&ChowLiuTree::new(&information)));
    let mut orders: Vec<Vec<Var>> = orders.into_iter().map(|order| gathered.order(order)).collect();
    let mut seen = std::collections::HashSet::new();
    orders.retain(|order| seen.insert(order.clone()));
    progress.begin("trying orders", orders.len() as u64);
    let quick = |order: Vec<Var>| {
        let vtree = Arc::new(Vtree::right_linear_over(&order));
        let max_classes = config.max_classes.min(32);
        let config = SloppConfig { max_classes, sweeps: 1, clone_depth: 0, ..config.clone() };
        let log_likelihood = find(&Task { vtree: Some(&vtree), ..*task }, &config, &())?.log_likelihood;
        progress.advance(1);
        Ok((log_likelihood, order))
    };
    let mut tried: Vec<(f64, Vec<Var>)> = orders.into_par_iter().map(quick).collect::<Result<_, LearnError>>()?;
    tried.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(tried.into_iter().map(|(_, order)| order).collect())
}
