//! Maps as numbers to take away: CSV and JSON.

use std::fmt::Write;

use attention::Matrix;
use model_files::shown;
use serde_json::{Value, json};

use crate::TextHeads;

/// Which heads are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// One, by its layer and its number, both from 0.
    Head([usize; 2]),
    /// All of a layer.
    Layer(usize),
    /// All.
    All,
}

impl Part {
    /// The heads of a text that are meant.
    pub fn heads(
        self,
        text: &TextHeads,
    ) -> impl Iterator<Item = ([usize; 2], &Matrix<f32>)> {
        text.heads().filter(move |&(name, _)| match self {
            Self::Head(one) => name == one,
            Self::Layer(layer) => name[0] == layer,
            Self::All => true,
        })
    }
}

/// A line per share that a query can give, with its control: what the other queries give the
/// same key. A token that a spreadsheet would take for a formula has `'` before it.
pub fn csv(text: &TextHeads, part: Part) -> String {
    let mut csv = "layer,head,query,key,query_token,key_token,share,others\n".to_owned();
    let ((asking, _), sight) = (text.asking(), text.sight());
    let names = |pieces: &[String]| pieces.iter().map(|it| cell(it)).collect::<Vec<_>>();
    let [queries, keys] = [names(asking), names(&text.pieces)];
    for ([layer, head], map) in part.heads(text) {
        for query in 0..map.nrows() {
            let token = sight.place(query).unwrap_or(query);
            for key in 0..sight.n_seen(query) {
                let (share, others) = (map[(query, key)], text.others(map, query, key));
                // Writing to a String cannot fail.
                let _ = writeln!(
                    csv,
                    "{layer},{head},{token},{key},{},{},{share},{others:.7}",
                    queries[query], keys[key]
                );
            }
        }
    }
    csv
}

/// The tokens as they are, and the maps of each head as rows.
pub fn json(text: &TextHeads, part: Part) -> Value {
    let rows = |map: &Matrix<f32>| -> Vec<Vec<f32>> {
        map.row_iter().map(|row| row.iter().copied().collect()).collect()
    };
    let heads = part.heads(text).map(
        |([layer, head], map)| json!({ "layer": layer, "head": head, "map": rows(map) }),
    );
    let mut all = json!({
        "tokens": text.pieces,
        "special": text.is_special,
        "causal": text.is_causal,
        "heads": heads.collect::<Vec<_>>(),
    });
    if let Some(queries) = &text.queries {
        all["queries"] = json!(queries.pieces);
        all["queries_special"] = json!(queries.is_special);
    }
    if let Some(places) = &text.places {
        all["places"] = json!(places);
    }
    all
}

/// A token in a table, in quotes where it must be.
fn cell(piece: &str) -> String {
    let mut text = shown(piece);
    if text.starts_with(['=', '+', '-', '@']) {
        text.insert(0, '\'');
    }
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pieces: [&str; 2]) -> TextHeads {
        let map = Matrix::from_row_slice(2, 2, &[1.0, 0.0, 0.25, 0.75]);
        let pieces = pieces.map(str::to_owned).to_vec();
        TextHeads::of_decoder(pieces, vec![false; 2], vec![vec![map]])
    }

    /// A formula, quotes, a comma, a line's end, and a mark that reverses what follows.
    #[test]
    fn hostile_tokens_are_text_in_a_table() {
        let csv = csv(&text(["=1+1", "\u{202e}a\n\",<b>"]), Part::All);
        insta::assert_snapshot!(csv, @r#"
        layer,head,query,key,query_token,key_token,share,others
        0,0,0,0,'=1+1,'=1+1,1,0.2500000
        0,0,1,0,"a"",<b>",'=1+1,0.25,0.0000000
        0,0,1,1,"a"",<b>","a"",<b>",0.75,0.0000000
        "#);
    }

    #[test]
    fn json_has_the_tokens_as_they_are() {
        let json = json(&text(["=1", "\u{7}\""]), Part::Head([0, 0]));
        insta::assert_snapshot!(json, @r#"{"causal":true,"heads":[{"head":0,"layer":0,"map":[[1.0,0.0],[0.25,0.75]]}],"special":[true,false],"tokens":["=1","\u0007\""]}"#);
    }
}
