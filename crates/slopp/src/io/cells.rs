//! The cells of a line of records.

use std::ops::Range;

/// A cell without its quotes and the blanks around it; blanks inside quotes are part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) text: Vec<u8>,
    pub(super) quoted: bool,
    /// Where it stands in the line, with its quotes.
    pub(super) place: Range<usize>,
}

/// The value of a cell: `Some(None)` if missing, `None` if it is not a Boolean word.
pub(super) fn word(cell: &[u8]) -> Option<Option<bool>> {
    let cell = cell.trim_ascii();
    let is = |words: &[&str]| words.iter().any(|w| cell.eq_ignore_ascii_case(w.as_bytes()));
    match cell {
        // pandas writes Booleans so if some of their column are missing.
        b"0" | b"0.0" => Some(Some(false)),
        b"1" | b"1.0" => Some(Some(true)),
        b"" | b"?" | b"-1" => Some(None),
        _ if cell.len() > 5 => None,
        _ if is(&["true", "t", "yes", "y"]) => Some(Some(true)),
        _ if is(&["false", "f", "no", "n"]) => Some(Some(false)),
        _ if is(&["na", "nan"]) => Some(None),
        _ => None,
    }
}

/// Whether a cell of a column with values is missing.
pub(super) fn is_missing(cell: &str) -> bool {
    matches!(word(cell.as_bytes()), Some(None)) && cell.trim() != "-1"
}

/// Whether a cell is a Boolean number, which nobody calls a column.
pub(super) fn is_number(cell: &[u8]) -> bool {
    matches!(cell.trim_ascii(), b"0" | b"1" | b"0.0" | b"1.0")
}

/// The bar after the weight of a row, if it has one: the first, and not in quotes.
pub(super) fn weight_bar(line: &[u8]) -> Option<usize> {
    line.iter().position(|&b| matches!(b, b'|' | b'"')).filter(|&at| line[at] == b'|')
}

/// The cells of a row without its weight, if it has one.
pub(super) fn unweighted(line: &[u8]) -> &[u8] {
    weight_bar(line).map_or(line, |bar| &line[bar + 1..])
}

/// The cells of a line without quotes; between blanks there is no empty cell.
pub(super) fn split_plain(line: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    line.split(move |&b| b == delimiter).filter(move |cell| delimiter != b' ' || !cell.is_empty())
}

/// The cells of any line.
pub(super) fn split(line: &[u8], delimiter: u8) -> Vec<Cell> {
    cells(line, delimiter).collect()
}

/// The cells of any line, one by one: a long line may have more than the memory holds.
pub(super) fn cells(line: &[u8], delimiter: u8) -> impl Iterator<Item = Cell> {
    let line_end = if delimiter == b' ' { line.trim_ascii_end().len() } else { line.len() };
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let mut at = next?;
        at += line[at..line_end].iter().take_while(|&&b| b == b' ' || (b == b'\t' && delimiter != b'\t')).count();
        let (start, mut rest) = (at, &line[at..line_end]);
        let mut text = Vec::new();
        let mut quoted = rest.first() == Some(&b'"');
        if quoted {
            rest = unquote(&rest[1..], &mut text);
        }
        at = line_end - rest.len();
        let end = rest.iter().position(|&b| b == delimiter);
        let after = &rest[..end.unwrap_or(rest.len())];
        quoted &= after.trim_ascii().is_empty();
        text.extend_from_slice(after.trim_ascii());
        let place = start..at + after.trim_ascii_end().len();
        next = end.map(|end| at + end + 1);
        Some(Cell { text, quoted, place })
    })
}

/// Takes what stands before the closing quote, and returns what stands after it; two quotes are one.
fn unquote<'a>(mut rest: &'a [u8], text: &mut Vec<u8>) -> &'a [u8] {
    loop {
        let quote = rest.iter().position(|&b| b == b'"').unwrap_or(rest.len());
        text.extend_from_slice(&rest[..quote]);
        rest = rest.get(quote + 1..).unwrap_or(&[]);
        match rest.strip_prefix(b"\"") {
            None => return rest,
            Some(after) => {
                text.push(b'"');
                rest = after;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str, delimiter: u8) -> Vec<(String, bool)> {
        let cells = split(line.as_bytes(), delimiter).into_iter();
        cells.map(|cell| (String::from_utf8(cell.text).unwrap(), cell.quoted)).collect()
    }

    #[test]
    fn places_hold_the_cells() {
        for (line, delimiter) in
            [(" a, b ,,c ", b','), (" \"a,\" , b;\"x\" y,\"\"", b','), (" 0  1 ", b' '), (" \"0\"  b ", b' ')]
        {
            let found: Vec<&str> =
                split(line.as_bytes(), delimiter).into_iter().map(|cell| &line[cell.place]).collect();
            let expected: &[&str] = match line {
                " a, b ,,c " => &["a", "b", "", "c"],
                " 0  1 " => &["0", "1"],
                " \"0\"  b " => &["\"0\"", "b"],
                _ => &["\"a,\"", "b;\"x\" y", "\"\""],
            };
            assert_eq!(found, expected, "{line:?}");
        }
    }

    #[test]
    fn quotes_are_taken_off() {
        let expected = |cells: &[(&str, bool)]| cells.iter().map(|&(t, q)| (t.to_owned(), q)).collect::<Vec<_>>();
        for (line, delimiter, cells) in [
            ("a, b ,", b',', &[("a", false), ("b", false), ("", false)][..]),
            ("\"a\", \" b \" ,c", b',', &[("a", true), (" b ", true), ("c", false)]),
            ("\"a,\"\"b\"\"\",\"\"", b',', &[("a,\"b\"", true), ("", true)]),
            ("\"a\"b,c\"d\"", b',', &[("ab", false), ("c\"d\"", false)]),
            ("\"a\"\t\t\"b\"", b'\t', &[("a", true), ("", false), ("b", true)]),
            (" 0  1 ", b' ', &[("0", false), ("1", false)]),
            (" \"0\"  \"a b\" ", b' ', &[("0", true), ("a b", true)]),
            ("\"a", b',', &[("a", true)]),
        ] {
            assert_eq!(texts(line, delimiter), expected(cells), "{line:?}");
        }
    }
}
