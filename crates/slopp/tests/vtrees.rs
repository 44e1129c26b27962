//! Vtrees learned from the benchmark data.

use slopp::io::{RecordsOptions, read_records};
use slopp::learn::{VtreeMethod, pair_information};
use slopp::{Records, Vtree};

/// The records of a benchmark data set, if the shared data is there.
fn train(name: &str) -> Option<Records> {
    let path = slopp_oracle::shared(&format!("data/{name}/{name}.train.data.gz"))?;
    Some(read_records(&path, &RecordsOptions::default()).unwrap())
}

#[test]
fn nltcs_has_the_vtree_of_the_paper() {
    let Some(records) = train("nltcs") else { return };
    let vtree = VtreeMethod::ChowLiu.build(&records, 0).unwrap();
    assert_eq!(vtree.to_string(), "(9,((7,(2,((3,1),(8,((6,4),10))))),(13,((15,((11,12),(14,5))),16))))");
}

#[test]
fn every_method_works_on_data_with_constant_columns() {
    let Some(records) = train("plants") else { return };
    for method in VtreeMethod::ALL {
        assert_eq!(method.build(&records, 3).unwrap().var_count(), 69, "{method}");
    }
}

/// Mutual information across the root, and between the variables of the nodes just above the leaves.
fn quality(vtree: &Vtree, records: &Records) -> (f64, f64) {
    let information = pair_information(records).unwrap();
    let between = |v| {
        let [left, right] = vtree.children(v).unwrap();
        let pairs = vtree.vars(left).iter().flat_map(|a| vtree.vars(right).iter().map(move |b| (a, b)));
        pairs.map(|(a, b)| information.at(a.index(), b.index())).sum::<f64>()
    };
    let pairs = vtree.bottom_up().iter().filter(|&&v| vtree.vars(v).len() == 2);
    (between(vtree.root()), pairs.map(|&v| between(v)).sum())
}

#[test]
fn halves_of_nltcs_are_optimal() {
    let Some(records) = train("nltcs") else { return };
    let information = pair_information(&records).unwrap();
    let cut = |half: u32| -> f64 {
        let across = (0..16).flat_map(|i| (0..16).map(move |j| (i, j)));
        let across = across.filter(|&(i, j)| half >> i & 1 == 1 && half >> j & 1 == 0);
        across.map(|(i, j)| information.at(i, j)).sum()
    };
    let least = (0u32..1 << 16).filter(|half| half.count_ones() == 8).map(cut).fold(f64::INFINITY, f64::min);
    for seed in 0..5 {
        let vtree = VtreeMethod::MiTopDown.build(&records, seed).unwrap();
        assert!((quality(&vtree, &records).0 - least).abs() < 1e-9);
    }
}

#[test]
fn learned_vtrees_keep_related_variables_together() {
    for (name, less, more) in [("nltcs", 0.95, 1.2), ("plants", 0.8, 1.5)] {
        let Some(records) = train(name) else { return };
        let of = |method: VtreeMethod| quality(&method.build(&records, 1).unwrap(), &records);
        let (balanced, top_down, bottom_up) =
            (of(VtreeMethod::Balanced), of(VtreeMethod::MiTopDown), of(VtreeMethod::MiBottomUp));
        assert!(top_down.0 < less * balanced.0, "{name}: {top_down:?} {balanced:?}");
        assert!(bottom_up.1 > more * balanced.1, "{name}: {bottom_up:?} {balanced:?}");
    }
}
