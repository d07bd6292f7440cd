//! The one type that every figure function returns.

use std::fmt;
use std::io::{self, Write};

use serde_json::Value;

use crate::plotly;
use crate::spec::Plot;

/// A figure: drawn, sketched, told and tabled.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub(crate) title: String,
    pub(crate) alternative: String,
    pub(crate) sketch: String,
    pub(crate) tables: Vec<Table>,
    pub(crate) drawn: Drawn,
}

/// What is drawn of a figure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Drawn {
    /// Marks along axes.
    Chart(Box<Plot>),
    /// SVG, where there is room and for a phone.
    Diagram([String; 2]),
}

/// Numbers of a figure, as a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What the table holds.
    pub caption: String,
    /// The head of each column; the first one stands over the row heads.
    pub columns: Vec<String>,
    /// Each row: its head, then one cell a further column.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table whose rows have as many cells as it has columns.
    pub fn new<const N: usize>(
        caption: impl Into<String>,
        columns: [&str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> Self {
        Self {
            caption: caption.into(),
            columns: columns.map(str::to_owned).to_vec(),
            rows: rows.into_iter().map(Vec::from).collect(),
        }
    }

    /// A table with a name before each row and over each column, and its cells by row and
    /// column.
    pub fn grid(
        caption: impl Into<String>,
        corner: &str,
        rows: &[String],
        columns: &[String],
        cell: impl Fn(usize, usize) -> String,
    ) -> Self {
        let row = |(i, name): (usize, &String)| {
            let cells = (0..columns.len()).map(|j| cell(i, j));
            std::iter::once(name.clone()).chain(cells).collect()
        };
        Self {
            caption: caption.into(),
            columns: [&[corner.to_owned()], columns].concat(),
            rows: rows.iter().enumerate().map(row).collect(),
        }
    }
}

impl Figure {
    /// The title, which states what is to be seen.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What the figure shows, in a sentence or two.
    pub fn alternative(&self) -> &str {
        &self.alternative
    }

    /// The figure in text, for places that draw none.
    pub fn sketch(&self) -> &str {
        &self.sketch
    }

    /// The figure's numbers.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// What plotly.js draws: `data`, `layout` (with the title) and `config`. Of a diagram,
    /// which it does not draw, only the title.
    pub fn to_json(&self) -> Value {
        let plot = match &self.drawn {
            Drawn::Chart(plot) => Some(&**plot),
            Drawn::Diagram(_) => None,
        };
        plotly::figure(&self.title, plot)
    }

    /// The SVG of a diagram.
    pub(crate) fn drawings(&self) -> Option<[&str; 2]> {
        match &self.drawn {
            Drawn::Diagram(drawings) => Some(drawings.each_ref().map(String::as_str)),
            Drawn::Chart(_) => None,
        }
    }

    /// Shows the figure in a notebook: evcxr calls this for the last value of a cell.
    ///
    /// The notebook keeps both forms in one output and shows the drawn one if it can.
    /// evcxr keeps one output a cell, so show one figure a cell.
    pub fn evcxr_display(&self) {
        // Nothing to be done in a notebook whose kernel has stopped reading.
        let _ = self.write_contents(&mut io::stdout().lock());
    }

    /// evcxr's protocol: lines on stdout, one block a mime type, merged into one output.
    fn write_contents(&self, out: &mut impl Write) -> io::Result<()> {
        let drawn = match self.drawings() {
            Some([wide, _]) => ("image/svg+xml", wide.to_owned()),
            None => ("application/vnd.plotly.v1+json", self.to_json().to_string()),
        };
        for (mime, content) in [drawn, ("text/plain", self.to_string())] {
            writeln!(out, "EVCXR_BEGIN_CONTENT {mime}\n{content}\nEVCXR_END_CONTENT")?;
        }
        out.flush()
    }
}

/// The title and the sketch under it.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\n{}", self.title, self.sketch.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_notebook_gets_both_forms_in_evcxrs_protocol() {
        let figure = testing::figure();
        let mut out = Vec::new();
        figure.write_contents(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();

        let blocks: Vec<_> = out.split("\nEVCXR_END_CONTENT\n").collect();
        let [plotly, text, ""] = blocks[..] else { panic!("{} blocks", blocks.len()) };
        let plotly =
            plotly.strip_prefix("EVCXR_BEGIN_CONTENT application/vnd.plotly.v1+json\n");
        let plotly: Value = serde_json::from_str(plotly.unwrap()).unwrap();
        assert_eq!(plotly, figure.to_json());
        let text = text.strip_prefix("EVCXR_BEGIN_CONTENT text/plain\n").unwrap();
        assert_eq!(text, figure.to_string());
    }

    #[test]
    fn a_notebook_gets_a_diagram_as_svg() {
        let figure = crate::head_diagram("A head", None, None);
        let mut out = Vec::new();
        figure.write_contents(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let svg = out.strip_prefix("EVCXR_BEGIN_CONTENT image/svg+xml\n").unwrap();
        let (svg, text) = svg.split_once("\nEVCXR_END_CONTENT\n").unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"));
        assert!(text.contains(&figure.to_string()));
        assert_eq!(figure.to_json()["layout"]["title"]["text"], "A head");
    }
}
