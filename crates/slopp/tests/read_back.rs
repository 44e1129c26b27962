//! What is written reads back: odd names, values and bins, from every writer of records.

use proptest::prelude::*;
use slopp::io::{
    CsvLines, Header, RecordsOptions, load_records, write_changed_records, write_records, write_weighted_records,
};
use slopp::names::Column;
use slopp::{Bins, Kind, Lit, Names, Random, Records, RecordsBuilder, Var};
use std::sync::Arc;

/// Texts that mean something to a reader, or are built of what does.
fn text() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "0",
        "1",
        "0.0",
        "1.0",
        "yes",
        "No",
        "t",
        "NA",
        "nan",
        "?",
        "-1",
        "-",
        "psdd 4",
        "vtree 3",
        "c slopp 1",
        "weight|a",
        "2|0",
        "3|u",
        "a b",
        "yes no",
        "0 1",
        " x ",
        "\u{feff}a",
        "\u{a0}",
        "3.0",
        "3",
        "5",
        "a+b",
        "color=red",
        "a\r",
        "\"",
    ];
    prop_oneof![prop::sample::select(WORDS).prop_map(str::to_owned), "[ab01|,;\"'\t\n\r .=+?é-]{1,4}", "[a-c]"]
}

fn kind() -> impl Strategy<Value = Kind> {
    let values =
        prop::collection::btree_set(text(), 1..4).prop_map(|values| Kind::Values(values.into_iter().collect()));
    let bins = prop::collection::btree_set(text(), 2..4).prop_filter_map("bins", |names| {
        let cuts = (1..names.len()).map(|i| 4.0 * i as f64 - 4.0).collect();
        Bins::new(names.into_iter().collect(), cuts).map(Kind::Bins)
    });
    prop_oneof![2 => Just(Kind::Boolean), 3 => values, 1 => bins]
}

fn names() -> impl Strategy<Value = Arc<Names>> {
    let columns = prop::collection::vec((text(), kind()), 1..4);
    columns.prop_filter_map("names are used once", |columns| Names::of_columns(columns).ok().map(Arc::new))
}

/// A row with one value per column, some unknown if asked for.
fn row(names: &Names, random: &mut Random, missing: bool) -> Vec<Option<bool>> {
    let mut row = vec![None; names.len()];
    for column in names.columns() {
        if missing && random.below(4) == 0 {
            continue;
        }
        match column {
            Column::Boolean(var) => row[var.index()] = Some(random.below(2) == 0),
            Column::Group(group) => {
                let one = random.below(group.vars().len());
                group.vars().enumerate().for_each(|(i, var)| row[var.index()] = Some(i == one));
            }
        }
    }
    row
}

fn read(text: &[u8], header: Header, names: &Arc<Names>) -> Result<Records, String> {
    let options = RecordsOptions { header, ..RecordsOptions::over(names) };
    let read = load_records(text, &options);
    read.map(|loaded| loaded.records).map_err(|error| format!("{error}\n{}", String::from_utf8_lossy(text)))
}

fn rows(records: &Records) -> Vec<Vec<Option<bool>>> {
    (0..records.len()).map(|i| records.row(i).collect()).collect()
}

/// The text, unless no line can hold the names.
fn text_of(names: &Names, write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    match write(&mut text) {
        Ok(()) => Some(text),
        Err(error) => {
            // A line end inside quotes is always \n.
            assert!(names.iter().any(|name| name.contains("\r\n")), "{error}");
            None
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn records_read_back(names in names(), seed: u64, count in 0usize..5, odd: bool, missing: bool, header: bool) {
        let mut random = Random::new(seed);
        let mut builder = RecordsBuilder::new(names.clone());
        let mut weighted = RecordsBuilder::new(names.clone());
        for i in 0..count {
            let mut row = row(&names, &mut random, missing);
            if odd {
                row[random.below(names.len())] = Some(true);
            }
            builder.push(row.iter().copied(), 1.0);
            weighted.push(row, 0.5 + i as f64);
        }
        let (plain, weighted) = (builder.finish(), weighted.finish());
        for records in [plain, weighted] {
            let write = |out: &mut Vec<u8>| match records.is_weighted() {
                true => write_weighted_records(out, &records, header),
                false => write_records(out, &records, header),
            };
            let text = text_of(&names, write);
            prop_assume!(text.is_some());
            let text = text.unwrap();
            let again = read(&text, Header::Detect, &names);
            if count == 0 {
                prop_assert!(again.is_err(), "{:?}", text);
                continue;
            }
            let again = again.map_err(TestCaseError::fail)?;
            prop_assert_eq!((rows(&again), again.weights()), (rows(&records), records.weights()), "{:?}", String::from_utf8(text));
            prop_assert_eq!(again.total(), records.total());
        }
    }

    #[test]
    fn worlds_and_repaired_records_read_back(names in names(), seed: u64, count in 1usize..5) {
        let mut random = Random::new(seed);
        let rows: Vec<Vec<Option<bool>>> = (0..count).map(|_| row(&names, &mut random, false)).collect();
        let text = text_of(&names, |out| {
            let lines = CsvLines::new(&names)?;
            let worlds = rows.iter().map(|row| lines.world(&row.iter().map(|cell| *cell == Some(true)).collect::<Vec<_>>()));
            let text: Vec<String> = [lines.header().to_owned()].into_iter().chain(worlds).collect();
            out.extend((text.join("\n") + "\n" + &lines.unknown() + "\n").into_bytes());
            Ok(())
        });
        prop_assume!(text.is_some());
        let text = text.unwrap();
        let again = read(&text, Header::Detect, &names).map_err(TestCaseError::fail)?;
        let cells = |records: &Records, record: usize| records.row(records.original()[record] as usize).collect::<Vec<_>>();
        prop_assert_eq!(again.original().len(), count + 1);
        prop_assert!((0..count).all(|i| cells(&again, i) == rows[i]), "{:?}", String::from_utf8(text));
        prop_assert!(cells(&again, count).iter().all(Option::is_none));

        let wanted: Vec<Vec<Option<bool>>> = (0..count).map(|_| row(&names, &mut random, false)).collect();
        let lits = |row: &Vec<Option<bool>>| (0..).zip(row).map(|(i, cell)| Var(i).is(*cell == Some(true))).collect::<Vec<Lit>>();
        let mut changes: Vec<Vec<Lit>> = wanted.iter().map(lits).collect();
        changes.push(Vec::new());
        let mut header = Header::Detect;
        let change = |header| {
            let mut out = Vec::new();
            let options = RecordsOptions { header, ..RecordsOptions::default() };
            write_changed_records(&mut out, &text, &options, &names, |i| &changes[i]).map(|()| out)
        };
        let changed = change(header).or_else(|error| {
            assert!(error.to_string().contains("say which it is"), "{error}");
            header = Header::Present;
            change(header)
        });
        let again = read(&changed.unwrap(), header, &names).map_err(TestCaseError::fail)?;
        prop_assert!((0..count).all(|i| cells(&again, i) == wanted[i]), "{:?}", String::from_utf8(text));
    }
}

/// A bin may be called like a number that is not in it.
#[test]
fn bins_called_like_numbers_get_a_number() {
    let bins = Bins::new(["2", "1"].map(String::from).to_vec(), vec![1.5]).unwrap();
    let names = Arc::new(Names::of_columns([("age".to_owned(), Kind::Bins(bins))]).unwrap());
    let mut out = Vec::new();
    let changes = [vec![Var(1).is(true)], vec![Var(0).is(true)]];
    write_changed_records(&mut out, b"age\n0\n9\n", &RecordsOptions::default(), &names, |i| &changes[i]).unwrap();
    assert_eq!(out, b"age\n1.5\n0.5\n");
}
