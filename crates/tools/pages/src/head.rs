//! The head of a built page: what it says of itself to search engines and to those who are
//! sent its address, and what a browser may load for it.
//!
//! mdBook gives every page the book's description. Here each has its own: its question, its
//! answer or its first paragraph. Where the book's address is known, each page names its own,
//! and `sitemap.xml` lists them. `llms.txt` lists the Markdown of all pages, which lies beside
//! them, with their descriptions.

mod early;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use workshop::step;

use crate::{cards, check};

/// The longest description, in characters: what a search engine shows.
const LONGEST: usize = 160;

/// A paragraph that is shorter says how long a chapter takes, or leads to a list.
const SHORTEST: usize = 40;

/// How the paragraph begins that asks what a chapter answers, and how a page of questions that
/// people ask begins: with its answer, in bold.
const BEGINNINGS: [&str; 2] = ["The question of this chapter: ", "<strong>"];

/// mdBook's own pages, for which nobody looks, and the first page by its second name.
const NOT_LISTED: [&str; 3] = ["404.html", "print.html", "start-here.html"];

/// The contents, a frame in pages that run no script: it has no head to speak of.
const FRAME: &str = "toc.html";

/// Writes the head of every page below `built`, and the lists of pages beside them.
///
/// `book` is its title, and `address` where it is published, if that is known.
///
/// # Errors
/// A page without what mdBook gives every page; a file that cannot be read or written.
pub fn write(built: &Path, book: &str, address: Option<&str>) -> Result<()> {
    let (mut listed, fonts) = (Vec::new(), early::fonts(built)?);
    let at =
        |name: &str| address.map(|it| format!("{}/{name}", it.trim_end_matches('/')));
    for path in check::files(built, ".html")? {
        let name = path.strip_prefix(built)?.to_string_lossy().replace('\\', "/");
        if name == FRAME {
            continue;
        }
        let html = fs::read_to_string(&path).with_context(|| name.clone())?;
        let about = About::of(&html, book).with_context(|| name.clone())?;
        let up = "../".repeat(name.matches('/').count());
        let (links, html) = early::lifted(&html, &up, &fonts);
        let card = format!("{}/{}", cards::FOLDER, name.replace(".html", ".png"));
        let places = at(&name).zip(at(&card));
        let html = about.written_into(&html, &links, places.as_ref());
        step::write(&path, html.with_context(|| name.clone())?.as_bytes())?;
        if !NOT_LISTED.contains(&&*name) {
            listed.push((name, about));
        }
    }
    let line = |(name, about): &(String, About)| {
        let page = if name == "index.html" { NOT_LISTED[2] } else { name };
        let text = page.replace(".html", ".md");
        let at = at(&text).unwrap_or(text);
        format!("- [{}]({at}): {}\n", about.title, about.description)
    };
    let lines = listed.iter().map(line).collect::<String>();
    step::write(&built.join("llms.txt"), format!("# {book}\n\n{lines}").as_bytes())?;
    let urls = listed.iter().filter_map(|(name, _)| at(name));
    let urls: String = urls.map(|it| format!("<url><loc>{it}</loc></url>\n")).collect();
    if urls.is_empty() {
        return Ok(());
    }
    let map = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{urls}</urlset>\n"
    );
    step::write(&built.join("sitemap.xml"), map.as_bytes())
}

/// What a page is about, as HTML has it between tags.
struct About {
    title: String,
    description: String,
}

impl About {
    fn of(html: &str, book: &str) -> Result<Self> {
        let title = between(html, "<title>", "</title>").context("it has no title")?;
        let own = title.trim().strip_suffix(book).and_then(|it| it.strip_suffix(" - "));
        let title = own.unwrap_or(title.trim()).to_owned();
        let text = html.split_once("<main>").map_or("", |(_, text)| text);
        let paragraphs =
            || text.split("<p>").skip(1).filter_map(|it| it.split("</p>").next());
        let is_answer = |it: &&str| BEGINNINGS.iter().any(|begin| it.starts_with(begin));
        let mut plain = paragraphs().filter(|it| !it.contains("<math")).map(words);
        let first = || plain.find(|it| it.chars().count() >= SHORTEST);
        let description = paragraphs().find(is_answer).map(words).or_else(first);
        let description = description.unwrap_or_else(|| title.clone());
        Ok(Self { title, description: cut(&description) })
    }

    /// The page with these links and this head in place of the book's description; `places`
    /// are where it and its card are published.
    fn written_into(
        &self,
        html: &str,
        links: &str,
        places: Option<&(String, String)>,
    ) -> Result<String> {
        let (before, rest) =
            html.split_once(DESCRIPTION).context("it has no description")?;
        let (_, rest) = rest.split_once('>').context("its description does not end")?;
        let Self { title, description } = self;
        let [title, description] =
            [title, description].map(|it| it.replace('"', "&quot;"));
        let mut head = format!(
            "{DESCRIPTION}\"{description}\">\n\
             <meta property=\"og:type\" content=\"article\">\n\
             <meta property=\"og:title\" content=\"{title}\">\n\
             <meta property=\"og:description\" content=\"{description}\">"
        );
        if let Some((address, card)) = places {
            let text = address.replace(".html", ".md");
            head += &format!(
                "\n<meta property=\"og:url\" content=\"{address}\">\n\
                 <meta property=\"og:image\" content=\"{card}\">\n\
                 <meta name=\"twitter:card\" content=\"summary_large_image\">\n\
                 <link rel=\"canonical\" href=\"{address}\">\n\
                 <link rel=\"alternate\" type=\"text/markdown\" href=\"{text}\">"
            );
        }
        let page = [before, links, &head, rest].concat();
        let policy = policy(&page);
        // Before any script.
        Ok(page.replacen(CHARSET, &format!("{CHARSET}\n{policy}"), 1))
    }
}

/// What mdBook writes into every page.
const DESCRIPTION: &str = "<meta name=\"description\" content=";
const CHARSET: &str = "<meta charset=\"UTF-8\">";

/// The page's Content-Security-Policy: everything comes from where the page does, and of the
/// scripts in its text those alone that stand in it now.
fn policy(html: &str) -> String {
    let scripts =
        html.split("<script>").skip(1).filter_map(|it| it.split_once("</script>"));
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    let mut hashes: Vec<_> =
        scripts.map(|(it, _)| format!(" 'sha256-{}'", hash(it))).collect();
    hashes.sort();
    hashes.dedup();
    format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self'; \
         script-src 'self' 'wasm-unsafe-eval'{}; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data: blob:; font-src 'self' data:; object-src 'none'; \
         base-uri 'self'; form-action 'none'\">",
        hashes.concat()
    )
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    Some(text.split_once(begin)?.1.split_once(end)?.0)
}

/// The words of a paragraph, without tags.
fn words(html: &str) -> String {
    let html = html.replace("<sup>", "^").replace("<msqrt>", "√");
    let texts = html.split('<').map(|it| it.split_once('>').map_or(it, |(_, text)| text));
    texts.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As many whole words as a description may have.
fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let mut cut = String::new();
    for word in text.split_inclusive(' ') {
        if cut.chars().count() + word.chars().count() >= LONGEST {
            break;
        }
        cut += word;
    }
    format!("{} …", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<head><meta charset=\"UTF-8\"><title>7 · Masks - T</title>\
        <meta name=\"description\" content=\"The book.\"><script>a()</script></head>\
        <main><p>About 15 minutes.</p><p>It is <em>long</em> enough, but has <math></math>.</p>\
        <link rel=\"stylesheet\" href=\"assets/a.css\">\
        <p>A row without a key sums to 0, \"why\"?\nIt is &lt; 1.</p></main>";

    #[test]
    fn a_page_is_described_by_its_question_or_its_first_paragraph_in_words() {
        let about = About::of(PAGE, "T").unwrap();
        assert_eq!(
            about.description,
            "A row without a key sums to 0, \"why\"? It is &lt; 1."
        );
        let asks =
            PAGE.replace("About 15 minutes.", "The question of this chapter: who?");
        assert_eq!(
            About::of(&asks, "T").unwrap().description,
            format!("{}who?", BEGINNINGS[0])
        );
        let long = PAGE.replace("A row", &"word ".repeat(40));
        let cut = About::of(&long, "T").unwrap().description;
        assert!(cut.ends_with("word …") && cut.chars().count() <= LONGEST, "{cut}");
    }

    #[test]
    fn a_head_names_the_page_and_lets_its_own_scripts_run_and_no_other() {
        let places = ["https://a.b/7", "https://a.b/cards/7.png"].map(str::to_owned);
        let (links, text) = early::lifted(PAGE, "", &[]);
        let about = About::of(PAGE, "T").unwrap();
        let page = about.written_into(&text, &links, Some(&places.into())).unwrap();
        for part in [
            "content=\"A row without a key sums to 0, &quot;why&quot;?",
            "og:title\" content=\"7 · Masks\"",
            "<link rel=\"canonical\" href=\"https://a.b/7\">",
            "og:image\" content=\"https://a.b/cards/7.png\"",
            // Of `a()`, by openssl.
            "'sha256-qVpDBgj7bpq5hMAcGp3AOc79J3Y1Z4HvySTwKrWDoy4='",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert!(
            !page.contains("The book.") && !page.contains("script-src 'unsafe-inline'")
        );
        assert!(page.find("Content-Security-Policy") < page.find("<script>"));
        assert!(
            page.find("a.css") < page.find("</head>")
                && page.matches("a.css").count() == 1
        );
        let still = About::of(PAGE, "T").unwrap().written_into(PAGE, "", None).unwrap();
        assert!(!still.contains("canonical"), "{still}");
    }
}
