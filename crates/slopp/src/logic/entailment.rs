//! What follows from rules: clauses are searched first, and diagrams only decide what they do not.

use super::conflict::{Search, WORK};
use super::formula::{Formula, Rule, Rules};
use super::manager::Manager;
use crate::limits::{Limits, Stopped};
use crate::vtree::Vtree;
use std::sync::Arc;

impl Rules {
    /// A world in which all rules hold and a formula does not; `None` if the rules entail it.
    ///
    /// Rules and the negation of the formula are solved as clauses: a world is the answer, and so is that there is none.
    /// Only if the work that clauses may cost does not suffice, a diagram on the vtree, or on a good one for the rules,
    /// decides within the limits. Rules that contradict each other entail everything.
    ///
    /// ```
    /// use slopp::logic::{Formula, Limits, Rules};
    /// let rules = Rules::parse("a -> b\nb -> c")?;
    /// let counterexample = |text| -> Result<_, Box<dyn std::error::Error>> {
    ///     let formula = Formula::parse(text, rules.names())?;
    ///     Ok(rules.counterexample(&formula, None, &Limits::default())?)
    /// };
    /// assert_eq!(counterexample("a -> c")?, None);
    /// let world = counterexample("c -> a")?.unwrap();
    /// assert!(rules.broken_by(&world).is_empty() && world[2] && !world[0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there are no variables, or the formula has others than the rules.
    pub fn counterexample(
        &self,
        formula: &Formula,
        vtree: Option<&Arc<Vtree>>,
        limits: &Limits,
    ) -> Result<Option<Vec<bool>>, Stopped> {
        let denied = Rule { formula: !formula.clone(), text: "denied".to_owned(), line: 0 };
        let rules = self.iter().cloned().chain([denied]).collect();
        Rules::with_origin(self.names().clone(), rules).world(vtree, limits)
    }

    /// A world in which all rules hold; `None` if they contradict each other. Cost: as [`Rules::counterexample`].
    pub fn world(&self, vtree: Option<&Arc<Vtree>>, limits: &Limits) -> Result<Option<Vec<bool>>, Stopped> {
        if let Some(decided) = Search::new(self, WORK, limits).and_then(|mut search| search.world()) {
            return Ok(decided);
        }
        let vtree = vtree.cloned().unwrap_or_else(|| Arc::new(self.min_fill_vtree()));
        let mut manager = Manager::new(vtree, limits.clone());
        let all = manager.compile_rules(self)?;
        Ok(manager.world(all))
    }

    /// Whether clauses show that the rules contradict each other; if not, they may still do so.
    pub fn is_contradiction(&self, limits: &Limits) -> bool {
        Search::new(self, WORK, limits).and_then(|mut search| search.world()).is_some_and(|world| world.is_none())
    }
}
