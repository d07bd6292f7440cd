//! A figure as a fragment of a page.

use serde_json::{Value, json};

use crate::figure::Drawn;
use crate::layout::{escaped, formula};
use crate::spec::Plot;
use crate::{Figure, Table};

impl Figure {
    /// The figure for a page that loads the scripts of `crates/tools/assets` once.
    ///
    /// `id` is the element's name, unique on its page. The place keeps its height while
    /// the script has not drawn yet; where no script runs, the sketch stands in. The
    /// fragment is one line, so that Markdown takes it as one block.
    ///
    /// A book's search reads every text of a page. So the sketch is an attribute, which
    /// the style sheet shows, and the tables are data, which figures.js makes into tables
    /// when they are opened: a reader finds the title and not four thousand shares.
    pub fn to_html(&self, id: &str) -> String {
        let id = attribute(id);
        let (title, caption) = (attribute(&self.title), formula(&self.title));
        let (drawn, data) = (self.to_picture(), self.drawn_from());
        // No tag can begin inside the data, so none can end the script.
        let data = data.to_string().replace('<', "\\u003c");
        format!(
            "<figure class=\"figure\" id=\"{id}\">\
             <figcaption>{caption}</figcaption>\
             {drawn}\
             <script type=\"application/json\">{data}</script>\
             <details><summary>The data as a table</summary>\
             <div class=\"figure-tables\" role=\"region\" tabindex=\"0\" \
             aria-label=\"Data: {title}\"></div></details>\
             </figure>"
        )
    }

    /// The drawing alone, without title and tables: a diagram that stands in a link, say,
    /// and needs no script.
    pub fn to_picture(&self) -> String {
        match &self.drawn {
            Drawn::Chart(plot) => self.plot_html(plot),
            Drawn::Diagram(drawings) => self.diagram_html(drawings),
        }
    }

    /// What figures.js needs to show this figure where another one of its kind stands:
    /// what it draws, or the drawings; the caption as HTML, and the rest as text.
    pub fn to_page(&self) -> Value {
        let mut page = self.drawn_from();
        page["caption"] = json!(formula(&self.title));
        page["alternative"] = json!(self.alternative);
        page["sketch"] = json!(self.sketch);
        if let Some(drawings) = self.drawings() {
            page["drawings"] = json!(drawings);
        }
        page
    }

    /// The numbers: of a plot, what is drawn at either width; of every figure, its tables.
    fn drawn_from(&self) -> Value {
        let mut data = match &self.drawn {
            Drawn::Chart(plot) => plot.to_page(),
            Drawn::Diagram(_) => json!({}),
        };
        data["tables"] = self.tables.iter().map(Table::to_json).collect();
        data
    }

    /// The place that figures.js draws in.
    fn plot_html(&self, plot: &Plot) -> String {
        let alternative = attribute(&self.alternative);
        let sketch = attribute(&self.sketch).replace('\n', "&#10;");
        let (wide, narrow) = (plot.wide.height, plot.narrow.height);
        format!(
            "<div class=\"figure-plot\" role=\"img\" aria-label=\"{alternative}\" \
             data-sketch=\"{sketch}\" \
             style=\"--wide:{wide}px;--narrow:{narrow}px\"></div>"
        )
    }

    /// Both drawings; the style sheet shows the one that has room.
    fn diagram_html(&self, [wide, narrow]: &[String; 2]) -> String {
        let alternative = attribute(&self.alternative);
        format!(
            "<div class=\"figure-diagram\" role=\"img\" aria-label=\"{alternative}\">\
             {wide}{narrow}</div>"
        )
    }
}

impl Table {
    fn to_json(&self) -> Value {
        json!({ "caption": self.caption, "columns": self.columns, "rows": self.rows })
    }
}

/// A text as the value of an attribute.
fn attribute(text: &str) -> String {
    escaped(text).replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use attention::Matrix;

    use super::*;
    use crate::{Heads, head_maps};

    #[test]
    fn tokens_that_look_like_tags_stay_text() {
        let attn = [Matrix::identity(2, 2)];
        let heads = Heads::of_tokens(&attn, &["</script>", "\"&"]).unwrap();
        let figure = head_maps("Is <s> a token?", &heads);
        let html = figure.to_html("tags");

        let (_, data) = html.split_once("<script type=\"application/json\">").unwrap();
        let (data, after) = data.split_once("</script>").unwrap();
        assert!(after.starts_with("<details>"), "{after}");
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["marks"][0]["rows"], json!([[1.0, 0.0], [0.0, 1.0]]));
        assert!(html.contains("<figcaption>Is &lt;s&gt; a token?</figcaption>"));
        assert_eq!(data["tables"][0]["rows"][1][0], "\"&");
    }

    #[test]
    fn a_diagram_stands_in_the_page_itself() {
        let figure = crate::head_diagram("One head", None, None);
        let html = figure.to_html("head");
        assert!(html.starts_with("<figure ") && html.ends_with("</figure>"));
        assert!(!html.contains('\n') && !html.contains("figure-plot"));
        assert_eq!(html.matches("<svg ").count(), 2);
        assert!(html.contains("role=\"img\" aria-label=\"Block diagram"));
        let (_, data) = html.split_once("<script type=\"application/json\">").unwrap();
        let (data, _) = data.split_once("</script>").unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["tables"][0]["columns"][2], "shape");
    }

    #[test]
    fn markdown_takes_a_fragment_as_one_block() {
        let html = crate::testing::figure().to_html("maps");
        assert!(html.starts_with("<figure ") && html.ends_with("</figure>"));
        assert!(!html.contains('\n'));
    }
}
