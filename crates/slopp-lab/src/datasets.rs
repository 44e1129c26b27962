//! The benchmark datasets: where they are from, and how a folder of them is read.

use slopp::Records;
use slopp::io::{Problem, ReadError, RecordsOptions, read_records};
use slopp_cli::{Error, explained};
use std::path::{Path, PathBuf};

/// Where the datasets live.
pub(crate) const SOURCE: &str = "https://github.com/UCLA-StarAI/Density-Estimation-Datasets";

/// The parts of a dataset, by the names in their files.
const PARTS: [&str; 3] = ["train", "valid", "test"];

/// How to get the datasets.
pub(crate) fn how_to_get() -> String {
    format!("git clone {SOURCE}, then --data Density-Estimation-Datasets")
}

/// A dataset in its three parts.
pub(crate) struct Parts {
    pub(crate) train: Records,
    pub(crate) valid: Records,
    pub(crate) test: Records,
}

impl Parts {
    /// Reads a dataset, whose columns are those of its training part; an error names the file that is not there.
    pub(crate) fn read(folder: &Path, name: &str, options: &RecordsOptions) -> Result<Parts, Error> {
        let path = |part: &str| {
            part_file(folder, name, part).ok_or_else(|| {
                let folder = folder.display();
                Error::new(format!("{name}/{name}.{part}.data is not in {folder}, nor as .csv, nor with .gz"))
                    .hint(how_to_get())
            })
        };
        let [train, valid, test] = PARTS.map(path);
        let train = read_records(&train?, options).map_err(without_advice)?;
        let of_train = RecordsOptions::over(train.names());
        let [valid, test] = [valid?, test?].map(|path| read_records(&path, &of_train).map_err(without_advice));
        Ok(Parts { valid: valid?, test: test?, train })
    }

    /// The same, or `None` if no part of the dataset is there.
    pub(crate) fn find(folder: &Path, name: &str) -> Result<Option<Parts>, Error> {
        let any = PARTS.iter().any(|part| part_file(folder, name, part).is_some());
        any.then(|| Parts::read(folder, name, &RecordsOptions::default())).transpose()
    }
}

/// The file of a part: `.data` or `.csv`, plain or gzipped, in the folder itself or where a clone of the public repository
/// has it.
pub(crate) fn part_file(folder: &Path, name: &str, part: &str) -> Option<PathBuf> {
    let folders = [folder.join(name), folder.join("datasets").join(name)];
    let ends = [".data", ".data.gz", ".csv", ".csv.gz"];
    let files = folders.iter().flat_map(|folder| ends.map(|end| folder.join(format!("{name}.{part}{end}"))));
    files.into_iter().find(|file| file.is_file())
}

/// An error without the advice to say that there is a header: for datasets there is no such option.
fn without_advice(mut error: ReadError) -> Error {
    if let Problem::Cell { first, taken, .. } = &mut *error.problem {
        (*first, *taken) = (false, None);
    }
    explained(error)
}
