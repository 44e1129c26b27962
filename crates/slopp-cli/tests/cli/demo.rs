//! `demo`, help and the shape of the command line.

use crate::folder::Folder;

#[test]
fn the_demo_tells_its_story_and_leaves_files_that_work() {
    let folder = Folder::new();
    let story = folder.run("demo").ok();
    assert_eq!(story.out, folder.run("demo --threads 1").ok().out);
    for part in [
        "1. The records",
        "1 000 cars",
        "2. The models",
        "proved exclusive",
        "open world",
        "closed world",
        "3. Questions",
        "The most probable such car",
        "4. Possible and impossible",
        "It is impossible. The nearest possible car changes",
        "Truly possible cars: 5 656 of 2^24",
        "5. Files",
    ] {
        assert!(story.out.contains(part), "{part:?} is not in\n{}", story.out);
    }
    for model in ["model", "closed"] {
        folder.run(&format!("validate slopp-demo/{model}.psdd")).ok();
    }
    let eval = folder.run("eval slopp-demo/model.psdd slopp-demo/records.csv --json").ok().json();
    assert_eq!((eval["records"].as_u64(), eval["impossible"].as_u64()), (Some(1000), Some(0)));
    folder.run("marginals slopp-demo/model.psdd --given engine_electric").ok();
    folder.run("vtree slopp-demo/model.vtree --data slopp-demo/records.csv").ok();
    for picture in ["model.svg", "vtree.svg"] {
        assert!(folder.read(&format!("slopp-demo/{picture}")).contains("engine_electric"));
    }
}

#[test]
fn the_demo_compares_with_the_truth() {
    let folder = Folder::new();
    let facts = folder.run("demo --out here --json").ok().json();
    assert_eq!(facts["files"].as_array().unwrap().len(), 6);
    let [open, closed, factorised] = [0, 1, 2].map(|i| facts["models"][i].clone());
    let test = |model: &serde_json::Value| model["test"]["log_likelihood_per_possible_record"].as_f64().unwrap();
    let truth = facts["truth"]["test_log_likelihood_per_record"].as_f64().unwrap();
    assert!(test(&factorised) < test(&open) && test(&open) < truth);
    assert_eq!(open["model_count"], (1u64 << 24).to_string());
    // What the closed world allows, counted by the binary itself.
    let worlds = folder.run("worlds here/closed.psdd --limit 0").ok().out.lines().count() - 1;
    assert_eq!(closed["model_count"], worlds.to_string());
    let found = facts["truth"]["found_by_closed_world"].as_u64().unwrap();
    assert!(found > 600 && found <= 5656, "{found}");
}

#[test]
fn the_demo_needs_a_folder_it_can_write() {
    let folder = Folder::new();
    folder.write("taken", "a file");
    folder.run("demo --out taken").fails(&["the folder taken cannot be made"]);
}

#[test]
fn help_teaches() {
    let folder = Folder::new();
    let help = folder.run("--help").ok().out;
    assert!(help.contains("A five-line tour") && help.contains("Exit codes"), "{help}");
    let commands: Vec<&str> = "demo learn fit eval prob marginals mpe sample worlds possible info compare validate \
                               convert vtree draw"
        .split_whitespace()
        .collect();
    for command in commands {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        let own = folder.run(&format!("{command} --help")).ok().out;
        assert!(own.contains("Examples:\n  slopp ") && own.contains("--json"), "{own}");
    }
    for sub in ["describe", "split", "generate"] {
        assert!(folder.run(&format!("data {sub} --help")).ok().out.contains("Examples:"));
    }
    let typo = folder.run("marginls model.psdd");
    assert_eq!(typo.code, 2);
    assert!(typo.err.contains("'marginals'"), "{}", typo.err);
    assert_eq!(folder.run("").code, 2);
    assert!(folder.run("--version").ok().out.starts_with("slopp "));
}
