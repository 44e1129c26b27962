//! The pictures of the guide are what its commands draw.

use crate::folder::Folder;
use crate::transcript::compare;

/// Five switches in a row, each as the one before it, mostly.
fn chain() -> String {
    let mut state = 1u64;
    let mut chance = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut text = "a,b,c,d,e\n".to_owned();
    for _ in 0..400 {
        let mut value = chance() < 0.5;
        let mut cells = vec![value];
        for _ in 1..5 {
            value ^= chance() < 0.15;
            cells.push(value);
        }
        let cells: Vec<&str> = cells.iter().map(|&cell| if cell { "1" } else { "0" }).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

#[test]
fn a_tree_and_what_merging_makes_of_it() {
    let folder = Folder::new();
    folder.write("chain.csv", chain());
    let whole = "--parameter-penalty 0 --split-penalty 0 --min-records 1";
    folder.run(&format!("learn chain.csv --learner slopp-tree --vtree right-linear {whole} -o tree.psdd")).ok();
    folder.run("learn chain.csv --vtree right-linear -o merged.psdd").ok();
    for name in ["tree", "merged"] {
        folder.run(&format!("draw {name}.psdd -o {name}.svg")).ok();
        compare(&folder.read(&format!("{name}.svg")), &format!("../../docs/pictures/{name}.svg"));
    }
}

#[test]
fn likelihood_against_size() {
    let folder = Folder::new();
    for (name, rows, seed) in [("train", 3000, 1), ("valid", 1000, 2), ("test", 1000, 3)] {
        folder.run(&format!("data generate configurations -n {rows} --seed {seed} -o {name}.csv")).ok();
    }
    folder.run("curve train.csv --valid valid.csv --test test.csv -o curve.svg").ok();
    compare(&folder.read("curve.svg"), "../../docs/pictures/curve.svg");
}
