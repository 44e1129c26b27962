//! `slopp demo`: the main job once, on built-in data, told as a story.

use crate::cmd::info::big;
use crate::cmd::vtree::write_text;
use crate::error::Error;
use crate::report::{Table, count, grouped, json, object, probability, score_entries, trues};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::example::{Agreement, Truth};
use slopp::infer::{Evidence, Score};
use slopp::learn::VtreeMethod;
use slopp::learn::{Factorised, Learner, SloppTree, Support, Task, VtreeFrom};
use slopp::{Model, Names, Psdd, Records, Var, Vtree, io, render};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  slopp demo
  slopp demo --out /tmp/cars
  slopp marginals slopp-demo/model.psdd --given \"body_suv, trim_luxury\"    and then go on asking";

const RECORDS: usize = 1000;
const SEED: u64 = 1;
const WISH: &str = "body_suv, trim_luxury";
const ORDER: &str = "engine_diesel, gearbox_manual, body_city, drive_front, trim_basic, navigation";

/// See everything once: learn from built-in records, certify, ask, compare with the truth
///
/// The records are cars as customers configure them, from a known world: what is possible and how probable it is are
/// known exactly, so that what was learned can be compared with the truth. Takes about a second.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// The folder for models, vtree, drawings and records
    #[arg(long, value_name = "DIR", default_value = "slopp-demo")]
    out: PathBuf,
}

pub(crate) fn run(args: &DemoArgs, session: &mut Session) -> Result<Verdict, Error> {
    let story = Story::new(session)?;
    let files = story.save(&args.out)?;
    if session.json {
        let document = story.document(&files)?;
        session.document(&document)?;
    } else {
        story.tell(&args.out, &files, session)?;
    }
    Ok(Verdict::Yes)
}

/// Everything that was generated and learned.
struct Story {
    truth: Truth,
    records: Records,
    train: Records,
    test: Records,
    open: Model,
    closed: Model,
    factorised: Psdd,
}

/// A certified circuit as a row of the table of models.
struct Row<'a> {
    name: &'a str,
    psdd: &'a Psdd,
    train: Score,
    test: Score,
}

impl Story {
    fn new(session: &Session) -> Result<Story, Error> {
        let truth = Truth::configurations();
        let records = truth.sample(RECORDS, SEED);
        let mut parts = records.split(&[0.8, 0.2], SEED)?.into_iter();
        let (Some(train), Some(test)) = (parts.next(), parts.next()) else { unreachable!("two shares, two parts") };
        let vtree = Arc::new(VtreeMethod::ChowLiu.build(&train, SEED)?);
        let bar = session.progress();
        let learn = |learner: &dyn Learner, support: &Support| -> Result<Model, Error> {
            let vtree_from = Some(VtreeFrom::Method(VtreeMethod::ChowLiu));
            let task = Task { vtree: Some(&vtree), vtree_from, support, seed: SEED, ..Task::new(&train) };
            Ok(task.learn(learner, &bar)?.model)
        };
        let tree = SloppTree::default();
        let (open, closed) = (learn(&tree, Support::open())?, learn(&tree, Support::closed())?);
        let factorised = Story::psdd(&learn(&Factorised::default(), Support::open())?).clone();
        Ok(Story { truth, records, train, test, open, closed, factorised })
    }

    fn names(&self) -> &Names {
        &self.open.names
    }

    fn vtree(&self) -> &Vtree {
        Story::psdd(&self.open).vtree()
    }

    fn psdd(model: &Model) -> &Psdd {
        model.psdd().expect("certified learners give PSDDs")
    }

    fn rows(&self) -> Result<Vec<Row<'_>>, Error> {
        let score =
            |psdd: &Psdd, records| -> Result<Score, Error> { Ok(Score::new(records, &psdd.log_likelihoods(records)?)) };
        let row = |name, psdd| -> Result<Row<'_>, Error> {
            Ok(Row { name, psdd, train: score(psdd, &self.train)?, test: score(psdd, &self.test)? })
        };
        Ok(vec![
            row("open world", Story::psdd(&self.open))?,
            row("closed world", Story::psdd(&self.closed))?,
            row(Factorised::default().name(), &self.factorised)?,
        ])
    }

    /// The log-likelihood per record of the distribution the records were drawn from: no model can hope for more.
    fn truth_per_record(&self, records: &Records) -> f64 {
        let cells = |row: usize| records.row(row).map(|cell| cell == Some(true)).collect::<Vec<bool>>();
        let logs: Vec<f64> = (0..records.len()).map(|row| self.truth.log_probability(&cells(row))).collect();
        Score::new(records, &logs).per_possible().unwrap_or(f64::NAN)
    }

    fn base(&self) -> Result<Agreement, Error> {
        Ok(self.truth.compare(Story::psdd(&self.closed), self.names())?)
    }

    /// A car that is ordered: what is listed is true, everything else false.
    fn order(&self) -> Result<Records, Error> {
        let wanted = Evidence::parse(ORDER, self.names())?;
        let cells = (0..self.names().len() as u32).map(|i| wanted.value(Var(i)) == Some(true));
        Ok(Records::from_rows(self.open.names.clone(), [cells]))
    }

    /// Writes everything, and lists the files with what they hold.
    fn save(&self, folder: &Path) -> Result<Vec<(&'static str, &'static str)>, Error> {
        std::fs::create_dir_all(folder)
            .map_err(|e| Error::from(e).while_doing(format!("the folder {} cannot be made", folder.display())))?;
        let (names, circuit) = (self.names(), Story::psdd(&self.open));
        io::write_atomically(&folder.join("records.csv"), |out| io::write_records(out, &self.records, true))?;
        self.open.save(folder.join("model.psdd"))?;
        self.closed.save(folder.join("closed.psdd"))?;
        io::write_atomically(&folder.join("model.vtree"), |out| io::write_vtree(out, self.vtree()))?;
        write_text(&folder.join("model.svg"), &circuit.svg(names, render::DEFAULT_LIMIT))?;
        write_text(&folder.join("vtree.svg"), &self.vtree().svg(names))?;
        Ok(vec![
            ("records.csv", "the records"),
            ("model.psdd", "the open-world model, readable by other tools too"),
            ("closed.psdd", "the closed-world model"),
            ("model.vtree", "their vtree"),
            ("model.svg", "a drawing of the open-world model"),
            ("vtree.svg", "a drawing of the vtree"),
        ])
    }

    fn tell(&self, folder: &Path, files: &[(&str, &str)], session: &mut Session) -> Result<(), Error> {
        self.tell_data(session)?;
        self.tell_models(session)?;
        self.tell_questions(session)?;
        self.tell_possible(session)?;
        session.line(format!("\n5. Files in {}", folder.display()))?;
        for (file, what) in files {
            session.line(format!("   {:<11}  {what}", file))?;
        }
        session.line(format!(
            "   Ask on: slopp marginals {} --given \"engine_electric\"",
            folder.join("model.psdd").display()
        ))
    }

    fn tell_data(&self, session: &mut Session) -> Result<(), Error> {
        let (variables, rules) = (self.names().len(), self.truth.rules());
        session.line("1. The records")?;
        session.line(format!(
            "   {} cars as customers configured them: {variables} options, {} different cars, {} for training and {} for the test.",
            count(self.records.total()),
            self.records.len(),
            count(self.train.total()),
            count(self.test.total())
        ))?;
        session
            .line(format!("   {} rules say what can be built (the learner does not see them), such as", rules.len()))?;
        for rule in rules.iter().rev().step_by(rules.len().div_ceil(4)) {
            session.line(format!("     {rule}"))?;
        }
        Ok(())
    }

    fn tell_models(&self, session: &mut Session) -> Result<(), Error> {
        session.line("\n2. The models")?;
        session.line(
            "   Certified SLoPP, once with an open world (what was never seen is only improbable) and once with a",
        )?;
        session.line(
            "   closed one (only what the records show, relaxed, is possible). Both are PSDDs: the primes of every",
        )?;
        session.line("   sum are proved exclusive. γ counts impossible test records; log-likelihoods are nats per possible record.")?;
        let titles = ["   model", "elements", "parameters", "possible worlds", "train", "test", "γ test"];
        let mut table = Table::titled(titles);
        for Row { name, psdd, train, test } in self.rows()? {
            let stats = psdd.stats();
            table.push([
                format!("   {name}"),
                count(stats.elements as f64),
                count(stats.parameters as f64),
                psdd.model_count().to_string().parse().map_or_else(|_| "many".to_owned(), count),
                format!("{:.3}", train.per_possible().unwrap_or(f64::NAN)),
                format!("{:.3}", test.per_possible().unwrap_or(f64::NAN)),
                count(test.impossible),
            ]);
        }
        let [train, test] = [&self.train, &self.test].map(|records| format!("{:.3}", self.truth_per_record(records)));
        let possible = self.truth.count().to_string().parse().map_or_else(|_| "many".to_owned(), count);
        table.push(["   the truth".to_owned(), "-".to_owned(), "-".to_owned(), possible, train, test, "0".to_owned()]);
        session.table(&table)
    }

    fn tell_questions(&self, session: &mut Session) -> Result<(), Error> {
        let (psdd, names) = (Story::psdd(&self.open), self.names());
        let nothing = Evidence::none(names.len());
        session.line("\n3. Questions to the open-world model")?;
        let electric = Evidence::parse("engine_electric", names)?;
        let pump = Evidence::parse("heat_pump", names)?;
        session.line(format!(
            "   Which share of cars is electric?             P = {}",
            probability(psdd.log_evidence(&electric)?.exp())
        ))?;
        session.line(format!(
            "   And which share of those has a heat pump?    P = {}",
            probability(psdd.conditional(&pump, &electric)?)
        ))?;
        let wish = Evidence::parse(WISH, names)?;
        let (before, after) = (psdd.marginals(&nothing)?, psdd.marginals(&wish)?);
        session.line(format!("   What does \"{WISH}\" change most?"))?;
        let mut changed: Vec<usize> = (0..names.len()).filter(|&i| wish.value(Var(i as u32)).is_none()).collect();
        changed.sort_by(|&a, &b| (after[b] - before[b]).abs().total_cmp(&(after[a] - before[a]).abs()));
        for &i in &changed[..4] {
            let name = names.of(Var(i as u32));
            session.line(format!("     {name:<20} {} -> {}", probability(before[i]), probability(after[i])))?;
        }
        let (world, log) = psdd.mpe(&wish)?;
        session.line("   The most probable such car:")?;
        session.line(format!("     {}  (P = {})", trues(names, &world), probability(log.exp())))
    }

    fn tell_possible(&self, session: &mut Session) -> Result<(), Error> {
        let (psdd, names) = (Story::psdd(&self.closed), self.names());
        session.line("\n4. Possible and impossible, by the closed-world model")?;
        session.line(format!("   An order: {ORDER}"))?;
        let order = self.order()?;
        let nearest = psdd.nearest_batch(&order)?.remove(0);
        match nearest.distance {
            0 => session.line("   It is possible.")?,
            distance => {
                let changed = nearest.changes(&Evidence::from_row(&order, 0));
                let words: Vec<String> = changed.iter().map(|&lit| names.literal(lit)).collect();
                session.line(format!(
                    "   It is impossible. The nearest possible car changes {distance} cells: {}",
                    words.join(", ")
                ))?;
                session.line(format!("     {}", trues(names, &nearest.world)))?;
            }
        }
        let base = self.base()?;
        session.line(format!("   Truly possible cars: {}.", big(&base.possible.to_string(), names.len())))?;
        session.line(format!(
            "   The model allows {} worlds; {} of them are truly possible, which is {:.1} % of all that are.",
            grouped(&base.allowed.to_string()),
            count(base.both as f64),
            100.0 * base.recall()
        ))?;
        let excluded = 2f64.powi(names.len() as i32) - base.allowed.to_string().parse().unwrap_or(f64::NAN);
        session.line(format!(
            "   It excludes {:.2} % of all 2^{} worlds.",
            100.0 * excluded / 2f64.powi(names.len() as i32),
            names.len()
        ))
    }

    fn document(&self, files: &[(&str, &str)]) -> Result<Value, Error> {
        let entry = |Row { name, psdd, train, test }: Row<'_>| {
            let stats = psdd.stats();
            object([
                ("model", Value::from(name)),
                ("certificate", Value::from("psdd")),
                ("elements", Value::from(stats.elements)),
                ("parameters", Value::from(stats.parameters)),
                ("size_paper", Value::from(stats.size_paper)),
                ("model_count", Value::from(psdd.model_count().to_string())),
                ("train", object(score_entries(&train))),
                ("test", object(score_entries(&test))),
            ])
        };
        let models: Value = self.rows()?.into_iter().map(entry).collect();
        let base = self.base()?;
        Ok(object([
            ("records", Value::from(RECORDS)),
            ("variables", Value::from(self.names().len())),
            ("models", models),
            (
                "truth",
                object([
                    ("possible_worlds", Value::from(self.truth.count().to_string())),
                    ("found_by_closed_world", Value::from(base.both)),
                    ("train_log_likelihood_per_record", json(self.truth_per_record(&self.train))),
                    ("test_log_likelihood_per_record", json(self.truth_per_record(&self.test))),
                ]),
            ),
            ("files", files.iter().map(|(file, _)| Value::from(*file)).collect()),
        ]))
    }
}
