//! Marginals, information and most probable values of sets of variables, against tables.

use super::*;
use slopp::logic::Limits;

/// Some variables in any order.
fn some_vars(vars: usize, dice: &mut Dice) -> Vec<usize> {
    let mut all: Vec<usize> = (0..vars).collect();
    for i in (1..vars).rev() {
        all.swap(i, dice.below(i + 1));
    }
    all.truncate(dice.below(vars + 1));
    all
}

fn as_vars(vars: &[usize]) -> Vec<Var> {
    vars.iter().map(|&x| Var(x as u32)).collect()
}

/// The table of some variables given evidence, and the probability of the evidence.
fn projected(table: &Table, vars: &[usize], cells: &[Option<bool>]) -> (Vec<f64>, f64) {
    let mut sums = vec![0.0; 1 << vars.len()];
    for world in table.support(cells) {
        let place: usize = vars.iter().enumerate().map(|(i, x)| (world >> x & 1) << i).sum();
        sums[place] += table.probability(world);
    }
    (sums, table.evidence(cells))
}

fn entropy(probabilities: &[f64]) -> f64 {
    probabilities.iter().filter(|&&p| p > 0.0).map(|p| -p * p.ln()).sum()
}

#[test]
fn marginals_of_sets_and_their_information() {
    circuits(240, 7, |tree, oracle, dice| {
        let (n, table) = (oracle.vars, oracle.table());
        let circuit = convert(oracle, tree).0;
        let [a, b] = [some_vars(n, dice), some_vars(n, dice)];
        let none = vec![None; n];
        let of = |vars: &[usize]| entropy(&projected(&table, vars, &none).0);
        let mut both = [a.clone(), b.clone()].concat();
        both.sort_unstable();
        both.dedup();
        let [va, vb] = [as_vars(&a), as_vars(&b)];
        close(circuit.entropy_of(&va, &Limits::default()).unwrap(), of(&a));
        close(circuit.conditional_entropy(&va, &vb, &Limits::default()).unwrap(), of(&both) - of(&b));
        close(circuit.mutual_information(&va, &vb, &Limits::default()).unwrap(), of(&a) + of(&b) - of(&both));
        let cells = slopp_oracle::records(n, 1, 0.7, dice).remove(0);
        let (sums, total) = projected(&table, &a, &cells);
        let marginal = circuit.marginal_given(&va, &evidence(&cells));
        if a.is_empty() {
            assert_eq!(marginal.err(), Some(QueryError::NoVariables));
        } else if total == 0.0 {
            assert_eq!(marginal.err(), Some(QueryError::ImpossibleEvidence));
        } else {
            let marginal = marginal.unwrap();
            assert!(marginal.parameter_faults(1e-9).is_empty());
            for (place, sum) in sums.into_iter().enumerate() {
                let world: Vec<bool> = (0..a.len()).map(|i| place >> i & 1 == 1).collect();
                let log = marginal.log_probability(&world).unwrap();
                close(log.exp(), sum / total);
                assert_eq!(log == f64::NEG_INFINITY, sum == 0.0);
            }
        }
    });
}

#[test]
fn questions_about_sets_have_limits() {
    let psdd = factorised(&Vtree::balanced(60), 0.3);
    let all: Vec<Var> = (0..60).map(Var).collect();
    let one = -(0.3 * 0.3f64.ln() + 0.7 * 0.7f64.ln());
    close(psdd.entropy_of(&all, &Limits::default()).unwrap(), 60.0 * one);
    // Independent variables stay deterministic whatever is summed out.
    close(psdd.entropy_of(&all[7..49], &Limits::default()).unwrap(), 42.0 * one);
    close(psdd.conditional_entropy(&all[..30], &all[20..], &Limits::default()).unwrap(), 20.0 * one);
    assert!(psdd.mutual_information(&all[..30], &all[30..], &Limits::default()).unwrap() < 1e-9);
    assert_eq!(
        psdd.entropy_of(&[Var(60)], &Limits::default()),
        Err(QueryError::UnknownVariable { variable: 61, variables: 60 })
    );
    assert_eq!(psdd.marginal(&[Var(1), Var(1)]).err(), Some(QueryError::RepeatedVariable { variable: 2 }));
    assert_eq!(psdd.conditional_entropy(&[Var(1)], &all, &Limits::default()).unwrap(), 0.0);
    // A mixture of two coins for each of thirty variables, told apart by one that is summed out: 2³⁰ assignments.
    let vtree = Vtree::right_linear(31);
    let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
    let mut below: Option<[slopp::NodeId; 2]> = None;
    let mut root = None;
    for x in (0..31).rev() {
        let var = Var(x);
        let v = vtree.parent(vtree.leaf(var)).unwrap();
        let [no, yes] = [false, true].map(|value| builder.literal(var.is(value)).unwrap());
        let coins = [0.2f64, 0.6].map(|p| builder.top(var, [(1.0 - p).ln(), p.ln()]).unwrap());
        match (below, x) {
            (None, _) => below = Some(coins),
            (Some([s, t]), 0) => root = Some(builder.sum(v, &[(no, s, 0.5f64.ln()), (yes, t, 0.5f64.ln())]).unwrap()),
            (Some(subs), _) => {
                below = Some([0, 1].map(|i| builder.sum(v, &[(coins[i], subs[i], 0.0)]).unwrap()));
            }
        }
    }
    let psdd = builder.finish(root.unwrap()).unwrap().certify(&Limits::default()).unwrap();
    let rest: Vec<Var> = (1..31).map(Var).collect();
    assert!(matches!(
        psdd.entropy_of(&rest, &Limits::default()),
        Err(QueryError::TooManyAssignments { variables: 30, .. })
    ));
    assert!(psdd.entropy_of(&rest[..8], &Limits::default()).is_ok());
    // Bounds meet before all 2³⁰ assignments are looked at.
    let found = psdd.marginal_map(&rest, &Evidence::none(31), 10_000, &Limits::default()).unwrap();
    assert!(found.is_exact());
    // All false under the first coin, all true under the second: 0.8³⁰ beats 0.6³⁰.
    close(found.log_lower, (0.5 * 0.8f64.powi(30) + 0.5 * 0.4f64.powi(30)).ln());
    let cut = psdd.marginal_map(&rest, &Evidence::none(31), 0, &Limits::default()).unwrap();
    assert!(cut.log_lower <= found.log_lower && found.log_lower <= cut.log_upper);
}

#[test]
fn marginal_map_is_the_best_of_all_assignments() {
    let (mut split, mut stopped) = (0, 0);
    circuits(300, 8, |tree, oracle, dice| {
        let (n, table) = (oracle.vars, oracle.table());
        let circuit = convert(oracle, tree).0;
        let a = some_vars(n, dice);
        let cells = slopp_oracle::records(n, 1, 0.8, dice).remove(0);
        let (sums, total) = projected(&table, &a, &cells);
        if a.is_empty() || total == 0.0 {
            assert!(circuit.marginal_map(&as_vars(&a), &evidence(&cells), 10, &Limits::default()).is_err());
            return;
        }
        let best = sums.iter().copied().fold(0.0, f64::max);
        let value = |found: &slopp::infer::MarginalMap| {
            assert!(found.values.iter().zip(&a).all(|(lit, &x)| lit.var.index() == x));
            let place: usize = found.values.iter().enumerate().map(|(i, lit)| usize::from(lit.value) << i).sum();
            sums[place]
        };
        let found = circuit.marginal_map(&as_vars(&a), &evidence(&cells), usize::MAX, &Limits::default()).unwrap();
        assert!(found.is_exact());
        close(found.log_lower.exp(), best);
        close(value(&found), best);
        split += usize::from(found.steps > 0);
        for budget in [0, 1] {
            let found = circuit.marginal_map(&as_vars(&a), &evidence(&cells), budget, &Limits::default()).unwrap();
            assert!(found.steps <= budget);
            close(found.log_lower.exp(), value(&found));
            assert!(found.log_upper.exp() >= best - 1e-9 && found.log_lower.exp() <= best + 1e-9);
            stopped += usize::from(!found.is_exact());
        }
    });
    assert!(split > 40 && stopped > 40, "{split} {stopped}");
}
