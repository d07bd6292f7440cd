//! A sentence in all heads, as one page that asks for nothing else.
//!
//! What is in words and tables is there without a script too; the explorer of heads draws
//! the small maps and the one that is chosen.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::{Result, ensure};
use assets::explorer::{EXPLORER_CSS, EXPLORER_JS};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use figures::escaped;
use flate2::Compression;
use flate2::write::GzEncoder;
use maps::{Extract, Glance, TextHeads};
use model_files::MOST_SHOWN;
use serde_json::{Value, json};

use crate::view::{View, share};

const PAGE: &str = include_str!("page.html");

/// The page of a view, and of the one beside it.
///
/// # Errors
/// A text so long that its page could not be used.
pub fn of(view: &View, beside: Option<&View>) -> Result<String> {
    if let Some(beside) = beside {
        let longest = |of: &View| of.text.pieces.len().max(of.text.asking().0.len());
        let n = longest(view).max(longest(beside));
        ensure!(
            n <= MOST_SHOWN,
            "two texts are drawn whole, and of up to {MOST_SHOWN} tokens: one has {n}"
        );
    }
    let mut page = String::new();
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        page += before;
        page += &match name {
            "sentence" => escaped(&headline(&view.sentence)),
            "model" => escaped(&view.model),
            "n" => view.text.pieces.len().to_string(),
            "left out" => left_out(&view.text),
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

/// The beginning of a text.
fn headline(text: &str) -> String {
    const MOST: usize = 300;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// What is drawn of a text: all of it, or of a long one the rows of its last tokens, unless it
/// has few rows anyway.
fn drawn(text: &TextHeads) -> Cow<'_, TextHeads> {
    // Each has room for its own key, its neighbours, and one that it attends to.
    const ROWS: usize = MOST_SHOWN / 4;
    let (asking, _) = text.asking();
    let is_long = text.pieces.len().max(asking.len()) > MOST_SHOWN;
    match asking.len().checked_sub(ROWS) {
        Some(first) if is_long && first > 0 => {
            Cow::Owned(text.rows(&(first..asking.len()).collect::<Vec<_>>()))
        }
        _ => Cow::Borrowed(text),
    }
}

/// What the page leaves out, as a paragraph.
fn left_out(text: &TextHeads) -> String {
    let drawn = drawn(text);
    let (n, all) = (drawn.asking().0.len(), text.asking().0.len());
    let rows = match (n < all, &text.places) {
        (true, _) => Some(format!(
            "Of {all} queries the last {n} are drawn; <code>--queries</code> chooses others"
        )),
        (false, Some(_)) => Some(format!("{n} of {} tokens ask", text.pieces.len())),
        (false, None) => None,
    };
    let keys = Extract::of(&drawn, MOST_SHOWN).left_out();
    let said: Vec<String> = [rows, keys].into_iter().flatten().collect();
    match said.is_empty() {
        true => String::new(),
        false => format!("<p>{}.</p>", said.join("; ")),
    }
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
        let text = drawn(&of.text);
        let extract = Extract::of(&text, MOST_SHOWN);
        let mut data = extract.to_json();
        let names = of.text.heads().map(|([layer, head], _)| format!("{layer}.{head}"));
        data["names"] = names.collect();
        data["name"] =
            json!(match beside.is_some_and(|it| it.sentence == view.sentence) {
                true => of.model.clone(),
                false => headline(&of.sentence),
            });
        data["packed"] = json!(packed(&extract.shares())?);
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

    /// A long text is drawn in part, and the page says which; two are not.
    #[test]
    fn a_page_draws_what_fits_and_says_what_it_leaves_out() {
        let [fits, long] = [200, 201].map(|n| view(&"word ".repeat(n), "a", n));
        let said = |view: &View| left_out(&view.text);
        assert_eq!(said(&fits), "");
        insta::assert_snapshot!(said(&long), @"<p>Of 201 queries the last 50 are drawn; <code>--queries</code> chooses others; 200 of 201 keys are drawn: none of the others gets more than 0.005 of a row.</p>");
        let rows = View { text: long.text.rows(&[3, 200]), ..view("a", "a", 3) };
        insta::assert_snapshot!(said(&rows), @"<p>2 of 201 tokens ask; 200 of 201 keys are drawn: none of the others gets more than 0.005 of a row.</p>");
        let page = of(&long, None).unwrap();
        assert!(page.contains(&format!("<h1>{} …</h1>", &"word ".repeat(60)[..300])));
        let refused = of(&long, Some(&fits)).unwrap_err();
        insta::assert_snapshot!(refused, @"two texts are drawn whole, and of up to 200 tokens: one has 201");
    }
}
