//! A chapter as written becomes a chapter as mdBook's own steps expect it.
//!
//! It is done in one pass over the text as written, so that each problem has the line at
//! which the writer finds it, and by the same code in a build and in a check.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use workshop::at_once;

use super::contents;
use super::directive::{self, Directive};
use super::exercise;
use super::figures::{self, Figures};
use super::include;
use super::loads;
use super::math::{self, Converter};
use super::predict;
use super::problem::{Problem, line_of};
use super::snapshot::{Snapshots, Values};
use super::sources::Sources;
use super::teachers;
use super::tested::Tests;
use super::withheld::Withheld;

/// Expands the chapters of one folder.
pub struct Expander<'a> {
    chapters: PathBuf,
    drawing: &'a dyn Figures,
    converter: Converter,
    snapshots: Snapshots,
    tests: Tests,
    sources: Sources,
    /// The page that shows the whole way through a layer.
    line: Option<String>,
    /// How many questions each topic has.
    totals: String,
    /// Where the sources are published, if that is known.
    pub published: Option<String>,
    /// What a book without solutions leaves out.
    pub withheld: Option<Withheld>,
}

/// A chapter, expanded, with what could not be done.
pub struct Expanded {
    /// What mdBook takes from here; where a problem is, the text is as written.
    pub text: String,
    /// The same as text alone: formulas as LaTeX, of a figure what it says.
    pub plain: String,
    /// In the order of the text.
    pub problems: Vec<Problem>,
}

impl<'a> Expander<'a> {
    /// For the chapters in this folder; the workspace is the folder above.
    pub fn new(chapters: &Path, drawing: &'a dyn Figures) -> Result<Self> {
        let chapters = chapters.to_path_buf();
        let workspace = chapters.parent().unwrap_or(&chapters);
        let (snapshots, tests) = (Snapshots::of(workspace)?, Tests::of(workspace)?);
        let (converter, line) = (Converter::new()?, line_page(&chapters)?);
        let sources = Sources::of(&chapters)?;
        let totals = predict::totals(&chapters)?;
        Ok(Self {
            chapters,
            drawing,
            converter,
            snapshots,
            tests,
            sources,
            line,
            totals,
            published: None,
            withheld: None,
        })
    }

    /// Expands these chapters, in their order: each a path from the folder of chapters, and
    /// its text. Figures take most of the time, so every processor takes a chapter.
    pub fn expand_all(&self, chapters: &[(PathBuf, String)]) -> Vec<Expanded> {
        at_once::map(chapters, at_once::n_processors(), |(file, text)| {
            self.expand(file, text)
        })
    }

    /// Expands the chapter in `file`, a path from the folder of chapters.
    pub fn expand(&self, file: &Path, text: &str) -> Expanded {
        let mut chapter = Chapter {
            book: self,
            file,
            text,
            values: Values::default(),
            edits: Vec::new(),
            plain: Vec::new(),
            problems: Vec::new(),
            figures: 0,
        };
        chapter.run();
        let mut expanded = chapter.finish();
        if let Some(withheld) = &self.withheld {
            for text in [&mut expanded.text, &mut expanded.plain] {
                *text = withheld.taken_from(text);
            }
        }
        expanded
    }
}

/// One pass over one chapter.
struct Chapter<'a> {
    book: &'a Expander<'a>,
    file: &'a Path,
    text: &'a str,
    values: Values,
    edits: Vec<(Range<usize>, String)>,
    /// What stands for an edit where there is text alone.
    plain: Vec<(Range<usize>, String)>,
    problems: Vec<Problem>,
    figures: usize,
}

impl Chapter<'_> {
    fn run(&mut self) {
        let directives = directive::find(self.text);
        for (place, note) in self.book.sources.cited(self.text) {
            self.plain.push((place.clone(), String::new()));
            self.edits.push((place, note));
        }
        // A snapshot may be declared below the first use of its values: in a footer, say.
        let formulas = math::find(self.text);
        let in_formula = |d: &&Directive| {
            let holds = |f: &math::Formula| f.range.contains(&d.range.start);
            formulas.iter().any(holds)
        };
        let is_declared = |d: &&Directive| d.name == "values" && !in_formula(d);
        for directive in directives.iter().filter(is_declared) {
            let declared = self.values.declare(&self.book.snapshots, directive.rest);
            self.edit(directive.range.clone(), declared.map(|()| Some(String::new())));
        }
        for formula in &formulas {
            let html = self.formula(formula);
            self.edit(formula.range.clone(), html.map(Some));
        }
        for directive in
            directives.iter().filter(|d| d.name != "values" && !in_formula(d))
        {
            let outcome = self.directive(directive);
            self.edit(directive.range.clone(), outcome);
        }
    }

    /// What stands in a directive's place; `None` leaves it to mdBook.
    fn directive(&mut self, asked: &Directive) -> Result<Option<String>> {
        let folder = self.book.chapters.join(self.file);
        let folder = folder.parent().unwrap_or(&self.book.chapters);
        match asked.name {
            "value" => Ok(Some(self.values.get(asked.rest)?.to_string())),
            "test" => self
                .book
                .tests
                .place(asked.rest, self.book.published.as_deref())
                .map(Some),
            "snapshot" => {
                let indent = self.alone_on_its_line(asked)?;
                let body = self.book.snapshots.body(asked.rest)?;
                Ok(Some(tables_and_text(&body, indent)))
            }
            "figure" => Ok(Some(format!("\n{}\n", self.figure(asked, asked.rest)?))),
            "draw" => {
                let (name, mark) = asked.rest.split_once(" | ").context("name | mark")?;
                let html = self.figure(asked, name)?;
                predict::drawn(self.file, name, mark, &html).map(Some)
            }
            "line" => {
                self.alone_on_its_line(asked)?;
                let at = asked.rest.split_whitespace().collect::<Vec<_>>().join("-");
                let strip = format!("{STRIP} at={at}");
                let html = self.book.drawing.figure(&strip, STRIP)?;
                self.plain.push((asked.range.clone(), String::new()));
                Ok(Some(line_strip(&html, self.book.line.as_deref())))
            }
            "first-look" => {
                self.alone_on_its_line(asked)?;
                self.figures += 1;
                self.plain.push((asked.range.clone(), String::new()));
                Ok(Some(format!("\n{}\n", loads::first_look(asked.rest)?)))
            }
            "own-sentence" => self.place(asked, loads::own_sentence).map(Some),
            "own-model" => self.place(asked, loads::own_model).map(Some),
            "wrong-layer" => self.place(asked, loads::wrong_layer).map(Some),
            "include" => {
                let code = include::resolve(folder, asked.rest)?;
                Ok(Some(include::at_the_margin(code.trim_end())))
            }
            // For the table of chapters, on another page.
            "asks" => self.alone_on_its_line(asked).map(|_| Some(String::new())),
            "exercise" => {
                self.alone_on_its_line(asked)?;
                let [text, words] = self.exercise(asked.rest)?;
                self.plain.push((asked.range.clone(), words));
                Ok(Some(text))
            }
            "chapters" | "questions" | "related" | "solutions" | "exercises"
            | "predict" | "teachers" => {
                self.alone_on_its_line(asked)?;
                self.written_anew(asked).map(Some)
            }
            "title" => Ok(None),
            "" => bail!("no }}}} on the line: {{{{{}", asked.rest),
            name => bail!("{{{{#{name}}}}} is not known here"),
        }
    }

    /// A figure of this name, in a block of its own.
    fn figure(&mut self, asked: &Directive, name: &str) -> Result<String> {
        self.alone_on_its_line(asked)?;
        let html = self.book.drawing.figure(name, &self.figure_id())?;
        self.plain.push((asked.range.clone(), figures::in_words(&html)));
        Ok(html)
    }

    /// An exercise, with a link to its solution where the book has it.
    fn exercise(&self, name: &str) -> Result<[String; 2]> {
        exercise::section(name, &self.up(), self.book.withheld.is_none())
    }

    /// Markdown that is made of other files.
    fn written_anew(&self, asked: &Directive) -> Result<String> {
        match asked.name {
            "chapters" => contents::cards(&self.book.chapters),
            "questions" => contents::questions(&self.book.chapters),
            "related" => contents::related(&self.book.chapters, asked.rest),
            "solutions" => exercise::solutions(),
            "predict" => predict::section(&self.book.chapters, self.file),
            "teachers" if self.book.withheld.is_some() => Ok(String::new()),
            "teachers" => teachers::fold(&self.book.chapters, self.file, self.text),
            _ => exercise::table(),
        }
    }

    /// What a script fills, in a block of its own.
    fn place(&mut self, asked: &Directive, html: fn(&str) -> String) -> Result<String> {
        self.alone_on_its_line(asked)?;
        self.plain.push((asked.range.clone(), String::new()));
        Ok(format!("\n{}\n", html(&self.figure_id())))
    }

    /// The id of the next figure.
    fn figure_id(&mut self) -> String {
        self.figures += 1;
        let stem = self.file.with_extension("");
        let stem = stem.to_string_lossy().replace(['/', '\\'], "-");
        format!("figure-{stem}-{}", self.figures)
    }

    /// From this chapter's page to the book's root.
    fn up(&self) -> String {
        "../".repeat(self.file.components().count() - 1)
    }

    fn formula(&mut self, formula: &math::Formula) -> Result<String> {
        let mut latex = formula.latex.clone();
        for asked in directive::find(&formula.latex).iter().rev() {
            ensure!(
                asked.name == "value",
                "a formula can hold no {{{{#{}}}}}",
                asked.name
            );
            // TeX sets space after a comma unless it stands in braces.
            let value = self.values.get(asked.rest)?.replace(',', "{,}");
            latex.replace_range(asked.range.clone(), &value);
        }
        let dollars = if formula.display { "$$" } else { "$" };
        self.plain.push((formula.range.clone(), format!("{dollars}{latex}{dollars}")));
        self.book.converter.convert(latex.trim(), formula.display)
    }

    /// The white space before a directive that makes a block.
    fn alone_on_its_line(&self, asked: &Directive) -> Result<&str> {
        let before = &self.text[..asked.range.start];
        let indent = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        let after = self.text[asked.range.end..].split('\n').next().unwrap_or_default();
        ensure!(
            indent.trim().is_empty() && after.trim().is_empty(),
            "{{{{#{}}}}} makes a block: put it on a line of its own",
            asked.name
        );
        Ok(indent)
    }

    fn edit(&mut self, range: Range<usize>, outcome: Result<Option<String>>) {
        match outcome {
            Ok(Some(text)) => self.edits.push((range, text)),
            Ok(None) => {}
            Err(error) => self.problems.push(Problem {
                file: Path::new("chapters").join(self.file),
                line: line_of(self.text, range.start),
                what: format!("{error:#}"),
            }),
        }
    }

    fn finish(mut self) -> Expanded {
        self.edits.sort_by_key(|(range, _)| range.start);
        let (mut text, mut plain, mut at) = (String::new(), String::new(), 0);
        for (range, new) in &self.edits {
            // One begins within the other.
            if range.start < at {
                self.problems.push(Problem {
                    file: Path::new("chapters").join(self.file),
                    line: line_of(self.text, range.start),
                    what: "a formula and a {{#…}} overlap".to_string(),
                });
                continue;
            }
            let words = self.plain.iter().find(|(it, _)| it == range);
            for (text, new) in
                [(&mut text, new), (&mut plain, words.map_or(new, |it| &it.1))]
            {
                *text += &self.text[at..range.start];
                *text += new;
            }
            at = range.end;
        }
        text.push_str(&self.text[at..]);
        plain.push_str(&self.text[at..]);
        // A figure with its settings on another page: mdBook would drop them.
        text = text.replace(".md?", ".html?");
        text.push_str(&loads::page_end(&text, &self.up(), &self.book.totals));
        self.problems.sort();
        Expanded { text, plain, problems: self.problems }
    }
}

/// The figure that shows where a chapter is on the way from words to an output.
const STRIP: &str = "line-strip";

/// The way from words to an output, small, as a link to the page that shows it in full.
fn line_strip(drawing: &str, page: Option<&str>) -> String {
    let html = match page {
        Some(page) => format!(
            "<a href=\"{page}#live-line\" title=\"The whole way, with every number\">\
             {drawing}</a>"
        ),
        None => drawing.to_owned(),
    };
    format!(
        "\n<nav class=\"line-strip\" aria-label=\"The way through a layer\">{html}</nav>\n"
    )
}

/// The page of the chapter that shows the whole way.
fn line_page(chapters: &Path) -> Result<Option<String>> {
    let entries = fs::read_dir(chapters)
        .with_context(|| format!("cannot read the folder {}", chapters.display()))?;
    for entry in entries {
        let file = entry?.path();
        let is_chapter = file.extension().is_some_and(|it| it == "md");
        if is_chapter && fs::read_to_string(&file)?.contains("{{#figure line}}") {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            return Ok(Some(format!("{name}.html")));
        }
    }
    Ok(None)
}

/// Rows of Markdown stay tables; what stands between them is a block of text.
fn tables_and_text(body: &str, indent: &str) -> String {
    let lines: Vec<&str> = body.lines().collect();
    let is_row = |line: &str| line.starts_with('|');
    let parts = lines.chunk_by(|a, b| is_row(a) == is_row(b)).map(|part| part.join("\n"));
    let parts = parts.map(|part| part.trim_matches('\n').to_owned());
    let shown = parts.filter(|part| !part.is_empty()).map(|part| match is_row(&part) {
        true => indented(&part, indent),
        false => fenced(&part, indent),
    });
    shown.collect::<Vec<_>>().join(&format!("\n\n{indent}"))
}

/// A block of text between fences that are longer than any run of backticks in it. The
/// indent before the first fence is in the chapter already.
fn fenced(body: &str, indent: &str) -> String {
    let runs = body.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    format!("{fence}text\n{indent}{}\n{indent}{fence}", indented(body, indent))
}

/// The directive stands behind the first line's white space.
fn indented(body: &str, indent: &str) -> String {
    body.replace('\n', &format!("\n{indent}"))
}

#[cfg(test)]
mod tests;
