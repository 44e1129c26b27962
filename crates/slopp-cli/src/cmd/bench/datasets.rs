//! The datasets of a folder: three files each, with the standard split.

use crate::args::{ColumnArgs, HeaderWhen, ReadArgs};
use crate::error::Error;
use crate::input::{read_records, read_records_of};
use slopp::names::NameError;
use slopp::{Names, Records};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the benchmark lives.
pub(super) const SOURCE: &str = "git clone https://github.com/UCLA-StarAI/Density-Estimation-Datasets";

/// The three parts of a dataset.
pub(super) struct Parts {
    pub(super) train: Records,
    pub(super) valid: Records,
    pub(super) test: Records,
}

/// The names of the datasets to run: those asked for, which must be there, or all that are.
pub(super) fn choose(data: &Path, asked: Option<&[String]>) -> Result<Vec<String>, Error> {
    let found = all(data)?;
    let missing =
        |message: String| Err(Error::new(message).hint(format!("{SOURCE}, then --data Density-Estimation-Datasets")));
    if found.is_empty() {
        let data = data.display();
        return missing(format!("no dataset is in {data}: none of its folders NAME holds NAME.train.data or .data.gz"));
    }
    let Some(asked) = asked else { return Ok(found) };
    let names = Names::new(found)?;
    let mut chosen: Vec<String> = Vec::new();
    for name in asked {
        if let Err(error) = names.find(name) {
            let near = match error {
                NameError::Unknown { nearest: Some(near), .. } => format!("; did you mean {near}?"),
                _ => String::new(),
            };
            return missing(format!("the dataset {name} is not in {}{near}", data.display()));
        }
        if !chosen.contains(name) {
            chosen.push(name.clone());
        }
    }
    Ok(chosen)
}

/// Reads a dataset.
pub(super) fn read(data: &Path, name: &str) -> Result<Parts, Error> {
    let read = ReadArgs { header: HeaderWhen::Detect };
    let path = |part: &str| {
        part_file(data, name, part).ok_or_else(|| {
            Error::new(format!("{name}/{name}.{part}.data is not in {}, nor with .gz", data.display())).hint(SOURCE)
        })
    };
    let train = read_records(&path("train")?, read, &ColumnArgs::default())?;
    let valid = read_records_of(&path("valid")?, read, train.names())?;
    let test = read_records_of(&path("test")?, read, train.names())?;
    Ok(Parts { train, valid, test })
}

/// The names of all datasets of a folder: the twenty in their usual order, then any others by name.
fn all(data: &Path) -> Result<Vec<String>, Error> {
    let mut names = BTreeSet::new();
    let folders = |folder: &Path| -> std::io::Result<Vec<String>> {
        let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
        Ok(entries.into_iter().filter_map(|entry| entry.file_name().into_string().ok()).collect())
    };
    let outer = folders(data).map_err(|error| {
        Error::from(error)
            .while_doing(format!("the folder {} could not be read", data.display()))
            .hint(format!("--data DIR names the folder of the datasets; to get them: {SOURCE}"))
    })?;
    names.extend(outer);
    // A clone of the public repository has them one folder down.
    names.extend(folders(&data.join("datasets")).unwrap_or_default());
    names.retain(|name| part_file(data, name, "train").is_some());
    let usual = super::published::TWENTY.iter().map(|line| line.dataset.to_owned());
    let mut ordered: Vec<String> = usual.filter(|name| names.remove(name)).collect();
    ordered.extend(names);
    Ok(ordered)
}

fn part_file(data: &Path, name: &str, part: &str) -> Option<PathBuf> {
    let folders = [data.join(name), data.join("datasets").join(name)];
    let files =
        folders.iter().flat_map(|folder| ["", ".gz"].map(|end| folder.join(format!("{name}.{part}.data{end}"))));
    files.into_iter().find(|file| file.is_file())
}
