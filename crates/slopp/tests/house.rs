//! The layout of the library: modules depend in one direction, and learners are known by one table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The modules of the library, each of which uses only those before it.
const MODULES: [&str; 29] = [
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
    "fidelity",
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
const LEARN: [&str; 28] = [
    "error",
    "vtree",
    "primes",
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
    "registry",
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    files(folder, "rs")
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|of| of == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A file without its tests, which come last.
fn source(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned()
}

/// The code of a file without tests and comments.
fn code(path: &Path) -> String {
    let text = source(path);
    let lines = text.lines().map(|line| line.split("//").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

/// The string literals of a file and, if asked for, its doc comments, which become help texts of a door.
fn texts(path: &Path, docs: bool) -> String {
    let (source, mut found) = (source(path).replace("'\"'", ""), String::new());
    let mut rest = source.as_str();
    while let Some(at) = ["\"", "//"].into_iter().filter_map(|mark| rest.find(mark)).min() {
        let (comment, text) = (rest[at..].starts_with("//"), &rest[at..]);
        let end = match comment {
            true => text.find('\n').unwrap_or(text.len()),
            false => {
                let mut escaped = false;
                let closes = |c: char| {
                    let closes = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    closes
                };
                text[1..].find(closes).map_or(text.len(), |end| end + 2)
            }
        };
        if !comment || docs && text.starts_with("///") {
            found = found + &text[..end] + "\n";
        }
        rest = &text[end..];
    }
    found
}

/// Whether a name stands in a text as a word of its own.
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_-+".contains(c);
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// The names that a file gives to the outside, and the modules next to it that they come from.
fn exports(path: &Path) -> BTreeMap<String, String> {
    let code = code(path);
    let uses = code.split("\npub").filter_map(|item| {
        let item = item.strip_prefix(' ').or_else(|| item.strip_prefix('(')?.split_once(") ").map(|(_, item)| item))?;
        item.strip_prefix("use ")?.split(';').next()
    });
    let mut found = BTreeMap::new();
    for (module, names) in uses.filter_map(|item| item.trim_start_matches("self::").split_once("::")) {
        for name in names.split([',', '{', '}']).map(str::trim).filter(|name| !name.is_empty()) {
            let name = name.rsplit(' ').next().unwrap().rsplit("::").next().unwrap();
            found.insert(name.to_owned(), module.to_owned());
        }
    }
    found
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

/// The path of the module that a file is, from the crate.
fn module(path: &Path, root: &Path) -> Vec<String> {
    let relative = path.strip_prefix(root).unwrap().with_extension("");
    let parts = relative.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let mut parts: Vec<String> = parts.collect();
    if parts.last().is_some_and(|last| last == "mod" || parts.len() == 1 && last == "lib") {
        parts.pop();
    }
    parts
}

/// The paths in a file that begin with `crate` or `super`, from the crate, each name within braces on its own.
fn paths(code: &str, module: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                follow(&code[at..], Vec::new(), &mut found);
            }
        }
    }
    for path in &mut found {
        let up = path.iter().take_while(|part| *part == "super").count();
        let base = if up > 0 { &module[..module.len() - up] } else { &[] };
        *path = base.iter().chain(&path[up.max(1)..]).cloned().collect();
    }
    found
}

/// Adds the paths that a text begins with.
fn follow(text: &str, mut path: Vec<String>, found: &mut Vec<Vec<String>>) {
    let text = text.trim_start();
    let Some(list) = text.strip_prefix('{') else {
        let word: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let rest = &text[word.len()..];
        path.push(word);
        return match rest.strip_prefix("::") {
            Some(rest) => follow(rest, path, found),
            None => found.push(path),
        };
    };
    let (mut depth, mut start) = (0, 0);
    for (i, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                follow(&list[start..i], path.clone(), found);
                start = i + 1;
                if c == '}' {
                    return;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
}

fn first_part(path: &Path, root: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap();
    let first = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// The uses of modules that come later, by themselves or by what `top` exports of them, in the files of a module of the
/// crate, or of the crate itself.
fn upward(parent: &[&str], top: &str, order: &[&str]) -> Vec<String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root = parent.iter().fold(src.clone(), |root, part| root.join(part));
    let exports = exports(&root.join(top));
    assert!(exports.len() > 20, "{exports:?}");
    let rank: BTreeMap<&str, usize> = order.iter().enumerate().map(|(i, name)| (*name, i)).collect();
    let mut wrong = Vec::new();
    for path in sources(&root) {
        let Some(&own) = rank.get(first_part(&path, &root).as_str()) else { continue };
        for used in paths(&code(&path), &module(&path, &src)) {
            let below = used.iter().zip(parent).all(|(part, parent)| part == parent);
            let Some(name) = used.get(parent.len()).filter(|_| below) else { continue };
            let of = |name: &String| rank.get(name.as_str());
            if of(name).or_else(|| of(exports.get(name)?)).is_some_and(|&later| later > own) {
                wrong.push(format!("{} uses {}", path.strip_prefix(&root).unwrap().display(), used.join("::")));
            }
        }
    }
    wrong
}

#[test]
fn uses_are_seen_however_they_are_written() {
    let module = ["io", "csv"].map(String::from);
    let seen = |code: &str| paths(code, &module).iter().map(|path| path.join("::")).collect::<Vec<_>>();
    assert_eq!(
        seen("use crate::{data, learn::{Task, registry::find}};"),
        ["data", "learn::Task", "learn::registry::find"]
    );
    assert_eq!(seen("super::super::front::learn(&super::read())"), ["front::learn", "io::read"]);
    assert_eq!(seen("$crate::learn::registry::default().usual()"), ["learn::registry::default"]);
}

#[test]
fn modules_use_only_modules_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let known: Vec<String> = sources(&root).iter().map(|path| first_part(path, &root)).collect();
    for module in &known {
        assert!(MODULES.contains(&module.as_str()), "{module} has no place in the order of modules");
    }
    let wrong = upward(&[], "lib.rs", &MODULES);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn learners_use_only_what_comes_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/learn");
    for module in sources(&root).iter().map(|path| first_part(path, &root)) {
        assert!(module == "mod" || LEARN.contains(&module.as_str()), "{module} has no place in the order of learn");
    }
    let wrong = upward(&["learn"], "mod.rs", &LEARN);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where limits are not a parameter, and why.
const OWN_LIMITS: [(&str, &str); 6] = [
    ("circuit/certify.rs", "debug builds look twice at certificates that are carried over"),
    ("front.rs", "the front door has no limits"),
    ("io/model.rs", "`Model::load` is part of the front door"),
    ("learn/em.rs", "the default of a setting"),
    ("learn/support/mod.rs", "the default of a setting"),
    ("limits.rs", "their definition"),
];

#[test]
fn limits_are_a_parameter() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let usual = ["Limits::default()", "Limits::USUAL"];
    let has_own = |path: &PathBuf| usual.iter().any(|usual| code(path).contains(usual));
    let found = sources(&root).into_iter().filter(has_own);
    let found: Vec<String> = found.map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(found, OWN_LIMITS.map(|(file, _)| file));
}

/// Where a text names learners nevertheless, and why.
const NAMED: &[(&str, &[&str], &str)] = &[
    ("crates/slopp-cli/src/cmd/distil.rs", &["learnspn"], "an example of a teacher"),
    ("crates/slopp-cli/src/cmd/learn/options.rs", &["slopp-kmeans", "strudel"], "examples"),
    ("crates/slopp-cli/src/cmd/vtree.rs", &["chow-liu"], "also a method for vtrees"),
    ("crates/slopp-lab/src/bench/summary.rs", &["chow-liu", "factorised"], "what learners are compared with"),
    ("crates/slopp-lab/src/reproduce", &["factorised", "strudel"], "rows of the paper"),
    ("crates/slopp/src/guide.rs", &["learnspn"], "a page"),
    ("crates/slopp/src/learn/effort/best.rs", &["learnpsdd", "learnspn"], "teachers, which are learners"),
    ("crates/slopp/src/learn/learnspn.rs", &["chow-liu"], "leaves"),
    ("crates/slopp/src/learn/vtree/mod.rs", &["chow-liu"], "also a method for vtrees"),
    ("python/slopp", &["chow-liu"], "also a method for vtrees, and an example"),
];

/// Where code outside the library uses a learner by the type of its settings, and why.
const TYPED: &[(&str, &[&str], &str)] = &[
    ("crates/slopp-cli/src/cmd/demo.rs", &["Factorised", "SloppTree"], "what its story compares"),
    (
        "crates/slopp-lab/src/reproduce",
        &["ChowLiu", "Factorised", "SloppKmeans", "SloppTree", "Strudel"],
        "rows of the paper",
    ),
];

/// Where all learners may be named: the table, the choice of the benchmark, and what is written from the table.
const TABLES: [&str; 3] =
    ["crates/slopp/src/learn/registry.rs", "crates/slopp-lab/src/bench/registry.rs", "python/slopp/_learners.py"];

/// All that handles learners is made from their table: texts name none but in the places of [`NAMED`], and the name that
/// a learner has of itself.
///
/// `slopp` is not looked for, as it is also the name of the program.
#[test]
fn only_the_table_knows_learners_by_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let rust = [("slopp", false), ("slopp-lab", false), ("slopp-cli", true), ("slopp-py", true)];
    let rust = rust.into_iter().flat_map(|(name, docs)| {
        sources(&root.join(format!("crates/{name}/src"))).into_iter().map(move |path| (texts(&path, docs), path))
    });
    let python = files(&root.join("python/slopp"), "py").into_iter();
    let python = python.map(|path| (std::fs::read_to_string(&path).unwrap(), path));
    let mut found = BTreeSet::new();
    for (text, path) in rust.chain(python) {
        let file = path.strip_prefix(&root).unwrap().to_str().unwrap();
        let place = NAMED.iter().map(|(place, ..)| *place).find(|place| file.starts_with(place)).unwrap_or(file);
        let own =
            |name: &str| source(&path).contains(&format!("fn name(&self) -> &'static str {{\n        \"{name}\""));
        let names = slopp::learn::registry::LEARNERS.iter().map(|entry| entry.name);
        let names = names.filter(|&name| name != "slopp" && !TABLES.contains(&file) && mentions(&text, name));
        found.extend(names.filter(|name| !own(name)).map(|name| format!("{place} names {name}")));
    }
    let allowed =
        NAMED.iter().flat_map(|(place, names, _)| names.iter().map(move |name| format!("{place} names {name}")));
    assert_eq!(found, allowed.collect());
}

/// The same of types: what handles learners gets them from the table, as a `dyn Learner`.
#[test]
fn only_the_table_knows_learners_by_type() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let learners: BTreeSet<String> = sources(&root.join("crates/slopp/src/learn"))
        .iter()
        .flat_map(|path| used(&code(path).replace("impl Learner for ", "\u{1}"), "\u{1}"))
        .collect();
    assert!(learners.len() >= slopp::learn::registry::LEARNERS.len(), "{learners:?}");
    let mut found = BTreeSet::new();
    for door in ["slopp-cli", "slopp-lab", "slopp-py"] {
        for path in sources(&root.join(format!("crates/{door}/src"))) {
            let (code, file) = (code(&path), path.strip_prefix(&root).unwrap().to_str().unwrap());
            let place = TYPED.iter().map(|(place, ..)| *place).find(|place| file.starts_with(place)).unwrap_or(file);
            let names = ["slopp::learn::", "learn::"].into_iter().flat_map(|prefix| used(&code, prefix));
            found.extend(names.filter(|name| learners.contains(name)).map(|name| format!("{place} uses {name}")));
        }
    }
    let allowed =
        TYPED.iter().flat_map(|(place, types, _)| types.iter().map(move |name| format!("{place} uses {name}")));
    assert_eq!(found, allowed.collect());
}
