//! The bytes of learned models: every learner, world and restriction on three generated tables and nltcs.
//!
//! A redesign must not change what is learned. `SLOPP_GOLDEN=write` writes the list anew; a byte that changes is told in
//! CHANGELOG.md.

use slopp::learn::registry::LEARNERS;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The list: a line of arguments, and the hash of the model file or `refused`.
const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/models.txt");

/// Options that keep learners fast; every other learner has none.
const OPTIONS: [(&str, &str); 6] = [
    ("slopp-bag", "--components 4"),
    ("slopp-em", "--components 2"),
    ("learnpsdd", "--steps 20"),
    ("slopp+learnpsdd", "--steps 20"),
    ("strudel", "--steps 20"),
    ("strudel-em", "--steps 20 --components 2"),
];

/// Every learner of the table, with its options.
fn learners() -> impl Iterator<Item = String> {
    LEARNERS.iter().map(|entry| match OPTIONS.iter().find(|(name, _)| *name == entry.name) {
        Some((name, options)) => format!("{name} {options}"),
        None => entry.name.to_owned(),
    })
}

/// What is possible, in every way that it can be said.
const SUPPORTS: [&str; 6] =
    ["", "--world open", "--world closed", "--rules RULES --on-violation drop", "--closed COLUMNS", "--open COLUMNS"];

/// More of the default learner.
const MORE: [&str; 11] = [
    "slopp --effort balanced",
    "slopp --effort best",
    "slopp --effort best --world closed",
    "slopp --effort best --open COLUMNS",
    "slopp --max-elements 30",
    "slopp --max-elements 30 --closed COLUMNS",
    "slopp --max-classes 3",
    "slopp --vtree balanced",
    "slopp --vtree balanced --world closed",
    "slopp-bag --components 4 --whole",
    "slopp-tree --vtree balanced --pseudocount 1 --world closed",
];

/// A table to learn from, and what its restrictions are about.
struct Table {
    name: &'static str,
    rules: &'static str,
    columns: &'static str,
    text: String,
}

/// A small generator of its own: the tables must never change.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

fn tables() -> [Table; 3] {
    let mut dice = Dice(1);
    let mut bits = "a,b,c,d,e,f,g,h\n".to_owned();
    for _ in 0..250 {
        let [a, b, c] = [dice.one_in(2), dice.one_in(3), dice.one_in(4)];
        let d = a && !dice.one_in(10);
        let e = (b != c) != dice.one_in(12);
        let [f, g] = [!d && dice.one_in(2), e && dice.one_in(3)];
        let row = [a, b, c, d, e, f, g, dice.one_in(5)].map(|bit| if bit { "1" } else { "0" });
        writeln!(bits, "{}", row.join(",")).unwrap();
    }
    let mut columns = "color,size,price,sold\n".to_owned();
    for _ in 0..200 {
        let (color, size) = (dice.below(3), dice.below(3));
        let price = if dice.one_in(4) { dice.below(4) } else { size + u64::from(color == 0) };
        let sold = (color == 1 || price < 2) != dice.one_in(8);
        let (color, size) = (["red", "green", "blue"][color as usize], ["S", "M", "L"][size as usize]);
        writeln!(columns, "{color},{size},p{price},{}", u64::from(sold)).unwrap();
    }
    let mut sparse = (1..=14).map(|i| format!("x{i}")).collect::<Vec<_>>().join(",") + "\n";
    for _ in 0..150 {
        let topic = dice.below(4);
        let row: Vec<&str> =
            (0..14).map(|i| if dice.one_in(if i % 4 == topic { 2 } else { 9 }) { "1" } else { "0" }).collect();
        writeln!(sparse, "{}", row.join(",")).unwrap();
    }
    [
        Table { name: "bits", rules: "a | b | c | h\nd -> a\n", columns: "a,b,d", text: bits },
        Table { name: "columns", rules: "color=red -> !(price=p0)\n", columns: "color,size", text: columns },
        Table {
            name: "sparse",
            rules: "!(x1 & x2 & x3)\nat_most(6, x1, x2, x3, x4, x5, x6, x7)\n",
            columns: "x1,x2,x3,x4",
            text: sparse,
        },
    ]
}

/// What is learned from nltcs.
const NLTCS: [&str; 8] = [
    "slopp",
    "slopp --world closed",
    "slopp --max-elements 100",
    "slopp-tree",
    "slopp-kmeans",
    "learnpsdd --steps 20",
    "strudel --steps 20",
    "learnspn",
];

/// A case: how it is called in the list, and the arguments.
struct Case {
    name: String,
    arguments: Vec<String>,
}

fn cases(folder: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for table in tables() {
        let [data, rules] = ["csv", "rules"].map(|ending| folder.join(format!("{}.{ending}", table.name)));
        std::fs::write(&data, &table.text).unwrap();
        std::fs::write(&rules, table.rules).unwrap();
        let all = learners().flat_map(|learner| SUPPORTS.map(|support| format!("{learner} {support}")));
        for line in all.chain(MORE.map(str::to_owned)) {
            let line = line.trim().replace("COLUMNS", table.columns);
            let known = line.replace("RULES", rules.to_str().unwrap());
            let mut arguments = vec!["learn".to_owned(), data.display().to_string(), "--learner".to_owned()];
            arguments.extend(known.split(' ').map(str::to_owned));
            cases.push(Case { name: format!("{} {line}", table.name), arguments });
        }
    }
    if let Some(train) = slopp_oracle::shared("data/nltcs/nltcs.train.data.gz") {
        let valid = train.with_file_name("nltcs.valid.data.gz");
        for line in NLTCS {
            let files = ["learn", train.to_str().unwrap(), "--valid", valid.to_str().unwrap(), "--learner"];
            let arguments = files.into_iter().chain(line.split(' ')).map(str::to_owned).collect();
            cases.push(Case { name: format!("nltcs {line}"), arguments });
        }
    }
    cases
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf29ce484222325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3))
}

fn outcome(case: &Case, output: &Path) -> String {
    let status = Command::new(env!("CARGO_BIN_EXE_slopp"))
        .args(&case.arguments)
        .args(["--seed", "7", "-q", "-o"])
        .arg(output)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    match status.code() {
        Some(0) => format!("{:016x}", hash(&std::fs::read(output).unwrap())),
        Some(2) => "refused".to_owned(),
        other => format!("exit {other:?}"),
    }
}

#[test]
fn every_learner_still_makes_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let cases = cases(folder.path());
    let (next, lines) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (cases, next, lines) = (&cases, &next, &lines);
            let output: PathBuf = folder.path().join(format!("model{worker}"));
            scope.spawn(move || {
                while let Some((i, case)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, cases.get(i)?)))
                {
                    lines.lock().unwrap().push((i, format!("{}: {}", case.name, outcome(case, &output))));
                }
            });
        }
    });
    let mut lines = lines.into_inner().unwrap();
    lines.sort();
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    if std::env::var_os("SLOPP_GOLDEN").is_some_and(|value| value == "write") {
        std::fs::write(LIST, lines.join("\n") + "\n").unwrap();
    }
    let list = std::fs::read_to_string(LIST).unwrap();
    // Without its records nothing is learned from nltcs.
    let has_nltcs = lines.iter().any(|line| line.starts_with("nltcs "));
    let known: BTreeSet<&str> = list.lines().filter(|line| has_nltcs || !line.starts_with("nltcs ")).collect();
    let found: BTreeSet<&str> = lines.iter().map(String::as_str).collect();
    let [new, gone] = [(&found, &known), (&known, &found)]
        .map(|(these, those)| these.difference(those).copied().collect::<Vec<&str>>().join("\n"));
    assert!(
        found == known,
        "of {} models these are not in the list:\n{new}\nand these of it are gone:\n{gone}",
        lines.len()
    );
}
