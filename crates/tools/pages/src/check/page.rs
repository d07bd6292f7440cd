//! One page of the built book, as its HTML says: ids, addresses, and text left over.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer,
    TokenizerOpts,
};

/// What a page holds.
#[derive(Default)]
pub struct Page {
    /// Every id.
    pub ids: HashSet<String>,
    /// Every address with its line.
    pub addresses: Vec<(usize, Address)>,
    /// Things that no page may hold, with their lines.
    pub faults: Vec<(usize, String)>,
    /// The `href` of `<base>`, from which relative addresses count.
    pub base: Option<String>,
}

/// An address, by what a browser does with it.
pub enum Address {
    /// Opened if the reader asks.
    Link(String),
    /// Fetched with the page.
    Resource(String),
    /// Fetched with the page by a script, from the book's root.
    FromRoot(String),
    /// Style sheet text in the page, which may name resources.
    Style(String),
}

/// Reads a page.
pub fn read(html: &str) -> Page {
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from(html));
    let tokenizer = Tokenizer::new(Reader::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.page.into_inner()
}

/// Elements whose text is no prose.
const CODE: [&str; 5] = ["code", "pre", "script", "style", "template"];

#[derive(Default)]
struct Reader {
    page: RefCell<Page>,
    /// How many elements of [`CODE`] are open.
    depth: Cell<usize>,
    /// Whether the text that comes is that of `<style>` or of `<script>`.
    raw: Cell<Option<RawKind>>,
}

impl TokenSink for Reader {
    type Handle = ();

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<()> {
        let line = line as usize;
        match token {
            Token::TagToken(tag) => return self.tag(&tag, line),
            Token::CharacterTokens(text) => self.text(&text, line),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Reader {
    fn tag(&self, tag: &Tag, line: usize) -> TokenSinkResult<()> {
        self.raw.set(None);
        let is_code = CODE.contains(&&*tag.name);
        if tag.kind == TagKind::EndTag {
            self.depth.set(self.depth.get().saturating_sub(usize::from(is_code)));
            return TokenSinkResult::Continue;
        }
        if is_code && !tag.self_closing {
            self.depth.set(self.depth.get() + 1);
        }
        self.attributes(tag, line);
        let raw = match &*tag.name {
            "script" => RawKind::ScriptData,
            "style" => RawKind::Rawtext,
            "title" | "textarea" => RawKind::Rcdata,
            _ => return TokenSinkResult::Continue,
        };
        self.raw.set(Some(raw));
        TokenSinkResult::RawData(raw)
    }

    fn attributes(&self, tag: &Tag, line: usize) {
        let mut page = self.page.borrow_mut();
        for attribute in &tag.attrs {
            let value = attribute.value.trim().to_string();
            let mut add = |address| page.addresses.push((line, address));
            match (&*tag.name, &*attribute.name.local) {
                ("base", "href") => page.base = Some(value),
                ("a" | "area", "href" | "xlink:href") => add(Address::Link(value)),
                (_, "href" | "xlink:href" | "src" | "poster" | "data") => {
                    add(Address::Resource(value));
                }
                (_, "srcset") => {
                    let first =
                        |part: &str| part.split_whitespace().next().map(String::from);
                    value
                        .split(',')
                        .filter_map(first)
                        .for_each(|at| add(Address::Resource(at)));
                }
                (
                    _,
                    "data-figure-scripts"
                    | "data-encoder-worker"
                    | "data-answers-worker"
                    | "data-answer-file",
                ) => {
                    let each = value.split_whitespace().map(String::from);
                    each.for_each(|at| add(Address::FromRoot(at)));
                }
                (_, "style") => add(Address::Style(value)),
                (_, "id") if !page.ids.insert(value.clone()) => {
                    page.faults.push((line, format!("the id {value} is used twice")));
                }
                _ => {}
            }
        }
    }

    fn text(&self, text: &str, line: usize) {
        let mut page = self.page.borrow_mut();
        match self.raw.get() {
            Some(RawKind::Rawtext) => {
                page.addresses.push((line, Address::Style(text.to_string())));
            }
            Some(RawKind::ScriptData) => return,
            _ => {}
        }
        if text.contains("{{#") {
            page.faults.push((line, "a {{# is left in the page".to_string()));
        }
        if self.depth.get() == 0 && text.matches('$').count() > 1 {
            let what = format!("a formula is left as text: {}", text.trim());
            page.faults.push((line, what));
        }
    }
}
