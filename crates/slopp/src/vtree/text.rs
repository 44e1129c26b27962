//! A vtree as one line of text, `((1,2),(3,4))`, and as a picture.

use super::{Step, Vtree, VtreeError};
use crate::names::{Names, abridged, is_unprintable, quote, unescaped};
use crate::var::Var;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

impl Vtree {
    /// Reads a line like `((a,b),(c,d))`; `find` maps each leaf to its variable.
    ///
    /// A leaf is anything without parentheses, commas and surrounding blanks, or anything in double quotes; a quote in
    /// a quoted leaf is written twice.
    pub fn parse_with<E>(text: &str, mut find: impl FnMut(&str) -> Result<Var, E>) -> Result<Vtree, E>
    where
        E: From<VtreeError>,
    {
        Vtree::parse_leaves(text, |leaf, steps| {
            steps.push(Step::Leaf(find(leaf)?));
            Ok(())
        })
    }

    /// Reads a line like `((a,b),(c,d))` over these names. A leaf is a variable, a column, which stands for its values
    /// one after the other, or a number from one where nothing has it as a name.
    ///
    /// ```
    /// use slopp::{Kind, Names, Vtree};
    /// let sizes = Kind::Values(["s", "m", "l"].map(String::from).to_vec());
    /// let names = Names::of_columns([("hot".into(), Kind::Boolean), ("size".into(), sizes)])?;
    /// let vtree = Vtree::parse_named("(size,hot)", &names)?;
    /// assert_eq!(vtree.to_string(), "((2,(3,4)),1)");
    /// assert_eq!(vtree, Vtree::parse_named("((size=s,(size=m,4)),1)", &names)?);
    /// # Ok::<(), slopp::Error>(())
    /// ```
    pub fn parse_named(text: &str, names: &Names) -> Result<Vtree, VtreeError> {
        let mut seen = vec![false; names.len()];
        Vtree::parse_leaves(text, |leaf, steps| {
            let number = || leaf.parse().ok().and_then(Var::from_number);
            let vars: Vec<Var> = match names.group(leaf) {
                Some(group) => group.vars().collect(),
                None => vec![names.find(leaf).or_else(|error| number().ok_or(error))?],
            };
            for var in &vars {
                // Here the variable has a name; a vtree only knows its number.
                if seen.get_mut(var.index()).is_some_and(|seen| std::mem::replace(seen, true)) {
                    return Err(VtreeError::NamedTwice(names.of(*var).to_owned()));
                }
            }
            steps.extend(vars.iter().map(|&var| Step::Leaf(var)));
            steps.extend(vars.iter().skip(1).map(|_| Step::Join));
            Ok(())
        })
    }

    /// Reads a line; `leaf` turns each leaf into steps.
    fn parse_leaves<E>(text: &str, mut leaf: impl FnMut(&str, &mut Vec<Step>) -> Result<(), E>) -> Result<Vtree, E>
    where
        E: From<VtreeError>,
    {
        let mut steps = Vec::new();
        let mut open: Vec<bool> = Vec::new(); // one entry per open parenthesis: has its comma been seen?
        let mut done = false; // is the tree before the cursor complete?
        let mut rest = text;
        loop {
            rest = rest.trim_start();
            let Some(c) = rest.chars().next() else { break };
            // Counted only for errors: doing so at every leaf would be quadratic in the text.
            let wrong = |expected, found: &str| {
                let column = text[..text.len() - rest.len()].chars().count() + 1;
                Err(E::from(VtreeError::Text { column, expected, found: found.to_owned() }))
            };
            let mut length = 1;
            match (c, done) {
                ('(', false) => open.push(false),
                (',', true) if open.last() == Some(&false) => {
                    *open.last_mut().expect("just seen") = true;
                    done = false;
                }
                (')', true) if open.last() == Some(&true) => {
                    open.pop();
                    steps.push(Step::Join);
                }
                (',' | ')', false) => return wrong("a variable or `(`", &c.to_string()),
                (_, true) => {
                    let expected = open.last().map_or("the end", |&comma| if comma { "`)`" } else { "`,`" });
                    return wrong(expected, &c.to_string());
                }
                ('"', false) => {
                    let Some((name, end)) = quoted_leaf(rest) else { return wrong("a closing quote", "the end") };
                    leaf(&name, &mut steps)?;
                    length = end;
                    done = true;
                }
                (_, false) => {
                    length = rest.find(['(', ')', ',']).unwrap_or(rest.len());
                    leaf(rest[..length].trim_end(), &mut steps)?;
                    done = true;
                }
            }
            rest = &rest[length..];
        }
        if !done || !open.is_empty() {
            let expected = if done { "`,` or `)`" } else { "a variable or `(`" };
            let column = text.chars().count() + 1;
            return Err(VtreeError::Text { column, expected, found: "the end".to_owned() }.into());
        }
        Ok(Vtree::from_postfix(steps)?)
    }

    /// The vtree on one line, with names: `((age,smoker),(cancer,xray))`; [`Vtree::parse_with`] reads it back.
    pub fn line<'a>(&'a self, names: &'a Names) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| {
            self.write_line(f, |f, x| match names.of(x) {
                name if is_misread(name) => f.write_str(&quote(name)),
                name => f.write_str(name),
            })
        })
    }

    /// A picture of the vtree, one node per line, children below and to the right of their parent.
    pub fn picture<'a>(&'a self, names: &'a Names) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| {
            let mut stack = vec![(self.root(), String::new(), "", "")];
            while let Some((v, indent, branch, below)) = stack.pop() {
                let label = self.leaf_var(v).map_or_else(|| format!("[{}]", v.0), |x| names.of(x).to_owned());
                writeln!(f, "{indent}{branch}{label}")?;
                if let Some([left, right]) = self.children(v) {
                    let indent = format!("{indent}{below}");
                    stack.push((right, indent.clone(), "└─ ", "   "));
                    stack.push((left, indent, "├─ ", "│  "));
                }
            }
            Ok(())
        })
    }

    fn write_line(
        &self,
        f: &mut fmt::Formatter<'_>,
        leaf: impl Fn(&mut fmt::Formatter<'_>, Var) -> fmt::Result,
    ) -> fmt::Result {
        enum Task {
            Node(super::VtreeId),
            Text(&'static str),
        }
        let mut tasks = vec![Task::Node(self.root())];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Text(text) => f.write_str(text)?,
                Task::Node(v) => match (self.leaf_var(v), self.children(v)) {
                    (Some(x), _) => leaf(f, x)?,
                    (_, Some([left, right])) => {
                        f.write_str("(")?;
                        tasks.extend([Task::Text(")"), Task::Node(right), Task::Text(","), Task::Node(left)]);
                    }
                    (None, None) => unreachable!("a node is a leaf or has children"),
                },
            }
        }
        Ok(())
    }
}

/// The quoted leaf at the start of a text, and where it ends; `None` without a closing quote.
fn quoted_leaf(text: &str) -> Option<(Cow<'_, str>, usize)> {
    let mut end = 1;
    loop {
        end += text[end..].find('"')?;
        if !text[end + 1..].starts_with('"') {
            break;
        }
        end += 2;
    }
    let leaf = &text[1..end];
    let leaf = if leaf.contains(['"', '\\']) { unescaped(&leaf.replace("\"\"", "\"")).into() } else { leaf.into() };
    Some((leaf, end + 1))
}

/// Whether a name needs quotes to be read back.
fn is_misread(name: &str) -> bool {
    name.contains(['(', ')', ',']) || name.starts_with('"') || name.trim() != name || name.contains(is_unprintable)
}

impl fmt::Display for Vtree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_line(f, |f, x| write!(f, "{}", x.number()))
    }
}

impl FromStr for Vtree {
    type Err = VtreeError;

    /// Reads a line like `((1,2),(3,4))`, variables by number from one.
    fn from_str(text: &str) -> Result<Vtree, VtreeError> {
        Vtree::parse_with(text, |leaf| {
            leaf.parse().ok().and_then(Var::from_number).ok_or_else(|| VtreeError::Text {
                column: column_of(leaf, text),
                expected: "a variable number from 1",
                found: format!("\"{}\"", abridged(leaf)),
            })
        })
    }
}

/// The column of a leaf. A leaf that was not rewritten is a slice of the text, so its address gives its place.
fn column_of(leaf: &str, text: &str) -> usize {
    let place = (leaf.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
    place.and_then(|place| text.get(..place)).map_or(1, |before| before.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trip() {
        for text in ["1", "(1,2)", "((2,1),(3,(5,4)))"] {
            assert_eq!(text.parse::<Vtree>().unwrap().to_string(), text);
        }
        assert_eq!(" ( 1 , 2 ) ".parse::<Vtree>().unwrap(), Vtree::balanced(2));
        let random = Vtree::random(200, 3);
        assert_eq!(random.to_string().parse::<Vtree>().unwrap(), random);
    }

    #[test]
    fn names_and_picture() {
        let names = Names::new(["age", "smoker", "cancer"].map(String::from).to_vec()).unwrap();
        let vtree =
            Vtree::parse_with("(age,(smoker,cancer))", |n| names.find(n).map_err(|_| VtreeError::Empty)).unwrap();
        assert_eq!(vtree.line(&names).to_string(), "(age,(smoker,cancer))");
        assert_eq!(vtree.picture(&names).to_string(), "[1]\n├─ age\n└─ [3]\n   ├─ smoker\n   └─ cancer\n");
    }

    #[test]
    fn odd_names_read_back() {
        let odd = ["a,b", "!not", "x y=1", "-1", "f(x)", "\"q\"", "say \"hi\", you", " pad ", "2", "é"];
        let names = Names::new(odd.map(String::from).to_vec()).unwrap();
        for seed in 0..20 {
            let vtree = Vtree::random(odd.len(), seed);
            let line = vtree.line(&names).to_string();
            let again = Vtree::parse_with(&line, |leaf| names.find(leaf).map_err(|_| VtreeError::Empty));
            assert_eq!(again.as_ref(), Ok(&vtree), "{line}");
        }
    }

    #[test]
    fn errors_point_at_the_column() {
        for (text, column) in [
            ("", 1),
            ("(1", 3),
            ("(1,2", 5),
            ("(1,2))", 6),
            ("(1)", 3),
            ("(1,,2)", 4),
            ("(1,x)", 4),
            ("(1,2,3)", 5),
            ("(0,1)", 2),
            ("(10,0)", 5),
            ("(1,\"2", 4),
            ("(1,\"2\" 3)", 8),
            ("(1,\"x\")", 5),
            ("(1,\"\"\"\")", 1),
        ] {
            match text.parse::<Vtree>() {
                Err(VtreeError::Text { column: c, .. }) => assert_eq!(c, column, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
