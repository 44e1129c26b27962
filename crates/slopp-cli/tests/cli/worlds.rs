//! Open, closed and partly closed worlds, and sizes that hold in all of them.

use crate::folder::Folder;
use serde_json::json;

#[test]
fn columns_can_be_closed_in_an_open_world() {
    let folder = Folder::with_cars();
    let header: Vec<String> = folder.read("cars.csv").lines().next().unwrap().split(',').map(str::to_owned).collect();
    let rows: Vec<Vec<bool>> =
        folder.read("cars.csv").lines().skip(1).map(|line| line.split(',').map(|cell| cell == "1").collect()).collect();
    let (closed, other) = ([0, 3, 5, 7], [8, 9]);
    let group = |columns: &[usize]| columns.iter().map(|&i| header[i].clone()).collect::<Vec<_>>().join(",");
    for learner in ["slopp", "slopp-tree", "slopp-em", "strudel --steps 50"] {
        let file = if learner == "slopp-em" { "m.mix" } else { "m.psdd" };
        let args = format!(
            "learn cars.csv --learner {learner} --closed {} --closed {} -o {file}",
            group(&closed),
            group(&other)
        );
        let told = folder.run(&args).ok().out;
        assert!(told.contains("2 groups of columns"), "{told}");
        let seen =
            |columns: &[usize], world: &[bool]| rows.iter().any(|row| columns.iter().all(|&i| row[i] == world[i]));
        // Worlds near a record, some of them outside of what the groups allow.
        let mut worlds: Vec<Vec<bool>> = Vec::new();
        for row in rows.iter().take(8) {
            for flip in 0..row.len() {
                let mut world = row.clone();
                world[flip] = !world[flip];
                worlds.push(world);
            }
        }
        let line = |world: &Vec<bool>| world.iter().map(|&x| if x { "1" } else { "0" }).collect::<Vec<_>>().join(",");
        let text = worlds.iter().map(line).collect::<Vec<_>>().join("\n");
        folder.write("worlds.csv", format!("{}\n{text}\n", header.join(",")));
        let answer = folder.run(&format!("eval {file} worlds.csv --per-record --json")).ok().json();
        let found = answer["per_record"].as_array().unwrap();
        let expected: Vec<bool> = worlds.iter().map(|world| seen(&closed, world) && seen(&other, world)).collect();
        assert!(expected.contains(&true) && expected.contains(&false));
        for (log, possible) in found.iter().zip(expected) {
            assert_eq!(log.is_number(), possible, "{learner}: {log}");
        }
    }
    let origin = folder.run("info m.psdd --json").ok().json()["origin"].clone();
    assert_eq!(origin["closed"], json!(format!("{}; {}", group(&closed), group(&other))));
    folder.run("learn cars.csv --closed nothing").fails(&["nothing", "--closed"]);
    folder.run("learn cars.csv --closed trim_luxury --world closed").fails(&["--closed", "leave one of them out"]);
}

#[test]
fn columns_stay_open_in_a_closed_world() {
    let folder = Folder::new();
    // The color depends on a more than on b, so it is learned to.
    let rows = ["1,1,0,red", "0,0,1,blue", "1,1,1,red", "0,0,0,blue", "0,1,1,blue"];
    folder.write("r.csv", format!("a,b,c,color\n{}\n", rows.repeat(10).join("\n")));
    // Never seen: a without b, and a blue a.
    folder.write("b.csv", "a,b,c,color\n1,0,0,red\n");
    folder.write("color.csv", "a,b,c,color\n1,1,0,blue\n");
    let impossible = |options: &str, file: &str, end: &str| {
        let report = folder.run(&format!("learn r.csv {options} -o m.{end} --json")).ok().json();
        assert_eq!(report["train"]["impossible"], 0, "{options}");
        folder.run(&format!("eval m.{end} {file} --json")).ok().json()["impossible"].clone()
    };
    for (options, [b, color], end) in [
        ("--world closed", [1, 1], "psdd"),
        ("--open c", [1, 1], "psdd"),
        ("--open b", [0, 1], "psdd"),
        ("--open color,b --world closed", [0, 0], "psdd"),
        ("--open color --open b --learner chow-liu", [0, 0], "psdd"),
        ("--open c --learner slopp-bag --components 2", [1, 1], "mix"),
    ] {
        assert_eq!(impossible(options, "b.csv", end), b, "{options}");
        assert_eq!(impossible(options, "color.csv", end), color, "{options}");
    }
    // A relaxed world may allow more, but what differs from a record only in what is open is always possible.
    assert_eq!(impossible("--open color", "color.csv", "psdd"), 0);
    assert_eq!(impossible("--open b --learner slopp-bag --components 2", "b.csv", "mix"), 0);
    let report = folder.run("learn r.csv --open b --json").ok().json();
    assert_eq!((&report["world"], &report["origin"]["open"]), (&json!("closed"), &json!("b")));
    let told = folder.run("learn r.csv --open b").ok().out;
    assert!(told.contains("closed world") && told.contains("b; in all other columns"), "{told}");
}

#[test]
fn what_is_ruled_out_afterwards_keeps_within_the_elements_asked_for() {
    let folder = Folder::new();
    let mut state = 1u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let row = |_| {
        let kind = next(4);
        let cells: Vec<String> = (0..4).map(|_| format!("v{}", if next(3) > 0 { kind } else { next(4) })).collect();
        format!("{},{}\n", cells.join(","), kind % 2)
    };
    let rows: String = (0..400).map(row).collect();
    folder.write("r.csv", format!("p,q,r,s,b\n{rows}"));
    let free = folder.run("learn r.csv --json").ok().json()["elements"].as_u64().unwrap();
    for max in [free, free * 2 / 3] {
        let learned = folder.run(&format!("learn r.csv --max-elements {max} --json")).ok();
        let elements = learned.json()["elements"].as_u64().unwrap();
        let said = learned.err.contains(&format!("{elements} elements are more than --max-elements {max}"));
        assert!(elements <= max || said, "{elements} where {max} are asked for: {}", learned.err);
        assert_eq!(learned.json()["origin"]["max_elements"], json!(max.to_string()));
    }
    // What is closed needs more elements than were enough without.
    folder.run("data generate configurations -n 300 --seed 3 -o cars.csv").ok();
    let elements = |options: &str| {
        folder.run(&format!("learn cars.csv {options} --json")).ok().json()["elements"].as_u64().unwrap()
    };
    let closed = "--closed engine_petrol,trim_basic,gearbox_manual,body_city,drive_front,trim_luxury";
    let (max, free) = (elements(""), elements(closed));
    assert!(free > max, "{free} elements, {max} without");
    // Also where much less than that was learned before something was ruled out, and without wasting what is allowed.
    for max in [max, free * 19 / 20, free * 3 / 4, free / 2] {
        let kept = elements(&format!("{closed} --max-elements {max}"));
        assert!(kept <= max && kept * 2 > max, "{kept} elements where {max} are asked for, of {free} without a limit");
    }
    let least = folder.run("learn r.csv --max-elements 16 --json").ok();
    assert!(least.err.contains("elements are more than --max-elements 16"), "{}", least.err);
}

#[test]
fn who_asks_for_an_open_world_gets_it_of_every_learner() {
    let folder = Folder::with_cars();
    let cars = folder.files().into_iter().find(|name| name.ends_with(".csv")).unwrap();
    folder.run(&format!("learn {cars} --learner slopp-em --components 2 --world open")).ok();
    folder.run(&format!("learn {cars} --learner slopp-em --components 2 --world closed")).ok();
    folder.run(&format!("learn {cars} --learner learnspn --world closed")).fails(&["only an open world"]);
}

#[test]
fn too_few_records_to_choose_by_are_said() {
    let folder = Folder::with_cars();
    folder.run("data split cars.csv --shares 0.9,0.1 -o part").ok();
    let told = folder.run("learn part.2.csv --effort best").ok().err;
    assert!(told.contains("too few for --effort best") && told.contains("at least 50"), "{told}");
    let told = folder.run("learn part.2.csv --effort balanced").ok().err;
    assert!(!told.contains("too few"), "{told}");
}

/// Random bits: what was seen of many of them is no small rule.
#[test]
fn closing_that_makes_a_model_much_larger_is_told() {
    let folder = Folder::new();
    let mut state = 1u32;
    let mut bit = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if state >> 31 == 1 { "1" } else { "0" }
    };
    let rows: Vec<String> = (0..60).map(|_| (0..14).map(|_| bit()).collect::<Vec<_>>().join(",")).collect();
    folder.write("bits.data", rows.join("\n") + "\n");
    let many: Vec<String> = (1..=14).map(|i| format!("x{i}")).collect();
    let told = folder.run(&format!("learn bits.data --closed {}", many.join(","))).ok().err;
    assert!(told.contains("elements, ") && told.contains("fewer columns in each --closed"), "{told}");
    let told = folder.run("learn bits.data --closed x1,x2").ok().err;
    assert!(!told.contains("fewer columns in each --closed"), "{told}");
}
