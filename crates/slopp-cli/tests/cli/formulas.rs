//! Formulas as people give them: from files, too long, misspelt, and rules that come back as they went out.

use crate::folder::Folder;

#[test]
fn nothing_in_quotes_is_no_name() {
    let folder = Folder::new();
    folder.write("rules.txt", "a -> b\n\"\" | a\n");
    for command in ["compile rules.txt", "count rules.txt", "entails rules.txt a", "equivalent rules.txt rules.txt"] {
        folder.run(command).fails(&["rules.txt, line 2: column 1: there is no name between the quotes"]);
    }
}

#[test]
fn formulas_come_from_files() {
    let folder = Folder::with_paper();
    let long = vec!["X1 | X2"; 20_000].join(" | ");
    folder.write("long.txt", format!("{long}\n"));
    let short = folder.run_args(&["prob", "model.psdd", "X1 | X2", "--given", "X3 | X4", "--json"]).ok().json();
    folder.write("given.txt", "X3\n| X4\n");
    let read = folder.run("prob model.psdd @long.txt --given @given.txt --json").ok().json();
    assert_eq!(short["probability"], read["probability"]);
    folder.write("rules.txt", "X1\nX1 -> X2\n");
    folder.run("entails rules.txt @long.txt").ok();
    for command in [
        "prob model.psdd @none.txt",
        "mpe model.psdd --given @none.txt",
        "entails model.psdd @none.txt",
        "possible model.psdd --given @none.txt",
        "revise model.psdd --by-rule @none.txt",
    ] {
        folder.run(command).fails(&["none.txt: cannot be opened", "quote a name that begins with @"]);
    }
}

#[test]
fn slips_in_formulas_are_told() {
    let folder = Folder::new();
    folder.write("cars.csv", "color,age,fast\nred,3,1\nblue,30,0\nred,22,1\nblue,14,0\n");
    folder.run("learn cars.csv --bins age=new:10:old -o cars.psdd").ok();
    for text in ["age<12", "age>=12", "(age < 12) | fast", "age==new", "color==red", "fast & color == red"] {
        let column = if text.contains("age") { "age" } else { "color" };
        let refused = folder.run_args(&["prob", "cars.psdd", text]);
        refused.fails(&["values are not compared", &format!("write {column}=VALUE with one of ")]);
    }
    folder.run_args(&["prob", "cars.psdd", "fast==1"]).fails(&["values are not compared", "write fast=VALUE"]);
    folder.run_args(&["prob", "cars.psdd", "at_mots(1, fast)"]).fails(&["did you mean at_most?"]);
    folder.write("rules.txt", "EXACTLY(1, a, b)\n");
    folder.run("count rules.txt").fails(&["line 1: column 1: \"EXACTLY\" is not a count; did you mean exactly?"]);
    let told = folder.run("prob cars.psdd true").ok();
    assert!(!told.err.contains("empty"), "{told:?}");
    folder.write("ok.txt", "a | b\n");
    folder.run("compile ok.txt -o ok.sdd").ok();
    for file in ["ok.sdd", "cars.psdd"] {
        folder.run(&format!("compile {file}")).fails(&["is already a circuit", "slopp convert"]);
    }
}

/// Variables that no rule mentions are there again when the text is read.
#[test]
fn rules_keep_their_names_as_text() {
    let folder = Folder::new();
    folder.write("one.csv", "a,b c,d\n1,0,1\n1,1,1\n1,0,0\n1,1,0\n");
    folder.run("learn one.csv --world closed -o one.psdd").ok();
    folder.run("rules one.psdd -o one.txt").ok();
    assert!(folder.read("one.txt").contains("\n# names [\"a\",\"b c\",\"d\"]\n"), "{}", folder.read("one.txt"));
    assert_eq!(folder.run("count one.txt").ok().out, "4\n");
    folder.run("equivalent one.txt one.psdd").ok();
    folder.run("learn one.csv --world open -o open.psdd").ok();
    folder.run("rules open.psdd -o open.txt").ok();
    assert_eq!(folder.run("count open.txt").ok().out, "8\n");
    // A comment is no more than that.
    folder.write("other.txt", "# names [of all kinds]\na | b\n");
    assert_eq!(folder.run("count other.txt").ok().out, "3\n");
}

/// Clauses decide before diagrams are tried: a contradiction among rules that have huge diagrams, and what follows.
#[test]
fn clauses_decide_what_follows() {
    let folder = Folder::new();
    let mut random = slopp::Random::new(7);
    let mut clause = || {
        let lit = |random: &mut slopp::Random| {
            format!("{}v{}", if random.below(2) == 0 { "!" } else { "" }, random.below(60))
        };
        format!("{} | {} | {}\n", lit(&mut random), lit(&mut random), lit(&mut random))
    };
    let clauses: String = (0..150).map(|_| clause()).collect();
    folder.write("hard.txt", &clauses);
    folder.write("false.txt", format!("{clauses}a -> b\nb -> c\na & !c\n"));
    let limits = "--max-nodes 100000";
    let yes = folder.run(&format!("entails false.txt v1 {limits}")).ok();
    assert!(yes.err.contains("contradicts itself, and everything follows"), "{yes:?}");
    let asked = clauses.lines().next().unwrap().to_owned();
    assert!(folder.run_args(&["entails", "hard.txt", &asked, "--max-nodes", "1000"]).ok().out.starts_with("yes"));
    let no = folder.run_args(&["entails", "hard.txt", "v1 & v2 & v3 & v4", "--max-nodes", "1000"]);
    assert_eq!(no.code, 1, "{no:?}");
    folder.write("never.txt", "a & !a\n");
    folder.run(&format!("equivalent false.txt never.txt {limits}")).ok();
}

#[test]
fn rules_are_compiled_on_the_vtree_that_is_given() {
    let folder = Folder::new();
    folder.write("rules.txt", "a | b\n");
    folder.run("compile rules.txt -o rules.vtree").ok();
    assert_eq!(folder.run("count rules.txt --vtree rules.vtree").ok().out, "3\n");
    assert_eq!(folder.run_args(&["entails", "rules.txt", "a", "--vtree", "rules.vtree"]).code, 1);
    folder.write("three.txt", "a | b | c\n");
    for command in ["count", "entails"] {
        let formula = if command == "entails" { " a" } else { "" };
        folder.run(&format!("{command} three.txt{formula} --vtree rules.vtree")).fails(&["the vtree has 2 variables"]);
        folder.run(&format!("{command} three.txt{formula} --vtree none.vtree")).fails(&["none.vtree"]);
    }
}

#[test]
fn columns_that_are_given_wrongly_are_named() {
    let folder = Folder::new();
    folder.write("cars.csv", "color,age,fast\nred,3,1\nblue,30,0\nred,22,1\nblue,14,0\n");
    folder.run("learn cars.csv --bins age=2 --bins age=3").fails(&["column \"age\" is cut into bins twice"]);
    let known = "the names are \"color\", \"age\", \"fast\"";
    folder.run("learn cars.csv --closed zebra").fails(&["zebra", known]);
    folder.run("learn cars.csv --bins zebra=2").fails(&["zebra", known]);
    folder.write("rules.txt", "zebra -> fast\n");
    folder.run("learn cars.csv --rules rules.txt").fails(&["zebra", known]);
    folder.write("abc.csv", "a,b,c\n1,0,1\n0,1,0\n");
    let refused = folder.run_args(&["learn", "abc.csv", "--vtree", "((a,b),(c,c))"]);
    refused.fails(&["variable c occurs twice"]);
    // Cut differently under the same names.
    for (cut, file) in [(10, "a.psdd"), (20, "b.psdd")] {
        folder.run(&format!("learn cars.csv --bins age=new:{cut}:old -o {file}")).ok();
    }
    folder
        .run("diff a.psdd b.psdd")
        .fails(&["a.psdd has the bins new, old, cut at 10, and b.psdd has the bins new, old, cut at 20"]);
}

#[test]
fn mostly_text_is_no_slip() {
    let folder = Folder::new();
    folder.write("rooms.csv", "room,a\nA,0\nB,1\nC,1\nA,0\nB,1\nC,0\nA,1\n0,1\n");
    assert!(folder.run("data describe rooms.csv").ok().out.contains("room"));
    folder.write("slip.csv", "x,a\n0,0\n1,1\n1,1\nx,0\n");
    folder.run("data describe slip.csv").fails(&["line 5"]);
}

/// Worlds that differ only in a missing cell are told apart, and nothing is noted that says nothing.
#[test]
fn missing_cells_are_told_in_repairs() {
    let folder = Folder::new();
    folder.write("e.csv", "a,b,c\n1,0,0\n1,0,1\n0,1,0\n0,1,1\n");
    folder.write("odd.csv", "a,b,c\n1,1,\n");
    folder.run("learn e.csv --world closed -o e.psdd").ok();
    let told = folder.run("explain e.psdd odd.csv -k 4").ok().out;
    let mut changes: Vec<&str> = told.lines().filter(|line| line.starts_with("  change")).collect();
    assert!(changes.iter().all(|line| line.contains(", with c") || line.contains(", with !c")), "{told}");
    changes.sort_unstable();
    changes.dedup();
    assert_eq!(changes.len(), 4, "{told}");
    assert!(!folder.run("explain e.psdd odd.csv").ok().out.contains("with"), "one world needs none");
    let noisy = folder.run("eval e.psdd odd.csv --noise 0.1 --per-record").ok();
    assert!(!noisy.err.contains("impossible"), "{noisy:?}");
}

#[test]
fn formulas_in_files_may_have_comments() {
    let folder = Folder::with_cars();
    folder.run("learn cars.csv -o m.psdd").ok();
    folder.write("f.txt", "# what is asked\ntrim_luxury |\n# or\ntrim_basic\n");
    let from_file = folder.run("prob m.psdd @f.txt").ok().out;
    let given = folder.run_args(&["prob", "m.psdd", "trim_luxury | trim_basic"]).ok().out;
    assert_eq!(from_file.lines().last(), given.lines().last(), "{from_file}");
}

/// Where a formula stands, a file of rules is their conjunction, with everything that files of rules may have.
#[test]
fn rules_are_formulas() {
    let folder = Folder::with_cars();
    folder.run("learn cars.csv -o m.psdd").ok();
    let rules = "# names [\"trim_luxury\", \"none\"]\ntrim_luxury  # always\n\n!trim_basic |\n body_city\nexactly(1, trim_luxury,\n  trim_basic)\n";
    folder.write("f.txt", rules);
    folder.write("f.cnf", "c a clause of variables by their position\np cnf 2 1\n1 -2 0\n");
    folder.write("known.txt", "trim_luxury # the first\n!trim_basic\n");
    let names = folder.read("cars.csv").lines().next().unwrap().replace(',', "\n");
    let second = names.lines().nth(1).unwrap();
    let first = names.lines().next().unwrap();
    for (file, formula) in [
        ("f.txt", "trim_luxury & (!trim_basic | body_city) & exactly(1, trim_luxury, trim_basic)".to_owned()),
        ("f.cnf", format!("{first} | !{second}")),
        ("known.txt", "trim_luxury, !trim_basic".to_owned()),
    ] {
        let same = |before: &[&str]| {
            let [a, b] = [format!("@{file}"), formula.clone()].map(|text| {
                let args: Vec<&str> = before.iter().copied().chain([&*text, "--json"]).collect();
                folder.run_args(&args).ok().json()
            });
            assert_eq!(a, b, "{before:?} {file}");
        };
        same(&["prob", "m.psdd"]);
        same(&["prob", "m.psdd", "body_city", "--given"]);
        same(&["sample", "m.psdd", "-n", "3", "--given"]);
        same(&["mpe", "m.psdd", "--given"]);
        same(&["marginals", "m.psdd", "--given"]);
        same(&["worlds", "m.psdd", "--given"]);
        same(&["possible", "m.psdd", "--given"]);
        same(&["revise", "m.psdd", "--by-rule"]);
    }
    folder.run("rules m.psdd -o base.txt").ok();
    folder.run("entails m.psdd @base.txt").ok();
    let certain = folder.run("prob m.psdd @base.txt --json").ok().json()["probability"].as_f64().unwrap();
    assert!((certain - 1.0).abs() < 1e-9, "{certain}");
    folder.write("odd.txt", "trim_luxury\ntrim_luxury & nothing\n");
    folder.run("prob m.psdd @odd.txt").fails(&["odd.txt, line 2: column 15: there is no variable \"nothing\""]);
    folder.run("prob - @-").fails(&["only one file can come from stdin"]);
}
