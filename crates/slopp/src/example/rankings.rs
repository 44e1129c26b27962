//! Rankings as squares of Boolean variables, and the Mallows model.

use crate::random::Random;

/// The place of each item, if the square is a ranking.
pub(super) fn ranking(world: &[bool], items: usize) -> Option<Vec<usize>> {
    if world.len() != items * items {
        return None;
    }
    let mut taken = vec![false; items];
    let mut places = Vec::with_capacity(items);
    for line in world.chunks(items) {
        let place = line.iter().position(|&here| here)?;
        if taken[place] || line[place + 1..].contains(&true) {
            return None;
        }
        taken[place] = true;
        places.push(place);
    }
    Some(places)
}

/// `ln(dispersion^d / Z)`, where `d` is the number of pairs of items in the wrong order.
pub(super) fn log_mallows(places: &[usize], dispersion: f64) -> f64 {
    let wrong = (0..places.len()).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| places[i] < places[j]);
    let normaliser: f64 = (1..=places.len()).map(|i| (0..i).map(|k| dispersion.powi(k as i32)).sum::<f64>().ln()).sum();
    wrong.count() as f64 * dispersion.ln() - normaliser
}

/// The items in a random order: each is inserted `k` places before the end with probability proportional to
/// `dispersion^k`.
pub(super) fn sample_mallows(items: usize, dispersion: f64, random: &mut Random) -> Vec<usize> {
    let weights: Vec<f64> = (0..items).map(|k| dispersion.powi(k as i32)).collect();
    let mut order = Vec::with_capacity(items);
    for item in 0..items {
        let back = random.choose(&weights[..=item]).expect("the first weight is one");
        order.insert(item - back, item);
    }
    order
}
