//! Events and evidence: literals, which are fast, or any formula.

use super::evidence::Evidence;
use crate::logic::{Formula, FormulaError, FormulaProblem, Rules};
use crate::names::Names;
use crate::var::Lit;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// A conjunction of literals, or a formula.
///
/// ```
/// use slopp::Names;
/// use slopp::infer::Event;
/// let names = Names::new(vec!["smoker".into(), "old".into()])?;
/// assert!(matches!(Event::parse("smoker, !old", &names)?, Event::Literals(_)));
/// assert!(matches!(Event::parse("smoker -> old", &names)?, Event::Formula(_)));
/// // A question may contradict itself, and has probability zero then; what is known may not.
/// assert!(Event::parse_question("old, !old", &names)?.contradicts_itself());
/// assert!(Event::parse("old, !old", &names).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Literals that do not contradict each other.
    Literals(Evidence),
    /// Anything else.
    Formula(Formula),
}

impl Event {
    /// Reads evidence, as literals or a formula over these names; the empty text always holds.
    pub fn parse(text: &str, names: &Names) -> Result<Event, FormulaError> {
        Event::read(text, names, true)
    }

    /// Reads an event, where contradicting literals are allowed: their probability is zero.
    pub fn parse_question(text: &str, names: &Names) -> Result<Event, FormulaError> {
        Event::read(text, names, false)
    }

    fn read(text: &str, names: &Names, known: bool) -> Result<Event, FormulaError> {
        if text.trim().is_empty() {
            return Ok(Event::always(names.len()));
        }
        let (formula, places) = Formula::parse_list(text, names)?;
        let Some(lits) = formula.as_term() else { return Ok(Event::Formula(formula)) };
        if known {
            check(text, &lits, &places, names)?;
        }
        Ok(Evidence::from_lits(names.len(), lits).map_or(Event::Formula(formula), Event::Literals))
    }

    /// The event that always holds, over this many variables.
    pub fn always(variables: usize) -> Event {
        Event::Literals(Evidence::none(variables))
    }

    /// A conjunction of literals over this many variables; a formula if they contradict each other.
    pub fn of_lits(variables: usize, lits: impl IntoIterator<Item = Lit> + Clone) -> Event {
        match Evidence::from_lits(variables, lits.clone()) {
            Ok(evidence) => Event::Literals(evidence),
            Err(_) => Event::Formula(Formula::and(lits.into_iter().map(Formula::literal))),
        }
    }

    /// That all rules hold: literals if they say no more.
    ///
    /// ```
    /// use slopp::infer::Event;
    /// use slopp::logic::Rules;
    /// let rules = Rules::parse("# what is known\nsmoker\n!old  # by age")?;
    /// assert_eq!(Event::of_rules(&rules), Event::parse("smoker, !old", rules.names())?);
    /// # Ok::<(), slopp::logic::FormulaError>(())
    /// ```
    pub fn of_rules(rules: &Rules) -> Event {
        let formula = rules.formula();
        formula.as_term().map_or(Event::Formula(formula), |lits| Event::of_lits(rules.names().len(), lits))
    }

    /// The literals, unless it is a formula.
    pub fn literals(&self) -> Option<&Evidence> {
        match self {
            Event::Literals(evidence) => Some(evidence),
            Event::Formula(_) => None,
        }
    }

    /// The known values of variables; none for a formula.
    pub fn evidence(&self, variables: usize) -> Evidence {
        self.literals().cloned().unwrap_or_else(|| Evidence::none(variables))
    }

    /// Whether it is empty, and so always holds.
    pub fn is_empty(&self) -> bool {
        self.literals().is_some_and(|evidence| evidence.known_count() == 0)
    }

    /// Whether it is literals that contradict each other, so that no model makes it possible.
    pub fn contradicts_itself(&self) -> bool {
        let Event::Formula(formula) = self else { return false };
        let lits: BTreeSet<Lit> = formula.as_term().into_iter().flatten().collect();
        lits.iter().any(|&lit| lits.contains(&!lit))
    }

    /// As a formula.
    pub fn formula(&self) -> Formula {
        match self {
            Event::Literals(evidence) => Formula::and(evidence.lits().map(Formula::literal)),
            Event::Formula(formula) => formula.clone(),
        }
    }

    /// The conjunction: literals if both are and agree, otherwise a formula.
    #[must_use]
    pub fn and(&self, other: &Event) -> Event {
        match (self.literals(), other.literals()) {
            (Some(a), Some(b)) => Event::of_lits(a.var_count(), a.lits().chain(b.lits()).collect::<Vec<_>>()),
            // A contradiction stays one.
            _ if self.contradicts_itself() || other.is_empty() => self.clone(),
            _ if other.contradicts_itself() || self.is_empty() => other.clone(),
            _ => Event::Formula(Formula::and([self.formula(), other.formula()])),
        }
    }

    /// The event as text.
    pub fn display<'a>(&'a self, names: &'a Names) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| match self {
            Event::Literals(evidence) => write!(f, "{}", evidence.display(names)),
            Event::Formula(formula) => write!(f, "{}", formula.display(names)),
        })
    }
}

/// Refuses contradicting literals, each with its place in the text.
fn check(text: &str, lits: &[Lit], places: &[Range<usize>], names: &Names) -> Result<(), FormulaError> {
    let mut first = FxHashMap::default();
    let mut values = FxHashMap::default();
    for (&lit, place) in lits.iter().zip(places) {
        let refused = |problem| Err(FormulaError::new(text, place.clone(), problem));
        let &mut (value, column) =
            first.entry(lit.var).or_insert_with(|| (lit.value, text[..place.start].chars().count() + 1));
        if value != lit.value {
            return refused(FormulaProblem::Contradiction { name: names.of(lit.var).to_owned(), first: column });
        }
        let Some(group) = names.group_of(lit.var).filter(|_| lit.value) else { continue };
        let &mut other = values.entry(group.name()).or_insert(lit.var);
        if other != lit.var {
            let value = |wanted| group.values().find(|&(var, _)| var == wanted).map(|(_, value)| value.to_owned());
            let [first, second] = [other, lit.var].map(|var| value(var).unwrap_or_default());
            return refused(FormulaProblem::TwoValues { name: group.name().to_owned(), first, second });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Kind;

    fn names() -> Names {
        let colors = Kind::Values(["blue", "red"].map(String::from).to_vec());
        Names::of_columns([("color".into(), colors), ("hot".into(), Kind::Boolean)]).unwrap()
    }

    #[test]
    fn what_is_asked_may_contradict_itself_and_what_is_known_may_not() {
        let names = names();
        for text in ["hot, !hot", "color=red, color=blue"] {
            assert!(matches!(Event::parse(text, &names), Err(FormulaError { .. })), "{text}");
            assert!(Event::parse_question(text, &names).is_ok(), "{text}");
        }
        assert!(Event::parse_question("hot, !hot", &names).unwrap().contradicts_itself());
    }

    #[test]
    fn literals_stay_literals_where_they_agree() {
        let names = names();
        let parse = |text: &str| Event::parse(text, &names).unwrap();
        assert_eq!(parse("hot").and(&parse("color=red")), parse("hot, color=red"));
        assert!(parse("hot").and(&parse("!hot")).contradicts_itself());
        let formula = parse("hot").and(&parse("hot | color=red"));
        assert!(formula.literals().is_none() && !formula.contradicts_itself());
        assert!(Event::always(3).is_empty() && parse("").is_empty());
        let never = Event::parse_question("hot, !hot", &names).unwrap();
        for other in [parse(""), parse("color=red"), parse("hot | color=red")] {
            assert!(never.and(&other).contradicts_itself() && other.and(&never).contradicts_itself());
        }
    }

    /// Also where only the formula parser accepts the text.
    #[test]
    fn what_is_unknown_says_nothing() {
        let names = names();
        let parse = |text: &str| Event::parse(text, &names).unwrap();
        for text in ["color=?, hot!=1", "hot=?, !hot", "color=? & hot != yes", "hot = 0, color=?"] {
            assert_eq!(parse(text), parse("!hot"), "{text}");
        }
        assert!(parse("color=?, hot=?").is_empty());
        assert!(Event::parse("cold=?, hot!=1", &names).is_err());
        // So there is nothing to negate, however it is written.
        for text in ["!color=?", "!(color=?)", "color!=?", "hot & !(hot | color=?)"] {
            let error = Event::parse_question(text, &names).unwrap_err();
            assert_eq!(*error.problem, FormulaProblem::NotUnknown, "{text}");
        }
    }
}
