//! Names in texts: in quotes, in lists, and short enough to read.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character acts instead of being seen: control characters, ends of lines, marks that turn the direction of
/// reading. A terminal would act on it, and a line of a file would end at it.
pub fn is_unprintable(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

/// The text with every such character written by its number, as `\u{1b}`; the end of a line is one of them.
///
/// Names, values, origins and paths come from files, and may hold any character: one that moves the cursor, changes the
/// title of the window or turns the direction of reading could make a terminal show what is not there.
///
/// ```
/// assert_eq!(slopp::names::visible("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\u{a}");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_unprintable)
}

/// The same for a text of several lines.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_unprintable(c))
}

fn escaped(text: &str, acts: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&acts) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match acts(c) {
            // Writing to a string cannot fail.
            true => drop(write!(shown, "{}", c.escape_unicode())),
            false => shown.push(c),
        }
    }
    shown.into()
}

/// A name in double quotes; a quote in it is written twice, and a character that acts instead of being seen by its number, as `\u{a}`.
pub(crate) fn quote(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 2);
    text.push('"');
    for (i, c) in name.char_indices() {
        // A backslash that would be read as the beginning of such a number is written by its own.
        match c {
            '"' => text.push_str("\"\""),
            c if is_unprintable(c) || name[i..].starts_with(ESCAPE) => drop(write!(text, "{}", c.escape_unicode())),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// What begins a character that is written by its number.
const ESCAPE: &str = "\\u{";

/// The text between quotes with characters that are written by their numbers; quotes in it are single already.
pub(crate) fn unescaped(text: &str) -> String {
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(ESCAPE) {
        let number = rest[at + ESCAPE.len()..].split_once('}');
        let found = number.and_then(|(digits, after)| {
            let number = u32::from_str_radix(digits, 16).ok()?;
            Some((char::from_u32(number)?, after))
        });
        plain.push_str(&rest[..at]);
        rest = match found {
            Some((c, after)) => {
                plain.push(c);
                after
            }
            None => {
                plain.push_str(ESCAPE);
                &rest[at + ESCAPE.len()..]
            }
        };
    }
    plain + rest
}

/// The names between the commas of a list, without quotes around them; empty ones are left out.
///
/// ```
/// assert_eq!(slopp::names::split_list("age, \"a,b\", \"\""), ["age", "a,b"]);
/// ```
pub fn split_list(list: &str) -> Vec<String> {
    let (mut parts, mut quoted) = (vec![String::new()], false);
    for c in list.chars() {
        quoted ^= c == '"';
        match c {
            ',' if !quoted => parts.push(String::new()),
            c => parts.last_mut().expect("one at least").push(c),
        }
    }
    let unquoted = |part: String| match part.trim().strip_prefix('"').and_then(|part| part.strip_suffix('"')) {
        Some(inner) => unescaped(&inner.replace("\"\"", "\"")),
        None => part.trim().to_owned(),
    };
    parts.into_iter().map(unquoted).filter(|name| !name.is_empty()).collect()
}

/// Values as messages list them, each in quotes, so that blanks and commas in them are seen.
pub(crate) fn quoted_list(values: &[String]) -> String {
    values.iter().map(|value| quote(&abridged(value))).collect::<Vec<_>>().join(", ")
}

/// A text that may be long, as messages show it: its beginning and its end if it has more than 200 characters.
///
/// ```
/// use slopp::names::abridged;
/// assert_eq!(abridged("short"), "short");
/// assert_eq!(abridged(&"x".repeat(1_000_000)).chars().count(), 200);
/// ```
pub fn abridged(text: &str) -> Cow<'_, str> {
    const MOST: usize = 200;
    const END: usize = 50;
    if text.len() <= MOST || text.chars().nth(MOST).is_none() {
        return text.into();
    }
    let place = |at: Option<(usize, char)>| at.map_or(0, |(place, _)| place);
    let begins = &text[..place(text.char_indices().nth(MOST - END - 1))];
    format!("{begins}…{}", &text[place(text.char_indices().nth_back(END - 1))..]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_reads_back() {
        for name in
            ["a\nb", "\u{1b}[2J", "a\\u{1b}", "\\u{", "\\", "\u{202e}x\"\r", "\\u{5c}u{5c}", "\\u{zz}", "é\u{9b}"]
        {
            let text = quote(name);
            assert!(!text.contains(is_unprintable), "{text}");
            assert_eq!(split_list(&text), [name], "{text}");
        }
        assert_eq!(quote("a\nb"), "\"a\\u{a}b\"");
    }

    #[test]
    fn only_what_acts_is_written_by_its_number() {
        assert_eq!(visible("a\u{1b}[2Jb\u{9b}\u{7f}\n\u{202e}"), "a\\u{1b}[2Jb\\u{9b}\\u{7f}\\u{a}\\u{202e}");
        assert_eq!(visible_lines("two\nlines\r"), "two\nlines\\u{d}");
        for plain in ["", "größer, 名前, \\u{1b}", "a → b"] {
            assert!(matches!(visible(plain), Cow::Borrowed(text) if text == plain));
        }
    }

    #[test]
    fn long_texts_keep_both_ends() {
        let long = format!("begin{}end", "ä".repeat(500));
        let shown = abridged(&long);
        assert!(shown.starts_with("begin") && shown.ends_with("end") && shown.chars().count() == 200, "{shown}");
        let fits = "ä".repeat(200);
        assert_eq!(abridged(&fits), fits);
    }
}
