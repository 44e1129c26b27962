//! The nearest worlds and conflicts, against all worlds.

use super::*;
use slopp::logic::Limits;

#[test]
fn nearest_worlds_come_in_order_of_distance_and_probability() {
    let mut deterministic = 0;
    circuits(150, 4, |tree, oracle, dice| {
        let (vars, table) = (oracle.vars, oracle.table());
        let Ok(circuit) = convert(oracle, tree).0.certify_deterministic(&Limits::default()) else { return };
        deterministic += 1;
        let rows = slopp_oracle::records(vars, 6, [0.0, 0.3][dice.below(2)], dice);
        let mut firsts = Vec::new();
        for cells in &rows {
            let mut expected: Vec<(u32, f64)> = table
                .support(&vec![None; vars])
                .into_iter()
                .map(|world| (distance(world, cells), table.probability(world)))
                .collect();
            expected.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
            let given = evidence(cells);
            let near = circuit.nearest_worlds(&given, expected.len() + 3, &Limits::default()).unwrap();
            assert_eq!(near.len(), expected.len());
            let mut seen = std::collections::BTreeSet::new();
            for (near, (far, probability)) in near.iter().zip(&expected) {
                let world = Table::number(&near.world);
                assert!(seen.insert(world), "no world twice");
                assert_eq!((near.distance, *far), (*far, distance(world, cells)));
                close(near.log_probability.exp(), *probability);
                close(table.probability(world), *probability);
                assert_eq!(near.changes(&given).len(), *far as usize);
            }
            assert_eq!(circuit.nearest(&given).unwrap().distance, near[0].distance);
            firsts.push(expected[0]);
        }
        let data = to_records(&rows);
        // Whoever asks for one world gets the first of these, also where a row with holes is possible.
        let certified = Certified::new(convert(oracle, tree).0, &Limits::default());
        let by_row = certified.nearest_by_column_batch(&data, &Limits::default()).unwrap();
        for ((cells, (far, probability)), &row) in rows.iter().zip(firsts).zip(data.original()) {
            let alone = certified.nearest_by_column(&evidence(cells), data.names(), &Limits::default()).unwrap();
            for found in [&by_row[row as usize], &alone] {
                assert_eq!(found.distance, far);
                close(table.probability(Table::number(&found.world)), probability);
            }
        }
        for (row, near) in circuit.nearest_worlds_batch(&data, 2, &Limits::default()).unwrap().into_iter().enumerate() {
            assert_eq!(near, circuit.nearest_worlds(&Evidence::from_row(&data, row), 2, &Limits::default()).unwrap());
        }
    });
    assert!(deterministic > 50, "{deterministic}");
}

#[test]
fn conflicts_are_impossible_and_irreducible() {
    let mut found = 0;
    circuits(150, 5, |tree, oracle, dice| {
        let (vars, table) = (oracle.vars, oracle.table());
        let circuit = convert(oracle, tree).0;
        for cells in slopp_oracle::records(vars, 8, 0.2, dice) {
            let conflict = circuit.conflict(&evidence(&cells)).unwrap();
            assert_eq!(conflict.is_some(), table.support(&cells).is_empty());
            let Some(conflict) = conflict else { continue };
            found += 1;
            let only = |skip: Option<usize>| {
                let mut cells = vec![None; vars];
                for (i, lit) in conflict.iter().enumerate().filter(|&(i, _)| Some(i) != skip) {
                    assert!(i < vars);
                    cells[lit.var.index()] = Some(lit.value);
                }
                cells
            };
            assert!(conflict.iter().all(|lit| cells[lit.var.index()] == Some(lit.value)));
            assert!(table.support(&only(None)).is_empty());
            assert!((0..conflict.len()).all(|i| !table.support(&only(Some(i))).is_empty()));
        }
    });
    assert!(found > 200, "{found}");
    // More cells than are asked about at once: all variables are equal, the last cell breaks that.
    for n in [255, 256, 257, 700, 70_000] {
        let vtree = Vtree::right_linear(n);
        let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
        let mut made: Vec<Option<[slopp::NodeId; 2]>> = vec![None; vtree.node_count()];
        for &v in vtree.bottom_up() {
            made[v.index()] = Some(match (vtree.leaf_var(v), vtree.children(v)) {
                (Some(var), _) => [false, true].map(|value| builder.literal(var.is(value)).unwrap()),
                (_, Some([l, r])) => {
                    let parts = [0, 1].map(|i| (made[l.index()].unwrap()[i], made[r.index()].unwrap()[i], -0.7));
                    match v == vtree.root() {
                        true => [builder.sum(v, &parts).unwrap(); 2],
                        false => parts.map(|(p, s, _)| builder.sum(v, &[(p, s, 0.0)]).unwrap()),
                    }
                }
                _ => unreachable!(),
            });
        }
        let circuit = builder.finish(made[vtree.root().index()].unwrap()[0]).unwrap().renormalised();
        let mut world = vec![true; n];
        world[n - 2] = false;
        let conflict = circuit.conflict(&Evidence::of_world(&world)).unwrap().unwrap();
        assert_eq!(conflict, [Var(0).is(true), Var(n as u32 - 2).is(false)]);
    }
}
