//! Files of what is known: models, diagrams and rules.

use crate::args::positive;
use crate::error::Error;
use crate::input::{DISTIL, Loaded, VtreeSource, explained, is_model, no_circuit};
use crate::session::Session;
use clap::Args;
use slopp::io::path_in_words;
use slopp::knowledge;
use slopp::learn::VtreeMethod;
use slopp::logic::{Conflict, Limits, LogicError, Rules, Sdd, Stopped, VtreeSearch};
use slopp::{Names, Vtree};
use std::path::Path;
use std::sync::Arc;

/// Where limits stand in help; each says so itself, or what comes after them would stand there too.
const LIMITS: &str = "Limits";

/// How much a compilation, a product or the certificate of a model may cost.
#[derive(Clone, Args)]
pub(crate) struct LimitArgs {
    /// Stop if a diagram, its product with a model, or the certificate of a model needs more nodes than this
    #[arg(long, value_name = "N", default_value_t = 20_000_000, value_parser = positive, help_heading = LIMITS)]
    max_nodes: usize,
    /// Stop if a diagram, a product, a certificate or a list of worlds needs more memory than this, in megabytes;
    /// records, models and output come on top
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = positive, help_heading = LIMITS)]
    max_memory: usize,
}

impl LimitArgs {
    pub(crate) fn limits(&self) -> Limits {
        let bytes = self.max_memory.saturating_mul(1 << 20);
        Limits { nodes: self.max_nodes, bytes, ..Limits::default() }
    }
}

/// What a limit that was hit means for the user.
pub(crate) fn stopped(stopped: Stopped) -> Error {
    Error::from(stopped).also("`slopp compile --vtree` takes another vtree")
}

/// The same where the vtree is that of a model.
pub(crate) fn stopped_on_model(stopped: Stopped) -> Error {
    Error::from(stopped).also("parts of a formula that are asked one by one, or a model on another vtree, need less")
}

/// What a file says is known, with names.
pub(crate) enum Knowledge {
    Model(Box<Loaded>),
    Diagram(Sdd, Arc<Names>),
    Rules(Rules),
}

impl Knowledge {
    /// Reads a model (.psdd), a diagram (.sdd), or rules (anything else), as the ending of the name says.
    ///
    /// Rules have no vtree: that of a file is for compiling them, and is read by [`vtree_of`].
    pub(crate) fn read(
        path: &Path,
        vtree: Option<&Path>,
        names: Option<&Arc<Names>>,
        limits: &Limits,
    ) -> Result<Knowledge, Error> {
        if is_model(path) {
            return Ok(Knowledge::Model(Loaded::circuit_of(path, vtree, limits)?.into()));
        }
        if is_diagram(path) {
            let vtree = vtree.map(slopp::io::read_vtree).transpose().map_err(explained)?;
            let (sdd, own) = slopp::io::read_sdd(path, vtree.as_ref()).map_err(explained)?;
            let variables = sdd.vtree().var_count();
            let given = names.filter(|names| names.len() == variables).cloned();
            let names = own.map(Arc::new).or(given).unwrap_or_else(|| Arc::new(Names::numbered(variables)));
            return Ok(Knowledge::Diagram(sdd, names));
        }
        if is_network(path) {
            return Err(no_circuit(&format!("{} is a sum-product network", path_in_words(path))));
        }
        if is_mixture(path) {
            let file = path_in_words(path);
            return Err(Error::new(format!("{file} is a mixture, whose possible worlds are not kept as a formula"))
                .hint(format!(
                    "{DISTIL}; `slopp possible` asks a mixture about worlds, `slopp entails` about formulas"
                )));
        }
        Ok(Knowledge::Rules(slopp::io::read_rules(path, names, limits).map_err(explained)?))
    }

    pub(crate) fn names(&self) -> &Arc<Names> {
        match self {
            Knowledge::Model(loaded) => &loaded.model.names,
            Knowledge::Diagram(_, names) => names,
            Knowledge::Rules(rules) => rules.names(),
        }
    }

    /// As the library takes it.
    pub(crate) fn known(&self) -> knowledge::Knowledge<'_> {
        match self {
            Knowledge::Model(loaded) => knowledge::Knowledge::Base(loaded.circuit(), &loaded.model.names),
            Knowledge::Diagram(sdd, names) => knowledge::Knowledge::Diagram(sdd, names),
            Knowledge::Rules(rules) => knowledge::Knowledge::Rules(rules),
        }
    }
}

/// Refuses rules without variables, which have no vtree.
pub(crate) fn check_variables(rules: &Rules) -> Result<(), Error> {
    rules.check_variables().map_err(no_variables)
}

/// The way out of rules without variables.
pub(crate) fn no_variables(error: LogicError) -> Error {
    match error {
        LogicError::NoVariables { rules: 1.. } => Error::new("the rules name no variables, so there are no worlds")
            .hint("name at least one, such as: smoker -> !young; or --names FILE gives those of a model or of records"),
        LogicError::NoVariables { rules: 0 } => {
            Error::new("the rules have no variables").hint("write at least one rule, such as: smoker -> !young")
        }
        error => error.into(),
    }
}

/// What is known of a contradiction, before its rules.
pub(crate) fn contradiction_in_words(conflict: &Conflict) -> &'static str {
    match (conflict.smallest, conflict.minimal) {
        (true, _) => "a smallest contradiction is shown",
        (false, true) => {
            "a contradiction is shown of which no rule can be left out (whether fewer others contradict was not proved)"
        }
        (false, false) => "a contradiction is shown, perhaps with rules that could be left out",
    }
}
/// Whether the name is that of a diagram.
pub(crate) fn is_diagram(path: &Path) -> bool {
    slopp::io::ending(path).as_deref() == Some("sdd")
}

/// Whether the name is that of a mixture.
pub(crate) fn is_mixture(path: &Path) -> bool {
    slopp::io::ending(path).as_deref() == Some("mix")
}

/// Whether the name is that of a sum-product network.
fn is_network(path: &Path) -> bool {
    slopp::io::ending(path).as_deref() == Some("spn")
}

/// A vtree for rules as people ask for one.
pub(crate) fn vtree_for(rules: &Rules, source: VtreeSource) -> Result<Vtree, Error> {
    let len = rules.var_count();
    let vtree = match source {
        VtreeSource::File(vtree) | VtreeSource::Model(vtree, _) => vtree,
        VtreeSource::Text(text) => Vtree::parse_named(&text, rules.names())?,
        VtreeSource::Method(VtreeMethod::Balanced) => Vtree::balanced(len),
        VtreeSource::Method(VtreeMethod::RightLinear) => Vtree::right_linear(len),
        VtreeSource::Method(VtreeMethod::LeftLinear) => Vtree::left_linear(len),
        VtreeSource::Method(method) => {
            return Err(Error::new(format!("the vtree method {method} needs records, and there are none"))
                .hint("min-fill, balanced, right-linear, left-linear, or a .vtree file"));
        }
    };
    if vtree.var_count() != len {
        let leaves = vtree.var_count();
        return Err(Error::new(format!("the vtree has {leaves} variables but the rules have {len}"))
            .hint("a vtree for these variables; --names FILE gives rules all variables of a model or of records"));
    }
    Ok(vtree)
}

/// The vtree of a file, for rules.
pub(crate) fn vtree_of(rules: &Rules, file: Option<&Path>) -> Result<Option<Arc<Vtree>>, Error> {
    let Some(file) = file else { return Ok(None) };
    check_variables(rules)?;
    let vtree = slopp::io::read_vtree(file).map_err(explained)?;
    Ok(Some(Arc::new(vtree_for(rules, VtreeSource::File(vtree.vtree))?)))
}

/// Compiles rules on a vtree of our own choice.
pub(crate) fn compile_with_search(
    rules: &Rules,
    search: &VtreeSearch,
    limits: &Limits,
    session: &Session,
) -> Result<slopp::logic::CompiledRules, Error> {
    use slopp::Progress;
    check_variables(rules)?;
    let bar = session.progress();
    bar.begin("trying vtrees", search.moves as u64);
    rules.compile_with_search(search, limits, &mut |_| bar.advance(1)).map_err(stopped)
}
