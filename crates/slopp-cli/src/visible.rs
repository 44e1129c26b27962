//! Text for people, without the characters that a terminal would act on instead of showing.
//!
//! Names, values, origins and paths come from files, and may hold any character: one that moves the cursor, changes the
//! title of the window or turns the direction of reading could make a terminal show what is not there.

use slopp::names::is_unprintable;
use std::borrow::Cow;
use std::fmt::Write;

/// The text with every such character written out, as `\u{1b}`; the end of a line is one of them.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_unprintable)
}

/// The same for a text of several lines.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_written_out_and_nothing_else_changes() {
        assert_eq!(visible("a\u{1b}[2Jb\u{9b}\u{7f}\n\u{202e}"), "a\\u{1b}[2Jb\\u{9b}\\u{7f}\\u{a}\\u{202e}");
        assert_eq!(visible_lines("two\nlines\r"), "two\nlines\\u{d}");
        for plain in ["", "größer, 名前, \\u{1b}", "a → b"] {
            assert!(matches!(visible(plain), Cow::Borrowed(text) if text == plain));
        }
    }
}
