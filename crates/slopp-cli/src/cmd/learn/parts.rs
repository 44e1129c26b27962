//! The records that a model is learned from, chosen by and tested with.

use super::closed::Listed;
use super::enforcement::Enforcement;
use super::options::LearnArgs;
use super::plan::Plan;
use super::without_incomplete;
use crate::args::{check_shares, shares_in_words};
use crate::error::Error;
use crate::input;
use crate::session::Session;
use slopp::Records;
use slopp::learn::{Support, World};
use slopp::logic::Limits;
use std::path::PathBuf;

/// Training, validation and test records.
pub(super) struct Parts {
    pub(super) train: Records,
    pub(super) valid: Option<Records>,
    pub(super) test: Option<Records>,
    /// How many training records with missing cells were left out.
    pub(super) dropped: f64,
    /// The rules that the result must obey.
    pub(super) enforcement: Option<Enforcement>,
    /// Groups of columns that are closed in an open world.
    pub(super) closed: Option<Listed>,
    /// Columns that stay open in a closed world.
    pub(super) open: Option<Listed>,
    /// How large rules may become.
    pub(super) limits: Limits,
    /// The files of the training and of the validation records, where these are all of a file.
    pub(super) files: [Option<PathBuf>; 2],
}

impl Parts {
    /// Reads all parts, over the variables of the model to start from if there is one.
    pub(super) fn read(args: &LearnArgs, plan: &Plan, session: &Session) -> Result<Parts, Error> {
        let records = match plan.names() {
            None => input::read_records(&args.train, args.read, &args.columns)?,
            Some(names) => input::read_records_of(&args.train, args.read, names)?,
        };
        let (train, [valid, test], places) = match &args.split {
            None => {
                let other = |file: &Option<PathBuf>| {
                    let read = |file: &PathBuf| input::read_records_of(file, args.read, records.names());
                    file.as_ref().map(read).transpose()
                };
                let others = [other(&args.valid)?, other(&args.test)?];
                (records, others, None)
            }
            Some(shares) => {
                if !(2..=3).contains(&shares.len()) {
                    return Err(Error::new(format!("--split takes two or three shares, not {}", shares.len()))
                        .hint("--split 0.8,0.1,0.1 for train, valid and test"));
                }
                check_shares("--split", shares)?;
                shares_in_words(shares).into_iter().for_each(|words| session.note(words));
                let mut parts = records.split_with_places(shares, args.seed)?.into_iter();
                let (train, places) = parts.next().expect("at least one share");
                let part = |part: Option<(Records, _)>| part.map(|(part, _)| part).filter(|part| !part.is_empty());
                (train, [part(parts.next()), part(parts.next())], Some(places))
            }
        };
        // A sum-product network gives columns one value by itself, and rules are refused before.
        let (enforcement, train) = match plan.entry.obeys_rules() {
            false => (None, train),
            true => Enforcement::new(&args.rules, &args.train, train, places.as_deref())?,
        };
        let limits = args.rules.limits.limits();
        let files = match args.split {
            None => [Some(args.train.clone()), args.valid.clone()],
            Some(_) => [None, None],
        };
        let mut parts =
            Parts { train, valid, test, dropped: 0.0, enforcement, closed: None, open: None, limits, files };
        if args.drop_incomplete {
            (parts.train, parts.dropped) = without_incomplete(parts.train, &args.train)?;
            // Validation records of the same file are dropped like the others.
            if args.split.is_some()
                && let Some(valid) = parts.valid.take()
            {
                let kept = valid.complete();
                parts.dropped += valid.total() - kept.total();
                parts.valid = (!kept.is_empty()).then_some(kept);
            }
        }
        parts.closed = Listed::new("--closed", &args.closed, parts.train.names())?;
        parts.open = Listed::new("--open", &args.open, parts.train.names())?;
        Ok(parts)
    }

    /// What is possible in the model: this world, unless columns stay open in a closed one.
    pub(super) fn support(&self, world: World) -> Support {
        Support {
            rules: self.enforcement.as_ref().and_then(|enforcement| enforcement.given()),
            world: self.open.as_ref().map_or(world, |open| World::Closed { except: open.groups.concat() }),
            limits: self.limits.clone(),
            ..Support::default()
        }
        .with_groups(&self.train, self.closed.as_ref().map_or(&[], |closed| &closed.groups))
    }

    /// The parts that there are.
    pub(super) fn present(&self) -> Vec<(&'static str, &Records)> {
        let parts = [("train", Some(&self.train)), ("valid", self.valid.as_ref()), ("test", self.test.as_ref())];
        parts.into_iter().filter_map(|(name, records)| Some((name, records?))).collect()
    }
}
