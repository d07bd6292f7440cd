//! The figures of chapter 10.

use anyhow::{Context, Result};
use attention::{Mask, Matrix, MultiHeadAttention};
use figures::{
    Figure, HeadLink, Heads, Link, SentenceLinks, WeightRow, average, head_maps,
    head_view, strongest_links,
};
use fused_heads::FusedAttention;
use per_head::PerHeadAttention;
use pretrained::{Sentence, TrainedLayer};

use super::{Args, Entry};

pub const FIGURES: [Entry; 6] = [
    ("trained-links", trained_links),
    ("trained-maps", trained_maps),
    ("trained-view", trained_view),
    ("claimed-links", claimed_links),
    ("one-key", one_key),
    ("sinks", sinks),
];

/// The maps of the trained layer, head 0 first.
fn maps(layer: &TrainedLayer, sentence: &Sentence) -> Result<Vec<Matrix>> {
    let fused = FusedAttention::new(&layer.parameters);
    Ok(fused.self_attend(&sentence.input, &Mask::None)?.attn)
}

fn at(sentence: &Sentence, word: &str) -> Result<usize> {
    let place = sentence.tokens.iter().position(|token| token == word);
    place.with_context(|| format!("“{}” has no {word}", sentence.text))
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '#')
}

fn share(share: f64) -> String {
    format!("{share:.3}").trim_start_matches('0').to_string()
}

/// Each head's strongest link between two different words, in the four sentences.
fn trained_links(_: &Args) -> Result<Figure> {
    let layer = pretrained::minilm()?;
    let mut sentences = Vec::new();
    for sentence in &layer.sentences {
        let (attn, tokens) = (maps(&layer, sentence)?, &sentence.tokens);
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
    let attn = maps(&layer, sentence)?;
    let title = "Twelve heads read one sentence: most share a bright first column, [CLS]";
    Ok(head_maps(title, &Heads::of_tokens(&attn, &sentence.tokens)?))
}

/// The sentence about the animal, head 11 first.
fn trained_view(_: &Args) -> Result<Figure> {
    let layer = pretrained::minilm()?;
    let sentence = layer.sentence("animal_tired")?;
    let attn = maps(&layer, sentence)?;
    let heads = Heads::of_tokens(&attn, &sentence.tokens)?.showing(11)?;
    Ok(head_view("In head 11 nearly every token looks at “animal”", &heads))
}

/// The links that the sources claim: the sentence, who looks, at whom.
const CLAIMS: [(&str, &[&str], &str); 9] = [
    ("pilot", &["flew"], "pilot"),
    ("pilot", &["flew"], "plane"),
    ("pilot", &["flew"], "paris"),
    ("river_banks", &["over", "##flow", "##ed"], "banks"),
    ("river_banks", &["banks"], "river"),
    ("bank_loan", &["bank"], "loan"),
    ("animal_tired", &["it"], "animal"),
    ("animal_tired", &["tired"], "cross"),
    ("animal_tired", &["the"], "animal"),
];

/// What the best head gives each claimed link, and what other tokens give the same key.
fn claimed_links(_: &Args) -> Result<Figure> {
    let layer = pretrained::minilm()?;
    let (mut names, mut claimed, mut others) = (vec![], vec![], vec![]);
    for (name, queries, key) in CLAIMS {
        let sentence = layer.sentence(name)?;
        let rows: Vec<usize> =
            queries.iter().map(|query| at(sentence, query)).collect::<Result<_>>()?;
        let key_at = at(sentence, key)?;
        let mean = |map: &Matrix, of_claim: bool| {
            let column = map.column(key_at);
            let picked = (0..map.nrows()).filter(|row| rows.contains(row) == of_claim);
            let shares: Vec<f64> = picked.map(|row| column[row]).collect();
            shares.iter().sum::<f64>() / shares.len() as f64
        };
        let maps = maps(&layer, sentence)?;
        let best = maps.iter().max_by(|a, b| mean(a, true).total_cmp(&mean(b, true)));
        let best = best.context("the layer has heads")?;
        names.push(format!("{} → {key}", queries.join(" ").replace(" ##", "")));
        claimed.push(mean(best, true));
        others.push(mean(best, false));
    }
    let twice =
        claimed.iter().zip(&others).filter(|&(claimed, others)| *claimed >= 2.0 * others);
    let title = format!(
        "In {} of {} claims the word gives twice what the other tokens give",
        twice.count(),
        names.len()
    );
    let rows = [("the claimed link", claimed), ("the other tokens, same head", others)];
    let rows = rows.map(|(name, shares)| WeightRow { name: name.to_owned(), shares });
    Ok(average(title, &names, &rows)?)
}

/// What every token gives “animal”, in head 11 and in head 3.
fn one_key(_: &Args) -> Result<Figure> {
    let layer = pretrained::minilm()?;
    let sentence = layer.sentence("animal_tired")?;
    let (attn, animal) = (maps(&layer, sentence)?, at(sentence, "animal")?);
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
    let x = &sentence.input;
    let passes =
        PerHeadAttention::new(layer.parameters.clone()).heads(x, x, x, &Mask::None)?;
    let n = x.nrows();
    let (mut attention, mut written) = (vec![0.0; n], vec![0.0; n]);
    for (i, pass) in passes.iter().enumerate() {
        let values = &pass.v * layer.parameters.w_o_of_head(i); // [n_tokens, d_model]
        let weight = 1.0 / (passes.len() * n) as f64;
        for row in pass.attn.row_iter() {
            let lengths: Vec<f64> =
                row.iter().zip(values.row_iter()).map(|(a, v)| a * v.norm()).collect();
            let total: f64 = lengths.iter().sum();
            for j in 0..n {
                attention[j] += weight * row[j];
                written[j] += weight * lengths[j] / total;
            }
        }
    }
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
