//! Lines and words of the line-based formats, by hand: files of many megabytes must load in no time.

use super::error::ReadError;
use super::phrases::show;
use super::problem::Problem;
use rustc_hash::FxHashMap;

/// A line that is neither blank nor a comment.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    /// Its number, from one.
    pub(super) number: usize,
    rest: &'a [u8],
    /// The whole line, for columns.
    text: &'a [u8],
}

/// All lines of a text with their numbers, without their ends.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    text.split(|&b| b == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .enumerate()
        .map(|(i, l)| (i + 1, l))
}

/// The lines that are neither blank nor comments; a comment is `c`, or a word that begins so, as in `cc`.
pub(super) fn content(text: &[u8]) -> impl Iterator<Item = Line<'_>> {
    lines(text).filter_map(|(number, line)| {
        let rest = line.trim_ascii_start();
        (!rest.is_empty() && rest[0] != b'c').then_some(Line { number, rest, text: line })
    })
}

/// The first content line, which must say what kind of file this is: `word`, then perhaps a count of nodes.
pub(super) fn header<'a>(
    lines: &mut impl Iterator<Item = Line<'a>>,
    word: &str,
    expected: &'static str,
) -> Result<(usize, Option<u64>), ReadError> {
    let mut line = lines.next().ok_or_else(|| ReadError::new(Problem::Empty { expected }))?;
    line.kind(word, "<count>")?;
    let count = if line.is_done() { None } else { Some(line.id("the count of nodes")?) };
    line.end()?;
    Ok((line.number, count))
}

/// The first words of files of several kinds, and what they are.
const FILE_KINDS: &[(&str, &str)] = &[
    ("vtree", "a vtree"),
    ("psdd", "a model"),
    ("sdd", "a formula (.sdd)"),
    ("spn", "a sum-product network"),
    ("mixture", "a mixture"),
];

fn kind_in_words(word: &str) -> &'static str {
    FILE_KINDS.iter().find(|(known, _)| *known == word).map_or("another file", |(_, words)| words)
}

/// Whether a first line is one of records: several cells, or only Boolean ones.
fn looks_like_records(line: &[u8]) -> bool {
    let words = || line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    line.contains(&b',') || line.contains(&b';') || words().all(|word| matches!(word, b"0" | b"1"))
}

/// What a file is whose first line is this, if it is one of ours and holds no records.
pub(super) fn kind_by_first_line(line: &[u8]) -> Option<&'static str> {
    let line = line.trim_ascii();
    if line.strip_prefix(b"c slopp ").is_some_and(|rest| rest.iter().all(u8::is_ascii_digit)) {
        return Some("a saved model");
    }
    // Most tools begin with a comment like `c ids of vtree nodes start at 0`.
    let comment = line.strip_prefix(b"c ids of ");
    let mut words = comment.unwrap_or(line).split(u8::is_ascii_whitespace);
    let first = words.next()?;
    let is_count = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let ours = comment.is_some() || first != line && words.all(is_count);
    FILE_KINDS.iter().find(|(word, _)| ours && word.as_bytes() == first).map(|(_, words)| *words)
}

/// Finds NUL bytes: everything else strange is found where it stands.
pub(super) fn check_text(text: &[u8]) -> Result<(), ReadError> {
    match text.iter().position(|&b| b == 0) {
        None => Ok(()),
        Some(at) => Err(ReadError::at(1 + text[..at].iter().filter(|&&b| b == b'\n').count(), Problem::Nul)),
    }
}

impl<'a> Line<'a> {
    /// A line that may be no content, such as one that begins like a comment.
    pub(super) fn new(number: usize, text: &'a [u8]) -> Line<'a> {
        Line { number, rest: text, text }
    }

    /// The next word.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest.trim_ascii_start();
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.rest = &rest[end..];
        (end > 0).then(|| &rest[..end])
    }

    /// How many words are left.
    pub(super) fn words_left(&self) -> usize {
        let mut copy = self.clone();
        std::iter::from_fn(|| copy.word()).count()
    }

    pub(super) fn is_done(&self) -> bool {
        self.rest.trim_ascii_start().is_empty()
    }

    /// The next word, a whole number from zero.
    pub(super) fn id(&mut self, what: &str) -> Result<u64, ReadError> {
        let word = self.word();
        let number = word.filter(|w| w.len() <= 20 && w.iter().all(u8::is_ascii_digit)).and_then(parse::<u64>);
        let expected = || format!("{what}, a whole number of at most {}", u64::MAX);
        number.ok_or_else(|| self.wrong(&expected(), word))
    }

    /// The next word, a whole number that may be negative.
    pub(super) fn signed(&mut self, what: &str) -> Result<i64, ReadError> {
        let word = self.word();
        word.and_then(parse::<i64>).ok_or_else(|| self.wrong(&format!("{what}, a whole number"), word))
    }

    /// The next word, a number.
    pub(super) fn number(&mut self, what: &str) -> Result<f64, ReadError> {
        let word = self.word();
        let number = word.and_then(parse::<f64>).filter(|number| !number.is_nan());
        number.ok_or_else(|| self.wrong(what, word))
    }

    /// The next word, a log-parameter: at most zero, up to rounding; minus infinity is fine, NaN is not.
    pub(super) fn log_parameter(&mut self) -> Result<f64, ReadError> {
        const EXPECTED: &str = "a log-parameter, a number of at most zero (the natural logarithm of a probability; \
                                correct the line, or save the file again)";
        let word = self.word();
        let number = word.and_then(parse::<f64>).ok_or_else(|| self.wrong(EXPECTED, word))?;
        // Written so that NaN fails too.
        if number <= crate::circuit::POSITIVE_TOLERANCE { Ok(number) } else { Err(self.wrong(EXPECTED, word)) }
    }

    /// The next word, a probability.
    pub(super) fn probability(&mut self) -> Result<f64, ReadError> {
        let word = self.word();
        let number = word.and_then(parse::<f64>).filter(|p| (0.0..=1.0).contains(p));
        number.ok_or_else(|| self.wrong("a probability, a number from 0 to 1", word))
    }

    /// Checks that the next word names this kind of file, and not another that we know.
    pub(super) fn kind(&mut self, word: &str, rest: &str) -> Result<(), ReadError> {
        let line = self.rest;
        let found = self.word().unwrap_or(b"");
        if found == word.as_bytes() {
            return Ok(());
        }
        let expected = kind_in_words(word);
        match FILE_KINDS.iter().find(|(word, _)| word.as_bytes() == found) {
            Some((_, found)) => Err(ReadError::at(self.number, Problem::OtherKind { expected, found })),
            None if looks_like_records(line) => {
                Err(ReadError::at(self.number, Problem::OtherKind { expected, found: "a file of records" }))
            }
            None => Err(ReadError::unexpected(self.number, format!("the line `{word} {rest}`"), show(found))),
        }
    }

    /// That no word is left.
    pub(super) fn end(&mut self) -> Result<(), ReadError> {
        match self.word() {
            None => Ok(()),
            word => Err(self.wrong("the end of the line", word)),
        }
    }

    /// The error for the last word that was read, or for the end of the line, which should have been something else.
    pub(super) fn wrong(&self, expected: &str, found: Option<&[u8]>) -> ReadError {
        let read = self.text[..self.text.len() - self.rest.len()].trim_ascii_end();
        let word = read.iter().rev().take_while(|byte| !byte.is_ascii_whitespace()).count();
        let (before, found) = match found {
            Some(found) => (read.len() - word, show(found)),
            None => (read.len(), "the end of the line".to_owned()),
        };
        let column = Some(String::from_utf8_lossy(&self.text[..before]).chars().count() + 1);
        ReadError::at(self.number, Problem::Unexpected { column, expected: expected.to_owned(), found })
    }
}

fn parse<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// From the ids of a file, in any order and with any gaps, to places and lines.
pub(super) struct Ids {
    what: &'static str,
    /// Place + 1 of small ids; the file is longer than the table, so a short file cannot ask for a long one.
    small: Vec<u32>,
    small_limit: u64,
    large: FxHashMap<u64, u32>,
    lines: Vec<usize>,
}

impl Ids {
    /// No ids yet, of a file of this many bytes.
    pub(super) fn new(what: &'static str, bytes: usize) -> Ids {
        Ids { what, small: Vec::new(), small_limit: bytes as u64, large: FxHashMap::default(), lines: Vec::new() }
    }

    /// The place of an id.
    pub(super) fn place(&self, id: u64) -> Option<usize> {
        let place = if id < self.small_limit {
            self.small.get(id as usize).copied().filter(|&p| p > 0).map(|p| p - 1)
        } else {
            self.large.get(&id).copied()
        };
        place.map(|p| p as usize)
    }

    /// Gives a new id the next place.
    pub(super) fn define(&mut self, id: u64, line: usize) -> Result<(), ReadError> {
        if let Some(place) = self.place(id) {
            let first_line = self.lines[place];
            return Err(ReadError::at(line, Problem::RepeatedId { what: self.what, id, first_line }));
        }
        let place = u32::try_from(self.lines.len()).ok().filter(|&p| p < u32::MAX);
        let place = place.ok_or_else(|| ReadError::at(line, Problem::Build(crate::circuit::BuildError::TooLarge)))?;
        if id < self.small_limit {
            if self.small.len() <= id as usize {
                self.small.resize(id as usize + 1, 0);
            }
            self.small[id as usize] = place + 1;
        } else {
            self.large.insert(id, place);
        }
        self.lines.push(line);
        Ok(())
    }
}
