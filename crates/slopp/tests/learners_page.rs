//! The page of learners in the guide is made from the table of learners. `SLOPP_BLESS=1` writes it anew.

use slopp::learn::World;
use slopp::learn::registry::{LEARNERS, Makes, OPTIONS, OptionKind};
use std::fmt::Write;
use std::path::Path;

fn tables() -> String {
    let mut text =
        String::from("\n| learner | what it is | makes | world | options, with defaults |\n|---|---|---|---|---|\n");
    for entry in LEARNERS {
        let makes = match entry.makes {
            Makes::Psdd => "a PSDD",
            Makes::Deterministic => "a deterministic circuit",
            Makes::Circuit => "a circuit",
            Makes::Mixture => "a mixture",
            Makes::Spn => "a sum-product network",
        };
        let world = match (&entry.world, entry.obeys_rules()) {
            (World::Open, true) => "open, or closed",
            (World::Open, false) => "open",
            _ => "closed, or open",
        };
        let options: Vec<String> =
            entry.options.iter().map(|(name, default)| format!("`{}` ({default})", name.replace('_', "-"))).collect();
        let (name, about, options) = (entry.name, entry.about, options.join(", "));
        writeln!(text, "| `{name}` | {about} | {makes} | {world} | {options} |").unwrap();
    }
    text.push_str("\n| option | what it means | what it may be |\n|---|---|---|\n");
    for option in OPTIONS {
        let may_be = match option.kind {
            OptionKind::Whole(least) => format!("a whole number from {least}"),
            OptionKind::Real => "a number from 0".to_owned(),
            OptionKind::Flag => "given or not".to_owned(),
            OptionKind::Word(words) => {
                let words: Vec<String> = words.iter().map(|(word, about)| format!("`{word}`: {about}")).collect();
                words.join("; ")
            }
        };
        writeln!(text, "| `--{}` | {} | {may_be} |", option.name.replace('_', "-"), option.about).unwrap();
    }
    text + "\n"
}

#[test]
fn the_page_of_learners_is_the_table_of_learners() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/learners.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (start, rest) = page.split_once("<!-- made from the table of learners -->\n").unwrap();
    let (_, end) = rest.split_once("<!-- end -->").unwrap();
    let made = format!("{start}<!-- made from the table of learners -->\n{}<!-- end -->{end}", tables());
    if std::env::var_os("SLOPP_BLESS").is_some() {
        std::fs::write(&path, made).unwrap();
    } else {
        assert!(page == made, "docs/guide/learners.md is out of date: run this test with SLOPP_BLESS=1");
    }
}
