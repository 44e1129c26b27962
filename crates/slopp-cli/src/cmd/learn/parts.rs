//! The records that a model is learned from, chosen by and tested with.

use super::closed::{Closed, Open};
use super::inside::Inside;
use super::options::LearnArgs;
use super::without_incomplete;
use crate::args::{check_shares, shares_in_words};
use crate::cmd::eval::Score;
use crate::error::Error;
use crate::input;
use crate::session::Session;
use slopp::infer::Distribution;
use slopp::{Names, Records};
use std::path::PathBuf;
use std::sync::Arc;

/// Training, validation and test records.
pub(super) struct Parts {
    pub(super) train: Records,
    pub(super) valid: Option<Records>,
    pub(super) test: Option<Records>,
    /// How many training records with missing cells were left out.
    pub(super) dropped: f64,
    /// The rules that the result must obey.
    pub(super) inside: Option<Inside>,
    /// What is closed in a world that is open.
    pub(super) closed: Option<Closed>,
    /// What is open in a world that is closed.
    pub(super) open: Option<Open>,
}

impl Parts {
    /// Reads all parts, over the variables with these names if they are given.
    pub(super) fn read(args: &LearnArgs, names: Option<&Arc<Names>>, session: &Session) -> Result<Parts, Error> {
        let records = match names {
            None => input::read_records(&args.train, args.read, &args.columns)?,
            Some(names) => input::read_records_of(&args.train, args.read, names)?,
        };
        // A sum-product network gives columns one value by itself, and rules are refused before.
        let (inside, records) = match args.learner == "learnspn" {
            true => (None, records),
            false => Inside::new(&args.rules, &args.train, records)?,
        };
        let mut parts = match &args.split {
            None => {
                let other = |file: &Option<PathBuf>| {
                    let read = |file: &PathBuf| input::read_records_of(file, args.read, records.names());
                    file.as_ref().map(read).transpose()
                };
                Parts {
                    valid: other(&args.valid)?,
                    test: other(&args.test)?,
                    train: records,
                    dropped: 0.0,
                    inside,
                    closed: None,
                    open: None,
                }
            }
            Some(shares) => {
                if shares.is_empty() || shares.len() > 3 {
                    return Err(Error::new(format!("--split takes up to three shares, not {}", shares.len()))
                        .hint("--split 0.8,0.1,0.1 for train, valid and test"));
                }
                check_shares("--split", shares)?;
                shares_in_words(shares).into_iter().for_each(|words| session.note(words));
                let mut parts = records.split(shares, args.seed)?.into_iter();
                let train = parts.next().expect("at least one share");
                let [valid, test] = [parts.next(), parts.next()].map(|part| part.filter(|records| !records.is_empty()));
                Parts { train, valid, test, dropped: 0.0, inside, closed: None, open: None }
            }
        };
        if args.drop_incomplete {
            (parts.train, parts.dropped) = without_incomplete(parts.train, &args.train)?;
        }
        parts.closed = Closed::new(&args.closed, &parts.train)?;
        parts.open = Open::new(&args.open, parts.train.names())?;
        Ok(parts)
    }

    pub(super) fn scores(&self, model: &dyn Distribution) -> Result<Vec<(&'static str, Score)>, Error> {
        let parts = [("train", Some(&self.train)), ("valid", self.valid.as_ref()), ("test", self.test.as_ref())];
        let present = parts.into_iter().filter_map(|(name, records)| records.map(|records| (name, records)));
        present.map(|(name, records)| Ok((name, Score::new(records, &model.log_likelihoods(records)?)))).collect()
    }
}
