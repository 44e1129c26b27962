//! Names in texts: quoted, in lists, and abridged.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character acts on a terminal instead of being shown: control characters, ends of lines, marks that change
/// the direction of reading.
pub(crate) fn is_unprintable(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

/// The text with every such character escaped, as `\u{1b}`, ends of lines included.
///
/// Names, values, origins and paths come from files and may hold any character. One that moves the cursor, changes the
/// window title or the direction of reading could make a terminal show a false text.
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

/// A JSON text with every such character in it escaped as `\u202e`, which JSON reads as the same character.
///
/// ```
/// let json = serde_json::to_string("a\u{202e}\u{9b}b").unwrap();
/// assert_eq!(slopp::names::visible_json(&json), r#""a\u202e\u009bb""#);
/// ```
pub fn visible_json(json: &str) -> Cow<'_, str> {
    let acts = |c: char| c != '\n' && is_unprintable(c);
    if !json.contains(acts) {
        return json.into();
    }
    let shown = |c: char| if acts(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    json.chars().map(shown).collect::<String>().into()
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

/// A name in double quotes; quotes in it are doubled, and characters that act on terminals are escaped, as `\u{a}`.
pub fn quote(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 2);
    text.push('"');
    for (i, c) in name.char_indices() {
        // A backslash that would start an escape is escaped itself.
        match c {
            '"' => text.push_str("\"\""),
            c if is_unprintable(c) || name[i..].starts_with(ESCAPE) => drop(write!(text, "{}", c.escape_unicode())),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// Starts an escaped character.
const ESCAPE: &str = "\\u{";

/// The text between quotes with escapes resolved; doubled quotes are single already.
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

/// The names in a list separated by commas, without their quotes; empty ones are skipped.
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

/// Values for messages, each in quotes, so that blanks and commas are visible.
pub(crate) fn quoted_list(values: &[String]) -> String {
    values.iter().map(|value| quote(&shortened(value))).collect::<Vec<_>>().join(", ")
}

/// A name or another text for messages: on one line, [`visible`], and shortened in the middle if it has more than 200
/// characters.
///
/// ```
/// use slopp::names::abridged;
/// assert_eq!(abridged("short"), "short");
/// assert_eq!(abridged("two\nlines"), "two\\u{a}lines");
/// assert_eq!(abridged(&"x".repeat(1_000_000)).chars().count(), 200);
/// ```
pub fn abridged(text: &str) -> Cow<'_, str> {
    match shortened(text) {
        Cow::Borrowed(text) => visible(text),
        Cow::Owned(text) => visible(&text).into_owned().into(),
    }
}

fn shortened(text: &str) -> Cow<'_, str> {
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
