//! A sentence in all heads, as one page that asks for nothing else.
//!
//! What is in words and tables is there without a script too; the explorer of heads draws
//! the small maps and the one that is chosen.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::{Result, ensure};
use assets::explorer::{EXPLORER_CSS, EXPLORER_JS};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use figures::escaped;
use flate2::Compression;
use flate2::write::GzEncoder;
use maps::Glance;
use model_files::MOST_SHOWN;
use serde_json::{Value, json};

use crate::view::{View, share};

const PAGE: &str = include_str!("page.html");

/// The page of a view, and of the one beside it.
///
/// # Errors
/// A text so long that its page could not be used.
pub fn of(view: &View, beside: Option<&View>) -> Result<String> {
    let longest = |of: &View| of.text.pieces.len().max(of.text.asking().0.len());
    let n = longest(view).max(beside.map_or(0, longest));
    let n_tokens = view.text.pieces.len();
    let n_heads = view.text.heads().count();
    ensure!(
        n <= MOST_SHOWN,
        "a page of {n} tokens and {n_heads} heads would hold {} shares: it is made for up to \
         {MOST_SHOWN} tokens",
        n * n * n_heads
    );
    let mut page = String::new();
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        page += before;
        page += &match name {
            "sentence" => escaped(&view.sentence),
            "model" => escaped(&view.model),
            "n" => n_tokens.to_string(),
            "chance" => view.chance(),
            "first" => specials(view).to_owned(),
            "heads" => rows(view),
            "style" => EXPLORER_CSS.to_owned(),
            "script" => EXPLORER_JS.to_owned(),
            "data" => data(view, beside)?,
            _ => String::new(),
        };
        rest = after;
    }
    Ok(page + rest)
}

/// What *first* and *last* are called here.
fn specials(view: &View) -> &'static str {
    match view.text.is_causal {
        true => "<i>First</i> is the first token, which sees nothing but itself.",
        false => "<i>First</i> and <i>last</i> are the special tokens around the text.",
    }
}

/// A row per head, with its links and their controls.
fn rows(view: &View) -> String {
    let mut rows = String::new();
    let Some(uniform) = view.text.uniform() else { return rows };
    for ([layer, head], map) in view.text.heads() {
        let Some(glance) = view.text.glance(map) else { continue };
        let kind = glance.preferred(&uniform);
        let of = |glance: &Glance| {
            kind.map_or(String::new(), |kind| share(glance.share(kind)))
        };
        let links = view.text.links(map, 3).into_iter().map(|link| {
            let text = escaped(&view.link_text(&link));
            let (share, others) = (share(link.share), share(link.others));
            format!("{text} <b>{share}</b> <small>(others {others})</small>")
        });
        // Writing to a String cannot fail.
        let _ = writeln!(
            rows,
            "<tr><th scope=\"row\"><a href=\"#heads\" data-head=\"{layer}.{head}\">\
             {layer}.{head}</a></th><td>{}</td><td>{}</td><td>{}</td><td>{:.1}</td>\
             <td>{:.1}</td><td>{}</td></tr>",
            glance.preference(&uniform),
            of(&glance),
            of(&uniform),
            glance.entropy,
            glance.distance,
            links.collect::<Vec<_>>().join(", ")
        );
    }
    rows
}

/// What the explorer draws of each text: the tokens, and every share, packed.
fn data(view: &View, beside: Option<&View>) -> Result<String> {
    let data = [Some(view), beside].into_iter().flatten().map(|of| {
        let mut data = of.text.to_json();
        let names = of.text.heads().map(|([layer, head], _)| format!("{layer}.{head}"));
        data["names"] = names.collect();
        data["name"] =
            json!(match beside.is_some_and(|it| it.sentence == view.sentence) {
                true => &of.model,
                false => &of.sentence,
            });
        data["packed"] = json!(packed(&of.text.shares())?);
        Ok(data)
    });
    let data: Value = data.collect::<Result<_>>()?;
    // In a script nothing is escaped, and `</script>` would end it.
    Ok(data.to_string().replace('<', "\\u003c"))
}

/// Shares in thousandths: all low bytes, then all high ones, in gzip, in base64, as
/// `packed.js` reads them.
fn packed(shares: &[f32]) -> Result<String> {
    let thousandths: Vec<[u8; 2]> = shares
        .iter()
        .map(|share| ((share * 1000.0).round() as u16).to_le_bytes())
        .collect();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    for byte in 0..2 {
        let bytes: Vec<u8> = thousandths.iter().map(|both| both[byte]).collect();
        gzip.write_all(&bytes)?;
    }
    Ok(BASE64_STANDARD.encode(gzip.finish()?))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use attention::Matrix;
    use maps::TextHeads;

    use super::*;

    fn view(sentence: &str, piece: &str, n: usize) -> View {
        let mut is_special = vec![false; n];
        is_special[0] = true;
        let map = Matrix::from_element(n, n, 1.0 / n as f32);
        View {
            model: "tiny".into(),
            sentence: sentence.into(),
            n_uncut: n,
            text: TextHeads::of_encoder(
                vec![piece.into(); n],
                is_special,
                vec![vec![map]],
            ),
            loading: Duration::ZERO,
            computing: Duration::ZERO,
        }
    }

    #[test]
    fn what_a_text_says_is_no_markup() {
        let page = of(&view("<b>{{data}}</b>", "</script><u>", 3), None).unwrap();
        assert!(page.contains("&lt;b&gt;{{data}}&lt;/b&gt;"), "{page}");
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<u>"));
    }

    #[test]
    fn a_page_asks_no_other_host() {
        let page = of(&view("a", "a", 3), None).unwrap();
        let page = page.replace("http://www.w3.org/2000/svg", ""); // a name, and no address
        for address in ["http:", "https:", "src=\"", "@import", "url("] {
            assert!(!page.contains(address), "{address}");
        }
    }

    #[test]
    fn a_text_that_is_too_long_for_a_page_is_refused() {
        assert!(of(&view("a", "a", 200), None).is_ok());
        let refused = of(&view("a", "a", 201), None).unwrap_err();
        insta::assert_snapshot!(refused, @"a page of 201 tokens and 1 heads would hold 40401 shares: it is made for up to 200 tokens");
    }
}
