//! A report as one HTML file: headings, text, tables and pictures, with nothing to load and no scripts.
//!
//! Everything that comes as text is escaped; only pictures, which the library drew, go in as they are.

use slopp_cli::Table;
use std::fmt::Write;

const STYLE: &str = "\
:root{color-scheme:light dark;--page:#fbfcfd;--ink:#26323f;--quiet:#5d6a77;--line:#d8dee4;--panel:#ffffff;--blue:#2f78d1}\
@media(prefers-color-scheme:dark){:root{--page:#14191f;--ink:#dde3e9;--quiet:#a3afba;--line:#333d47;--panel:#1c232b;--blue:#6aa5ec}}\
*{box-sizing:border-box}\
body{margin:0;background:var(--page);color:var(--ink);\
font:15px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',Helvetica,Arial,sans-serif}\
main{max-width:88rem;margin:0 auto;padding:2.5rem 1.5rem 4rem}\
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .6rem}\
h2{font-size:1.3rem;margin:2.8rem 0 .6rem;padding-top:1.2rem;border-top:1px solid var(--line)}\
h3{font-size:1.05rem;margin:1.8rem 0 .4rem}\
p{max-width:52rem;margin:.5rem 0}\
.lead{font-size:1.08rem;color:var(--quiet)}\
.caption{color:var(--quiet);font-size:.88rem}\
nav{margin:1rem 0}nav a{margin-right:1.1rem}\
a{color:var(--blue);text-decoration:none}a:hover{text-decoration:underline}\
.scroll{overflow-x:auto;margin:.8rem 0}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.88rem;background:var(--panel);\
border:1px solid var(--line)}\
th,td{padding:.3rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}\
th{font-weight:600;color:var(--quiet);vertical-align:bottom}\
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--panel)}\
th.words,td.words{text-align:left}td.prose{text-align:left;white-space:normal;min-width:16rem;max-width:56rem}\
table.wide{font-size:.8rem}.wide th,.wide td{padding:.25rem .42rem}\
tbody tr:hover td{background:color-mix(in srgb,var(--blue) 9%,var(--panel))}\
.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(34rem,100%),1fr));gap:1rem;margin:1rem 0}\
figure{margin:0;padding:.5rem;background:var(--panel);border:1px solid var(--line);border-radius:.5rem;overflow-x:auto}\
figure svg{max-width:100%;height:auto;display:block;margin:0 auto}\
figcaption{color:var(--quiet);font-size:.85rem;padding:.2rem .5rem .4rem}\
.verdict{max-width:60rem;margin:.7rem 0;padding:.6rem .9rem;background:var(--panel);border:1px solid var(--line);\
border-left:5px solid #7a8794;border-radius:.3rem}\
.verdict b{display:block}.verdict.yes{border-left-color:#23996a}.verdict.no{border-left-color:#cf4560}\
pre{background:var(--panel);border:1px solid var(--line);border-radius:.3rem;padding:.7rem;overflow-x:auto;font-size:.85rem}\
footer{margin-top:3rem;color:var(--quiet);font-size:.85rem}\
@media print{h2{break-after:avoid}figure,.verdict{break-inside:avoid}}";

/// Tables of more columns are set closer.
const WIDE: usize = 10;

/// Cells of more characters are broken into lines.
const LONG: usize = 60;

/// A page that is being written, from above to below.
pub(crate) struct Page {
    title: String,
    lead: String,
    sections: Vec<String>,
    body: String,
}

/// How something turned out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it should be.
    Yes,
    /// Not as it should be.
    No,
    /// Neither.
    Neutral,
}

impl Page {
    /// A page with a title and a sentence or two on what it holds.
    pub(crate) fn new(title: &str, lead: &str) -> Page {
        Page { title: escape(title), lead: escape(lead), sections: Vec::new(), body: String::new() }
    }

    /// A new section, which is listed at the top of the page.
    pub(crate) fn section(&mut self, title: &str) {
        self.sections.push(escape(title));
        self.push(format_args!("<h2 id=\"s{}\">{}</h2>", self.sections.len(), escape(title)));
    }

    /// A heading inside a section.
    pub(crate) fn heading(&mut self, title: &str) {
        self.push(format_args!("<h3>{}</h3>", escape(title)));
    }

    /// A paragraph.
    pub(crate) fn text(&mut self, text: &str) {
        self.push(format_args!("<p>{}</p>", escape(text)));
    }

    /// Lines as they are.
    pub(crate) fn lines(&mut self, lines: &str) {
        self.push(format_args!("<pre>{}</pre>", escape(lines)));
    }

    /// A table whose first line holds titles.
    pub(crate) fn table(&mut self, table: &Table, caption: &str) {
        let columns = table.lines().first().map_or(0, Vec::len);
        let class = if columns > WIDE { " class=\"wide\"" } else { "" };
        self.push(format_args!("<div class=\"scroll\"><table{class}>"));
        for (i, line) in table.lines().iter().enumerate() {
            let (open, close, tag) = match i {
                0 => ("<thead><tr>", "</tr></thead><tbody>", "th"),
                _ => ("<tr>", "</tr>", "td"),
            };
            let cell = |(column, cell): (usize, &String)| {
                let class = match cell.chars().count() {
                    _ if column == 0 || !has_words(table, column) => "",
                    ..=LONG => " class=\"words\"",
                    _ => " class=\"prose\"",
                };
                format!("<{tag}{class}>{}</{tag}>", escape(cell.trim()))
            };
            let cells: String = line.iter().enumerate().map(cell).collect();
            self.push(format_args!("{open}{cells}{close}"));
        }
        self.body.push_str(if table.lines().is_empty() { "</table></div>\n" } else { "</tbody></table></div>\n" });
        if !caption.is_empty() {
            self.push(format_args!("<p class=\"caption\">{}</p>", escape(caption)));
        }
    }

    /// Pictures side by side where there is room: SVG as the library draws it, each with a caption that may be empty.
    pub(crate) fn pictures<'a>(&mut self, pictures: impl IntoIterator<Item = (&'a str, &'a str)>) {
        self.body.push_str("<div class=\"pictures\">\n");
        for (svg, caption) in pictures {
            let caption = match caption {
                "" => String::new(),
                caption => format!("<figcaption>{}</figcaption>", escape(caption)),
            };
            self.push(format_args!("<figure>{svg}{caption}</figure>"));
        }
        self.body.push_str("</div>\n");
    }

    /// A claim and what was found.
    pub(crate) fn verdict(&mut self, tone: Tone, claim: &str, finding: &str) {
        let class = match tone {
            Tone::Yes => " yes",
            Tone::No => " no",
            Tone::Neutral => "",
        };
        self.push(format_args!("<div class=\"verdict{class}\"><b>{}</b>{}</div>", escape(claim), escape(finding)));
    }

    /// The whole file, with a last line on where it comes from.
    pub(crate) fn finish(self, origin: &str) -> String {
        let Page { title, lead, sections, body } = self;
        let links = sections.iter().zip(1..).map(|(section, i)| format!("<a href=\"#s{i}\">{section}</a>"));
        let links = links.collect::<Vec<_>>().join("\n");
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <h1>{title}</h1>\n<p class=\"lead\">{lead}</p>\n<nav>{links}</nav>\n{body}\
             <footer>{}</footer>\n</main>\n</body>\n</html>\n",
            escape(origin)
        )
    }

    fn push(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "{line}");
    }
}

/// Whether a column holds words rather than numbers, which stand to the right.
fn has_words(table: &Table, column: usize) -> bool {
    let cells = table.lines().iter().skip(1).filter_map(|line| line.get(column)).filter(|cell| !cell.is_empty());
    let (words, all) = cells.fold((0, 0), |(words, all), cell| {
        (words + usize::from(cell.trim_start().starts_with(|c: char| c.is_ascii_alphabetic())), all + 1)
    });
    2 * words > all
}

/// Text fit to stand in HTML.
fn escape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\'' => result.push_str("&#39;"),
            '\0' => result.push('\u{fffd}'),
            c => result.push(c),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_said_is_escaped_and_pictures_are_not() {
        let evil = "<script>\"&'";
        let mut page = Page::new(evil, evil);
        page.section(evil);
        page.heading(evil);
        page.text(evil);
        page.lines(evil);
        page.verdict(Tone::No, evil, evil);
        let mut table = Table::titled([evil, "b"]);
        table.push(["1", evil]);
        page.table(&table, evil);
        page.pictures([("<svg></svg>", evil)]);
        let html = page.finish(evil);
        assert!(!html.contains("<script") && html.contains("<figure><svg></svg><figcaption>"), "{html}");
        // Title, heading and lead, twice the section, then once each: heading, text, lines, claim, finding, two cells,
        // two captions, origin.
        assert_eq!(html.matches("&lt;script&gt;&quot;&amp;&#39;").count(), 15);
        for tag in ["main", "table", "tbody", "thead", "div", "figure", "h2", "p"] {
            let count = |pattern: String| html.matches(&pattern).count();
            assert_eq!(count(format!("<{tag}>")) + count(format!("<{tag} ")), count(format!("</{tag}>")), "{tag}");
        }
    }
}
