//! Links and pictures in the README and in `docs` point to something.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README, and every page below `docs`.
fn pages() -> Vec<PathBuf> {
    let (mut folders, mut pages) = (vec![root().join("docs")], vec![root().join("README.md")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// The links of a page.
#[derive(Default)]
struct Links {
    /// Targets inside the text.
    inline: Vec<String>,
    /// Labels that the text uses.
    used: BTreeSet<String>,
    /// Labels with their targets.
    defined: Vec<(String, String)>,
    /// The addresses of headings.
    anchors: BTreeSet<String>,
}

impl Links {
    fn of(page: &Path) -> Links {
        let mut links = Links::default();
        let text = std::fs::read_to_string(page).unwrap();
        let mut in_code = false;
        for line in text.lines() {
            if line.starts_with("```") {
                in_code = !in_code;
            } else if !in_code {
                links.read(line);
            }
        }
        links
    }

    fn read(&mut self, line: &str) {
        if let Some(definition) = definition(line) {
            return self.defined.push(definition);
        }
        if let Some(heading) = line.strip_prefix('#') {
            self.anchors.insert(anchor(heading));
        }
        let until = |rest: &str, end: char| rest.split(end).next().unwrap().to_owned();
        for rest in line.split("](").skip(1) {
            self.inline.push(until(rest, ')'));
        }
        for rest in line.split("][").skip(1) {
            self.used.insert(until(rest, ']'));
        }
        // A name of code between brackets is a link by itself, unless a target follows.
        for rest in line.split("[`").skip(1) {
            if let Some((name, after)) = rest.split_once("`]")
                && !name.contains('`')
                && !after.starts_with(['(', '['])
            {
                self.used.insert(format!("`{name}`"));
            }
        }
    }

    fn targets(&self) -> impl Iterator<Item = &String> {
        self.inline.iter().chain(self.defined.iter().map(|(_, target)| target))
    }
}

/// The label and the target of `[label]: target`.
fn definition(line: &str) -> Option<(String, String)> {
    let (label, target) = line.strip_prefix('[')?.split_once("]: ")?;
    Some((label.to_owned(), target.to_owned()))
}

/// The address that code hosts and rustdoc give to a heading.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    heading.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
}

#[test]
fn links_point_to_files_and_headings() {
    for page in pages() {
        let links = Links::of(&page);
        for target in links.targets().filter(|target| !target.contains("://")) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(file.exists(), "{}: there is no {target}", page.display());
            let found = heading.is_empty() || Links::of(&file).anchors.contains(heading);
            assert!(found, "{}: {target} is not a heading", page.display());
        }
        for label in links.used {
            let found = links.defined.iter().any(|(defined, _)| *defined == label);
            assert!(found, "{}: [{label}] has no definition", page.display());
        }
    }
}

/// In rustdoc a link of the guide goes where `links.md` says, and pictures lie where `cargo xtask docs` puts them.
#[test]
fn links_of_the_guide_work_in_the_documentation_too() {
    let known = std::fs::read_to_string(root().join("crates/slopp/src/guide/links.md")).unwrap();
    let known: Vec<String> = known.lines().filter_map(definition).map(|(label, _)| label).collect();
    for page in pages().iter().filter(|page| page.parent().unwrap().ends_with("docs/guide")) {
        let links = Links::of(page);
        for (label, target) in links.defined.iter().filter(|(_, target)| !target.contains("://")) {
            assert!(known.contains(label), "{}: links.md lacks [{label}], here {target}", page.display());
        }
        for target in links.inline.iter().filter(|target| !target.contains("://")) {
            assert!(target.starts_with("../pictures/"), "{}: write {target} as a label", page.display());
        }
    }
}
