//! The layout of the library: modules depend in one direction, and learners are known by one table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The modules of the library, each of which uses only those before it.
const MODULES: [&str; 28] = [
    "advice",
    "limits",
    "var",
    "logspace",
    "random",
    "progress",
    "heap",
    "names",
    "data",
    "vtree",
    "circuit",
    "logic",
    "infer",
    "spn",
    "certified",
    "mixture",
    "model",
    "structured",
    "asking",
    "knowledge",
    "learn",
    "example",
    "io",
    "render",
    "error",
    "front",
    "guide",
    "lib",
];

/// The same inside `learn`.
const LEARN: [&str; 27] = [
    "violation",
    "error",
    "vtree",
    "params",
    "em",
    "refit",
    "structure",
    "support",
    "hold_out",
    "task",
    "judge",
    "baseline",
    "kmeans",
    "grow",
    "separate",
    "partition",
    "slopp_tree",
    "published",
    "refine",
    "revise",
    "slopp",
    "mixture",
    "learnspn",
    "distil",
    "bag",
    "effort",
    "slopp_learn_psdd",
];

/// Those that may use everything in `learn`.
const LAST: [&str; 2] = ["registry", "mod"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The code of a file without tests and comments.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap();
    let lines = text.lines().map(|line| line.split("//").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

/// The names behind a path such as `crate::`, also within braces.
fn used(code: &str, prefix: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        match rest.strip_prefix('{') {
            None => found.push(word(rest)),
            Some(list) => {
                let (mut depth, mut start) = (0, 0);
                for (i, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => {
                            found.push(word(list[start..i].trim_start()));
                            break;
                        }
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            found.push(word(list[start..i].trim_start()));
                            start = i + 1;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

fn first_part(path: &Path, root: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap();
    let first = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// The uses of modules that come later, in the files below a folder.
fn upward(root: &Path, order: &[&str], prefixes: impl Fn(&Path) -> Vec<String>) -> Vec<String> {
    let rank: BTreeMap<&str, usize> = order.iter().enumerate().map(|(i, name)| (*name, i)).collect();
    let mut wrong = Vec::new();
    for path in sources(root) {
        let module = first_part(&path, root);
        let Some(&own) = rank.get(module.as_str()) else { continue };
        let code = code(&path);
        for prefix in prefixes(&path) {
            let later =
                used(&code, &prefix).into_iter().filter(|name| rank.get(name.as_str()).is_some_and(|&r| r > own));
            wrong.extend(
                later.map(|name| format!("{} uses {prefix}{name}", path.strip_prefix(root).unwrap().display())),
            );
        }
    }
    wrong
}

#[test]
fn modules_use_only_modules_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let known: Vec<String> = sources(&root).iter().map(|path| first_part(path, &root)).collect();
    for module in &known {
        assert!(MODULES.contains(&module.as_str()), "{module} has no place in the order of modules");
    }
    let wrong = upward(&root, &MODULES, |_| vec!["crate::".to_owned(), "$crate::".to_owned()]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn learners_use_only_what_comes_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/learn");
    for module in sources(&root).iter().map(|path| first_part(path, &root)) {
        let is_known = LEARN.contains(&module.as_str()) || LAST.contains(&module.as_str());
        assert!(is_known, "{module} has no place in the order of learn");
    }
    let wrong = upward(&root, &LEARN, |path| {
        let depth = path.strip_prefix(&root).unwrap().components().count();
        let own = if path.file_name().is_some_and(|name| name == "mod.rs") { depth - 1 } else { depth };
        vec!["crate::learn::".to_owned(), "super::".repeat(own)]
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The doors and the benchmark are made from the table: none of them names a learner in code of its own.
#[test]
fn only_the_table_knows_learners_by_name() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut wrong = Vec::new();
    for door in ["slopp-cli/src", "slopp-py/src"] {
        for path in sources(&crates.join(door)) {
            let code = code(&path);
            for entry in slopp::learn::registry::LEARNERS.iter().filter(|entry| entry.name != "slopp") {
                if code.contains(&format!("\"{}\"", entry.name)) {
                    wrong.push(format!("{} names {}", path.display(), entry.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
