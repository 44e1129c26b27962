//! Expected counts against enumeration, and EM as a climb.

use slopp::circuit::Smoothing;
use slopp::learn::{EmConfig, EmFit, LearnError, SloppKmeans, SloppTree, Task, Variant};
use slopp::logic::Limits;
use slopp::{ModelKind, Names, Psdd, Random, Records, RecordsBuilder, Vtree, Weights};

fn random_records(vars: usize, rows: usize, missing: f64, random: &mut Random) -> Records {
    let mut builder = RecordsBuilder::new(Names::numbered(vars));
    for _ in 0..rows {
        let mut last = random.unit() < 0.5;
        let row: Vec<_> = (0..vars)
            .map(|_| {
                last = if random.unit() < 0.7 { last } else { random.unit() < 0.4 };
                (random.unit() >= missing).then_some(last)
            })
            .collect();
        builder.push(row, 1.0 + random.below(3) as f64);
    }
    builder.finish()
}

fn em(start: &Psdd, records: &Records, config: &EmConfig) -> Result<EmFit, LearnError> {
    ModelKind::from(start.clone()).em(records, config, &())
}

fn close(a: &Weights, b: &Weights) {
    let numbers = |w: &Weights| w.tops.concat().into_iter().chain(w.elements.clone()).collect::<Vec<f64>>();
    for (a, b) in numbers(a).into_iter().zip(numbers(b)) {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} {b}");
    }
}

fn psdd(records: &Records, seed: u64) -> Psdd {
    let greedy = SloppTree { split_penalty: 0.0, parameter_penalty: 0.0, min_records: 2.0, ..SloppTree::default() };
    let task = Task { vtree: Some(&Vtree::random(records.var_count(), seed).into()), ..Task::new(records) };
    task.learn(&greedy, &()).unwrap().model.into_psdd().unwrap()
}

#[test]
fn expected_counts_are_means_of_counts_over_completions() {
    let mut random = Random::new(1);
    for seed in 0..20 {
        let psdd = psdd(&random_records(5, 40, 0.0, &mut random), seed);
        let partial = random_records(5, 6, 0.4, &mut random);
        let mut mean = Weights::zeros(psdd.log_parameters().tops.len(), psdd.elements().len());
        for row in 0..partial.len() {
            let worlds = (0..32u32).map(|w| (0..5).map(|i| w >> i & 1 == 1).collect::<Vec<bool>>());
            let fits =
                |world: &Vec<bool>| partial.row(row).zip(world).all(|(cell, x)| cell.is_none_or(|cell| cell == *x));
            let completions: Vec<Vec<bool>> = worlds.filter(fits).collect();
            let probability = |world: &[bool]| psdd.log_probability(world).unwrap().exp();
            let total: f64 = completions.iter().map(|world| probability(world)).sum();
            for world in &completions {
                let one = Records::from_rows(Names::numbered(5), [world.clone()]);
                let mut counts = psdd.count_records(&one).unwrap().weights;
                let share = partial.weights()[row] * probability(world) / total;
                counts.tops.iter_mut().flatten().chain(&mut counts.elements).for_each(|n| *n *= share);
                mean.add(&counts);
            }
        }
        let expected = psdd.expected_counts(&partial).unwrap();
        close(&expected.weights, &mean);
        let values = psdd.log_likelihoods(&partial).unwrap();
        let sum: f64 = values.iter().zip(partial.weights()).map(|(ll, weight)| ll * weight).sum();
        assert!((expected.log_likelihood - sum).abs() < 1e-9);
    }
}

#[test]
fn complete_records_are_counted_exactly() {
    let mut random = Random::new(2);
    let records = random_records(7, 80, 0.0, &mut random);
    let psdd = psdd(&records, 3);
    close(&psdd.expected_counts(&records).unwrap().weights, &psdd.count_records(&records).unwrap().weights);
}

#[test]
fn the_likelihood_never_falls_and_certificates_survive() {
    let mut random = Random::new(3);
    for seed in 0..10 {
        let complete = random_records(6, 60, 0.0, &mut random);
        let partial = random_records(6, 60, 0.3, &mut random);
        let config = EmConfig { steps: 30, tolerance: 0.0, smoothing: Smoothing::none(), ..EmConfig::default() };
        let start: Psdd = psdd(&complete, seed);
        let fit = em(&start, &partial, &config).unwrap();
        assert!(fit.history.windows(2).all(|step| step[1] >= step[0] - 1e-9), "{:?}", fit.history);
        assert!(fit.history[fit.history.len() - 1] > fit.history[0]);
        let again = fit.model.into_psdd().expect("the certificate is carried over");
        assert!(again.into_circuit().certify(&Limits::default()).is_ok());

        let task = Task { vtree: Some(&Vtree::random(6, seed).into()), ..Task::closed(&complete) };
        let learned = task.learn(&SloppKmeans::new(Variant::Algorithm2, 3, 8), &()).unwrap().model;
        let fit = learned.em(&complete, &config, &()).unwrap();
        assert!(fit.history.windows(2).all(|step| step[1] >= step[0] - 1e-9), "{:?}", fit.history);
    }
}

#[test]
fn the_first_step_on_complete_records_is_maximum_likelihood() {
    let mut random = Random::new(4);
    let records = random_records(6, 100, 0.0, &mut random);
    let start = psdd(&records, 1);
    let config = EmConfig { steps: 1, ..EmConfig::default() };
    let stepped = em(&start, &records, &config).unwrap().model.into_psdd().unwrap();
    let fitted = start.fit(&records, &Smoothing::none()).unwrap().circuit;
    close(stepped.log_parameters(), fitted.log_parameters());
}

#[test]
fn threads_do_not_matter() {
    let mut random = Random::new(5);
    let (complete, partial) = (random_records(9, 300, 0.0, &mut random), random_records(9, 300, 0.3, &mut random));
    let start = psdd(&complete, 1);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| em(&start, &partial, &EmConfig::default()).unwrap())
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn nothing_possible_is_refused() {
    let impossible = Records::from_rows(Names::numbered(4), [[true; 4]]);
    let refused = em(&slopp::example::psdd(), &impossible, &EmConfig::default());
    assert!(matches!(refused, Err(LearnError::NothingPossible)));
}

#[test]
fn a_second_run_changes_almost_nothing() {
    let mut random = Random::new(6);
    let mut fell = 0;
    for seed in 0..20 {
        let complete = random_records(6, 60, 0.0, &mut random);
        let partial = random_records(6, 60, 0.4, &mut random);
        let smoothing = Smoothing::marginal(20.0, &partial);
        let config = EmConfig { steps: 2000, tolerance: 1e-7, smoothing, ..EmConfig::default() };
        // Without a prior, so that with one the likelihood of the records falls first.
        let unsmoothed = EmConfig { smoothing: Smoothing::none(), steps: 50, ..config.clone() };
        let start = em(&psdd(&complete, seed), &partial, &unsmoothed).unwrap().model;
        let once = start.em(&partial, &config, &()).unwrap();
        fell += usize::from(once.history[1] < once.history[0]);
        let twice = once.model.em(&partial, &config, &()).unwrap();
        let change = twice.history[twice.history.len() - 1] - twice.history[0];
        assert!(change.abs() < 1e-5, "{change} after {} steps", once.history.len() - 1);
    }
    assert!(fell > 10, "{fell}");
}

/// Two components over four variables: two on their own, the third a tree above the fourth.
#[derive(Clone, Debug)]
struct Network {
    weights: [f64; 2],
    /// For each component, the probabilities of its first two variables, of the third, and of the fourth given it.
    parts: [[f64; 5]; 2],
}

impl Network {
    fn model(&self) -> ModelKind {
        let part = |(k, [a, b, c, no, yes]): (usize, &[f64; 5])| {
            let [x, y, tree, product] = [0, 1, 2, 3].map(|i| 4 * k + i);
            let tree_line = format!("C {tree} 2 3 0 {c:?} {c:?} 4 1 {no:?} {yes:?}");
            format!("B {x} 1 {a:?}\nB {y} 2 {b:?}\n{tree_line}\nP {product} 3 {x} {y} {tree}\n")
        };
        let parts: String = self.parts.iter().enumerate().map(part).collect();
        let text = format!("spn 9 4\n{parts}S 8 2 3 {:?} 7 {:?}\n", self.weights[0], self.weights[1]);
        slopp::Model::load(text.as_bytes()).unwrap().kind
    }

    fn joint(&self, k: usize, world: &[bool]) -> f64 {
        let of = |p: f64, value: bool| if value { p } else { 1.0 - p };
        let [a, b, c, no, yes] = self.parts[k];
        let last = if world[2] { yes } else { no };
        self.weights[k] * of(a, world[0]) * of(b, world[1]) * of(c, world[2]) * of(last, world[3])
    }

    /// A step of EM by definition: every completion of every record, in every component.
    fn step(&self, records: &Records, prior: &Network, pseudocount: f64) -> Network {
        let mut used = [0.0; 2];
        let mut counts = [[[0.0; 2]; 5]; 2];
        for row in 0..records.len() {
            let worlds: Vec<Vec<bool>> = (0..16)
                .map(|w| (0..4).map(|i| w >> i & 1 == 1).collect::<Vec<bool>>())
                .filter(|world| records.row(row).zip(world).all(|(cell, x)| cell.is_none_or(|cell| cell == *x)))
                .collect();
            let total: f64 = worlds.iter().map(|world| self.joint(0, world) + self.joint(1, world)).sum();
            for world in &worlds {
                for k in 0..2 {
                    let share = records.weights()[row] * self.joint(k, world) / total;
                    used[k] += share;
                    let last = if world[2] { 4 } else { 3 };
                    for (slot, var) in [(0, 0), (1, 1), (2, 2), (last, 3)] {
                        counts[k][slot][usize::from(world[var])] += share;
                    }
                }
            }
        }
        let mut next = self.clone();
        for k in 0..2 {
            next.weights[k] = (used[k] + pseudocount * prior.weights[k]) / (used[0] + used[1] + pseudocount);
            for (slot, [no, yes]) in counts[k].into_iter().enumerate() {
                next.parts[k][slot] = (yes + pseudocount * prior.parts[k][slot]) / (no + yes + pseudocount);
            }
        }
        next
    }
}

#[test]
fn steps_of_a_network_are_those_of_the_definition() {
    let mut random = Random::new(21);
    for _ in 0..20 {
        let records = random_records(4, 12, 0.4, &mut random);
        let w = 0.1 + 0.8 * random.unit();
        let parts = [0, 1].map(|_| [0; 5].map(|_| 0.05 + 0.9 * random.unit()));
        let start = Network { weights: [w, 1.0 - w], parts };
        let pseudocount = 0.1 + random.unit();
        let smoothing = Smoothing::uniform(pseudocount);
        let mut expected = start.clone();
        for steps in 1..4 {
            expected = expected.step(&records, &start, pseudocount);
            let config = EmConfig { steps, tolerance: 0.0, smoothing: smoothing.clone(), ..EmConfig::default() };
            let ModelKind::Spn(found) = start.model().em(&records, &config, &()).unwrap().model else {
                panic!("a network")
            };
            for bits in 0..16 {
                let world: Vec<bool> = (0..4).map(|i| bits >> i & 1 == 1).collect();
                let p = expected.joint(0, &world) + expected.joint(1, &world);
                assert!((found.log_probability(&world).unwrap().exp() - p).abs() < 1e-12, "after {steps} steps");
            }
        }
        let almost_none =
            EmConfig { steps: 30, tolerance: 0.0, smoothing: Smoothing::uniform(1e-12), ..EmConfig::default() };
        let history = start.model().em(&records, &almost_none, &()).unwrap().history;
        assert!(history.windows(2).all(|step| step[1] >= step[0] - 1e-9), "a climb: {history:?}");
    }
    let even = Network { weights: [0.5; 2], parts: [[0.5; 5]; 2] }.model();
    let none = even.em(&random_records(4, 3, 0.0, &mut random), &EmConfig::default(), &());
    assert!(matches!(none, Err(LearnError::Setting { name: "pseudocount", .. })));
}

#[test]
fn no_records_are_not_called_impossible() {
    let none = RecordsBuilder::new(Names::numbered(4)).finish();
    let refused = slopp::example::psdd().fit(&none, &Smoothing::none()).unwrap_err();
    assert!(refused.to_string().contains("there are no records"), "{refused}");
}
