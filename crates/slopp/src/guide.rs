#![doc = include_str!("guide/links.md")]
#![doc = include_str!("../guide/README.md")]

/// A page of `docs/guide`, whose examples are run as tests.
///
/// Links of a page go to files, by the definitions at its end, and so work on a code host. Markdown takes the first
/// definition of a label, so the ones in `links.md` win here, and links go to this documentation.
macro_rules! page {
    ($name:ident, $file:literal) => {
        #[doc = include_str!("guide/links.md")]
        #[doc = include_str!(concat!("../guide/", $file))]
        pub mod $name {}
    };
}

page!(first_model, "first-model.md");
page!(learners, "learners.md");
page!(columns, "columns.md");
page!(queries, "queries.md");
page!(formulas, "formulas.md");
page!(knowledge, "knowledge.md");
page!(python, "python.md");
page!(coming_from, "coming-from.md");
page!(files, "files.md");
page!(mixtures, "mixtures.md");
page!(slopp, "slopp.md");
page!(efforts, "efforts.md");
page!(learnspn, "learnspn.md");
page!(refine, "refine.md");
page!(erratum, "erratum.md");
page!(reproduce, "reproduce.md");
page!(bench, "bench.md");

/// The README, tested like the rest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
