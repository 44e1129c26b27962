//! Which datasets of a folder are to be measured.

use crate::datasets::{how_to_get, part_file};
use slopp::Names;
use slopp::names::NameError;
use slopp_cli::Error;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The names of the datasets to run: those asked for, which must be there, or all that are.
pub(super) fn choose(data: &Path, asked: Option<&[String]>) -> Result<Vec<String>, Error> {
    let found = all(data)?;
    let missing = |message: String| Err(Error::new(message).hint(how_to_get()));
    if found.is_empty() {
        let data = data.display();
        return missing(format!(
            "no dataset is in {data}: none of its folders NAME holds NAME.train.data or .csv, plain or .gz"
        ));
    }
    let Some(asked) = asked else { return Ok(found) };
    let there = found.join(", ");
    let names = Names::new(found)?;
    let mut chosen: Vec<String> = Vec::new();
    for name in asked.iter().map(|name| name.trim()) {
        if let Err(error) = names.find(name) {
            let near = match error {
                NameError::Unknown { nearest: near, .. } => format!("; did you mean {near}?"),
                _ => format!(", which holds {there}"),
            };
            return missing(format!("the dataset {name} is not in {}{near}", data.display()));
        }
        if !chosen.iter().any(|other| other == name) {
            chosen.push(name.to_owned());
        }
    }
    Ok(chosen)
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
            .hint(format!("--data DIR names the folder of the datasets; to get them: {}", how_to_get()))
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
