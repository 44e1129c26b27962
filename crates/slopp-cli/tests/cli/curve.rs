//! `slopp curve`: likelihood against size.

use crate::folder::Folder;

#[test]
fn smaller_circuits_keep_within_their_limits() {
    let folder = Folder::new();
    for (name, rows, seed) in [("train", 1500, 1), ("valid", 300, 2)] {
        folder.run(&format!("data generate configurations -n {rows} --seed {seed} -o {name}.csv")).ok();
    }
    let run = "curve train.csv --valid valid.csv --points 20 -o curve.svg";
    let document = folder.run(&format!("{run} --json")).ok().json();
    let sizes = document["sizes"].as_array().unwrap();
    assert!(sizes[0]["max_elements"].is_null() && sizes.len() > 3, "{document}");
    for pair in sizes.windows(2) {
        let [larger, smaller] = [&pair[0]["elements"], &pair[1]["elements"]].map(|n| n.as_u64().unwrap());
        assert!(smaller <= pair[1]["max_elements"].as_u64().unwrap() && smaller < larger, "{document}");
    }
    let reached = |i: usize| sizes[i]["valid"]["log_likelihood_per_record"].as_f64().unwrap();
    assert!(reached(0) > reached(sizes.len() - 1) + 0.5, "size is worth something: {document}");
    // The smallest has one element for each variable but the last.
    assert_eq!(sizes.last().unwrap()["elements"], 23);
    // What `slopp learn` makes within the same limit.
    let limit = sizes[2]["max_elements"].as_u64().unwrap();
    let learned = folder.run(&format!("learn train.csv --valid valid.csv --max-elements {limit} --json")).ok().json();
    assert_eq!((&learned["elements"], &learned["valid"]), (&sizes[2]["elements"], &sizes[2]["valid"]));
    assert!(folder.read("curve.svg").starts_with("<svg "));
    let told = folder.run("curve train.csv --points 2 --vtree balanced").ok();
    assert!(told.out.contains("--max-elements") && told.err.contains("-o curve.svg"), "{}{}", told.out, told.err);
    folder.run("curve train.csv --points 0").fails(&["--points"]);
    folder.run("curve train.csv -o train.csv").fails(&["train.csv is an input"]);
}

#[test]
fn sizes_with_columns_are_those_that_learn_has_and_more_than_asked_for_is_said() {
    let folder = Folder::with_columns();
    let curve = folder.run("curve train.csv --valid valid.csv --json").ok();
    let sizes = curve.json()["sizes"].as_array().unwrap().clone();
    assert!(sizes.len() > 1, "{sizes:?}");
    for size in &sizes {
        let limit = size["max_elements"].as_u64().map_or(String::new(), |max| format!("--max-elements {max}"));
        let learned = folder.run(&format!("learn train.csv --valid valid.csv --json {limit}")).ok().json();
        assert_eq!((&size["elements"], &size["valid"]), (&learned["elements"], &learned["valid"]), "{limit}");
    }
    // Columns need more than the last limit, and that is said.
    let last = sizes.last().unwrap();
    let [elements, max] = ["elements", "max_elements"].map(|key| last[key].as_u64().unwrap());
    assert!(elements > max, "{sizes:?}");
    let told = format!("{elements} elements are more than --max-elements {max}");
    assert!(curve.err.contains(&told), "{}", curve.err);
    let held_out = folder.run("curve train.csv --points 1").ok();
    assert!(held_out.err.contains("40 records held out by seed as validation records"), "{}", held_out.err);
    assert!(!held_out.err.contains("more than --max-elements"), "{}", held_out.err);
}

#[test]
fn one_variable_has_one_size_and_pictures_are_svg() {
    let folder = Folder::new();
    folder.write("one.csv", format!("a\n{}", "1\n0\n1\n".repeat(20)));
    let curve = folder.run("curve one.csv -o one.svg --json").ok().json();
    assert_eq!((curve["sizes"].as_array().unwrap().len(), &curve["sizes"][0]["elements"]), (1, &0.into()));
    assert!(curve["sizes"][0]["valid"]["log_likelihood_per_record"].is_number(), "{curve}");
    assert!(folder.read("one.svg").contains("0 elements"), "a point is drawn");
    folder.run("curve one.csv -o one.png").fails(&["SVG", "-o curve.svg"]);
    assert_eq!(folder.files(), ["one.csv", "one.svg"]);
}
