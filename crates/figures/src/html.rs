//! A figure as a fragment of a page.

use std::fmt::Write;

use serde_json::json;

use crate::{Figure, Table};

impl Figure {
    /// The figure for a page that loads [`assets`](crate::assets) once.
    ///
    /// `id` is the element's name, unique on its page. The place keeps its height while
    /// the script has not drawn yet; where no script runs, the sketch stands in. The
    /// fragment is one line, so that Markdown takes it as one block.
    pub fn to_html(&self, id: &str) -> String {
        let id = escaped(id);
        let title = escaped(&self.title);
        let alternative = escaped(&self.alternative);
        let sketch = escaped(&self.sketch).replace('\n', "&#10;");
        let height =
            |layout: &serde_json::Value| layout["height"].as_f64().unwrap_or(0.0);
        let (wide, narrow) = (height(&self.wide), height(&self.narrow));
        // No tag can begin inside the data, so none can end the script.
        let data =
            json!({ "data": self.traces, "wide": self.wide, "narrow": self.narrow })
                .to_string()
                .replace('<', "\\u003c");
        let tables: String = self.tables.iter().map(table_html).collect();
        format!(
            "<figure class=\"figure\" id=\"{id}\">\
             <figcaption>{title}</figcaption>\
             <div class=\"figure-plot\" role=\"img\" aria-label=\"{alternative}\" \
             style=\"--wide:{wide}px;--narrow:{narrow}px\"><pre>{sketch}</pre></div>\
             <script type=\"application/json\">{data}</script>\
             <details><summary>The data as a table</summary>\
             <div class=\"figure-tables\" role=\"region\" tabindex=\"0\" \
             aria-label=\"Data: {title}\">{tables}</div></details>\
             </figure>"
        )
    }
}

fn table_html(table: &Table) -> String {
    let mut html = format!("<table><caption>{}</caption>", escaped(&table.caption));
    html.push_str("<thead><tr>");
    for column in &table.columns {
        // Writing to a String cannot fail.
        let _ = write!(html, "<th scope=\"col\">{}</th>", escaped(column));
    }
    html.push_str("</tr></thead><tbody>");
    for row in &table.rows {
        html.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            let cell = escaped(cell);
            let _ = match at {
                0 => write!(html, "<th scope=\"row\">{cell}</th>"),
                _ => write!(html, "<td>{cell}</td>"),
            };
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
    html
}

/// Text as HTML, safe in an attribute too.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            c => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use attention::Matrix;
    use serde_json::Value;

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
        assert_eq!(data["data"], Value::from(figure.traces.clone()));
        assert!(html.contains("<figcaption>Is &lt;s&gt; a token?</figcaption>"));
        assert!(html.contains("<th scope=\"row\">&quot;&amp;</th>"));
    }

    #[test]
    fn markdown_takes_a_fragment_as_one_block() {
        let html = crate::testing::figure().to_html("maps");
        assert!(html.starts_with("<figure ") && html.ends_with("</figure>"));
        assert!(!html.contains('\n'));
    }
}
