//! Ways to damage a file.

use slopp::Random;

/// Words that readers stumble over.
const WORDS: [&str; 28] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "-7",
    "4294967295",
    "4294967296",
    "18446744073709551616",
    "-0",
    "1e999",
    "-1e999",
    "nan",
    "-inf",
    "-Infinity",
    "0.5",
    "-0.693",
    "c",
    "c slopp",
    "psdd",
    "L",
    "T",
    "D",
    "F",
    "I",
    "\u{0}",
    "\u{feff}",
    "é",
];

/// The sample with one to six random changes.
pub(crate) fn damaged(sample: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for _ in 0..1 + random.below(6) {
        match random.below(8) {
            0 => flip(&mut bytes, random),
            1 => bytes.truncate(random.below(bytes.len() + 1)),
            2 => insert(&mut bytes, &[random.bits() as u8], random),
            3 => insert(&mut bytes, WORDS[random.below(WORDS.len())].as_bytes(), random),
            4 | 5 => replace_word(&mut bytes, random),
            6 => lines(&mut bytes, random, |lines, i, _| {
                lines.remove(i);
            }),
            _ => lines(&mut bytes, random, |lines, i, j| lines.insert(j, lines[i])),
        }
    }
    bytes
}

fn flip(bytes: &mut [u8], random: &mut Random) {
    if !bytes.is_empty() {
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
    }
}

fn insert(bytes: &mut Vec<u8>, new: &[u8], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    bytes.splice(at..at, new.iter().copied());
}

fn replace_word(bytes: &mut Vec<u8>, random: &mut Random) {
    let is_break = |byte: &u8| byte.is_ascii_whitespace() || b",|()".contains(byte);
    if let Some(at) = bytes.len().checked_sub(1).map(|last| random.below(last + 1)) {
        let start = bytes[..at].iter().rposition(is_break).map_or(0, |i| i + 1);
        let end = at + bytes[at..].iter().position(is_break).unwrap_or(bytes.len() - at);
        let word = WORDS[random.below(WORDS.len())];
        bytes.splice(start..end.max(start), word.bytes());
    }
}

fn lines(bytes: &mut Vec<u8>, random: &mut Random, change: impl FnOnce(&mut Vec<&[u8]>, usize, usize)) {
    let copy = bytes.clone();
    let mut lines: Vec<&[u8]> = copy.split(|&byte| byte == b'\n').collect();
    let (i, j) = (random.below(lines.len()), random.below(lines.len()));
    change(&mut lines, i, j);
    *bytes = lines.join(&b'\n');
}
