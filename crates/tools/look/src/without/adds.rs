//! What each head adds to a token's logit.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use attention::{Rng, SeedableRng};
use decoders::attribution::{Attribution, LayerParts};
use decoders::study::Head;
use rand::RngExt;
use serde_json::{Value, json};
use training::odds::BesideDraws;

use super::{Asked, Removed, name};

/// So many heads have a bar.
const MOST: usize = 12;
/// The longest bar.
const WIDTH: f64 = 24.0;
/// For so many of the most likely tokens a page has what heads add.
const IN_JSON: usize = 8;

/// What each part adds to some tokens, and to random ones.
struct Adds {
    tokens: Vec<Attribution>,
    random: Vec<Attribution>,
    probabilities: Vec<f64>,
}

impl Adds {
    /// Of the tokens asked for, or the most likely.
    fn of(
        asked: &Asked,
        tokens: Option<&[usize]>,
        most: usize,
        removed: &Removed,
    ) -> Result<Self> {
        let Asked { model, .. } = asked;
        let pass = model.pass(asked.ids())?;
        let next = model.next(&pass.layers)?;
        ensure!(
            next.iter().all(|it| it.is_finite()),
            "the logits are not all finite: `cargo learn model` says where it begins"
        );
        let mut likely: Vec<usize> = (0..next.len()).collect();
        likely.sort_by(|&a, &b| next[b].total_cmp(&next[a]));
        likely.truncate(most);
        let tokens = tokens.unwrap_or(&likely);
        let rng = &mut Rng::seed_from_u64(removed.draws_seed);
        let random: Vec<usize> =
            (0..removed.n_draws()).map(|_| rng.random_range(0..next.len())).collect();
        let last = asked.ids().len() - 1;
        let mut all = model.attribution(&pass, last, &[tokens, &random].concat())?;
        let random = all.split_off(tokens.len());
        let probabilities = tokens.iter().map(|&token| next[token]).collect();
        Ok(Self { tokens: all, random, probabilities })
    }

    /// What a head adds to a token, beside what it adds to random ones.
    fn beside(&self, token: &Attribution, (layer, head): Head) -> BesideDraws {
        let of = |it: &Attribution| it.layers[layer].heads[head];
        BesideDraws { observed: of(token), draws: self.random.iter().map(of).collect() }
    }
}

pub fn report(
    asked: &Asked,
    tokens: Option<&[usize]>,
    removed: &Removed,
) -> Result<String> {
    let adds = Adds::of(asked, tokens, 1, removed)?;
    let mut to = String::new();
    for (token, probability) in adds.tokens.iter().zip(&adds.probabilities) {
        let piece = asked.piece(token.token)?;
        let n_layers = token.layers.len();
        let _ = writeln!(
            to,
            "\nWhat each head adds to the logit of {piece} (probability {probability:.4}) \
             behind your text, with the last norm's\nscale held at what it is here; the \
             largest of {}, beside what the head adds to {} random tokens.\n\n{:<9}{:>9}  \
             {:WIDTH$}   median and range of random tokens",
            n_layers * token.layers.first().map_or(0, |it| it.heads.len()),
            adds.random.len(),
            "head",
            "adds",
            "",
            WIDTH = WIDTH as usize + 1
        );
        bars(&mut to, &adds, token);
        sums(&mut to, token);
    }
    Ok(to)
}

/// The heads that add or take most.
fn bars(to: &mut String, adds: &Adds, token: &Attribution) {
    let heads = token.layers.iter().enumerate();
    let heads = heads.flat_map(|(l, of)| (0..of.heads.len()).map(move |i| (l, i)));
    let mut all: Vec<(Head, BesideDraws)> =
        heads.map(|head| (head, adds.beside(token, head))).collect();
    all.sort_by(|a, b| b.1.observed.abs().total_cmp(&a.1.observed.abs()));
    let longest =
        all.first().map_or(1.0, |(_, it)| it.observed.abs()).max(f64::MIN_POSITIVE);
    for (head, of) in all.iter().take(MOST) {
        let length = (of.observed.abs() / longest * WIDTH).round() as usize;
        let bar = if of.observed < 0.0 { "░" } else { "█" }.repeat(length);
        let [least, most] = of.range();
        let random = match of.draws.is_empty() {
            true => String::new(),
            false => format!("{:+.3}, {least:+.3} to {most:+.3}", of.median()),
        };
        let _ = writeln!(
            to,
            "{:<9}{:>+9.3}  {bar:WIDTH$}   {random}",
            name(*head),
            of.observed,
            WIDTH = WIDTH as usize + 1
        );
    }
    let rest: f64 = all.iter().skip(MOST).map(|(_, it)| it.observed).sum();
    let _ = writeln!(
        to,
        "{:<24}{rest:>+12.5}",
        format!("{} other heads", all.len().saturating_sub(MOST))
    );
}

/// The other parts, the sum, and the model's own logit.
fn sums(to: &mut String, token: &Attribution) {
    let of_layers =
        |of: fn(&LayerParts) -> f64| -> f64 { token.layers.iter().map(of).sum() };
    let rows = [
        ("feed-forward layers", of_layers(|it| it.feed_forward)),
        ("embedding", token.embedding),
        ("biases", of_layers(|it| it.attention_bias) + token.last_bias),
    ];
    for (what, sum) in rows {
        let _ = writeln!(to, "{what:<24}{sum:>+12.5}");
    }
    let (sum, capped) = (token.sum(), token.capped());
    let cap = token.soft_cap.map_or(String::new(), |cap| {
        format!(" before the cap of {}, {capped:.5} within it", cap.bound())
    });
    let _ = writeln!(
        to,
        "{:<24}{sum:>+12.5}{cap}; the model's own logit {:+.5} (difference {:.0e})",
        "sum",
        token.logit,
        (capped - token.logit).abs()
    );
}

/// What a page shows: per token what each head adds, and the median and the range of random
/// tokens.
pub fn to_json(
    asked: &Asked,
    tokens: Option<&[usize]>,
    removed: &Removed,
) -> Result<Value> {
    let adds = Adds::of(asked, tokens, IN_JSON, removed)?;
    let of_token = |(token, probability): (&Attribution, &f64)| -> Result<Value> {
        let of_heads = |number: &dyn Fn(BesideDraws) -> Value| -> Vec<Vec<Value>> {
            let of_layer = |(l, of): (usize, &LayerParts)| {
                let heads = 0..of.heads.len();
                heads.map(|i| number(adds.beside(token, (l, i)))).collect()
            };
            token.layers.iter().enumerate().map(of_layer).collect()
        };
        let of = |of: fn(&LayerParts) -> f64| -> Vec<Value> {
            token.layers.iter().map(|it| rounded(of(it))).collect()
        };
        Ok(json!({
            "id": token.token,
            "piece": asked.piece(token.token)?,
            "probability": rounded(*probability),
            "logit": rounded(token.logit),
            "sum": rounded(token.sum()),
            "soft_cap": token.soft_cap.map(|cap| cap.bound()),
            "capped": rounded(token.capped()),
            "heads": of_heads(&|it| rounded(it.observed)),
            "random": of_heads(&|it| rounded(it.median())),
            "random_range": of_heads(&|it| json!(it.range().map(rounded))),
            "feed_forward": of(|it| it.feed_forward),
            "attention_bias": of(|it| it.attention_bias),
            "embedding": rounded(token.embedding),
            "last_bias": rounded(token.last_bias),
        }))
    };
    let tokens = adds.tokens.iter().zip(&adds.probabilities).map(of_token);
    Ok(json!({
        "pieces": asked.shown_pieces(),
        "n_random": adds.random.len(),
        "tokens": tokens.collect::<Result<Vec<_>>>()?,
    }))
}

/// To five decimals; null where there is no number.
fn rounded(x: f64) -> Value {
    json!((x * 1e5).round() / 1e5 + 0.0)
}
