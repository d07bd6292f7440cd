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
use maps::{Extract, Glance};
use model_files::MOST_SHOWN;
use serde_json::{Value, json};

mod drawn;

use self::drawn::{drawn, left_out};
use crate::view::{BesideMaps, View, share};

const PAGE: &str = include_str!("page.html");

/// So many shares a page holds at most: 16 layers of 16 heads on 200 tokens, or as many texts
/// as have no more together.
const MOST_SHARES: usize = 16 * 16 * MOST_SHOWN * MOST_SHOWN;

/// What a page shows.
pub struct Texts {
    /// Texts of which a reader chooses one, each with its number in the batch.
    all: Vec<(usize, View)>,
    /// Where in `all` the text is that is shown first.
    first: usize,
    /// How many the batch has.
    n_texts: usize,
    /// What stands beside it.
    pub beside: Option<View>,
}

impl Texts {
    /// One text, and what stands beside it.
    pub fn one(view: View, beside: Option<View>) -> Self {
        Self { all: vec![(0, view)], first: 0, n_texts: 1, beside }
    }

    /// The `nth` text of a batch, and of the others those that a page can hold too.
    pub fn of_batch(texts: Vec<View>, nth: usize, has_page: bool) -> Self {
        let n_texts = texts.len();
        let mut left = MOST_SHARES.saturating_sub(n_shares(&texts[nth]));
        let is_kept = |(at, view): &(usize, View)| {
            let n = n_shares(view);
            let fits = has_page && longest(view) <= MOST_SHOWN && n <= left;
            if fits && *at != nth {
                left -= n;
            }
            fits || *at == nth
        };
        let all: Vec<_> = texts.into_iter().enumerate().filter(is_kept).collect();
        let first = all.iter().position(|(at, _)| *at == nth).unwrap_or(0);
        Self { all, first, n_texts, beside: None }
    }

    /// The text that is shown first.
    pub fn chosen(&self) -> &View {
        &self.all[self.first].1
    }

    /// What a page of this batch says of the texts that it does not hold.
    pub fn left_out(&self) -> String {
        let n = self.all.len();
        if n < 2 || n == self.n_texts {
            return String::new();
        }
        format!(
            "the page has {n} of {} texts: {MOST_SHARES} shares in all, on up to \
             {MOST_SHOWN} tokens\n",
            self.n_texts
        )
    }
}

fn longest(view: &View) -> usize {
    view.text.pieces.len().max(view.text.asking().0.len())
}

fn n_shares(view: &View) -> usize {
    view.text.heads().map(|(_, map)| map.len()).sum()
}

/// The page of some texts.
///
/// # Errors
/// A text so long that its page could not be used.
pub fn of(texts: &Texts) -> Result<String> {
    let view = texts.chosen();
    if let Some(beside) = &texts.beside {
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
            "sentence" => escaped(&begin_of(&view.sentence)),
            "whole" => whole(&view.sentence),
            "model" => escaped(&view.model),
            "n" => view.text.pieces.len().to_string(),
            "left out" => left_out(&view.text),
            "chance" => view.chance(),
            "first" => specials(view).to_owned(),
            "heads" => rows(view),
            "style" => EXPLORER_CSS.to_owned(),
            "script" => EXPLORER_JS.to_owned(),
            "data" => data(texts)?,
            "shown" => texts.first.to_string(),
            "pair" => texts.beside.is_some().to_string(),
            "which" => which(texts),
            "left" => escaped(&texts.left_out()),
            _ => String::new(),
        };
        rest = after;
    }
    Ok(page + rest)
}

/// So many characters of a text are its page's title.
const TITLE: usize = 200;

fn begin_of(sentence: &str) -> String {
    match sentence.char_indices().nth(TITLE) {
        None => sentence.to_owned(),
        Some((end, _)) => format!("{}…", &sentence[..end]),
    }
}

/// All of a text whose title is its beginning.
fn whole(sentence: &str) -> String {
    if sentence.chars().count() <= TITLE {
        return String::new();
    }
    let text = escaped(sentence);
    format!(
        "<details><summary>The whole text</summary><p dir=\"auto\">{text}</p></details>\n"
    )
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
            let [asks, key] = view.link_names(&link).map(|it| escaped(&it));
            let (share, others) = (share(link.share), share(link.others));
            format!(
                "<bdi>{asks}</bdi> → <bdi>{key}</bdi> <b>{share}</b> <small>(others {others})</small>"
            )
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

/// Which text of a batch the words of the page are about.
fn which(texts: &Texts) -> String {
    match texts.n_texts {
        1 => String::new(),
        n => format!(", text {} of {n}", texts.all[texts.first].0),
    }
}

/// What the explorer draws of each text: the tokens, and every share, packed.
fn data(texts: &Texts) -> Result<String> {
    let is_batch = texts.n_texts > 1;
    let is_of_two_models =
        texts.beside.as_ref().is_some_and(|it| it.sentence == texts.chosen().sentence);
    let name = |at: usize, of: &View| match (is_batch, is_of_two_models) {
        (true, _) => format!("{at}: {}", of.sentence),
        (false, true) => of.model.clone(),
        (false, false) => of.sentence.clone(),
    };
    let all = texts.all.iter().map(|(at, view)| (*at, view));
    let all = all.chain(texts.beside.iter().map(|view| (0, view)));
    let data = all.map(|(at, of)| {
        let text = drawn(&of.text);
        let extract = Extract::of(&text, MOST_SHOWN);
        let (mut data, shares) = (extract.to_json(), extract.shares());
        let names = of.text.heads().map(|([layer, head], _)| format!("{layer}.{head}"));
        data["names"] = names.collect();
        data["name"] = json!(name(at, of).chars().take(80).collect::<String>());
        data["packed"] = json!(packed(&shares)?);
        data["n_shares"] = json!(shares.len());
        let BesideMaps { notes, grid, picture, adds, removed } = &of.beside;
        data["notes"] = json!(notes);
        data["grid"] = json!(grid.map(|it| [it.rows, it.cols, it.n_before]));
        data["picture"] = json!(picture);
        data["adds"] = json!(adds);
        data["removed"] = json!(removed);
        Ok(data)
    });
    let data: Value = data.collect::<Result<_>>()?;
    // In a script nothing is escaped, and `</script>` would end it.
    Ok(data.to_string().replace('<', "\\u003c"))
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
            beside: BesideMaps::default(),
        }
    }

    fn page(view: View) -> Result<String> {
        of(&Texts::one(view, None))
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
        assert!(of(&Texts::one(rows, None)).is_ok());
        let refused = of(&Texts::one(long, Some(fits))).unwrap_err();
        insta::assert_snapshot!(refused, @"two texts are drawn whole, and of up to 200 tokens: one has 201");
    }
}
