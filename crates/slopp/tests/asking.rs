//! Events given events, against sums over all worlds.

mod against;

use against::*;
use slopp::infer::{Event, QueryError};
use slopp::logic::Limits;
use slopp::{Certified, Error, Mixture, Model, ModelKind, Names};
use slopp_oracle::{Dice, Table, Tree, deterministic};

/// Whether an event holds in a world.
type Holds = Box<dyn Fn(&[bool]) -> bool>;

/// A text over variables x1, x2, ..., and whether it holds in a world.
fn event(vars: usize, dice: &mut Dice) -> (String, Holds) {
    let [a, b, c] = [0; 3].map(|_| dice.below(vars));
    match dice.below(5) {
        0 => (String::new(), Box::new(|_| true)),
        1 => (format!("x{}", a + 1), Box::new(move |w| w[a])),
        2 => (format!("!x{}, x{}", a + 1, b + 1), Box::new(move |w| !w[a] && w[b])),
        3 => (format!("x{} | !x{}", a + 1, b + 1), Box::new(move |w| w[a] || !w[b])),
        _ => (format!("x{} -> (x{} & x{})", a + 1, b + 1, c + 1), Box::new(move |w| !w[a] || w[b] && w[c])),
    }
}

#[test]
fn every_event_given_every_other_is_a_sum_over_worlds() {
    let mut dice = Dice::new(11);
    let (mut answered, mut refused) = (0, 0);
    for round in 0..400 {
        let tree = Tree::random(2 + dice.below(5), &mut dice);
        let circuits = [0; 2].map(|_| deterministic(&tree, 0.4, false, &mut dice));
        let (vars, tables) = (circuits[0].vars, circuits.each_ref().map(|circuit| circuit.table()));
        let [one, other] =
            circuits.each_ref().map(|circuit| Certified::new(convert(circuit, &tree).0, &Limits::default()));
        let (model, share): (ModelKind, f64) = match round % 2 {
            0 => (one.into(), 1.0),
            _ => (Mixture::new(vec![(0.3, one), (0.7, other)]).unwrap().into(), 0.3),
        };
        let names = Names::numbered(vars);
        let names = Names::new(names.iter().enumerate().map(|(i, _)| format!("x{}", i + 1)).collect()).unwrap();
        let ((asked, holds), (given, known)) = (event(vars, &mut dice), event(vars, &mut dice));
        let Ok(condition) = Event::parse(&given, &names) else { continue };
        let question = Event::parse_question(&asked, &names).unwrap();
        let p = |world: usize| share * tables[0].probability(world) + (1.0 - share) * tables[1].probability(world);
        let sum = |test: &dyn Fn(&[bool]) -> bool| -> f64 {
            (0..1usize << vars).filter(|&world| test(&tables[0].world(world))).map(p).sum()
        };
        let total = sum(&known);
        let answer = model.log_probability(&question, &condition, &Limits::default());
        if total == 0.0 {
            let impossible = matches!(answer, Err(QueryError::ImpossibleEvidence | QueryError::ImpossibleFormula));
            assert!(impossible, "{asked} given {given}: {answer:?}");
            refused += 1;
            continue;
        }
        close(answer.unwrap().exp(), sum(&|w| holds(w) && known(w)) / total);
        close(model.log_probability_of(&question, &Limits::default()).unwrap().exp(), sum(&holds));
        if let Event::Formula(formula) = &condition {
            let (conditioned, log) = model.given(formula, &Limits::default()).unwrap();
            close(log.exp(), total);
            for world in 0..1usize << vars {
                let values: Vec<Option<bool>> = tables[0].world(world).into_iter().map(Some).collect();
                let log = conditioned.distribution().log_evidence(&evidence(&values)).unwrap();
                close(log.exp(), if known(&Table::world(&tables[0], world)) { p(world) / total } else { 0.0 });
            }
        }
        let model = Model::new(names, model);
        close(model.probability(&asked, &given).unwrap(), sum(&|w| holds(w) && known(w)) / total);
        for (var, marginal) in model.marginals(&given).unwrap().into_iter().enumerate() {
            close(marginal, sum(&|w| w[var] && known(w)) / total);
        }
        let best = (0..1usize << vars).filter(|&world| known(&tables[0].world(world))).map(p).fold(0.0, f64::max);
        match model.mpe(&given) {
            Ok((world, log)) => {
                assert!(known(&world), "{given}: {world:?}");
                close(log.exp(), best);
            }
            Err(error) => {
                assert!(round % 2 == 1 && matches!(error, Error::Query(QueryError::NotDeterministic)), "{error}")
            }
        }
        let sample = model.sample(20, &given, 1).unwrap();
        assert_eq!(sample.total(), 20.0);
        (0..sample.len()).for_each(|row| assert!(known(&sample.row(row).map(Option::unwrap).collect::<Vec<_>>())));
        answered += 1;
    }
    assert!(answered > 200 && refused > 10, "{answered} {refused}");
}
