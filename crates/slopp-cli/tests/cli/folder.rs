//! A folder of its own for each test, the binary run in it, and what it answered.

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A temporary folder; gone with the test.
pub(crate) struct Folder(tempfile::TempDir);

/// What a run of the binary gave.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A circuit over a, b, c whose first two elements share the world 111: counterexample A to Proposition 1.
pub(crate) const MIXTURE: &str = "\
c two derivations of 111, one of weight 1/12 and one of 1/4
psdd 8
L 3 4 3
T 10 0 1 -1.0986122886681098
T 11 2 2 -1.0986122886681098
L 12 0 1
L 13 2 2
D 20 1 1 10 11 0
D 21 1 1 12 13 0
D 30 3 2 20 3 -0.2876820724517809 21 3 -1.3862943611198906
";

/// Primes ⊤ and x₁ overlap, subs x₂ and ¬x₂ do not: deterministic, but not a PSDD.
pub(crate) const WEAK: &str = "\
psdd 5
T 5 0 1 -0.6931471805599453
L 6 0 1
L 7 2 2
L 8 2 -2
D 9 1 2 5 7 -0.6931471805599453 6 8 -0.6931471805599453
";

/// A small PSDD whose parameters sum to 0.9.
pub(crate) const UNNORMALISED: &str = "\
psdd 5
L 5 0 1
L 6 0 -1
T 7 2 2 -0.6931471805599453
L 8 2 2
D 9 1 2 5 7 -0.6931471805599453 6 8 -0.916290731874155
";

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    /// A folder with the model of the paper's Figure 2 as `model.psdd` and its records as `records.csv`.
    pub(crate) fn with_paper() -> Folder {
        let folder = Folder::new();
        let records = slopp::example::records();
        let model = slopp::Model::new(records.names().clone(), slopp::example::psdd());
        model.save(folder.path("model.psdd")).unwrap();
        slopp::io::write_atomically(&folder.path("model.vtree"), |out| {
            slopp::io::write_vtree(out, &slopp::example::vtree())
        })
        .unwrap();
        let plain = |out: &mut dyn Write| slopp::io::write_psdd(out, model.circuit().unwrap());
        slopp::io::write_atomically(&folder.path("plain.psdd"), plain).unwrap();
        let mut text = "X1,X2,X3,X4\n".to_owned();
        for (row, &weight) in records.weights().iter().enumerate() {
            let cells: Vec<_> = records.row(row).map(|cell| if cell == Some(true) { "1" } else { "0" }).collect();
            text += &format!("{}\n", cells.join(",")).repeat(weight as usize);
        }
        folder.write("records.csv", text);
        folder
    }

    /// A folder with 300 configured cars as `cars.csv`.
    pub(crate) fn with_cars() -> Folder {
        let folder = Folder::new();
        folder.run("data generate configurations -n 300 --seed 3 -o cars.csv").ok();
        folder
    }

    /// A folder with columns of several values in `train.csv` and `valid.csv`: keeping their values apart takes elements.
    pub(crate) fn with_columns() -> Folder {
        let folder = Folder::new();
        let row = |i: usize| {
            let i = i * i + i / 3;
            let (color, size) = (i % 3, i * i % 7 % 4);
            let words = [["red", "green", "blue"][color], ["s", "m", "l", "xl"][size]];
            let shape = ["v", "w", "x", "y", "z"][(color + 2 * size + i / 5) % 5];
            format!("{},{shape},{},{}\n", words.join(","), i % 5 % 2, (color * size + i) % 3 % 2)
        };
        for (name, rows) in [("train.csv", 0..400), ("valid.csv", 1000..1100)] {
            folder.write(name, format!("color,size,shape,b,c\n{}", rows.map(row).collect::<String>()));
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// The binary in this folder, not yet started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(crate::program(args));
        // Help is wrapped to the terminal.
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null()).env_remove("COLUMNS");
        command
    }

    /// Runs the binary with arguments that are separated by blanks.
    pub(crate) fn run(&self, args: &str) -> Outcome {
        self.run_args(&args.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs the binary.
    pub(crate) fn run_args(&self, args: &[&str]) -> Outcome {
        Outcome::of(self.command(args).output().unwrap())
    }

    /// The names that an option takes, as the refusal of another lists them.
    pub(crate) fn names_for(&self, args: &str) -> Vec<String> {
        let err = self.run(&format!("{args} no-such-name")).err;
        let (_, rest) = err.split_once("[possible values: ").unwrap_or_else(|| panic!("{err}"));
        rest.split(']').next().unwrap().split(", ").map(str::to_owned).collect()
    }

    /// Runs the binary with something on stdin.
    pub(crate) fn run_with(&self, args: &str, input: &[u8]) -> Outcome {
        let mut command = self.command(&args.split_whitespace().collect::<Vec<_>>());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Outcome::of(child.wait_with_output().unwrap())
    }
}

impl Outcome {
    pub(crate) fn of(output: std::process::Output) -> Outcome {
        Outcome {
            code: output.status.code().expect("not killed"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The same, which must have succeeded.
    pub(crate) fn ok(self) -> Outcome {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// Checks the exit code 2, the parts of the message, and that nothing went to stdout.
    pub(crate) fn fails(self, fragments: &[&str]) {
        assert_eq!(self.code, 2, "{self:?}");
        assert!(self.err.starts_with("error: "), "{self:?}");
        assert_eq!(self.out, "");
        for fragment in fragments {
            assert!(self.err.contains(fragment), "{fragment:?} is not in {}", self.err);
        }
    }

    /// The JSON document on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The keys of the JSON document, in order.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.json().as_object().unwrap().keys().cloned().collect()
    }
}

/// Records over `width` variables of which each repeats the one before it most of the time.
pub(crate) fn chain(width: usize, records: usize, salt: usize) -> String {
    let mut state = salt as u64 + 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 33
    };
    let mut text = String::new();
    for _ in 0..records {
        let mut value = next() % 2;
        let cells: Vec<String> = (0..width)
            .map(|_| {
                if next() % 5 == 0 {
                    value = 1 - value;
                }
                value.to_string()
            })
            .collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

/// Whether Ctrl-C is ignored: tests that run in the background of a shell hand that down.
pub(crate) fn interrupts_are_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 0b10 != 0))
}

/// Sends a signal, by name and number, as soon as the process is this program and listens to it. Where the system does
/// not tell that, it ends the process and says `false`.
pub(crate) fn signalled(child: &mut Child, program: &str, (signal, number): (&str, u32)) -> bool {
    let status = format!("/proc/{}/status", child.id());
    let listens = |text: String| {
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
        let caught = u64::from_str_radix(field("SigCgt:"), 16).unwrap_or(0);
        field("Name:") == program && caught & (1 << (number - 1)) != 0
    };
    while let Ok(text) = fs::read_to_string(&status) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it listened");
        if listens(text) {
            return Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success();
        }
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

/// Datasets that learners may stumble over: training records, validation records, test records.
pub(crate) fn odd_datasets() -> Vec<(&'static str, [String; 3])> {
    let text = |parts: [&str; 3]| parts.map(str::to_owned);
    vec![
        ("constant", text(["1,0,1\n1,1,0\n1,1,1\n", "1,0,0\n", "0,0,0\n1,1,1\n"])),
        ("one", text(["1,0,1\n", "1,0,1\n", "1,0,0\n"])),
        ("equal", text([&"0,1,1\n".repeat(30), &"0,1,1\n".repeat(5), "0,1,1\n1,1,1\n"])),
        ("single", text(["0\n1\n1\n", "1\n", "0\n"])),
        ("wide", [chain(50, 4, 1), chain(50, 2, 2), chain(50, 2, 3)]),
    ]
}

/// Checks that a number is what it should be up to rounding.
pub(crate) fn close(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}
