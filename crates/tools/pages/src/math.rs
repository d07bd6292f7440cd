//! Formulas: LaTeX in the chapter, MathML in the page. No script runs for them.
//!
//! The converter is math-core: it writes MathML Core, which browsers draw by themselves,
//! without the style sheet or the non-standard elements that others need. What browsers
//! do need is a font with a table of mathematics, for brackets that grow: it is
//! `chapters/theme/fonts/`.

use std::ops::Range;

use anyhow::{Result, anyhow};
use math_core::{LatexToMathML, MathCoreConfig, MathDisplay};
use pulldown_cmark::{Event, Options, Parser};

/// One formula of a chapter.
pub struct Formula {
    /// Where it stands, dollar signs included.
    pub range: Range<usize>,
    /// The LaTeX between the dollar signs.
    pub latex: String,
    /// Whether it stands in a line of its own (`$$`).
    pub display: bool,
}

/// Every formula. What is code to Markdown is code here: the same parser decides. It does
/// not look into lines of HTML, so their text is given to it by itself (`<summary>` holds
/// questions).
pub fn find(markdown: &str) -> Vec<Formula> {
    let options = Options::ENABLE_MATH
        | Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_GFM
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut found = Vec::new();
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        match event {
            Event::InlineMath(latex) => {
                found.push(Formula { range, latex: latex.into_string(), display: false });
            }
            Event::DisplayMath(latex) => {
                found.push(Formula { range, latex: latex.into_string(), display: true });
            }
            Event::Html(_) => {
                for part in text_of_html(markdown, range) {
                    let inner = find(&markdown[part.clone()]).into_iter();
                    found.extend(inner.map(|formula| formula.moved(part.start)));
                }
            }
            _ => {}
        }
    }
    found
}

impl Formula {
    fn moved(mut self, by: usize) -> Self {
        self.range = self.range.start + by..self.range.end + by;
        self
    }
}

/// Where a line of HTML holds text: between its tags, unless it is code.
fn text_of_html(markdown: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let html = &markdown[line.clone()];
    let mut parts = Vec::new();
    if ["<code", "<pre", "<script", "<style"].iter().any(|tag| html.contains(tag)) {
        return parts;
    }
    let mut at = line.start;
    for tag in html.split_inclusive('>') {
        let text = tag.find('<').unwrap_or(tag.len());
        // White space at the start could make an indented block of code of it.
        let blank = text - tag[..text].trim_start().len();
        parts.push(at + blank..at + text);
        at += tag.len();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The converter, made once a build.
pub struct Converter(LatexToMathML);

impl Converter {
    /// A converter with no macros of its own.
    pub fn new() -> Result<Self> {
        LatexToMathML::new(MathCoreConfig::default())
            .map(Self)
            .map_err(|error| anyhow!("the formula converter does not start: {error:?}"))
    }

    /// The formula as HTML that Markdown leaves as it is.
    ///
    /// # Errors
    ///
    /// If it is not LaTeX that can be drawn; the message holds the formula.
    pub fn convert(&self, latex: &str, display: bool) -> Result<String> {
        let mode = if display { MathDisplay::Block } else { MathDisplay::Inline };
        let mathml = self.0.convert_with_local_state(latex, mode).map_err(|error| {
            anyhow!("bad formula: {} in {latex}", error.error_message())
        })?;
        let html = markdown_proof(&mathml.mathml);
        // The span scrolls where the formula is wider than the page.
        Ok(if display { format!("<span class=\"formula\">{html}</span>") } else { html })
    }
}

/// Writes each character between tags that Markdown would read as its own (`*`, `_`, `|`,
/// quotes to be curled) as a character reference. References that are there already stay.
fn markdown_proof(mathml: &str) -> String {
    let mut html = String::with_capacity(mathml.len());
    let mut in_tag = false;
    for c in mathml.chars() {
        match c {
            '<' => in_tag = true,
            '>' => in_tag = false,
            _ => {}
        }
        if !in_tag && "*_[]`~$|\\!'\"-.^:\n".contains(c) {
            html.push_str(&format!("&#{};", c as u32));
        } else {
            html.push(c);
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_found_and_code_is_not() {
        let text =
            "a $x$ and `$y$`\n\n```sh\necho $A $B\n```\n\n$$\nz\n$$\n\n\\$5 and \\$6";
        let found = find(text);
        let latex: Vec<_> = found.iter().map(|f| (f.latex.trim(), f.display)).collect();
        assert_eq!(latex, [("x", false), ("z", true)]);
        assert_eq!(&text[found[0].range.clone()], "$x$");
    }

    #[test]
    fn formulas_are_found_between_tags() {
        let text =
            "<details>\n<summary>What is $x$, <b>and $y$</b>?</summary>\n\nIt $z$.\n";
        let found = find(text);
        let shown: Vec<_> = found.iter().map(|f| &text[f.range.clone()]).collect();
        assert_eq!(shown, ["$x$", "$y$", "$z$"]);
        assert!(find("<pre>$x$</pre>\n\n<p title='$a$'>\n").is_empty());
    }

    #[test]
    fn the_formulas_that_the_book_needs_convert() {
        let converter = Converter::new().unwrap();
        for latex in [
            r"\mathbf{W}_i^Q \in \mathbb{R}^{d_{\text{model}} \times d_k}",
            r"\operatorname{softmax}\!\left(\frac{Q_i K_i^\top}{\sqrt{d_k}}\right) V_i",
            r"\begin{aligned} Q &= X W^Q + b^Q \\ K &= X W^K + b^K \end{aligned}",
            r"\begin{pmatrix} 1 & 0 & -\infty \\ a_{21} & \ddots & \vdots \end{pmatrix}",
            r"\underbrace{[\text{head}_1; \dots; \text{head}_h]}_{n \times h d_v} W^O",
            r"\begin{cases} 0 & j \le i \\ -\infty & \text{otherwise} \end{cases}",
            r"\lVert x \rVert_2, \hat{y}, \mathcal{L}, \partial L/\partial W^Q, 263{,}168",
        ] {
            let html = converter.convert(latex, true).unwrap();
            assert!(html.contains("<math") && !html.contains("merror"), "{html}");
        }
    }

    #[test]
    fn a_bad_formula_is_an_error_that_shows_it() {
        let converter = Converter::new().unwrap();
        for latex in [r"\frac{1}", r"\nosuch x", r"\left( x", "x_", r"\begin{aligned} x"]
        {
            let error = converter.convert(latex, false).unwrap_err().to_string();
            assert!(error.contains(latex), "{error}");
        }
    }

    #[test]
    fn nothing_is_left_for_markdown_to_read() {
        let html = Converter::new().unwrap().convert("a * b_{[i]} | c", false).unwrap();
        let events = Parser::new(&html).filter(|event| matches!(event, Event::Start(_)));
        assert_eq!(events.count(), 1, "only the paragraph: {html}");
    }
}
