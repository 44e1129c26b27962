//! Formulas as text: what is written is what is meant, printed and read back.

use proptest::prelude::*;
use slopp::infer::{Event, Evidence};
use slopp::logic::{Comparison, Formula, FormulaProblem, Rules};
use slopp::{Kind, Lit, Names, RecordsBuilder, Var};
use std::collections::BTreeSet;

/// A formula as the tests understand it, apart from the library.
#[derive(Clone, Debug)]
enum Tree {
    Constant(bool),
    Var(usize),
    Not(Box<Tree>),
    Join(&'static str, Vec<Tree>),
    Arrow(&'static str, Box<Tree>, Box<Tree>),
    Count(&'static str, usize, Vec<Tree>),
}

const NAMES: [&str; 8] = ["a", "b c", "color=red", "not", "x, \"y\"", "-z", "true", "age (years)"];

impl Tree {
    fn value(&self, world: &[bool]) -> bool {
        let held = |trees: &[Tree]| trees.iter().filter(|t| t.value(world)).count();
        match self {
            Tree::Constant(value) => *value,
            Tree::Var(i) => world[*i],
            Tree::Not(tree) => !tree.value(world),
            Tree::Join("&", trees) => held(trees) == trees.len(),
            Tree::Join("|", trees) => held(trees) > 0,
            Tree::Join(_, trees) => held(trees) % 2 == 1,
            Tree::Arrow("->", a, b) => !a.value(world) || b.value(world),
            Tree::Arrow(_, a, b) => a.value(world) == b.value(world),
            Tree::Count("exactly", k, trees) => held(trees) == *k,
            Tree::Count("at_most", k, trees) => held(trees) <= *k,
            Tree::Count(_, k, trees) => held(trees) >= *k,
        }
    }

    /// With every parenthesis there is.
    fn text(&self) -> String {
        let texts = |trees: &[Tree]| trees.iter().map(|t| format!("({})", t.text())).collect::<Vec<_>>();
        match self {
            Tree::Constant(value) => value.to_string(),
            Tree::Var(i) => format!("\"{}\"", NAMES[*i].replace('"', "\"\"")),
            Tree::Not(tree) => format!("!({})", tree.text()),
            Tree::Join(op, trees) => texts(trees).join(op),
            Tree::Arrow(op, a, b) => format!("({}) {op} ({})", a.text(), b.text()),
            Tree::Count(word, k, trees) => {
                format!("{word}({k}{})", texts(trees).iter().map(|t| format!(",{t}")).collect::<String>())
            }
        }
    }

    /// By the constructors.
    fn formula(&self) -> Formula {
        let all = |trees: &[Tree]| trees.iter().map(Tree::formula).collect::<Vec<_>>();
        match self {
            Tree::Constant(value) => Formula::constant(*value),
            Tree::Var(i) => Var(*i as u32).is(true).into(),
            Tree::Not(tree) => !tree.formula(),
            Tree::Join("&", trees) => Formula::and(all(trees)),
            Tree::Join("|", trees) => Formula::or(all(trees)),
            Tree::Join(_, trees) => Formula::xor(all(trees)),
            Tree::Arrow("->", a, b) => a.formula().implies(b.formula()),
            Tree::Arrow(_, a, b) => a.formula().iff(b.formula()),
            Tree::Count(word, k, trees) => {
                let all_comparisons = [Comparison::Exactly, Comparison::AtMost, Comparison::AtLeast];
                let comparison = all_comparisons.into_iter().find(|c| c.name() == *word).unwrap();
                Formula::count(comparison, *k as u32, all(trees))
            }
        }
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![1 => any::<bool>().prop_map(Tree::Constant), 8 => (0..NAMES.len()).prop_map(Tree::Var)];
    leaf.prop_recursive(6, 40, 4, |inner| {
        let list = |least: usize| prop::collection::vec(inner.clone(), least..4);
        prop_oneof![
            inner.clone().prop_map(|t| Tree::Not(t.into())),
            (prop::sample::select(vec!["&", "|", "^"]), list(2)).prop_map(|(op, trees)| Tree::Join(op, trees)),
            (prop::sample::select(vec!["->", "<->"]), inner.clone(), inner.clone()).prop_map(|(op, a, b)| Tree::Arrow(
                op,
                a.into(),
                b.into()
            )),
            (prop::sample::select(vec!["exactly", "at_most", "at_least"]), 0..4usize, list(0))
                .prop_map(|(word, k, trees)| Tree::Count(word, k, trees)),
        ]
    })
}

fn names() -> Names {
    Names::new(NAMES.map(String::from).to_vec()).unwrap()
}

fn worlds(len: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1u32 << len).map(move |bits| (0..len).map(|i| bits >> i & 1 == 1).collect())
}

proptest! {
    #[test]
    fn texts_mean_what_they_say_and_read_back(tree in tree()) {
        let names = names();
        let formula = Formula::parse(&tree.text(), &names).unwrap();
        prop_assert_eq!(&formula, &tree.formula());
        for world in worlds(NAMES.len()) {
            prop_assert_eq!(formula.is_satisfied_by(&world), tree.value(&world));
        }
        let printed = formula.display(&names).to_string();
        let again = Formula::parse(&printed, &names);
        prop_assert_eq!(again.as_ref(), Ok(&formula), "{}", &printed);
        // In a file too, where `#` and line ends mean something.
        let rules = Rules::parse_with(&format!("{printed}\n"), names).unwrap();
        prop_assert_eq!(&rules[0].formula, &formula);
    }

    #[test]
    fn no_parenthesis_can_be_left_out(tree in tree()) {
        let names = names();
        let formula = tree.formula();
        let printed = formula.display(&names).to_string();
        let mut open = Vec::new();
        let mut quoted = false;
        for (i, c) in printed.char_indices() {
            match c {
                '"' => quoted = !quoted,
                '(' if !quoted => open.push((i, printed[..i].ends_with(char::is_alphabetic))),
                ')' if !quoted => {
                    let (start, called) = open.pop().unwrap();
                    if !called {
                        let without = format!("{}{}{}", &printed[..start], &printed[start + 1..i], &printed[i + 1..]);
                        prop_assert_ne!(Formula::parse(&without, &names).ok(), Some(formula.clone()), "{}", &printed);
                    }
                }
                _ => {}
            }
        }
    }

    #[test]
    fn what_is_known_in_part_is_never_wrong(tree in tree(), known in prop::collection::vec(any::<Option<bool>>(), 8)) {
        if let Some(value) = tree.formula().value(|var| known[var.index()]) {
            for world in worlds(8).filter(|w| w.iter().zip(&known).all(|(x, k)| k.is_none_or(|k| k == *x))) {
                prop_assert_eq!(tree.value(&world), value);
            }
        }
    }
}

#[test]
fn evidence_is_a_formula() {
    let names = Names::new(
        ["smoker", "a b", "x,y", "note", "not", "height (cm)", "#children", "a|b", "say \"hi\""]
            .map(String::from)
            .to_vec(),
    )
    .unwrap();
    for text in [
        "smoker",
        "!smoker",
        "~smoker,",
        "¬ smoker ,",
        "- smoker",
        "not smoker",
        "NOT  smoker",
        "smoker=0",
        "smoker = No",
        "!smoker=1",
        "\"smoker\" = TRUE",
        "!!smoker",
        "not smoker=false",
        "a b & !\"x,y\", note",
        "not",
        "not, note",
        "not = 0",
        "not not",
        "smoker, note, ",
        "height (cm)",
        "!height (cm) = 1, smoker",
        "#children=0 & a|b",
        "say \"hi\"",
        "not height (cm)",
    ] {
        let evidence = Evidence::parse(text, &names).unwrap();
        let formula = Formula::parse(text, &names).unwrap_or_else(|e| panic!("{text}: {e}"));
        for world in worlds(names.len()) {
            let expected = evidence.lits().all(|lit| world[lit.var.index()] == lit.value);
            assert_eq!(formula.is_satisfied_by(&world), expected, "{text}");
        }
    }
}

#[test]
fn values_of_categories_are_names() {
    let names = Names::new(["color=red", "color=dark blue", "age>=50", "x", "x=1"].map(String::from).to_vec()).unwrap();
    for (text, printed) in [
        ("color=red", "color=red"),
        ("color = red", "color=red"),
        ("color!=red & x", "!color=red & x"),
        ("color=dark blue|x", "\"color=dark blue\" | x"),
        ("color=red = no", "!color=red"),
        ("!color=red=0", "!!color=red"),
        ("age>=50 -> !color=red", "age>=50 -> !color=red"),
        ("x=1", "x=1"),
        ("x=0", "!x"),
        ("x!=0", "x"),
        ("\"color=red\" => x", "color=red -> x"),
    ] {
        let formula = Formula::parse(text, &names).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(formula.display(&names).to_string(), printed, "{text}");
    }
    let error = Formula::parse("x & color=rod", &names).unwrap_err();
    assert_eq!(error.column, 5);
    assert!(error.to_string().contains("there is no variable \"color=rod\"; did you mean \"color=red\"?"), "{error}");
}

#[test]
fn errors_point_at_the_place() {
    let names = Names::new(["smoker", "cancer", "é"].map(String::from).to_vec()).unwrap();
    for (text, column, says) in [
        ("smoker & smokr", 10, "there is no variable \"smokr\"; did you mean \"smoker\"?"),
        ("é | smokr", 5, "did you mean"),
        ("smoker & ", 10, "expected a variable or \"(\", found the end"),
        ("smoker & | cancer", 10, "expected a variable or \"(\", found '|'"),
        ("(smoker | cancer", 1, "this parenthesis is not closed"),
        ("smoker | (cancer & !(é)", 10, "this parenthesis is not closed"),
        ("smoker)", 7, "no parenthesis is open"),
        ("(smoker, cancer)", 8, "a comma joins only outside parentheses"),
        ("exactly(x, smoker)", 9, "expected a whole number, found 'x'"),
        ("exactly(1 smoker)", 11, "expected \",\""),
        ("exactly(1, smoker", 1, "not closed"),
        ("at_most(99999999999, smoker)", 9, "too large"),
        ("smoker=maybe", 8, "expected one of 1, 0, true, false, yes, no, or ? for unknown, found \"maybe\""),
        ("\"smoker & cancer", 1, "this quote is not closed"),
        ("smoker \"cancer\"", 8, "expected an operator"),
        ("  ", 3, "expected a formula, found nothing"),
        ("()", 2, "expected a variable"),
        ("smoker -> ", 11, "found the end"),
        ("smoker cancer", 8, "an operator is missing between smoker and cancer"),
        ("smoker and cancer", 8, "write & for and"),
        ("at_mots(1, smoker, cancer)", 1, "\"at_mots\" is not a count; did you mean at_most?"),
        ("smoker | EXACTLY(1, cancer)", 10, "did you mean exactly?"),
        ("smoker | cancer == 1", 17, "values are not compared by <, > and ==; write cancer=VALUE"),
        ("\"\" | smoker", 1, "there is no name between the quotes"),
        ("smoker & é=\"\"", 12, "there is no name between the quotes"),
    ] {
        let error = Formula::parse(text, &names).unwrap_err();
        assert!(error.to_string().contains(says), "{text}: {error}");
        assert_eq!((error.line, error.column), (None, column), "{text}: {error}");
    }
}

#[test]
fn nothing_in_quotes_is_no_name() {
    let error = Rules::parse("a -> b\nb | \"\"\n").unwrap_err();
    assert_eq!((error.line, error.column, &*error.problem), (Some(2), 5, &FormulaProblem::NoName), "{error}");
}

#[test]
fn long_lines_are_shown_in_part() {
    let text = format!("{}b", "a & ".repeat(10_000));
    let error = Formula::parse(&text, &Names::new(vec!["a".into()]).unwrap()).unwrap_err();
    assert!(matches!(*error.problem, FormulaProblem::Name(_)));
    let message = error.to_string();
    let lines: Vec<&str> = message.lines().collect();
    assert!(lines[1].len() < 100, "{message}");
    assert_eq!(lines[1].chars().position(|c| c == 'b'), lines[2].chars().position(|c| c == '^'), "{message}");
}

#[test]
fn rules_know_their_lines() {
    let text =
        "\u{feff}# head\n\na -> b\r\n  exactly(1,   # of these\n    a,\n    \"c # d\")\n\nb & \\\n  !e\nx |\ny # end";
    let rules = Rules::parse(text).unwrap();
    let found: Vec<_> = rules.iter().map(|rule| (rule.line, rule.text.as_str())).collect();
    assert_eq!(found, [(3, "a -> b"), (4, "exactly(1, a, \"c # d\")"), (8, "b & !e"), (10, "x | y")]);
    assert_eq!(rules.names().iter().collect::<Vec<_>>(), ["a", "b", "c # d", "e", "x", "y"]);
    let text = "a |\n# or\n\n b # said here\n -> c \n!d\n&& (e\n)\n-f ∧\ng";
    let found: Vec<_> = Rules::parse(text).unwrap().iter().map(|rule| (rule.line, rule.text.clone())).collect();
    assert_eq!(
        found,
        [(1, "a | b -> c".into()), (6, "!d && (e )".into()), (9, "-f ∧ g".into())],
        "operators join lines"
    );
    let error = Rules::parse("a\nb\n c & & d\n").unwrap_err();
    assert_eq!((error.line, error.column), (Some(3), 6));
    let ended = Rules::parse("a\nb &  \n\n").unwrap_err();
    assert_eq!((ended.line, ended.column), (Some(2), 4), "{ended}");
    let unclosed = Rules::parse("a\nb & (c\nd\n").unwrap_err();
    assert_eq!((unclosed.line, unclosed.column), (Some(2), 5), "{unclosed}");
    assert_eq!(Rules::parse("").unwrap().len(), 0);
    for (text, column, says) in [
        ("a\na  b -> c\n", 4, "an operator is missing between a and b; a name with blanks goes in quotes"),
        ("a\nc -> a b", 8, "between a and b"),
        ("a\ncolor=dark red", 12, "between dark and red"),
        ("a\nx or y", 3, "write & for and, | for or"),
    ] {
        let error = Rules::parse(text).unwrap_err();
        assert_eq!((error.line, error.column), (Some(2), column), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
    let quoted = Rules::parse("\"a b\" -> color=\"dark red\"\n!a b").unwrap();
    assert_eq!(quoted.names().iter().collect::<Vec<_>>(), ["a b", "color=dark red"], "what quotes made known is known");
    let printed = quoted[0].formula.display(quoted.names()).to_string();
    assert_eq!(Rules::parse(&printed).unwrap()[0].formula, quoted[0].formula, "{printed}");
}

/// Deep and long texts take no stack; `cargo xtask bench formulas` measures that their time is linear.
#[test]
fn formulas_of_a_hundred_thousand_literals() {
    const LEN: usize = 100_000;
    let names = Names::numbered(LEN);
    let chain = |op: &str| (1..=LEN).map(|i| format!("x{i}")).collect::<Vec<_>>().join(op);
    for text in [
        chain(" & "),
        chain(" -> "),
        chain(" <-> "),
        format!("at_most(3, {})", chain(", ")),
        format!("{}x1{}", "(".repeat(LEN), ")".repeat(LEN)),
        format!("{}x1{}", "!(".repeat(LEN), ")".repeat(LEN)),
        format!("{}x1{}", "(x2 | x3 & ".repeat(LEN), ")".repeat(LEN)),
        format!("{}x1{}", "(".repeat(LEN), " -> x2)".repeat(LEN)),
        format!("{}x1{}", "exactly(1, x3, ".repeat(LEN), ")".repeat(LEN)),
        format!("{}x1{}", "(".repeat(LEN), " & x2)".repeat(LEN)),
    ] {
        let formula = Formula::parse(&text, &names).unwrap();
        let printed = formula.display(&names).to_string();
        assert_eq!(Formula::parse(&printed, &names).unwrap(), formula);
        formula.is_satisfied_by(&vec![true; LEN]);
        formula.conjuncts();
    }
    for text in ["(".repeat(LEN), "!".repeat(LEN), "exactly(1,".repeat(LEN), "x1 -> ".repeat(LEN), "x1,".repeat(LEN)] {
        let _ = Formula::parse(&text, &names);
        let _ = Rules::parse_with(&text, names.clone());
    }
}

proptest! {
    #[test]
    fn seen_is_what_some_record_shows(
        rows in prop::collection::vec(prop::collection::vec(prop::option::weighted(0.9, any::<bool>()), 6), 0..20),
        picked in prop::sample::subsequence((0u32..6).collect::<Vec<_>>(), 0..=6).prop_shuffle(),
    ) {
        let mut records = RecordsBuilder::new(Names::numbered(6));
        rows.iter().for_each(|row| records.push(row.iter().copied(), 1.0));
        let vars: Vec<Var> = picked.iter().map(|&i| Var(i)).collect();
        let seen = Formula::seen(&records.finish(), &vars);
        for bits in 0..64u32 {
            let world: Vec<bool> = (0..6).map(|i| bits >> i & 1 == 1).collect();
            let agrees = |row: &Vec<Option<bool>>| picked.iter().all(|&i| row[i as usize].is_none_or(|x| x == world[i as usize]));
            prop_assert_eq!(seen.is_satisfied_by(&world), rows.iter().any(agrees));
        }
        let names = Names::numbered(6);
        let text = seen.display(&names).to_string();
        prop_assert_eq!(Formula::parse(&text, &names).unwrap(), seen, "in normal form: {}", text);
    }
}

/// Names as files may hold them: with ends of lines, control characters, quotes and what looks like an escape.
fn odd_name() -> impl Strategy<Value = String> {
    let parts =
        ["a", "é", "\n", "\r", "\u{1b}", "\u{9b}", "\u{202e}", "\u{2028}", "\"", "\\", "\\u{", "\\u{a}", "}", " ", "#"];
    prop::collection::vec(prop::sample::select(parts.to_vec()), 1..6).prop_map(|parts| parts.concat())
}

proptest! {
    /// Whatever the names are, what is written reads back: as a formula, in a file of rules, and as evidence.
    #[test]
    fn any_names_read_back(names in prop::collection::btree_set(odd_name(), 2..4), values in any::<[bool; 4]>()) {
        let names = Names::new(names.into_iter().collect()).unwrap();
        let lits = (0..names.len()).map(|i| Var(i as u32).is(values[i]));
        let formula = Formula::or(lits.clone().map(Formula::literal));
        let printed = formula.display(&names).to_string();
        prop_assert!(slopp::names::visible(&printed) == printed, "{:?}", printed);
        let again = Formula::parse(&printed, &names);
        prop_assert_eq!(again.as_ref(), Ok(&formula), "{}", &printed);
        let rules = Rules::parse_with(&format!("{printed}\n{printed}"), names.clone()).unwrap();
        prop_assert!(rules.len() == 2 && rules[1].formula == formula, "{}", printed);
        let collected = Rules::parse(&printed).unwrap();
        prop_assert!(collected.names().iter().eq(names.iter()), "{}", printed);
        let evidence = Evidence::from_lits(names.len(), lits).unwrap();
        let text = evidence.display(&names).to_string();
        prop_assert_eq!(Evidence::parse(&text, &names), Ok(evidence), "{}", &text);
    }
}

proptest! {
    /// A list of literals means the same as evidence, as an event and as a formula, however it is written.
    #[test]
    fn a_conjunction_is_evidence_and_a_formula(
        items in prop::collection::vec((0usize..6, any::<bool>(), 0usize..6, any::<bool>()), 1..8),
    ) {
        let colors = Kind::Values(["red", "dark blue", "a|b"].map(String::from).to_vec());
        let columns = ["a", "height (cm)", "x,y"].map(|name| (name.to_owned(), Kind::Boolean));
        let names = Names::of_columns(columns.into_iter().chain([("color".to_owned(), colors)])).unwrap();
        let mut text = String::new();
        let mut lits = Vec::new();
        for &(var, value, spelling, comma) in &items {
            let lit = Var(var as u32).is(value);
            let quoted = format!("\"{}\"", names.of(lit.var));
            let not = if value { "" } else { ["!", "~", "not ", "¬", "- ", "NOT  "][spelling] };
            text += if text.is_empty() { "" } else if comma { ", " } else { " & " };
            text += &match spelling {
                0 if var < 3 => format!("{quoted} = {}", if value { "yes" } else { "no" }),
                1 => names.literal(lit),
                2 if var >= 3 && !value => format!("color != \"{}\"", &names.of(lit.var)["color=".len()..]),
                3 => format!("!{}{quoted}", if value { "!" } else { "" }),
                4 => format!("{not}{quoted}, a=?"),
                _ => format!("{not}{quoted}"),
            };
            lits.push(lit);
        }
        let formula = Formula::parse(&text, &names).unwrap();
        let question = Event::parse_question(&text, &names).unwrap();
        let agrees = |world: &[bool], lit: &Lit| world[lit.var.index()] == lit.value;
        for world in worlds(names.len()) {
            let expected = lits.iter().all(|lit| agrees(&world, lit));
            prop_assert_eq!(formula.is_satisfied_by(&world), expected, "{}", &text);
            prop_assert_eq!(question.formula().is_satisfied_by(&world), expected, "{}", &text);
        }
        let colored: BTreeSet<Lit> = lits.iter().copied().filter(|lit| lit.value && lit.var.index() >= 3).collect();
        match Evidence::parse(&text, &names) {
            Ok(evidence) => {
                prop_assert_eq!(Ok(evidence.clone()), Evidence::from_lits(names.len(), lits));
                prop_assert_eq!(question, Event::Literals(evidence));
            }
            Err(_) => prop_assert!(colored.len() > 1 || Evidence::from_lits(names.len(), lits).is_err(), "{}", &text),
        }
    }
}
