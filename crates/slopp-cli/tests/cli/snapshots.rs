//! Transcripts of whole sessions, compared with the texts in `tests/snapshots`.
//!
//! After a change that is meant, `SLOPP_BLESS=1 cargo test -p slopp-cli` writes them anew: read the difference.

use crate::folder::{Folder, MIXTURE, UNNORMALISED};
use crate::transcript::Transcript;

#[test]
fn help() {
    let mut session = Transcript::new(Folder::new());
    session.run(&["--help"]);
    let commands = "demo learn fit distil curve eval prob marginals mpe sample worlds possible info compare validate convert vtree \
                    compile count entails equivalent rules diff explain repair revise product map information \
                    draw";
    commands.split_whitespace().for_each(|command| session.run(&[command, "--help"]));
    session.run(&["data", "--help"]);
    ["describe", "split", "generate"].iter().for_each(|sub| session.run(&["data", sub, "--help"]));
    session.check("help");
}

#[test]
fn demo() {
    let mut session = Transcript::new(Folder::new());
    session.run(&["demo"]);
    session.check("demo");
}

#[test]
fn paper() {
    let mut session = Transcript::new(Folder::with_paper());
    session.folder.write("odd.csv", "X1,X2,X3,X4\n0,1,1,0\n1,1,1,1\n1,0,0,0\n");
    for line in [
        "data describe records.csv",
        "info model.psdd",
        "info model.psdd --json",
        "validate model.psdd",
        "eval model.psdd records.csv",
        "eval model.psdd odd.csv --json",
        "prob model.psdd X1,!X4 --given X2",
        "marginals model.psdd --given X2",
        "marginals model.psdd --pairs",
        "mpe model.psdd -k 3",
        "mpe model.psdd --given X1,X2 --json",
        "worlds model.psdd",
        "possible model.psdd odd.csv",
        "sample model.psdd -n 5 --seed 1",
        "vtree model.psdd",
        "compare model.psdd model.psdd",
    ] {
        session.run(&line.split_whitespace().collect::<Vec<_>>());
    }
    session.check("paper");
}

#[test]
fn knowledge() {
    let mut session = Transcript::new(Folder::with_paper());
    session.folder.write("odd.csv", "X1,X2,X3,X4\n0,1,1,0\n1,1,1,1\n1,0,0,0\n");
    session.folder.write("rules.txt", "# known\nX1 -> X2 | X3\n!(X1 & X2 & X3 & X4)\n");
    session.folder.write("never.txt", "X1\nX2 | X3\n!X1\n");
    for args in [
        &["prob", "model.psdd", "X1 & !(X2 | X3)", "--given", "X1 | X4"][..],
        &["prob", "model.psdd", "X1 | X5"],
        &["marginals", "model.psdd", "--given", "X1 -> X2"],
        &["mpe", "model.psdd", "--given", "exactly(1, X1, X2, X3, X4)"],
        &["worlds", "model.psdd", "--given", "X1 & X2 & X3 <-> X4"],
        &["map", "model.psdd", "--of", "X2,X3", "--given", "X1 | X4"],
        &["information", "model.psdd", "--between", "X1,X2", "--and", "X3,X4"],
        &["rules", "model.psdd", "--max-length", "4", "--records", "records.csv"],
        &["rules", "model.psdd", "--format", "cnf"],
        &["diff", "model.psdd", "rules.txt", "--limit", "2"],
        &["explain", "model.psdd", "odd.csv", "--rules", "rules.txt", "-k", "2"],
        &["explain", "model.psdd", "odd.csv", "--json"],
        &["repair", "model.psdd", "odd.csv", "-o", "repaired.csv"],
        &["revise", "model.psdd", "odd.csv", "-o", "wider.psdd"],
        &["eval", "model.psdd", "odd.csv", "--noise", "auto", "--valid", "records.csv"],
        &["learn", "odd.csv", "--rules", "rules.txt"],
        &["learn", "odd.csv", "--rules", "rules.txt", "--on-violation", "repair"],
        &["learn", "odd.csv", "--rules", "never.txt"],
    ] {
        session.run(args);
    }
    session.check("knowledge");
}

#[test]
fn learning() {
    let mut session = Transcript::new(Folder::with_cars());
    for line in [
        "learn cars.csv --split 0.8,0.1,0.1 -o model.psdd",
        "learn cars.csv --split 0.8,0.1,0.1 --world closed",
        "learn cars.csv --learner chow-liu --json",
        "fit model.psdd cars.csv --add",
        "info model.psdd",
    ] {
        session.run(&line.split_whitespace().collect::<Vec<_>>());
    }
    session.check("learning");
}

#[test]
fn refusals() {
    let mut session = Transcript::new(Folder::with_paper());
    session.folder.write("mix.psdd", MIXTURE);
    session.folder.write("odd.psdd", UNNORMALISED);
    session.folder.write("bad.csv", "a,b\n0,1\n0,maybe\n");
    session.folder.write("cut.psdd", "psdd 5\nL 0 0 1\nD 2 1 1 0 1 0.0\n");
    for line in [
        "mpe mix.psdd",
        "validate mix.psdd",
        "validate odd.psdd",
        "learn bad.csv",
        "learn missing.csv",
        "learn records.csv --k 3",
        "learn records.csv --vtree sideways",
        "info cut.psdd",
        "prob model.psdd X5",
        "prob model.psdd X1 --given X1,X2,X3,X4",
        "prob model.psdd X2 --given X1,!X1",
        "eval plain.psdd records.csv",
        "draw model.psdd -o picture.png",
        "lern records.csv",
    ] {
        session.run(&line.split_whitespace().collect::<Vec<_>>());
    }
    session.check("refusals");
}
