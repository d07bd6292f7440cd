//! A sentence in all heads, as one page that asks for nothing else.
//!
//! What is in words and tables is there without a script too; the explorer of heads draws
//! the small maps and the one that is chosen.

use std::borrow::Cow;
use std::io::Write as _;

use anyhow::Result;
use assets::explorer::{EXPLORER_CSS, EXPLORER_JS};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use figures::escaped;
use flate2::Compression;
use flate2::write::GzEncoder;
use maps::{Extract, Glance, TextHeads};
use model_files::MOST_SHOWN;
use serde_json::{Value, json};

mod texts;

pub use self::texts::Texts;

use crate::view::{BesideMaps, View, preferred_shares, share};

const PAGE: &str = include_str!("page.html");

const SECTION: &str = include_str!("section.html");

/// All heads of some texts under a title.
pub struct Section {
    pub title: &'static str,
    pub texts: Texts,
}

impl Section {
    /// Of a model with one kind of maps.
    pub fn all_heads(texts: Texts) -> Self {
        Self { title: "All heads at a glance", texts }
    }
}

/// The page of some texts, one kind of maps after the other; the first says what the text is.
pub fn of(sections: &[Section]) -> Result<String> {
    sections.iter().try_for_each(|section| section.texts.check())?;
    let first = sections.first().map_or("", |first| &first.texts.chosen().sentence);
    let [title, whole] = title(first);
    filled(PAGE, |name| {
        Ok(match name {
            "sentence" => title.clone(),
            "whole" => whole.clone(),
            "style" => EXPLORER_CSS.to_owned(),
            "script" => EXPLORER_JS.to_owned(),
            "sections" => {
                let each = sections.iter().enumerate();
                each.map(|(nth, section)| of_section(nth, section, first))
                    .collect::<Result<_>>()?
            }
            "data" => {
                let data = sections.iter().map(|section| data(&section.texts));
                let data: Value = data.collect::<Result<_>>()?;
                // In a script nothing is escaped, and `</script>` would end it.
                data.to_string().replace('<', "\\u003c")
            }
            _ => String::new(),
        })
    })
}

/// A section; what another than the `first` says stands in it.
fn of_section(
    nth: usize,
    Section { title, texts }: &Section,
    first: &str,
) -> Result<String> {
    let view = texts.chosen();
    let n = view.text.pieces.len();
    filled(SECTION, |name| {
        Ok(match name {
            "title" => escaped(title),
            "written" if view.sentence != first => {
                format!("<p><q>{}</q></p>\n", escaped(&view.sentence))
            }
            "nth" => suffix(nth),
            "model" => escaped(&view.model),
            "n" => match &view.text.queries {
                Some(queries) if view.text.is_cross() => {
                    format!("{n} tokens that {} others ask", queries.pieces.len())
                }
                _ => format!("these {n} tokens"),
            },
            "left out" => left_out(&view.text),
            "chance" => view.chance(),
            "first" => specials(view).to_owned(),
            "heads" => rows(view, nth),
            "which" => texts.which(),
            "left" => escaped(&texts.left_out()),
            _ => String::new(),
        })
    })
}

/// What tells a section's ids from those of the others.
fn suffix(nth: usize) -> String {
    if nth == 0 { String::new() } else { nth.to_string() }
}

/// A template with what stands for each name.
fn filled(template: &str, of: impl Fn(&str) -> Result<String>) -> Result<String> {
    let (mut page, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        page += before;
        page += &of(name)?;
        rest = after;
    }
    Ok(page + rest)
}

/// So many characters of a text are its page's title.
const TITLE: usize = 200;

/// The title of a text's page, and of a text whose title is its beginning all of it.
fn title(sentence: &str) -> [String; 2] {
    let text = escaped(sentence);
    let Some((end, _)) = sentence.char_indices().nth(TITLE) else {
        return [text, String::new()];
    };
    let whole = format!(
        "<details><summary>The whole text</summary><p dir=\"auto\">{text}</p></details>\n"
    );
    [escaped(&format!("{}…", &sentence[..end])), whole]
}

/// What *first* and *last* are called here.
fn specials(view: &View) -> &'static str {
    match view.text.is_causal {
        true => "<i>First</i> is the first token, which sees nothing but itself.",
        false => "<i>First</i> and <i>last</i> are the special tokens around the text.",
    }
}

/// A row per head, with its links and their controls.
fn rows(view: &View, nth: usize) -> String {
    let section = suffix(nth);
    let mut rows = String::new();
    let Some(uniform) = view.text.uniform() else { return rows };
    for ([layer, head], map) in view.text.heads() {
        let Some(glance) = view.text.glance(map) else { continue };
        let [preferred, by_chance] = preferred_shares(&glance, &uniform);
        let links = view.text.links(map, 3).into_iter().map(|link| {
            let [asks, key] = view.link_names(&link).map(|it| escaped(&it));
            let (share, others) = (share(link.share), share(link.others));
            format!(
                "<bdi>{asks}</bdi> → <bdi>{key}</bdi> <b>{share}</b> <small>(others {others})</small>"
            )
        });
        let links = links.collect::<Vec<_>>().join(", ");
        let preference = glance.preference(&uniform);
        let Glance { entropy, distance, .. } = glance;
        rows += &format!(
            "<tr><th scope=\"row\"><a href=\"#heads{section}\" data-head=\"{layer}.{head}\">\
             {layer}.{head}</a></th><td>{preference}</td><td>{preferred}</td><td>{by_chance}</td>\
             <td>{entropy:.1}</td><td>{distance:.1}</td><td>{links}</td></tr>\n"
        );
    }
    rows
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

/// What the explorer draws of each text: the tokens, and every share, packed.
fn data(texts: &Texts) -> Result<Value> {
    let each = texts.named().map(|(name, of)| {
        let text = drawn(&of.text);
        let extract = Extract::of(&text, MOST_SHOWN);
        let (mut data, shares) = (extract.to_json(), extract.shares());
        let names = of.text.heads().map(|([layer, head], _)| format!("{layer}.{head}"));
        data["names"] = names.collect();
        data["name"] = json!(name.chars().take(80).collect::<String>());
        data["packed"] = json!(packed(&shares)?);
        data["n_shares"] = json!(shares.len());
        let BesideMaps { notes, grid, picture, adds, ablated } = &of.beside;
        data["notes"] = json!(notes);
        data["grid"] = json!(grid.map(|it| [it.rows, it.cols, it.n_before]));
        data["picture"] = json!(picture);
        data["adds"] = json!(adds);
        data["ablated"] = json!(ablated);
        Ok(data)
    });
    let each: Value = each.collect::<Result<_>>()?;
    Ok(json!({ "first": texts.first, "is_pair": texts.beside.is_some(), "texts": each }))
}

/// Shares in thousandths: all low bytes, then all high ones, in gzip, in base64, as
/// `packed.js` reads them: in parts, so that a browser is never long at one of them.
fn packed(shares: &[f32]) -> Result<Vec<String>> {
    const PART: usize = 3 << 16; // bytes in threes, which base64 pads nowhere
    let thousandths: Vec<[u8; 2]> = shares
        .iter()
        .map(|share| ((share * 1000.0).round() as u16).to_le_bytes())
        .collect();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    for byte in 0..2 {
        let bytes: Vec<u8> = thousandths.iter().map(|both| both[byte]).collect();
        gzip.write_all(&bytes)?;
    }
    let bytes = gzip.finish()?;
    Ok(bytes.chunks(PART).map(|part| BASE64_STANDARD.encode(part)).collect())
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
            beside: BesideMaps::default(),
        }
    }

    fn of_texts(texts: Texts) -> Result<String> {
        of(&[Section::all_heads(texts)])
    }

    fn page(view: View) -> Result<String> {
        of_texts(Texts::one(view, None))
    }

    /// Of 300 texts of 200 tokens in one head a page holds 256, the chosen one among them; what
    /// is too long is left out.
    #[test]
    fn a_page_holds_what_it_can_of_a_batch() {
        let batch = |n_texts: usize| {
            let texts = (0..n_texts).map(|_| view("a", "a", 200));
            texts.chain([view("a", "a", 201)]).collect::<Vec<_>>()
        };
        let texts = Texts::of_batch(batch(299), 298, true);
        assert_eq!((texts.all.len(), texts.all[texts.first].0), (256, 298));
        insta::assert_snapshot!(texts.left_out(), @"the page has 256 of 300 texts: 10240000 shares in all, on up to 200 tokens");
        assert_eq!(Texts::of_batch(batch(2), 1, true).all.len(), 2);
        assert_eq!(Texts::of_batch(batch(2), 1, false).all.len(), 1);
    }

    #[test]
    fn what_a_text_says_is_no_markup() {
        let page = page(view("<b>{{data}}</b>", "</script><u>", 3)).unwrap();
        assert!(page.contains("&lt;b&gt;{{data}}&lt;/b&gt;"), "{page}");
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<u>"));
    }

    #[test]
    fn a_page_asks_no_other_host() {
        let page = page(view("a", "a", 3)).unwrap();
        let page = page.replace("http://www.w3.org/2000/svg", ""); // a name, and no address
        for address in ["http:", "https:", "src=\"", "@import", "url("] {
            assert!(!page.contains(address), "{address}");
        }
    }

    /// A long text is drawn in part, and the page says which; two are not.
    #[test]
    fn a_page_draws_what_fits_and_says_what_it_leaves_out() {
        let [fits, long] = [200, 201].map(|n| view("words", "a", n));
        let said = |view: &View| left_out(&view.text);
        assert_eq!(said(&fits), "");
        insta::assert_snapshot!(said(&long), @"<p>Of 201 queries the last 50 are drawn; <code>--queries</code> chooses others; 200 of 201 keys are drawn: none of the others gets more than 0.005 of a row.</p>");
        let rows = View { text: long.text.rows(&[3, 200]), ..view("a", "a", 3) };
        insta::assert_snapshot!(said(&rows), @"<p>2 of 201 tokens ask; 200 of 201 keys are drawn: none of the others gets more than 0.005 of a row.</p>");
        assert!(of_texts(Texts::one(rows, None)).is_ok());
        let refused = of_texts(Texts::one(long, Some(fits))).unwrap_err();
        insta::assert_snapshot!(refused, @"two texts are drawn whole, and of up to 200 tokens: one has 201");
    }
}
