//! What commands read: models, records, evidence, vtrees.

use crate::args::{CircuitArgs, ColumnArgs, HeaderWhen, ModelArgs, ReadArgs};
use crate::error::{Error, LARGER_LIMITS};
use crate::report::short_world;
use slopp::circuit::{Overlap, ParameterFault, Reason};
use slopp::io::{Header, Problem, ReadError, RecordsOptions, path_in_words};
use slopp::learn::VtreeFrom;
use slopp::learn::VtreeMethod;
use slopp::logic::Limits;
use slopp::{Certified, Deterministic, Model, ModelKind, Names, NodeId, Records, Structured, Var, Vtree};
use std::path::Path;
use std::sync::Arc;

/// The variables of a list of columns that an option gives; a list that names none is an error.
pub(crate) fn variables(option: &str, list: &str, names: &Names) -> Result<Vec<Var>, Error> {
    const HINT: &str = "names of columns, such as a,b,c";
    let vars =
        names.vars_of(list).map_err(|error| Error::from(error).while_doing(format!("{option} {list}")).hint(HINT))?;
    if vars.is_empty() {
        return Err(Error::new(format!("{option} names no column")).hint(HINT));
    }
    let mut seen = vec![false; names.len()];
    for &var in &vars {
        if std::mem::replace(&mut seen[var.index()], true) {
            let name = names.quoted(var);
            return Err(Error::new(format!("{option} {list}: {name} is named twice")).hint("name it once"));
        }
    }
    Ok(vars)
}

/// A model with the ids that its file uses for nodes.
pub(crate) struct Loaded {
    /// The model.
    pub(crate) model: Model,
    file_ids: Vec<u64>,
}

impl Loaded {
    /// Reads a model to ask it questions.
    pub(crate) fn read(args: &ModelArgs) -> Result<Loaded, Error> {
        Loaded::read_as_is(args)?.normalised()
    }

    /// Reads a model to look at it, whatever its parameters.
    pub(crate) fn read_as_is(args: &ModelArgs) -> Result<Loaded, Error> {
        Loaded::read_files(&args.model, args.vtree.as_deref(), &args.limits.limits())
    }

    /// Reads a circuit to ask it questions.
    pub(crate) fn read_circuit(args: &CircuitArgs) -> Result<Loaded, Error> {
        Loaded::circuit_of(&args.model, args.vtree.as_deref(), &args.limits.limits())?.normalised()
    }

    /// Reads a circuit, whatever its parameters, from a file and the vtree file it may need.
    pub(crate) fn circuit_of(file: &Path, vtree: Option<&Path>, limits: &Limits) -> Result<Loaded, Error> {
        let loaded = Loaded::read_files(file, vtree, limits)?;
        match &loaded.model.kind {
            ModelKind::Circuit(_) => Ok(loaded),
            ModelKind::Spn(_) => Err(no_circuit(&format!("{} is a sum-product network", path_in_words(file)))),
            ModelKind::Mixture(_) => Err(Error::new(format!("{}: {ONE_CIRCUIT}", path_in_words(file)))
                .hint(format!("{DISTIL}; {}", work_on("mixtures")))),
        }
    }

    fn read_files(file: &Path, vtree: Option<&Path>, limits: &Limits) -> Result<Loaded, Error> {
        let vtree = vtree.map(slopp::io::read_vtree).transpose().map_err(explained)?;
        let loaded = slopp::io::read_model(file, vtree.as_ref(), limits).map_err(explained)?;
        Ok(Loaded { model: loaded.model, file_ids: loaded.file_ids })
    }

    /// The circuit of a model that was read as one, or found to be one.
    pub(crate) fn circuit(&self) -> &Certified {
        self.model.circuit().expect("others are refused")
    }

    /// Refuses parameters that do not add up to one: answers would be no probabilities.
    pub(crate) fn normalised(self) -> Result<Loaded, Error> {
        match &self.model.kind {
            ModelKind::Circuit(Certified::Circuit(_, Reason::Parameters(fault))) => {
                Err(Error::new(format!("the model is not a distribution: {}", self.fault_in_words(fault))).hint(FIX))
            }
            _ => Ok(self),
        }
    }

    /// The id of a node in the file.
    pub(crate) fn file_id(&self, node: NodeId) -> u64 {
        self.file_ids[node.index()]
    }

    /// The circuit for a question that needs determinism; the refusal says why and what can be asked instead.
    pub(crate) fn deterministic(&self, question: &str) -> Result<&Deterministic, Error> {
        self.circuit().deterministic().map_err(|reason| match reason {
            Reason::Overlap(overlap) => {
                let overlap = self.overlap_in_words(overlap);
                Error::new(format!("{question} needs a deterministic circuit, and this one is not: {overlap}"))
                    .hint(format!("{DISTIL}; {}", work_on("any circuit")))
            }
            Reason::Parameters(fault) => {
                let fault = self.fault_in_words(fault);
                Error::new(format!("{question} needs parameters that add up to one: {fault}")).hint(FIX)
            }
            Reason::Unproved(limit) => Error::new(format!(
                "{question} needs a deterministic circuit, and that this is one was not proved within {limit}"
            ))
            .hint(format!("{LARGER_LIMITS}; {}", work_on("any circuit"))),
        })
    }

    /// Why there is no certificate, by the ids of the file and the names of the variables.
    pub(crate) fn reason_in_words(&self, reason: &Reason) -> String {
        match reason {
            Reason::Overlap(overlap) => self.overlap_in_words(overlap),
            Reason::Parameters(fault) => self.fault_in_words(fault),
            Reason::Unproved(limit) => format!("not proved within {limit}; {LARGER_LIMITS}"),
        }
    }

    /// A sum that is not normalised, by the id of the file.
    pub(crate) fn fault_in_words(&self, fault: &ParameterFault) -> String {
        format!("the parameters of node {} add up to {:?}, not to 1", self.file_id(fault.node), fault.total)
    }

    /// Two elements that overlap, by the ids of the file and the names of the variables.
    pub(crate) fn overlap_in_words(&self, overlap: &Overlap) -> String {
        let [a, b] = self.overlapping(overlap).map(|(prime, sub)| format!("({prime}, {sub})"));
        let node = self.file_id(overlap.node);
        let witness = short_world(&self.model.names, &overlap.witness);
        match overlap.weak {
            false => format!("at node {node} the elements {a} and {b} share {witness}"),
            true => format!(
                "at node {node} the primes of the elements {a} and {b} share {witness}, \
                 though their subs exclude each other"
            ),
        }
    }

    /// The prime and the sub of two elements that overlap, by the ids of the file.
    pub(crate) fn overlapping(&self, overlap: &Overlap) -> [(u64, u64); 2] {
        let range = self.circuit().element_range(overlap.node);
        [overlap.elements.0, overlap.elements.1].map(|i| {
            let element = self.circuit().elements()[range.start + i];
            (self.file_id(element.prime), self.file_id(element.sub))
        })
    }
    /// What circuits and mixtures of them can be asked, and sum-product networks cannot.
    pub(crate) fn structured(&self, question: &str) -> Result<&dyn Structured, Error> {
        let refused = || no_circuit(&format!("{question} cannot be asked of a sum-product network"));
        self.model.structured().ok_or_else(refused)
    }

    /// The circuit, for a question that only a single one answers.
    pub(crate) fn circuit_for(&self, question: &str) -> Result<&Certified, Error> {
        self.structured(question)?;
        self.model.circuit().ok_or_else(|| {
            Error::new(format!("only a single circuit can answer {question}; this is a mixture"))
                .hint(format!("{DISTIL}; {}, without this", work_on("mixtures")))
        })
    }
}

/// The refusal of a sum-product network.
pub(crate) fn no_circuit(message: &str) -> Error {
    Error::new(format!("{message}: it has no vtree, and its sums overlap, so only a circuit can answer this"))
        .hint(format!("{DISTIL}; {FOR_NETWORKS}"))
}

/// The refusal of a mixture.
const ONE_CIRCUIT: &str = "holds a mixture of circuits, and one circuit is needed here: mixing destroys the determinism \
                           that most probable worlds, entropy, divergence and the like need";

/// The commands that need no determinism, for a kind of model.
fn work_on(kind: &str) -> String {
    format!("eval, prob, marginals, sample, possible, entails, info, validate, fit and distil work on {kind}")
}

/// The commands that take a sum-product network.
const FOR_NETWORKS: &str = "eval, prob, marginals, sample, info, validate, fit and distil work on sum-product networks";

/// The way out of parameters that do not add up to one.
pub(crate) const FIX: &str = "`slopp validate MODEL --fix -o FILE` divides the parameters of each sum by their total";

/// The way from a model of another kind to a PSDD.
pub(crate) const DISTIL: &str = "`slopp distil MODEL RECORDS -o model.psdd` makes one PSDD of it";

/// What stands in place of a certificate of a mixture.
pub(crate) const MIXTURE_IN_WORDS: &str = "a mixture: no determinism, so no model count and no entropy";

/// What stands in place of a certificate of a sum-product network.
pub(crate) const SPN_IN_WORDS: &str = "none: a sum-product network, which has no vtree and whose sums overlap";

/// The certificate of a circuit in one word, as JSON has it.
pub(crate) fn certificate(circuit: &Certified) -> &'static str {
    match circuit {
        Certified::Psdd(_) => "psdd",
        Certified::Deterministic(..) => "deterministic",
        Certified::Circuit(_, Reason::Overlap(_)) => "mixture",
        Certified::Circuit(_, Reason::Parameters(_)) => "none",
        Certified::Circuit(_, Reason::Unproved(_)) => "unproved",
    }
}

/// The certificate of a circuit in words.
pub(crate) fn certificate_in_words(circuit: &Certified) -> &'static str {
    match circuit {
        Certified::Psdd(_) => "a PSDD: the primes of every sum are proved exclusive",
        Certified::Deterministic(..) => "deterministic, but not a PSDD: elements are exclusive, some primes overlap",
        Certified::Circuit(_, Reason::Overlap(_)) => {
            "none: elements overlap, so it is read as a circuit and not as a PSDD"
        }
        Certified::Circuit(_, Reason::Parameters(_)) => {
            "none: parameters do not add up to one, so it is not a distribution"
        }
        Certified::Circuit(_, Reason::Unproved(_)) => {
            "not proved: the limits do not suffice to prove primes exclusive, so it is read as a circuit"
        }
    }
}

/// The error of a reader, with what helps if the file is not there.
pub fn explained(error: ReadError) -> Error {
    let absent = matches!(&*error.problem, Problem::Open(e) if e.kind() == std::io::ErrorKind::NotFound);
    let error = Error::from(error);
    if absent { error.hint("check the name and the folder; `-` reads from stdin") } else { error }
}

pub(crate) fn options(args: ReadArgs, columns: &ColumnArgs) -> RecordsOptions {
    let header = match args.header {
        HeaderWhen::Detect => Header::Detect,
        HeaderWhen::Yes => Header::Present,
        HeaderWhen::No => Header::Absent,
    };
    RecordsOptions {
        header,
        max_values: columns.max_values,
        categories: columns.categories(),
        bins: columns.bins.clone(),
        max_memory: args.records_memory.saturating_mul(1 << 20),
        ..RecordsOptions::default()
    }
}

/// How to read records over the variables of a model.
pub(crate) fn options_over(args: ReadArgs, names: &Arc<Names>) -> RecordsOptions {
    RecordsOptions { names: Some(names.clone()), ..options(args, &ColumnArgs::default()) }
}

/// Reads records, whatever their columns hold.
pub(crate) fn read_records(path: &Path, args: ReadArgs, columns: &ColumnArgs) -> Result<Records, Error> {
    columns.check()?;
    slopp::io::read_records(path, &options(args, columns)).map_err(explained)
}

/// Reads records over the variables of a model.
pub(crate) fn read_records_of(path: &Path, args: ReadArgs, names: &Arc<Names>) -> Result<Records, Error> {
    slopp::io::read_records(path, &options_over(args, names)).map_err(|error| of_model(error, names))
}

/// The same with the text they were read from, whatever it was packed in.
pub(crate) fn read_records_and_text(
    path: &Path,
    args: ReadArgs,
    names: &Arc<Names>,
) -> Result<(Records, Vec<u8>), Error> {
    let text = slopp::io::read_text(path, None).map_err(explained)?.into_owned();
    let read = slopp::io::read_records(&text, &options_over(args, names));
    Ok((read.map_err(|error| of_model(error.in_file(path), names))?, text))
}

/// What is wrong with records for a model.
fn of_model(error: ReadError, names: &Names) -> Error {
    let unnamed = matches!(*error.problem, Problem::Columns { .. }) && *names == Names::numbered(names.len());
    match unnamed {
        true => Error::from(error).hint(
            "the model has no names of its own; `slopp convert MODEL named.psdd --names RECORDS` gives it those of a file",
        ),
        false => explained(error),
    }
}

/// A vtree as people ask for one, and how it was made: the name of a method, a file, or a text.
pub(crate) enum VtreeSource {
    Method(VtreeMethod),
    File(Vtree),
    Model(Vtree, Arc<Names>),
    Text(String),
}

impl VtreeSource {
    /// Tells the three apart, and reads the file.
    pub(crate) fn find(text: &str, limits: &Limits) -> Result<VtreeSource, Error> {
        if let Ok(method) = text.parse() {
            return Ok(VtreeSource::Method(method));
        }
        if text.trim_start().starts_with(['(', '"']) {
            return Ok(VtreeSource::Text(text.to_owned()));
        }
        let path = Path::new(text);
        if is_model(path) {
            let loaded = Loaded::circuit_of(path, None, limits)?;
            return Ok(VtreeSource::Model(Vtree::clone(loaded.circuit().vtree()), loaded.model.names));
        }
        let looks_like_a_file = text == "-" || text.contains(['/', '.']) || path.exists();
        if looks_like_a_file {
            return Ok(VtreeSource::File(slopp::io::read_vtree(path).map_err(explained)?.vtree));
        }
        // A single variable is the one text without parentheses.
        match text.trim().parse::<u32>() {
            Ok(_) => Ok(VtreeSource::Text(text.to_owned())),
            Err(_) => Err(Error::from(text.parse::<VtreeMethod>().expect_err("tried above"))
                .hint("a method, a .vtree file, a model, or a text like \"((1,2),(3,4))\"")),
        }
    }

    /// Where the vtree comes from.
    pub(crate) fn from(&self) -> VtreeFrom {
        match self {
            VtreeSource::Method(method) => VtreeFrom::Method(*method),
            VtreeSource::File(_) | VtreeSource::Model(..) => VtreeFrom::File,
            VtreeSource::Text(_) => VtreeFrom::Text,
        }
    }

    /// The vtree for these records.
    pub(crate) fn build(self, records: &Records, seed: u64) -> Result<Vtree, Error> {
        match self {
            VtreeSource::Method(method) => Ok(method.build(records, seed)?),
            VtreeSource::File(vtree) => Ok(vtree),
            VtreeSource::Model(vtree, own) => vtree_of(vtree, &own, records.names()),
            VtreeSource::Text(text) => Ok(Vtree::parse_named(&text, records.names())?),
        }
    }
}

/// Whether the name is that of a model.
pub(crate) fn is_model(path: &Path) -> bool {
    slopp::io::ending(path).as_deref() == Some("psdd")
}

/// The vtree of a model over the variables of records: matched by name, or by number if the model has no names.
fn vtree_of(vtree: Vtree, own: &Names, names: &Names) -> Result<Vtree, Error> {
    if own == names || *own == Names::numbered(vtree.var_count()) {
        return Ok(vtree);
    }
    Vtree::parse_named(&vtree.line(own).to_string(), names).map_err(|error| {
        Error::from(error).while_doing("the vtree of the model is over other variables than the records")
    })
}
