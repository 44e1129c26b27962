//! Every format: the fixtures of other tools, round trips, and bad input.

use slopp::io::*;
use slopp::vtree::VtreeId;
use slopp::{Advice, Names, Var, Vtree};
use slopp_oracle::shared;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == extension));
    files.sort();
    files
}

fn message<T: std::fmt::Debug>(result: Result<T, ReadError>) -> String {
    result.expect_err("must be refused").to_string()
}

fn records(text: impl AsRef<[u8]>) -> Result<LoadedRecords, ReadError> {
    load_records(text.as_ref(), &RecordsOptions::default())
}

/// Rows as text, in the order of the file.
fn rows(loaded: &LoadedRecords) -> Vec<String> {
    let cell = |c: Option<bool>| c.map_or('?', |b| if b { '1' } else { '0' });
    let row = |&r: &u32| loaded.records.row(r as usize).map(cell).collect();
    loaded.records.original().iter().map(row).collect()
}

#[test]
fn fixture_vtrees_load() {
    let Some(folder) = shared("fixtures") else { return };
    let mut count = 0;
    for sub in ["vtrees", "zoo", "pypsdd", "pysdd"] {
        for file in files(&folder.join(sub), "vtree") {
            let loaded = read_vtree(&file).unwrap();
            let mut bytes = Vec::new();
            write_vtree(&mut bytes, &loaded.vtree).unwrap();
            let again = read_vtree(&bytes).unwrap();
            assert!(again.is_in_order());
            assert_eq!(again.vtree, loaded.vtree, "{}", file.display());
            count += 1;
        }
    }
    assert!(count > 25, "{count} vtrees");
    let juice = read_vtree(&folder.join("zoo/little_4var.vtree")).unwrap();
    assert_eq!(juice.vtree.to_string(), "((1,2),(3,4))");
    assert_eq!(juice.node(4), Some(VtreeId(1)));
    assert_eq!(juice.file_id(VtreeId(3)), 6);
}

#[test]
fn fixture_psdds_load_with_and_without_their_vtree() {
    let Some(folder) = shared("fixtures") else { return };
    let vtree_of = |file: &Path| {
        let name = file.file_name().unwrap().to_str().unwrap();
        let name = name.split('.').next().unwrap();
        folder.join(format!("zoo/{name}.vtree"))
    };
    let mut given = 0;
    for file in files(&folder.join("zoo"), "psdd").iter().chain(&files(&folder.join("pysdd"), "psdd")) {
        let inferred = read_psdd(file, None).unwrap();
        assert_eq!(inferred.file_ids.len(), inferred.circuit.nodes().len());
        if vtree_of(file).exists() {
            let vtree = read_vtree(&vtree_of(file)).unwrap();
            assert_eq!(read_psdd(file, Some(&vtree)).unwrap(), inferred, "{}", file.display());
            given += 1;
        }
    }
    assert!(given > 8, "{given}");
    let asia = read_psdd(&folder.join("zoo/asia.uai.psdd"), None).unwrap();
    assert_eq!(asia.circuit.vtree().to_string(), "(1,(6,((3,(7,8)),(5,(2,4)))))");
    assert_eq!(asia.file_ids[asia.circuit.root().index()], 41);
    let bdd = read_psdd(&folder.join("zoo/asia-bdd.psdd"), None).unwrap();
    assert!(bdd.circuit.vtree().is_right_linear());
}

#[test]
fn psdd_dialects_agree() {
    let one = "psdd 3\nL 0 0 1\nL 1 0 -1\nT 2 2 2 -0.5\nD 9 1 2 0 2 -0.25 1 2 -1.5089869804498532";
    let two = "c\npsdd\nL 0 0 1 \r\nL 1 0 -1\nT 2 2 2 -0.9327521295671886 -0.5\n\nD 9 1 2 0 2 -0.25 1 2 -1.5089869804498532\n";
    let (one, two) = (read_psdd(one.as_bytes(), None).unwrap(), read_psdd(two.as_bytes(), None).unwrap());
    assert_eq!(one, two);
    assert_eq!(one.circuit.log_parameters().tops[0][1], -0.5);
}

#[test]
fn dead_elements_are_dropped_and_certain_tops_become_literals() {
    for zero in ["-Infinity", "-Inf", "-inf"] {
        let text = format!("psdd 9\nL 7 0 1\nL 3 0 -1\nT 4 2 2 {zero}\nT 5 2 2 0.0\nD 9 1 2 7 4 0.0 3 5 {zero}");
        let loaded = read_psdd(text.as_bytes(), None).unwrap();
        assert_eq!(loaded.circuit.nodes().len(), 3, "{loaded:?}");
        assert_eq!(loaded.circuit.node(slopp::NodeId(1)), slopp::Node::Literal(Var(1).is(false)));
        assert_eq!(loaded.file_ids, [7, 4, 9]);
    }
    let nested = "psdd\nL 0 0 1\nL 1 2 2\nL 8 4 3\nL 9 4 -3\nD 2 3 1 1 8 -inf\nD 3 3 1 1 9 0\nD 4 1 2 0 2 -inf 0 3 0\n";
    assert_eq!(read_psdd(nested.as_bytes(), None).unwrap().circuit.nodes().len(), 5);
}

#[test]
fn bad_psdds_are_explained() {
    let vtree = LoadedVtree::in_order(Vtree::balanced(2));
    let start = "psdd 3\nL 0 0 1\nL 1 0 -1\nT 2 2 2 -0.5\n";
    for (lines, line, parts) in [
        ("D 3 1 1 0 2", 5, vec!["expected a log-parameter", "found the end of the line"]),
        ("D 3 1 2 0 2 0", 5, vec!["expected the id of a prime", "found the end of the line"]),
        ("D 3 1 1 0 2 0.5", 5, vec!["at most zero", "0.5"]),
        ("D 3 1 1 0 2 NaN", 5, vec!["at most zero", "NaN"]),
        ("D 3 1 1 0 2 inf", 5, vec!["at most zero", "inf"]),
        ("D 3 1 1 0 2 0 7", 5, vec!["end of the line", "\"7\""]),
        ("D 3 1 1 0 9 0", 5, vec!["node 9 does not exist", "cut off"]),
        ("D 3 1 1 0 3 0", 5, vec!["node 3 is used before it is defined in line 5", "below itself"]),
        ("D 3 1 1 0 4 0\nL 4 2 2", 5, vec!["node 4 is used before it is defined in line 6"]),
        ("D 2 1 1 0 2 0", 5, vec!["node 2 was already defined in line 4"]),
        ("D 3 7 1 0 2 0", 5, vec!["vtree node 7 does not exist"]),
        ("D 3 0 1 0 2 0", 5, vec!["an inner vtree node"]),
        ("D 3 1 1 2 2 0", 5, vec!["the prime of element 1 at vtree node 0", "found one at vtree node 2"]),
        ("D 3 1 1 0 1 0", 5, vec!["the sub of element 1 at vtree node 2, the right child of 1"]),
        ("D 3 1 2 0 2 0 0 2 0", 5, vec!["same prime and the same sub"]),
        ("D 3 1 0", 5, vec!["at least one element"]),
        ("D 3 1 4294967295 0 2 0", 5, vec!["expected the id of a prime"]),
        ("D 3 1 99999999999999999999999 0 2 0", 5, vec!["number of elements"]),
        ("L 3 2 1", 5, vec!["variable 2, which is at vtree node 2", "found variable 1"]),
        ("L 3 1 1", 5, vec!["a leaf of the vtree"]),
        ("L 3 2 0", 5, vec!["expected a literal", "\"0\""]),
        ("L 3 2 99999999999", 5, vec!["expected a literal"]),
        ("T 3 2 2 -0.1 -0.2", 5, vec!["1 log-parameters", "found 2"]),
        ("T 3 -0.1 -0.2", 5, vec!["T <id> <vtree id> <variable>"]),
        ("X 3", 5, vec!["L, T or D", "\"X\""]),
        ("L -3 2 2", 5, vec!["id of a node", "\"-3\""]),
        ("L 3 2 2", 5, vec!["the root in the last line", "cut off"]),
        ("D 3 1 1 0 2 -inf", 5, vec!["node 3 has probability zero"]),
        ("T 5 2 2 \u{0}", 5, vec!["NUL"]),
    ] {
        let error = message(read_psdd(format!("{start}{lines}").as_bytes(), Some(&vtree)));
        assert!(error.starts_with(&format!("line {line}: ")), "{lines}: {error}");
        for part in parts {
            assert!(error.contains(part), "{lines}: {error}");
        }
    }
    for (text, part) in [
        ("", "is empty"),
        ("c only\nc comments\n", "is empty"),
        ("psdd 4", "lines of nodes"),
        ("vtree 3\nL 0 1", "this is a vtree, not a model"),
        ("odd 3\nL 0 1", "`psdd <count>`"),
        ("psdd many\nL 0 0 1", "count of nodes"),
        ("psdd 1\nL 0 0 2", "variable 1 is missing"),
        ("psdd 2\nL 0 0 1\nL 1 0 2", "give the vtree file"),
        ("psdd 2\nL 0 0 1\nL 1 2 2", "cut off"),
        ("psdd 4\nL 0 0 1\nL 1 2 2\nD 2 1 1 0 1 0\nD 3 1 1 1 0 0", "give the vtree file"),
    ] {
        let error = message(read_psdd(text.as_bytes(), None));
        assert!(error.contains(part), "{text:?}: {error}");
    }
}

#[test]
fn vtrees_in_any_order() {
    let vtree = read_vtree(b"c hello\ncc too\nvtree 5\nI 90 7 80\nI 80 2 1\nL 7 3 \r\nL 2 1\n\nL 1 2").unwrap();
    assert_eq!(vtree.vtree.to_string(), "(3,(1,2))");
    assert_eq!(vtree.file_ids, [7, 90, 2, 80, 1]);
    assert!(!vtree.is_in_order());
    assert_eq!(read_vtree(b"\xef\xbb\xbfvtree\nL 4294967296 1").unwrap().file_ids, [1 << 32]);
}

#[test]
fn bad_vtrees_are_explained() {
    for (text, parts) in [
        ("", vec!["is empty"]),
        ("vtree 4000000000\n", vec!["line 1", "L and I"]),
        ("psdd 1\nL 0 1", vec!["line 1", "this is a model, not a vtree"]),
        ("odd 1\nL 0 1", vec!["line 1", "`vtree <count>`", "\"odd\""]),
        ("vtree 3\nL 0 1\nL 0 2", vec!["line 3", "vtree node 0 was already defined in line 2"]),
        ("vtree 3\nL 0 1\nL 2 2\nI 1 0 3", vec!["line 4", "vtree node 3 does not exist", "cut off"]),
        ("vtree 3\nL 0 1\nL 2 1\nI 1 0 2", vec!["line 3", "variable 1 again", "line 2"]),
        ("vtree 3\nL 0 1\nL 2 3\nI 1 0 2", vec!["variable 2 is missing"]),
        ("vtree 3\nL 0 1\nL 2 2", vec!["line 3", "0 and 2 both have no parent", "cut off"]),
        ("vtree 3\nL 0 1\nI 1 0 1", vec!["line 3", "vtree node 1 is below itself"]),
        (
            "vtree 9\nL 9 3\nL 5 1\nI 2 5 7\nL 6 2\nI 0 1 2\nI 1 0 6\nL 7 4",
            vec!["line 6", "vtree node 0 is below itself"],
        ),
        ("vtree 3\nI 0 1 2\nI 1 0 2\nL 2 1", vec!["already a child of vtree node 0"]),
        ("vtree 3\nL 5 1\nL 6 2\nI 0 1 5\nI 1 0 6", vec!["below itself"]),
        ("vtree 5\nL 9 3\nL 5 1\nL 6 2\nI 0 1 5\nI 1 0 6", vec!["below itself"]),
        ("vtree 1\nI 0 0 0", vec!["vtree node 0"]),
        ("vtree 3\nL 0 1\nL 2 2\nI 1 0", vec!["line 4", "right child", "end of the line"]),
        ("vtree 3\nL 0 0", vec!["line 2", "variable number from 1"]),
        ("vtree 3\nL 0 x", vec!["line 2", "\"x\""]),
        ("vtree 3\nQ 0 1", vec!["line 2", "L or I"]),
        ("vtree 3\nL 0 1 2", vec!["line 2", "end of the line"]),
        ("vtree 5\nL 0 1\nL 2 2\nI 1 0 2", vec!["expected 5 vtree nodes", "found 3", "cut off"]),
        ("vtree 3\nL 0 1\n\u{0}", vec!["line 3", "NUL"]),
    ] {
        let error = message(read_vtree(text.as_bytes()));
        for part in parts {
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
}

#[test]
fn records_of_every_kind() {
    for (text, header, expected) in [
        ("0,1\n1,1\n", false, vec!["01", "11"]),
        ("a,b\n0,1\n1,1", true, vec!["01", "11"]),
        ("\u{feff}a;b\r\n0;1\r\n1;1\r\n\r\n\r\n", true, vec!["01", "11"]),
        ("\u{feff}0\t1\n", false, vec!["01"]),
        ("TRUE, false\n Yes ,n\nT,F\n", false, vec!["10", "10", "10"]),
        ("0,?\n,NA\n-1,nan\n1,1", false, vec!["0?", "??", "??", "11"]),
        ("\"a,b\",\"c\"\"d\"\n\"1\",0\n", true, vec!["10"]),
        ("\"two\nlines\",b\n1,0\n", true, vec!["10"]),
        ("1\n\n0\n", false, vec!["1", "0"]),
        ("x\n1", true, vec!["1"]),
        ("a,b\n3|0,1\n1,1\n", true, vec!["01", "11"]),
        ("w|a,b\n3|0,1\n1,1\n", true, vec!["01", "11"]),
        ("1.0,0.0\n,1.0\n", false, vec!["10", "?1"]),
        ("a,b\n1.0,\n", true, vec!["1?"]),
        ("0 1 1\n 1  0 ?\n1 1 1 \r\n", false, vec!["011", "10?", "111"]),
        ("yes no\nno no", false, vec!["10", "00"]),
        ("2|0 1 1\n1 0 0", false, vec!["011", "100"]),
        ("a b c\n0 1 1\n", true, vec!["011"]),
        ("my column\n1\n0", true, vec!["1", "0"]),
        ("\"0\",\"1\"\n0,1\n", true, vec!["01"]),
        ("\"0\",\"1\"\n\"1\",\"1\"\n", false, vec!["01", "11"]),
        ("\"0\",\"1\"\n", false, vec!["01"]),
        ("\"0\",1\n0,1\n", false, vec!["01", "01"]),
    ] {
        let loaded = records(text).unwrap_or_else(|e| panic!("{text:?}: {e}"));
        assert_eq!(
            (loaded.header, rows(&loaded)),
            (header, expected.into_iter().map(String::from).collect()),
            "{text:?}"
        );
    }
    let loaded = records("\"a,b\",\"c\"\"d\"\n1,0").unwrap();
    assert_eq!(loaded.records.names().iter().collect::<Vec<_>>(), ["a,b", "c\"d"]);
}

#[test]
fn weights_add_up() {
    let loaded = records("2.5|0,1\n1,1\n0.5|0,1\n 4 |1,1\n").unwrap();
    assert!(loaded.weighted && !loaded.header);
    assert_eq!(loaded.records.weights(), [5.0, 3.0]);
    assert_eq!(rows(&loaded), ["01", "11", "01", "11"]);
    let late = records("0,1\n3|1,1\n").unwrap();
    assert!(late.weighted && late.records.weights() == [3.0, 1.0]);
    assert!(message(records("x|0,1\n1|0,1")).contains("line 1: expected a weight from 1e-9 to 1e15"));
    for weight in ["0", "-1", "nan", "inf", "x", ""] {
        let error = message(records(format!("1|0,1\n{weight}|0,1")));
        assert!(error.contains("line 2: expected a weight from 1e-9 to 1e15"), "{error}");
    }
}

#[test]
fn wide_records_are_packed_right() {
    // An independent reading: cell i of row r is a fixed pseudo-random bit.
    let bit = |r: usize, i: usize| (r * 7919 + i * 104_729 + (i * r) % 13).is_multiple_of(3);
    for width in [1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 128, 129, 1000] {
        let line = |r| (0..width).map(|i| if bit(r, i) { "1" } else { "0" }).collect::<Vec<_>>().join(",");
        let loaded = records((0..20).map(line).collect::<Vec<_>>().join("\n")).unwrap();
        for (r, row) in rows(&loaded).iter().enumerate() {
            assert!(row.bytes().enumerate().all(|(i, b)| (b == b'1') == bit(r, i)), "width {width} row {r}");
        }
    }
    let wide = vec!["1"; 100_000].join(",");
    assert_eq!(records(format!("{wide}\n{wide}")).unwrap().records.var_count(), 100_000);
    let names: Vec<_> = (0..100_000).map(|i| format!("n{i}")).collect();
    assert_eq!(records(format!("{}\n{wide}", names.join(","))).unwrap().records.names().of(Var(99_999)), "n99999");
}

#[test]
fn bad_records_are_explained() {
    for (text, parts) in [
        (&b""[..], vec!["is empty"]),
        (b"\n\n \n", vec!["is empty"]),
        (b"a,b\n", vec!["header and no records"]),
        (b"a,b\n0,1\n0,o\n", vec!["line 3: column 2 (b): expected 0, 1, true", "found \"o\"", "missing: empty"]),
        (b"0,1\n0,1\n0,maybe\n", vec!["line 3: column 2: expected", "\"maybe\""]),
        (b"0,1,x\n1,0,1\n", vec!["line 1: column 3: expected", "\"x\""]),
        (b"0,1\n0\n", vec!["line 2: expected 2 cells as in line 1, found 1"]),
        (b"0,1\n0,1,1\n", vec!["line 2: expected 2 cells as in line 1, found 3"]),
        (b"0,1\n0,\0\n", vec!["line 2", "NUL"]),
        (b"\xff\xfea\0,\0b\0", vec!["line 1", "NUL"]),
        (b"a\xff,b\n0,1\n", vec!["line 1", "UTF-8"]),
        (b"0,1\n0,\xff\n", vec!["line 2: column 2"]),
        (b"a,b,a\n0,1,0\n", vec!["line 1", "\"a\" is used by columns 1 and 3", "because \"a\" is not Boolean"]),
        (b"a,,c\n0,1,0\n", vec!["line 1", "column 2 has an empty name"]),
        (b"a,\"b\n0,1\n0,1\n", vec!["line 1", "closing quote"]),
        (b"1|0,1\n2|0,2\n", vec!["line 2: column 2"]),
        (b"x\n0:1\n", vec!["line 2", "\"0:1\"", "separated by commas, semicolons, tabs or blanks"]),
        (b"0110\n0101\n", vec!["line 2: column 1 (0110)", "\"0101\"", "separated by commas"]),
        (b"0 1\n0 2\n", vec!["line 2: column 2", "\"2\""]),
        (b"0,1,2\n0,1,1\n", vec!["line 1: column 3", "\"2\""]),
        (b"0 1 2\n0 1 1\n", vec!["line 1: column 3", "\"2\""]),
        (b"\"0\",\"0\"\n0,1\n", vec!["line 1", "columns 1 and 2", "cells are quoted"]),
        (b"0,1\n1.,0\n", vec!["line 2: column 1", "\"1.\""]),
        (b"0,1\n0,10.0\n", vec!["line 2: column 2", "\"10.0\""]),
        (b"w|a,b\n0,1\n2|0,1\n", vec!["line 3: expected no weight", "\"w|a\"", "weight|a,b", "found \"2\""]),
    ] {
        let error = message(records(text));
        for part in parts {
            assert!(error.contains(part), "{:?}: {error}", String::from_utf8_lossy(text));
        }
    }
    for (text, advice) in [
        (&b"a,b\n"[..], vec![Advice::FirstLineIsRecord]),
        (b"0,1,2\n0,1,1\n", vec![Advice::FirstLineHoldsNames]),
        (b"\"0\",\"0\"\n0,1\n", vec![Advice::FirstLineIsRecord]),
        (b"0,1\n0\n", vec![]),
    ] {
        assert_eq!(records(text).unwrap_err().advice(), advice);
    }
    let strict = RecordsOptions { missing: false, ..Default::default() };
    let error = message(load_records(&b"0,1\n0,?\n"[..], &strict));
    assert!(error.contains("line 2: column 2") && error.contains("none missing"), "{error}");
}

#[test]
fn a_header_of_weighted_records_has_a_label() {
    let names = |text: &str| records(text).unwrap().records.names().iter().map(String::from).collect::<Vec<_>>();
    assert_eq!(names("w|a,b\n2|0,1"), ["a", "b"]);
    assert_eq!(names("w|\"a,b\",c\n2|0,1"), ["a,b", "c"]);
    assert_eq!(names("|a b\n2|0 1"), ["a", "b"]);
    assert_eq!(names("\"w|a\",b\n2|0,1"), ["w|a", "b"]);
    // No row has a weight: a column may be called so.
    assert_eq!(names("w|a,b\n0,1\n1,1"), ["w|a", "b"]);
    assert_eq!(records("w|a,b\n2|0,1\n1,1").unwrap().records.total(), 3.0);
}

#[test]
fn names_come_back_whatever_they_look_like() {
    for names in [
        &["t", "f", "y"][..],
        &["0", "1"],
        &["0", "a"],
        &["1.0", "x"],
        &["yes"],
        &["?"],
        &["t f"],
        &["a b", "c"],
        &["a;b;c", "d"],
        &["a\tb\tc", "d"],
        &["w|a", "b"],
        &["w|0", "1"],
        &[" a", "a "],
        &["a,b", "c\"d", "\"", "two\nlines"],
        &["\"a\"", "'b'"],
        &["plain", "names"],
    ] {
        let text: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut builder = slopp::RecordsBuilder::new(Names::new(text).unwrap());
        for value in [Some(true), None, Some(false)] {
            builder.push(vec![value; names.len()], 1.0);
        }
        let written = builder.finish();
        let mut bytes = Vec::new();
        write_records(&mut bytes, &written, true).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(records(&bytes).unwrap_or_else(|e| panic!("{text:?}: {e}")).records, written, "{text:?}");
    }
    let plain = records("plain,names\n0,1\n").unwrap().records;
    let mut bytes = Vec::new();
    write_records(&mut bytes, &plain, true).unwrap();
    assert_eq!(bytes, b"plain,names\n0,1\n");
}

#[test]
fn a_wrong_vtree_is_blamed() {
    let psdd = "psdd 3\nL 0 0 1\nL 1 0 -1\nT 2 2 2 -0.5\nD 3 1 2 0 2 -0.25 1 2 -1.5089869804498532\n";
    let sdd = "sdd 4\nL 0 0 1\nL 1 0 -1\nL 2 2 2\nL 3 2 -2\nD 4 1 2 0 2 1 3\n";
    let swapped = LoadedVtree::in_order("(2,1)".parse().unwrap());
    let larger = LoadedVtree::in_order(Vtree::balanced(3));
    let single = LoadedVtree::in_order(Vtree::balanced(1));
    let psdd_with = |vtree| message(read_psdd(psdd.as_bytes(), Some(vtree)));
    let sdd_with = |vtree| message(read_sdd(sdd.as_bytes(), Some(vtree)));
    for error in [psdd_with(&swapped), sdd_with(&swapped)] {
        assert!(error.starts_with("line 2: the vtree given is not the vtree of this circuit: expected"), "{error}");
    }
    for (error, vars) in [(psdd_with(&larger), 3), (psdd_with(&single), 1), (sdd_with(&single), 1)] {
        let part = format!("not the vtree of this circuit (the circuit has 2 variables, the vtree {vars})");
        assert!(error.contains(&part), "{error}");
    }
    // A trimmed diagram does not show its vtree, so nobody can be sure.
    let trimmed = "sdd 1\nL 0 2 1\n";
    let error = message(read_sdd(trimmed.as_bytes(), Some(&LoadedVtree::in_order(Vtree::balanced(2)))));
    assert!(error.contains("may not be the vtree of this circuit"), "{error}");
    // A broken file with its own vtree is no fault of the vtree.
    let own = LoadedVtree::in_order(Vtree::balanced(2));
    let error =
        message(read_psdd(psdd.replace("D 3 1 2 0 2 -0.25 1 2", "D 3 1 2 0 2 -0.25 0 2").as_bytes(), Some(&own)));
    assert!(error.contains("same prime") && !error.contains("vtree given"), "{error}");
}

#[test]
fn headers_can_be_forced() {
    let read = |text: &str, header| load_records(text.as_bytes(), &RecordsOptions { header, ..Default::default() });
    assert_eq!(read("0,1\n1,1", Header::Present).unwrap().records.names().of(Var(1)), "1");
    assert_eq!(rows(&read("0,1\n1,1", Header::Detect).unwrap()), ["01", "11"]);
    assert!(message(read("a,b\n1,1", Header::Absent)).contains("line 1: column 1"));
}

#[test]
fn columns_are_matched_to_variables() {
    let names = Arc::new(Names::new(["a", "b", "c"].map(String::from).to_vec()).unwrap());
    let read = |text: &str| load_records(text.as_bytes(), &RecordsOptions::over(&names));
    assert_eq!(rows(&read("c,a,b\n1,0,0\n?,1,0").unwrap()), ["001", "10?"]);
    assert_eq!(rows(&read("1,0,0").unwrap()), ["100"]);
    assert!(message(read("1,0")).contains("expected 3 columns, one per variable, found 2"));
    assert!(message(read("1,0")).contains("add the missing columns, or add a header"));
    assert!(message(read("1,0,1,1")).contains("delete the other columns, or add a header"));
    for (header, expected) in [
        ("a,b,d", "missing \"c\"; unknown \"d\"; rename what is misspelt, add what is missing"),
        ("b", "missing \"a\", \"c\"; add them (an empty column counts as missing cells)"),
        ("b,a,d,c,e", "unknown \"d\", \"e\"; delete them"),
    ] {
        let error = message(read(&format!("{header}\n0")));
        assert!(error.starts_with(&format!("line 1: the columns do not fit the variables: {expected}")), "{error}");
    }
    assert_eq!(rows(&read("b,a,c\n1,0,").unwrap()), ["01?"]);
    let error = message(read("c,a,b\n1,0,x"));
    assert!(error.contains("line 2: column 3 (b)"), "{error}");
}

#[test]
fn benchmark_data_load() {
    let Some(folder) = shared("data/nltcs") else { return };
    let train = read_records(&folder.join("nltcs.train.data.gz"), &RecordsOptions::default()).unwrap();
    assert_eq!((train.var_count(), train.total()), (16, 16181.0));
}
