//! Rules: compile, count, entails, equivalent.

use crate::folder::Folder;

const RULES: &str = "# patients\nsmoker & !young -> risk\nexactly(1, red, green, blue)\nred -> !young\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("rules.txt", RULES);
    folder
}

/// Worlds that the rules above allow, counted by hand: smoker, young, risk, red, green, blue.
fn allowed() -> usize {
    (0..64u32)
        .filter(|bits| {
            let [smoker, young, risk, red, green, blue] = [0, 1, 2, 3, 4, 5].map(|i| bits >> i & 1 == 1);
            (!smoker || young || risk) && [red, green, blue].iter().filter(|x| **x).count() == 1 && !(red && young)
        })
        .count()
}

#[test]
fn compile_counts_and_saves() {
    let folder = folder();
    let outcome = folder.run("compile rules.txt --json -o rules.psdd -o rules.sdd -o rules.vtree").ok();
    assert_eq!(outcome.keys(), ["variables", "nodes", "elements", "model_count"]);
    assert_eq!(outcome.json()["model_count"], allowed().to_string());
    assert_eq!(outcome.json()["variables"], 6);
    for file in ["rules.txt", "rules.psdd", "rules.sdd --vtree rules.vtree"] {
        let count = folder.run(&format!("count {file} --json")).ok().json();
        assert_eq!(count["model_count"], allowed().to_string(), "{file}");
    }
    let info = folder.run("info rules.psdd --json").ok().json();
    assert_eq!(info["certificate"], "psdd");
    assert_eq!(folder.run("validate rules.psdd").code, 0);
    folder.run("equivalent rules.txt rules.psdd").ok();
    let again = folder.run("compile rules.txt --json --vtree rules.vtree").ok();
    assert_eq!(again.json(), outcome.json());
    for vtree in ["balanced", "right-linear", "min-fill", "(((smoker,young),risk),(red,(green,blue)))", "rules.psdd"] {
        let other = folder.run(&format!("compile rules.txt --json --vtree {vtree}")).ok();
        assert_eq!(other.json()["model_count"], allowed().to_string(), "{vtree}");
    }
}

#[test]
fn dimacs_on_a_given_vtree() {
    let folder = Folder::new();
    folder.write("a.cnf", "c three\np cnf 4 3\n1 2 0\n2 3 0\n3 4 0\n");
    folder.write("a.dnf", "p dnf 4 2\n1 2 0\n-1 3 4 0\n");
    let cnf = folder.run_args(&["compile", "a.cnf", "--vtree", "((1,2),(3,4))", "--json"]).ok().json();
    assert_eq!((cnf["model_count"].as_str(), cnf["variables"].as_u64()), (Some("8"), Some(4)));
    assert_eq!(folder.run("compile a.dnf --json").ok().json()["model_count"], "6");
    assert_eq!(folder.run("count a.dnf").ok().out, "6\n");
    let short = folder.run_args(&["compile", "a.cnf", "--vtree", "((1,2),3)"]);
    short.fails(&["the vtree has 3 variables but the rules have 4"]);
}

#[test]
fn entailment_has_counterexamples() {
    let folder = folder();
    folder.run("compile rules.txt -o rules.psdd -o rules.sdd -o rules.vtree").ok();
    for file in ["rules.txt", "rules.psdd", "rules.sdd --vtree rules.vtree"] {
        if !file.contains(".sdd") {
            let yes = ["entails", file, "smoker & red -> risk", "--json"];
            assert_eq!(folder.run_args(&yes).ok().json()["entails"], true);
            let no = folder.run_args(&["entails", file, "smoker -> risk", "--json"]);
            assert_eq!(no.code, 1);
            let world = &no.json()["counterexample"];
            assert_eq!(
                (&world["smoker"], &world["risk"], &world["young"]),
                (&true.into(), &false.into(), &true.into())
            );
            let told = folder.run_args(&["entails", file, "at_most(0, red)"]);
            assert_eq!(told.code, 1);
            assert!(told.out.starts_with("no: at_most(0, red) does not hold in the possible world\n  "), "{told:?}");
            folder.run_args(&["entails", file, "smokr"]).fails(&["did you mean \"smoker\"?", "^^^^^"]);
            folder.run_args(&["entails", file, "smoker & "]).fails(&["column 10", "found the end"]);
        } else {
            let yes =
                folder.run_args(&["entails", "rules.sdd", "--vtree", "rules.vtree", "exactly(1, red, green, blue)"]);
            assert_eq!(yes.code, 0, "{yes:?}");
        }
    }
}

#[test]
fn equivalence_has_counterexamples() {
    let folder = folder();
    folder.write(
        "same.txt",
        "red -> !young\nrisk | young | !smoker\nat_most(1, red, green, blue) & (red | green | blue)\n",
    );
    folder.write("less.txt", "red | green | blue\n");
    folder.run("equivalent rules.txt same.txt").ok();
    let no = folder.run("equivalent rules.txt less.txt --json");
    assert_eq!((no.code, no.json()["allowed_only_by"].as_str()), (1, Some("less.txt")));
    folder.run("compile same.txt -o same.psdd").ok();
    folder.run("compile rules.txt -o rules.psdd").ok();
    folder.run("equivalent same.psdd rules.psdd").ok();
    folder.write("a.cnf", "p cnf 4 3\n1 2 0\n2 3 0\n3 4 0\n");
    folder.write("b.cnf", "p cnf 4 2\n1 2 0\n2 3 0\n");
    folder.run("compile a.cnf -o a.sdd -o a.vtree").ok();
    folder.run("equivalent a.cnf a.sdd --vtree a.vtree").ok();
    assert_eq!(folder.run("equivalent a.sdd b.cnf --vtree a.vtree").code, 1);
    folder.run("equivalent a.cnf b.cnf --vtree a.vtree").fails(&["--vtree is for .sdd files"]);
    assert_eq!(folder.run("equivalent less.txt same.psdd").code, 1);
}

#[test]
fn contradictions_are_shown_with_their_lines() {
    let folder = Folder::new();
    folder.write("bad.txt", "a -> b\n# comment\nb -> c\nd | e\n\na & !c\nd -> a\n");
    let outcome = folder.run("compile bad.txt -o bad.psdd");
    assert_eq!(outcome.code, 1, "{outcome:?}");
    for line in ["smallest contradiction, 3 rules", "line 1: a -> b", "line 3: b -> c", "line 6: a & !c"] {
        assert!(outcome.out.contains(line), "{}", outcome.out);
    }
    assert!(!outcome.out.contains("d | e"));
    assert_eq!(folder.files(), ["bad.txt"]);
    let json = folder.run("compile bad.txt --json").json();
    assert_eq!((json["model_count"].as_str(), json["conflict"][2]["line"].as_u64()), (Some("0"), Some(6)));
    assert_eq!(folder.run("count bad.txt").ok().out, "0\n");
}

#[test]
fn names_come_from_records_or_models() {
    let folder = folder();
    folder.write("patients.csv", "id,smoker,young,risk,red,green,blue,other\n0,1,0,1,1,0,0,1\n");
    let all = folder.run("compile rules.txt --names patients.csv -o all.psdd --json").ok().json();
    assert_eq!(
        (all["variables"].as_u64(), all["model_count"].as_str()),
        (Some(8), Some(&*(4 * allowed()).to_string()))
    );
    folder.run("possible all.psdd patients.csv").ok();
    folder.write("few.csv", "smoker,young\n0,1\n");
    folder
        .run("compile rules.txt --names few.csv")
        .fails(&["rules.txt, line 2: column 20: there is no variable \"risk\"", "^^^^"]);
}

#[test]
fn bad_rules_and_limits_stop_cleanly() {
    let folder = Folder::new();
    folder.write("bad.txt", "a\nb &\n");
    folder.run("compile bad.txt").fails(&["bad.txt, line 2: column 4", "found the end"]);
    folder.write("empty.txt", "# nothing\n");
    folder.run("compile empty.txt").fails(&["the rules have no variables"]);
    folder.write("cut.cnf", "p cnf 3 2\n1 0\n");
    folder.run("compile cut.cnf").fails(&["cut.cnf, line 2", "2 clauses"]);
    folder.run("compile missing.txt").fails(&["cannot be opened", "check the name"]);
    let hard: String = (1..=30).map(|i| format!("a{i} <-> b{i}\n")).collect();
    folder.write("hard.txt", format!("{}{hard}", (1..=30).map(|i| format!("a{i} | !a{i}\n")).collect::<String>()));
    folder
        .run("compile hard.txt --vtree right-linear --max-nodes 2000")
        .fails(&["more than 2 000 nodes", "--max-nodes"]);
    folder.run("compile hard.txt").ok();
    folder.run("compile hard.txt -o x.png").fails(&["the ending of the name"]);
    let deep = format!("{}a{}\n", "(".repeat(100_000), ")".repeat(100_000));
    folder.write("deep.txt", deep);
    folder.run("compile deep.txt").ok();
}

#[test]
fn everything_follows_from_a_contradiction_and_that_is_said() {
    let folder = Folder::new();
    folder.write("never.txt", "a\n!a\n");
    folder.write("rules.txt", "a\na -> b\n");
    let told = folder.run("entails never.txt a").ok();
    assert!(told.err.contains("contradicts itself"), "{}", told.err);
    let told = folder.run("entails rules.txt b").ok();
    assert!(!told.err.contains("contradicts"), "{}", told.err);
}

#[test]
fn files_that_are_called_cnf_are_no_text() {
    let folder = Folder::new();
    for (name, text) in [("a.cnf", "1 2 0\n"), ("b.dnf", "x | y\n"), ("c.CNF", "x\n")] {
        folder.write(name, text);
        folder.run(&format!("count {name}")).fails(&[name, "line 1: expected a DIMACS file"]);
    }
    folder.write("signs.txt", "a ∧ b ∨ ¬c → d ↔ e ⊕ f\n");
    folder.write("plain.txt", "a & b | !c -> d <-> e ^ f\n");
    folder.run("equivalent signs.txt plain.txt").ok();
}
