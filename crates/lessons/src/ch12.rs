//! Chapter 12: what sources claim of trained heads, with controls, and where attention
//! goes in fact.

pub mod claims;
pub mod others;
pub mod sinks;

use anyhow::Result;
use figures::{
    Figure, HeadLink, Heads, Link, SentenceLinks, WeightRow, average, head_maps,
    head_view, strongest_links,
};

use crate::args::{Args, Entry};
use crate::numbers::share;
use crate::trained::{at, is_word, maps};
use sinks::Got;

pub(crate) const FIGURES: [Entry; 6] = [
    ("trained-links", trained_links),
    ("trained-maps", trained_maps),
    ("trained-view", trained_view),
    ("claimed-links", claimed_links),
    ("one-key", one_key),
    ("sinks", sinks),
];

/// Each head's strongest link between two different words, in the four sentences.
fn trained_links(_: &Args) -> Result<Figure> {
    let layer = pretrained::minilm()?;
    let mut sentences = Vec::new();
    for sentence in &layer.sentences {
        let (attn, tokens) =
            (maps(&layer.parameters, &sentence.input)?, &sentence.tokens);
        let heads = Heads::of_tokens(&attn, tokens)?;
        let of_words = |link: &Link| {
            link.query != link.key
                && is_word(&tokens[link.query])
                && is_word(&tokens[link.key])
        };
        let strongest = |head: usize| {
            let Link { query, key, share } =
                heads.links(head).into_iter().find(of_words)?;
            Some(HeadLink {
                head,
                query: tokens[query].clone(),
                key: tokens[key].clone(),
                share,
            })
        };
        let links = (0..attn.len()).filter_map(strongest).collect();
        sentences.push(SentenceLinks { name: sentence.text.clone(), links });
    }
    let title = "Each head's strongest link: few give another word as much as half";
    Ok(strongest_links(title, &sentences)?)
}

/// `sentence=…`, all twelve maps.
fn trained_maps(args: &Args) -> Result<Figure> {
    let layer = pretrained::minilm()?;
    let sentence = layer.sentence(args.get("sentence").unwrap_or("bank_loan"))?;
    let attn = maps(&layer.parameters, &sentence.input)?;
    let title = "Twelve heads read one sentence: most share a bright first column, [CLS]";
    Ok(head_maps(title, &Heads::of_tokens(&attn, &sentence.tokens)?))
}

/// The sentence about the animal, head 11 first.
fn trained_view(_: &Args) -> Result<Figure> {
    let layer = pretrained::minilm()?;
    let sentence = layer.sentence("animal_tired")?;
    let attn = maps(&layer.parameters, &sentence.input)?;
    let heads = Heads::of_tokens(&attn, &sentence.tokens)?.showing(11)?;
    Ok(head_view("In head 11 nearly every token looks at “animal”", &heads))
}

/// What the best head gives each claimed link, and what other tokens give the same key.
fn claimed_links(_: &Args) -> Result<Figure> {
    let links: Vec<_> = claims::links()?.into_iter().map(|(_, link)| link).collect();
    let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
    let twice = links.iter().filter(|link| link.share >= 2.0 * link.others).count();
    let title = format!(
        "In {twice} of {} claims the word gives twice what the other tokens give",
        links.len()
    );
    let rows = [
        ("the claimed link", links.iter().map(|link| link.share).collect()),
        ("the other tokens, same head", links.iter().map(|link| link.others).collect()),
    ];
    let rows = rows.map(|(name, shares)| WeightRow { name: name.to_owned(), shares });
    Ok(average(title, &names, &rows)?)
}

/// What every token gives “animal”, in head 11 and in head 3.
fn one_key(_: &Args) -> Result<Figure> {
    let layer = pretrained::minilm()?;
    let sentence = layer.sentence("animal_tired")?;
    let (attn, animal) =
        (maps(&layer.parameters, &sentence.input)?, at(sentence, "animal")?);
    let row = |head: usize| WeightRow {
        name: format!("head {head} → animal"),
        shares: attn[head].column(animal).iter().copied().collect(),
    };
    let it = at(sentence, "it")?;
    let title = format!(
        "Head 11: “it” gives “animal” {}, and the first “the” gives it {}",
        share(attn[11][(it, animal)]),
        share(attn[11][(at(sentence, "the")?, animal)])
    );
    Ok(average(title, &sentence.tokens, &[row(11), row(3)])?)
}

/// `sentence=…`: what each token gets, in attention and in what is written.
fn sinks(args: &Args) -> Result<Figure> {
    let layer = pretrained::minilm()?;
    let sentence = layer.sentence(args.get("sentence").unwrap_or("animal_tired"))?;
    let Got { attention, written } = Got::new(&layer.parameters, &sentence.input)?;
    let title = format!(
        "[CLS] gets {} of all attention and is {} of what is written",
        share(attention[0]),
        share(written[0])
    );
    let rows = [
        ("attention, mean of all heads and queries", attention),
        ("what is written", written),
    ];
    let rows = rows.map(|(name, shares)| WeightRow { name: name.to_owned(), shares });
    Ok(average(title, &sentence.tokens, &rows)?)
}
