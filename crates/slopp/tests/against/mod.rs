//! Holds the library's answers against those of the oracle.
#![allow(dead_code)] // each test binary uses its part

use slopp::infer::{Evidence, QueryError};
use slopp::logic::Limits;
use slopp::{
    Builder, Certified, Circuit, Deterministic, Names, NodeId, Psdd, Records, RecordsBuilder, Sharing, Var, Vtree,
    VtreeId,
};
use slopp_oracle::{OracleCircuit, OracleNode, Table, Tree};

/// The same circuit for the library, and the id of each oracle node.
pub(crate) fn convert(circuit: &OracleCircuit, tree: &Tree) -> (Circuit, Vec<NodeId>) {
    let vtree: Vtree = tree.to_string().parse().unwrap();
    let mut builder = Builder::new(vtree.clone(), Sharing::LiteralsOnly);
    let mut made: Vec<(NodeId, VtreeId)> = Vec::new();
    for node in &circuit.nodes {
        made.push(match node {
            OracleNode::Lit(x, value) => {
                let var = Var(*x as u32);
                (builder.literal(var.is(*value)).unwrap(), vtree.leaf(var))
            }
            OracleNode::Top(x, p) => {
                let var = Var(*x as u32);
                (builder.top(var, [(1.0 - p).ln(), p.ln()]).unwrap(), vtree.leaf(var))
            }
            OracleNode::Sum(elements) => {
                let v = vtree.parent(made[elements[0].0].1).unwrap();
                let elements: Vec<_> = elements.iter().map(|&(p, s, x)| (made[p].0, made[s].0, f64::ln(x))).collect();
                (builder.sum(v, &elements).unwrap(), v)
            }
        });
    }
    let (circuit, ids) = builder.finish_with_ids(made.last().unwrap().0).unwrap();
    (circuit, made.into_iter().map(|(id, _)| ids[id.index()].unwrap()).collect())
}

pub(crate) fn evidence(cells: &[Option<bool>]) -> Evidence {
    let lits = cells.iter().enumerate().filter_map(|(x, cell)| Some(Var(x as u32).is((*cell)?)));
    Evidence::from_lits(cells.len(), lits).unwrap()
}

pub(crate) fn to_records(rows: &[Vec<Option<bool>>]) -> Records {
    let mut builder = RecordsBuilder::new(Names::numbered(rows[0].len()));
    rows.iter().for_each(|row| builder.push(row.iter().copied(), 1.0));
    builder.finish()
}

pub(crate) fn cells(records: &Records, row: usize) -> Vec<Option<bool>> {
    records.row(row).collect()
}

#[track_caller]
pub(crate) fn close(found: f64, expected: f64) {
    let near = found == expected || (found - expected).abs() <= 1e-11 * (1.0 + expected.abs());
    assert!(near, "found {found}, expected {expected}");
}

/// Every query of a mixture under one evidence.
pub(crate) fn check_circuit(circuit: &Circuit, table: &Table, cells: &[Option<bool>]) {
    let (given, n) = (evidence(cells), cells.len());
    close(circuit.log_evidence(&given).unwrap().exp(), table.evidence(cells));
    assert_eq!(circuit.log_evidence(&given).unwrap() == f64::NEG_INFINITY, table.support(cells).is_empty());

    let nearest = circuit.nearest(&given).unwrap();
    assert_eq!(nearest.distance, table.nearest(cells));
    assert!(table.probability(Table::number(&nearest.world)) > 0.0);
    let changed = cells.iter().zip(&nearest.world).filter(|(cell, value)| cell.is_some_and(|cell| cell != **value));
    assert_eq!(changed.count(), nearest.distance as usize);

    let event: Vec<Option<bool>> = (0..n).map(|x| (x % 2 == 0).then_some(x % 4 == 0)).collect();
    let Some(pairs) = table.pairs(cells) else {
        assert_eq!(circuit.marginals(&given), Err(QueryError::ImpossibleEvidence));
        assert_eq!(circuit.pair_marginals(&given), Err(QueryError::ImpossibleEvidence));
        assert_eq!(circuit.conditional(&evidence(&event), &given), Err(QueryError::ImpossibleEvidence));
        assert_eq!(circuit.sample(1, &given, 0), Err(QueryError::ImpossibleEvidence));
        return;
    };
    close(circuit.conditional(&evidence(&event), &given).unwrap(), table.conditional(&event, cells).unwrap());
    let marginals = circuit.marginals(&given).unwrap();
    let found = circuit.pair_marginals(&given).unwrap();
    for x in 0..n {
        close(marginals[x], pairs[x][x]);
        for y in 0..n {
            let [a, b] = [x, y].map(|x| Var(x as u32));
            close(found.joint(a, b), pairs[x][y]);
            close(found.of(a, true, b, false), pairs[x][x] - pairs[x][y]);
        }
    }
    for world in circuit.sample(3, &given, 5).unwrap().worlds() {
        assert!(table.support(cells).contains(&Table::number(&world)));
    }
}

/// Every query that needs determinism, under one evidence.
pub(crate) fn check_deterministic(circuit: &Deterministic, table: &Table, cells: &[Option<bool>]) {
    let given = evidence(cells);
    let mut worlds: Vec<usize> = circuit.worlds(&given).unwrap().map(|world| Table::number(&world)).collect();
    worlds.sort_unstable();
    assert_eq!(worlds, table.support(cells));
    let descending = table.descending(cells);
    if descending.is_empty() {
        assert_eq!(circuit.mpe(&given), Err(QueryError::ImpossibleEvidence));
        assert_eq!(circuit.top_worlds(&given, 3, &Limits::default()), Err(QueryError::ImpossibleEvidence));
        return;
    }
    let (world, log) = circuit.mpe(&given).unwrap();
    close(log.exp(), descending[0]);
    close(table.probability(Table::number(&world)), descending[0]);
    assert!(table.support(cells).contains(&Table::number(&world)));
    for count in [0, 1, 3, descending.len() + 1] {
        let top = circuit.top_worlds(&given, count, &Limits::default()).unwrap();
        assert_eq!(top.len(), count.min(descending.len()));
        for ((world, log), &expected) in top.iter().zip(&descending) {
            close(log.exp(), expected);
            close(table.probability(Table::number(world)), expected);
        }
        assert!(top.windows(2).all(|w| w[0].1 >= w[1].1));
        let mut distinct: Vec<usize> = top.iter().map(|(world, _)| Table::number(world)).collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), top.len());
        assert!(distinct.iter().all(|world| table.support(cells).contains(world)));
    }
}

/// What does not depend on evidence.
pub(crate) fn check_whole(circuit: &Deterministic, table: &Table, n: usize) {
    close(circuit.entropy(), table.entropy());
    let support = table.support(&vec![None; n]);
    assert_eq!(circuit.model_count().to_string(), support.len().to_string());
    let rows: Vec<Vec<bool>> = support.iter().map(|&world| table.world(world)).collect();
    let records = |rows: &[Vec<bool>]| Records::from_rows(Names::numbered(n), rows.iter().cloned());
    assert!(circuit.equals_closed_world(&records(&rows)).unwrap());
    assert!(!circuit.equals_closed_world(&records(&rows[1..])).unwrap());
    assert!(circuit.entailed_by(&records(&rows[1..])).unwrap());
}

/// The certificate against all pairs of elements.
pub(crate) fn check_certificate(circuit: &Circuit, ids: &[NodeId], oracle: &OracleCircuit) {
    let expected = oracle.overlaps();
    let report = circuit.overlaps(usize::MAX, &Limits::default());
    let mut sums: Vec<usize> = expected.iter().map(|overlap| overlap.node).collect();
    sums.dedup();
    let strong = |sum: usize| expected.iter().any(|overlap| overlap.node == sum && overlap.strong);
    assert_eq!(report.sums, sums.len());
    assert_eq!(report.weak_sums, sums.iter().filter(|&&sum| !strong(sum)).count());
    for overlap in &report.examples {
        let node = ids.iter().position(|&id| id == overlap.node).unwrap();
        let found = expected.iter().find(|o| o.node == node && o.elements == overlap.elements).unwrap();
        assert_eq!(found.strong, !overlap.weak);
        let values = oracle.values(Table::number(&overlap.witness));
        assert!(*values.last().unwrap() > 0.0, "the witness is possible");
        let OracleNode::Sum(elements) = &oracle.nodes[node] else { panic!("overlaps are at sums") };
        for i in [overlap.elements.0, overlap.elements.1] {
            assert!(values[elements[i].0] > 0.0, "the witness satisfies both primes");
            assert!(overlap.weak || values[elements[i].1] > 0.0, "and both subs");
        }
    }
    match Certified::new(circuit.clone(), &Limits::default()) {
        Certified::Psdd(_) => assert!(expected.is_empty()),
        Certified::Deterministic(..) => assert!(!expected.is_empty() && expected.iter().all(|o| !o.strong)),
        Certified::Circuit(..) => assert!(expected.iter().any(|o| o.strong)),
    }
}

/// Independent variables that are true with probability `p`.
pub(crate) fn factorised(vtree: &Vtree, p: f64) -> Psdd {
    let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
    let mut made = vec![None; vtree.node_count()];
    for &v in vtree.bottom_up() {
        made[v.index()] = Some(match (vtree.leaf_var(v), vtree.children(v)) {
            (Some(var), _) => builder.top(var, [(1.0 - p).ln(), p.ln()]).unwrap(),
            (_, Some([left, right])) => {
                let (prime, sub) = (made[left.index()].unwrap(), made[right.index()].unwrap());
                builder.sum(v, &[(prime, sub, 0.0)]).unwrap()
            }
            _ => unreachable!(),
        });
    }
    builder.finish(made[vtree.root().index()].unwrap()).unwrap().certify(&Limits::default()).unwrap()
}
