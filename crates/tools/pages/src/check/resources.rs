//! The built pages: every address leads somewhere, and nothing comes from another host.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use percent_encoding::percent_decode_str;

use super::page::{self, Address, Page};
use crate::problem::Problem;

/// Checks every page below `folder`, and the style sheets that they load.
pub fn pages(folder: &Path) -> Result<Vec<Problem>> {
    let mut site = Site { folder, pages: BTreeMap::new() };
    for path in super::files(folder, ".html")? {
        let html = fs::read_to_string(&path)
            .with_context(|| format!("cannot read the page {}", path.display()))?;
        site.pages.insert(path.strip_prefix(folder)?.to_path_buf(), page::read(&html));
    }
    let mut problems = Vec::new();
    for (file, page) in &site.pages {
        let addresses = page.addresses.iter().filter_map(|(line, address)| {
            site.fault(file, page, address).map(|what| (*line, what))
        });
        let faults = addresses.chain(page.faults.iter().cloned());
        let shown = Path::new("target/book").join(file);
        problems.extend(faults.map(|(line, what)| Problem {
            file: shown.clone(),
            line,
            what,
        }));
    }
    problems.sort();
    Ok(problems)
}

struct Site<'a> {
    folder: &'a Path,
    pages: BTreeMap<PathBuf, Page>,
}

impl Site<'_> {
    /// What is wrong with an address of a page.
    fn fault(&self, file: &Path, page: &Page, address: &Address) -> Option<String> {
        // Only 404.html has a base: the root of the site, wherever that will be.
        let base = match page.base {
            Some(_) => Path::new("page.html").to_path_buf(),
            None => file.to_path_buf(),
        };
        match address {
            Address::Link(url) => match scheme(url) {
                Some("http:" | "https:" | "mailto:") => None,
                Some(_) => Some(format!("a link to {url}")),
                None => self.missing(file, &base, url),
            },
            Address::Resource(url) => self.resource_fault(file, &base, url, 0),
            Address::FromRoot(url) => {
                self.resource_fault(file, Path::new("page.html"), url, 0)
            }
            Address::Style(css) => self.style_fault(file, &base, css, 0),
        }
    }

    /// `depth` is the number of style sheets that led here: they may name each other.
    fn resource_fault(
        &self,
        file: &Path,
        base: &Path,
        url: &str,
        depth: u8,
    ) -> Option<String> {
        match scheme(url) {
            Some("data:") => return None,
            Some(_) => return Some(format!("fetched from another host: {url}")),
            None => {}
        }
        if let Some(missing) = self.missing(file, base, url) {
            return Some(missing);
        }
        let path = target(base, url)?;
        let css =
            depth < 4 && path.extension().is_some_and(|extension| extension == "css");
        let text =
            css.then(|| fs::read_to_string(self.folder.join(&path)).ok()).flatten()?;
        self.style_fault(&path, &path, &text, depth + 1)
    }

    fn style_fault(
        &self,
        file: &Path,
        base: &Path,
        css: &str,
        depth: u8,
    ) -> Option<String> {
        let fault = |url| self.resource_fault(file, base, url, depth);
        let found = addresses_of(css).into_iter().find_map(fault)?;
        Some(format!("in the style of {}: {found}", file.display()))
    }

    /// Whether an address of this book leads nowhere.
    fn missing(&self, file: &Path, base: &Path, url: &str) -> Option<String> {
        let nowhere = || Some(format!("leads nowhere: {url}"));
        let (address, fragment) = url.split_once('#').unwrap_or((url, ""));
        let path = match address {
            // The same page, with other settings of its figures too.
            own if own.is_empty() || own.starts_with('?') => file.to_path_buf(),
            address => match target(base, address) {
                Some(path) => path,
                None => return nowhere(),
            },
        };
        let index = path.join("index.html");
        let path = if self.pages.contains_key(&index) { index } else { path };
        if !self.folder.join(&path).is_file() {
            return nowhere();
        }
        let fragment = percent_decode_str(fragment).decode_utf8_lossy();
        match self.pages.get(&path) {
            Some(page) if !fragment.is_empty() && !page.ids.contains(&*fragment) => {
                nowhere()
            }
            _ => None,
        }
    }
}

/// `https:` or the like; an address that begins with `//` counts as one, since it names
/// another host.
fn scheme(url: &str) -> Option<&str> {
    if url.starts_with("//") {
        return Some("//");
    }
    let colon = url.find(':')?;
    let letters = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    (colon > 0 && url[..colon].chars().all(letters)).then(|| &url[..=colon])
}

/// The file that an address means, from the folder of the book; none if it lies outside.
fn target(base: &Path, url: &str) -> Option<PathBuf> {
    let address = url.split(['?', '#']).next().unwrap_or_default();
    let address = percent_decode_str(address).decode_utf8().ok()?;
    let from = match address.strip_prefix('/') {
        Some(rest) => PathBuf::from(rest),
        None => base.parent()?.join(&*address),
    };
    let mut path = PathBuf::new();
    for part in from.components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::ParentDir => path = path.parent()?.to_path_buf(),
            _ => {}
        }
    }
    Some(path)
}

/// What a style sheet fetches: each `url(…)` and each `@import "…"`.
fn addresses_of(css: &str) -> Vec<&str> {
    let end = |text: &str| text.find([')', '"', '\'', ';', '\n']).unwrap_or(text.len());
    let trimmed = |text: &'static str| move |c: char| text.contains(c);
    let after = css.split("url(").skip(1);
    let imported =
        css.split("@import").skip(1).filter(|text| !text.trim().starts_with("url("));
    after
        .chain(imported)
        .map(|text| text.trim_start_matches(trimmed(" \"'")))
        .map(|text| text[..end(text)].trim())
        // `#name` is a part of the same picture.
        .filter(|url| !url.is_empty() && !url.starts_with('#'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problems of a book of one page, beside a second page and a style sheet.
    fn problems(html: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("two.html", "<h1 id='top'>Two</h1>");
        write("good.css", "@font-face { src: url('good.css') } a { fill: url(#x) }");
        write("bad.css", "@import 'https://fonts.example/a.css';");
        write("lost.css", "a { src: url(\"lost.woff2\") }");
        write("one.html", html);
        pages(folder.path()).unwrap().iter().map(Problem::to_string).collect()
    }

    #[test]
    fn a_sound_page_has_no_problem() {
        let html =
            "<!doctype html><title>a</title><link rel=stylesheet href=good.css?v=1>
            <h1 id=a>A</h1><a href='two.html#top'>2</a> <a href='#a'>a</a> <a href='?b=1#a'>a</a>
            <a href='/two.html'></a>
            <a href='https://example.com'>out</a><img src='data:image/png;base64,AA'>
            <pre>echo $A $B</pre><code>$x$</code><script>'{{#x}} $a$'</script>";
        assert_eq!(problems(html), Vec::<String>::new());
    }

    #[test]
    fn every_planted_fault_is_found() {
        for (html, said) in [
            ("<a href='three.html'>", "leads nowhere: three.html"),
            ("<a href='two.html#bottom'>", "leads nowhere: two.html#bottom"),
            ("<a href='#nothing'>", "leads nowhere: #nothing"),
            ("<a href='../up.html'>", "leads nowhere: ../up.html"),
            ("<a href='javascript:alert(1)'>", "a link to javascript"),
            ("<script src='https://cdn.example/a.js'></script>", "another host"),
            ("<script src='//cdn.example/a.js'></script>", "another host"),
            ("<script src='lost.js'></script>", "leads nowhere"),
            ("<img srcset='two.html 1x, http://cdn.example/a.png 2x'>", "another host"),
            (
                "<link rel=stylesheet href=bad.css>",
                "style of bad.css: fetched from another",
            ),
            ("<link rel=stylesheet href=lost.css>", "style of lost.css: leads nowhere"),
            (
                "<style>a { background: url(http://x.example/a.png) }</style>",
                "another host",
            ),
            ("<p style='background: url(//x.example/a)'>", "another host"),
            ("<div data-figure-scripts='lost.js'>", "leads nowhere: lost.js"),
            ("<p>{{#value x}}</p>", "a {{# is left"),
            ("<p>so $x$ is</p>", "a formula is left as text"),
            ("<p id=a></p><p id=a></p>", "the id a is used twice"),
        ] {
            let found = problems(&format!("<p>\n{html}"));
            let found: Vec<_> = found.iter().map(|it| it.replace('\\', "/")).collect();
            assert_eq!(found.len(), 1, "{html}: {found:?}");
            assert!(found[0].starts_with("target/book/one.html:2: "), "{found:?}");
            assert!(found[0].contains(said), "{html}: {found:?}");
        }
    }
}
