//! The erratum: what the paper claims, what comes out, and the verdict, each computed on the spot.

use super::counterexample::{A, A2, C, D, Learned, fraction};
use super::experiment::{Experiment, Setting};
use super::paper::BENCHMARKS;
use super::tables::whole;
use crate::html::Tone;
use serde_json::Value;
use slopp_cli::{Error, object};

/// A claim with what was found.
pub(super) struct Finding {
    /// Its number and, for counterexamples, letter.
    pub(super) id: &'static str,
    /// What the paper claims or lets its readers believe.
    pub(super) claim: &'static str,
    /// What was computed.
    pub(super) computed: Vec<String>,
    /// Whether the claim holds; unknown if that needs data that are not there.
    pub(super) holds: Option<bool>,
    /// The verdict in words.
    pub(super) verdict: String,
}

impl Finding {
    /// The finding for programs.
    pub(super) fn document(&self) -> Value {
        object([
            ("id", Value::from(self.id)),
            ("claim", Value::from(self.claim)),
            ("computed", self.computed.iter().map(String::as_str).map(Value::from).collect()),
            ("holds", self.holds.map_or(Value::Null, Value::from)),
            ("verdict", Value::from(self.verdict.as_str())),
        ])
    }

    /// The verdict as one word.
    pub(super) fn word(&self) -> &'static str {
        match self.holds {
            Some(true) => "TRUE",
            Some(false) => "FALSE",
            None => "OPEN",
        }
    }

    /// Its colour.
    pub(super) fn tone(&self) -> Tone {
        match self.holds {
            Some(true) => Tone::Yes,
            Some(false) => Tone::No,
            None => Tone::Neutral,
        }
    }
}

/// What is said if a computation ever contradicts what we found: never the old verdict.
fn verdict(holds: bool, expected: bool, words: impl Into<String>) -> String {
    match holds == expected {
        true => words.into(),
        false => "this computation does not confirm what we found before, please report it.".into(),
    }
}

/// From how many seeds on a range says something.
const FEW: usize = 5;

/// How many seeds of k-means are tried on a counterexample.
const SEEDS: u64 = 50;

/// All findings; those about the tables are stronger with data.
pub(super) fn findings(experiments: &[Experiment]) -> Result<Vec<Finding>, Error> {
    Ok(vec![
        counterexample_a()?,
        counterexample_a2()?,
        counterexample_c()?,
        counterexample_d()?,
        relaxation(experiments)?,
        flow(experiments)?,
        untrained(experiments),
        rows(experiments),
        ranges(experiments),
    ])
}

fn counterexample_a() -> Result<Finding, Error> {
    let learned = A.learn()?;
    let fixed = A.is_fixed_point();
    let mass = learned.first_match_mass();
    let holds = learned.overlaps.sums == 0 || !fixed;
    Ok(Finding {
        id: "1A",
        claim: "Proposition 1: Algorithm 2 returns a PSDD, so the primes of every sum are exclusive.",
        computed: vec![
            format!(
                "vtree ((1,2),3), records 001 011 101 111, k = 2, d = 4; clusters {{00,01,10}} and {{11}}: \
                 a strict fixed point of k-means: {}.",
                yes(fixed)
            ),
            derivations(&learned, "111"),
            format!(
                "Total mass as a mixture {}; with \"the unique i with x |= p_i\", first match taken, {}.",
                fraction(learned.mixture_mass()),
                fraction(mass)
            ),
        ],
        holds: Some(holds),
        verdict: verdict(holds, false, format!("{} overlapping primes: not a PSDD.", has(&learned))),
    })
}

fn counterexample_a2() -> Result<Finding, Error> {
    let [given, best] = A2.squared_errors();
    let learned = A2.learn()?;
    let seeds = A2.overlapping_seeds(SEEDS)?;
    let holds = learned.overlaps.sums == 0 || given > best + 1e-9;
    Ok(Finding {
        id: "1A2",
        claim: "(The clusters of 1A might be a bad local optimum.)",
        computed: vec![
            format!(
                "Counts 001:1 011:1 101:1 111:6: the same clusters have squared error {}; the best of all has {}.",
                fraction(given),
                fraction(best)
            ),
            derivations(&learned, "111"),
            format!("k-means itself, no clusters given: {seeds} of {SEEDS} seeds end with overlapping primes."),
        ],
        holds: Some(holds),
        verdict: verdict(holds, false, "the global optimum of k-means overlaps too."),
    })
}

fn counterexample_c() -> Result<Finding, Error> {
    let learned = C.learn()?;
    let holds = learned.overlaps.sums == 0;
    Ok(Finding {
        id: "1C",
        claim: "(The authors' code splits single left variables by value, which might repair it.)",
        computed: vec![
            "vtree (((1,2),3),4), records 0001 1001 0011 1011, k = 2, d = 3; clusters {000,100,001} and {101}.".into(),
            derivations(&learned, "1011"),
        ],
        holds: Some(holds),
        verdict: verdict(holds, false, format!("{} overlapping primes nevertheless.", has(&learned))),
    })
}

fn counterexample_d() -> Result<Finding, Error> {
    let learned = D.learn()?;
    let holds = learned.overlaps.sums == 0;
    let [given, best] = D.squared_errors();
    let witness: Vec<String> = learned.overlaps.examples.iter().map(|overlap| format!("{overlap}.")).collect();
    let mut computed = witness;
    computed.push(format!(
        "The printed clusters are not a result of k-means either: squared error {given:.2}, optimum {best:.2}."
    ));
    Ok(Finding {
        id: "1D",
        claim: "Figure 2 is what Algorithm 2 makes of Table 1 with k = 3, d = 20 and its own clusters, of which the \
                second has 14 records, fewer than d.",
        computed,
        holds: Some(holds),
        verdict: verdict(
            holds,
            false,
            "Algorithm 2 gives another circuit, which is not a PSDD; Figure 2 needs value splits regardless of d.",
        ),
    })
}

fn relaxation(experiments: &[Experiment]) -> Result<Finding, Error> {
    let records = slopp::example::records();
    let mut computed = vec![format!(
        "Table 1: every record is possible in Figure 2: {}.",
        yes(slopp::example::psdd().entailed_by(&records)?)
    )];
    let mut holds = slopp::example::psdd().entailed_by(&records)?;
    for experiment in experiments {
        let runs = || experiment.settings.iter().flat_map(|setting| &setting.runs);
        let relaxing = runs().filter(|run| run.relaxes).count();
        holds &= relaxing == runs().count();
        computed.push(format!(
            "{}: every training record is possible in {relaxing} of {} circuits.",
            experiment.benchmark.name,
            runs().count()
        ));
    }
    Ok(Finding {
        id: "1R",
        claim: "Proposition 1, second half: the base relaxes the records, so none of them becomes impossible.",
        computed,
        holds: Some(holds),
        verdict: verdict(holds, true, "this half holds (the proof states its implications the wrong way round)."),
    })
}

fn flow(experiments: &[Experiment]) -> Result<Finding, Error> {
    let learned = A.learn()?;
    let mass = learned.flow_mass()?;
    let holds = (mass - 1.0).abs() < 1e-9;
    let mut computed = vec![format!(
        "Counterexample 1A: P(111) = {}, flow gives {}; over all worlds flow sums to {}, a likelihood to 1.",
        fraction(learned.shares("111").0),
        fraction(learned.flow("111")?),
        fraction(mass)
    )];
    let settings: Vec<&Setting> = experiments.iter().flat_map(|experiment| &experiment.settings).collect();
    let within = |of: fn(&super::experiment::Run) -> f64| {
        settings.iter().filter(|s| s.spread(of).holds(s.paper.row.log_likelihood)).count()
    };
    let (flows, truths) = (within(|run| run.flow), within(|run| run.score.log_likelihood));
    match settings.len() {
        0 => computed.push("How many printed values are in our ranges needs the data.".into()),
        n => computed.push(format!(
            "Printed values inside our range over the seeds: {flows} of {n} if it is flow, {truths} of {n} if it is \
             the true log-likelihood."
        )),
    }
    Ok(Finding {
        id: "2",
        claim: "The LL column of Tables 3 and 4 is the log-likelihood of the test records.",
        computed,
        holds: Some(holds),
        verdict: verdict(
            holds,
            false,
            "it adds ln θ of every active edge, which multiplies overlapping derivations: no likelihood.",
        ),
    })
}

fn untrained(experiments: &[Experiment]) -> Finding {
    let mut computed = Vec::new();
    let mut same = true;
    for benchmark in &BENCHMARKS {
        let records = benchmark.untrained_records();
        let value = benchmark.untrained(records);
        same &= value.trunc() == benchmark.factorised.log_likelihood;
        computed.push(format!(
            "{}: -{} · {} · ln 2 = {value:.2}, printed {}.",
            benchmark.name,
            whole(records),
            benchmark.variables,
            whole(benchmark.factorised.log_likelihood)
        ));
    }
    for experiment in experiments {
        if let Some(trained) = experiment.references.first() {
            computed.push(format!(
                "{}: trained, {:.3} per record over all test records; untrained, {:.3}.",
                experiment.benchmark.name,
                trained.all,
                -(experiment.variables as f64) * std::f64::consts::LN_2
            ));
        }
    }
    Finding {
        id: "3",
        claim: "\"Fully Fact.\" is a fully factorised model learned from the records.",
        computed,
        holds: Some(!same),
        verdict: verdict(!same, false, "it was never trained: every literal has probability 1/2."),
    }
}

/// Whether two numbers as printed have all digits but one in common.
fn differ_by_a_digit(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.chars().zip(b.chars()).filter(|(a, b)| a != b).count() == 1
}

fn rows(experiments: &[Experiment]) -> Finding {
    let mut computed = Vec::new();
    let mut differ = false;
    for benchmark in &BENCHMARKS {
        let kept: Vec<f64> = benchmark.slopp.iter().map(|row| benchmark.test - row.gamma).collect();
        differ |= kept.iter().any(|n| *n != kept[0]);
        let words: Vec<String> = kept.iter().map(|n| whole(*n)).collect();
        computed.push(format!(
            "{}: SLoPP's rows are over {} of {} records, the factorised row over {}.",
            benchmark.name,
            words.join(", "),
            whole(benchmark.test),
            whole(benchmark.untrained_records())
        ));
        let gamma = benchmark.test - benchmark.untrained_records();
        if benchmark.slopp.iter().all(|row| row.gamma != gamma) {
            let near =
                benchmark.slopp.iter().map(|row| whole(row.gamma)).find(|row| differ_by_a_digit(row, &whole(gamma)));
            let misprint = near.map(|row| format!(" (the printed {row} may be a misprint of it)"));
            computed.push(format!(
                "{}: {} records mean γ = {}, which no row has{}.",
                benchmark.name,
                whole(benchmark.untrained_records()),
                whole(gamma),
                misprint.unwrap_or_default()
            ));
        }
    }
    for experiment in experiments {
        // Where a printed γ is outside our range, the one that the factorised row implies may be inside.
        let implied = experiment.benchmark.test - experiment.benchmark.untrained_records();
        for setting in &experiment.settings {
            let ours = setting.spread(|run| run.score.impossible);
            if !ours.holds(setting.paper.gamma) && ours.holds(implied) {
                computed.push(format!(
                    "{}, k = {}, d = {}: our γ is {} to {}, which holds {} but not the printed {}.",
                    experiment.benchmark.name,
                    setting.paper.k,
                    setting.paper.d,
                    whole(ours.low),
                    whole(ours.high),
                    whole(implied),
                    whole(setting.paper.gamma)
                ));
            }
        }
        let harder = |setting: &Setting| {
            let [dropped, kept] = [0, 1].map(|i| {
                let values = setting.runs.iter().map(|run| run.dropped_and_kept[i]).filter(|x| x.is_finite());
                let values: Vec<f64> = values.collect();
                let none = if i == 0 { "none dropped" } else { "none kept" };
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                if values.is_empty() { none.to_owned() } else { format!("{mean:.1}") }
            });
            format!("{dropped} and {kept}")
        };
        let words: Vec<String> = experiment.settings.iter().map(harder).collect();
        computed.push(format!(
            "{}: a Chow-Liu tree gives dropped and kept records, per record, {}.",
            experiment.benchmark.name,
            words.join("; ")
        ));
    }
    Finding {
        id: "4",
        claim: "The rows of a table can be compared with each other.",
        computed,
        holds: Some(!differ),
        verdict: verdict(!differ, false, "rows are sums over different records."),
    }
}

fn ranges(experiments: &[Experiment]) -> Finding {
    let mut computed = Vec::new();
    let mut separate = true;
    for experiment in experiments {
        let rows = &experiment.settings;
        let flow = |setting: &Setting| setting.spread(|run| run.flow);
        let printed = |setting: &Setting| setting.paper.row.log_likelihood;
        let (low, high) = rows.iter().map(printed).fold((0.0f64, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let widest = rows.iter().map(|s| flow(s).high - flow(s).low).fold(0.0, f64::max);
        let pairs = || (0..rows.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        let meet = |(i, j): &(usize, usize)| {
            let (a, b) = (flow(&rows[*i]), flow(&rows[*j]));
            a.low <= b.high && b.low <= a.high
        };
        let meeting = pairs().filter(meet).count();
        separate &= meeting == 0;
        computed.push(format!(
            "{}: one setting alone spans up to {} over the seeds; the printed rows lie {} apart. The ranges of {meeting} \
             of {} pairs of settings overlap.",
            experiment.benchmark.name,
            whole(widest),
            whole(high - low),
            pairs().count()
        ));
    }
    let few = experiments.iter().flat_map(|e| &e.settings).any(|setting| setting.runs.len() < FEW);
    let (holds, verdict) = match (experiments, separate) {
        ([], _) => (None, "needs the data.".to_owned()),
        _ if few => (None, format!("needs at least {FEW} seeds.")),
        (_, false) => {
            (Some(false), "one run per row, without a range, does not distinguish settings from chance.".to_owned())
        }
        (_, true) => (Some(true), "the ranges of these runs are apart.".to_owned()),
    };
    Finding { id: "5", claim: "One run per row shows which k and d are best.", computed, holds, verdict }
}

fn derivations(learned: &Learned, world: &str) -> String {
    let (total, shares) = learned.shares(world);
    let words: Vec<String> = shares.iter().map(|share| fraction(*share)).collect();
    let plural = if words.len() == 1 { "derivation" } else { "derivations" };
    format!("World {world} has {} {plural}: P = {} = {}.", words.len(), words.join(" + "), fraction(total))
}

fn has(learned: &Learned) -> String {
    match learned.overlaps.sums {
        1 => "one sum has".to_owned(),
        n => format!("{n} sums have"),
    }
}

fn yes(answer: bool) -> &'static str {
    if answer { "yes" } else { "no" }
}
