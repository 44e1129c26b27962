//! From words to steps: operator precedence with an explicit stack, linear in the text and without recursion.

use super::error::{FormulaError, FormulaProblem};
use super::lexer::{Binary, Lexer};
use super::vocabulary::Vocabulary;
use super::{Comparison, Formula, Op, flattened};
use crate::names::edit_distance;
use std::ops::Range;

const COMPARISONS: [Comparison; 3] = [Comparison::Exactly, Comparison::AtMost, Comparison::AtLeast];

/// An open operator or parenthesis.
enum Pending {
    Not,
    /// An operator with its number of operands so far.
    Binary(Binary, u32),
    /// A parenthesis and its place.
    Group(usize),
    /// A comparison with its bound, its number of finished operands, and its place.
    Count(Comparison, u32, u32, usize),
}

/// Reads a formula to the end, and the places of its variables.
pub(super) fn parse(
    lexer: Lexer<'_>,
    names: &mut Vocabulary<'_>,
) -> Result<(Formula, Vec<Range<usize>>), FormulaError> {
    let mut parser = Parser { lexer, names, ops: Vec::new(), places: Vec::new(), pending: Vec::new() };
    parser.lexer.skip_blanks();
    if parser.lexer.rest().is_empty() {
        return Err(parser.lexer.error(parser.lexer.at..parser.lexer.at, FormulaProblem::Empty));
    }
    loop {
        let mut complete = parser.operand()?;
        while complete {
            complete = parser.after_operand()?;
            if complete && parser.pending.is_empty() && parser.lexer.rest().is_empty() {
                return Ok((Formula { ops: parser.ops }, parser.places));
            }
        }
    }
}

struct Parser<'a, 'b, 'n> {
    lexer: Lexer<'a>,
    names: &'b mut Vocabulary<'n>,
    ops: Vec<Op>,
    places: Vec<Range<usize>>,
    pending: Vec<Pending>,
}

impl Parser<'_, '_, '_> {
    /// Reads an operand; `false` if only its beginning was read.
    fn operand(&mut self) -> Result<bool, FormulaError> {
        self.lexer.skip_blanks();
        let start = self.lexer.at;
        if self.lexer.take_negation() {
            self.pending.push(Pending::Not);
            return Ok(false);
        }
        if self.lexer.rest().is_empty() {
            return Err(self.at_the_end());
        }
        if self.names.listed(self.lexer.rest()).is_none()
            && let Some(complete) = self.word_or_parenthesis(start)?
        {
            return Ok(complete);
        }
        match self.lexer.literal(self.names)? {
            Some(lit) => {
                self.places.push(start..self.lexer.at);
                self.ops.push(Op::Var(lit.var));
                self.ops.extend((!lit.value).then_some(Op::Not));
            }
            None if self.pending.iter().any(|p| matches!(p, Pending::Not)) => {
                return Err(self.lexer.error(start..self.lexer.at, FormulaProblem::NotUnknown));
            }
            // It says nothing.
            None => self.ops.push(Op::Constant(true)),
        }
        Ok(true)
    }

    /// Reads a parenthesis, a constant or a comparison, if it is next, like [`Parser::operand`].
    fn word_or_parenthesis(&mut self, start: usize) -> Result<Option<bool>, FormulaError> {
        if self.lexer.take('(') {
            self.pending.push(Pending::Group(start));
            return Ok(Some(false));
        }
        if let Some(i) = self.lexer.take_word(&COMPARISONS.map(Comparison::name)) {
            self.lexer.skip_blanks();
            if self.lexer.take('(') {
                self.lexer.skip_blanks();
                let bound = self.lexer.number()?;
                self.pending.push(Pending::Count(COMPARISONS[i], bound, 0, start));
                self.lexer.skip_blanks();
                if self.lexer.take(')') {
                    self.close(start)?;
                    return Ok(Some(true));
                }
                if !self.lexer.take(',') {
                    return Err(self.lexer.expected("\",\" and formulas to count, or \")\""));
                }
                return Ok(Some(false));
            }
            // A variable may have that name.
            self.lexer.at = start;
        }
        if let Some(i) = self.lexer.take_word(&["false", "true"]) {
            self.ops.push(Op::Constant(i == 1));
            return Ok(Some(true));
        }
        self.check_count(start)?;
        Ok(None)
    }

    /// Refuses a word before a parenthesis that is nearly a comparison.
    fn check_count(&self, start: usize) -> Result<(), FormulaError> {
        let word = self.lexer.word();
        if word.is_empty() || !self.lexer.rest()[word.len()..].trim_start().starts_with('(') {
            return Ok(());
        }
        let distance = |comparison: &Comparison| edit_distance(comparison.name(), &word.to_lowercase());
        let nearest = COMPARISONS.into_iter().min_by_key(distance).filter(|comparison| distance(comparison) <= 2);
        let known = self.names.contains(word) || self.names.odd_prefix(self.lexer.rest()).is_some();
        match nearest.filter(|_| !known) {
            Some(nearest) => {
                let problem = FormulaProblem::NoCount { word: word.to_owned(), nearest: nearest.name() };
                Err(self.lexer.error(start..start + word.len(), problem))
            }
            None => Ok(()),
        }
    }

    /// Reads on after a complete operand; `false` if another operand must follow.
    fn after_operand(&mut self) -> Result<bool, FormulaError> {
        self.lexer.skip_blanks();
        let start = self.lexer.at;
        if self.lexer.rest().is_empty() {
            self.reduce(None);
            return match self.pending.last() {
                None => Ok(true),
                Some(_) => Err(self.at_the_end()),
            };
        }
        if self.lexer.take(')') {
            self.close(start)?;
            return Ok(true);
        }
        let Some(operator) = self.lexer.take_operator() else {
            // In a file, the next rule was read as part of one with an open parenthesis.
            if self.lexer.begins_line() && self.open().is_some() {
                return Err(self.at_the_end());
            }
            return Err(self.lexer.expected_operator(self.names));
        };
        if operator == Binary::Comma && self.comma(start)? {
            return Ok(self.lexer.rest().is_empty());
        }
        self.reduce(Some(operator));
        let same = matches!(self.pending.last(), Some(Pending::Binary(top, _)) if *top == operator && join(operator).is_some());
        let new = join(operator).map_or(1, |join| flattened(&mut self.ops, join));
        match self.pending.last_mut() {
            Some(Pending::Binary(_, number)) if same => *number += new,
            _ => self.pending.push(Pending::Binary(operator, new)),
        }
        Ok(false)
    }

    /// Ends an operand of a comparison, or the whole text, at a comma; `false` if the comma is an operator.
    fn comma(&mut self, at: usize) -> Result<bool, FormulaError> {
        let open = self.pending.iter().rposition(|p| matches!(p, Pending::Group(_) | Pending::Count(..)));
        match open.map(|i| &self.pending[i]) {
            Some(Pending::Count(..)) => {
                self.reduce(None);
                if let Some(Pending::Count(_, _, number, _)) = self.pending.last_mut() {
                    *number += 1;
                }
                // There, nothing after a comma is an error, not the end.
                self.lexer.skip_blanks();
                match self.lexer.rest().is_empty() {
                    true => Err(self.at_the_end()),
                    false => Ok(true),
                }
            }
            Some(_) => {
                self.lexer.at = at;
                Err(self.lexer.expected("an operator or \")\" (a comma joins only outside parentheses)"))
            }
            None => {
                self.lexer.skip_blanks();
                let last = self.lexer.rest().is_empty();
                if last {
                    self.reduce(None);
                }
                Ok(last)
            }
        }
    }

    /// Finishes the innermost parenthesis or comparison.
    fn close(&mut self, at: usize) -> Result<(), FormulaError> {
        let after_bound = matches!(self.pending.last(), Some(Pending::Count(_, _, 0, start)) if *start == at);
        self.reduce(None);
        match self.pending.pop() {
            Some(Pending::Group(_)) => Ok(()),
            Some(Pending::Count(comparison, bound, number, _)) => {
                let last = u32::from(!after_bound);
                self.ops.push(Op::Count(comparison, bound, number + last));
                Ok(())
            }
            _ => {
                self.lexer.at = at;
                Err(self.lexer.expected("an operator or the end (no parenthesis is open)"))
            }
        }
    }

    /// Finishes operators that bind tighter than the next one, or all up to the innermost parenthesis.
    fn reduce(&mut self, next: Option<Binary>) {
        while let Some(top) = self.pending.last() {
            match *top {
                Pending::Not => self.ops.push(Op::Not),
                Pending::Binary(operator, number) => {
                    let waits = next.is_some_and(|next| match join(operator) {
                        Some(_) => operator <= next,
                        None => operator < next || (operator == next && operator == Binary::Implies),
                    });
                    if waits {
                        return;
                    }
                    match (join(operator), operator) {
                        (Some(join), _) => {
                            let number = number + flattened(&mut self.ops, join);
                            self.ops.push(join(number));
                        }
                        (None, Binary::Implies) => self.ops.push(Op::Implies),
                        (None, _) => self.ops.push(Op::Iff),
                    }
                }
                Pending::Group(_) | Pending::Count(..) => return,
            }
            self.pending.pop();
        }
    }

    /// The error at the end of the text: an open parenthesis, or a missing operand.
    fn at_the_end(&self) -> FormulaError {
        match self.open() {
            Some(at) => self.lexer.error(at..at + 1, FormulaProblem::NotClosed),
            None => self.lexer.expected("a variable or \"(\""),
        }
    }

    /// Where the innermost open parenthesis or comparison is.
    fn open(&self) -> Option<usize> {
        self.pending.iter().rev().find_map(|p| match p {
            Pending::Group(at) | Pending::Count(_, _, _, at) => Some(*at),
            _ => None,
        })
    }
}

/// The step of an operator that joins any number of operands.
fn join(operator: Binary) -> Option<fn(u32) -> Op> {
    match operator {
        Binary::Comma | Binary::And => Some(Op::And),
        Binary::Or => Some(Op::Or),
        Binary::Xor => Some(Op::Xor),
        Binary::Iff | Binary::Implies => None,
    }
}
