//! `cargo learn logits`: what each head adds to a token's logit.

use std::path::PathBuf;

use ablation::HeadOfLayer;
use ablation::odds::BesideDraws;
use anyhow::{Result, ensure};
use attention::{Rng, SeedableRng};
use models::decoders::attribution::{Attribution, LayerParts};
use rand::RngExt;
use serde_json::{Value, json};
use workshop::output::print;

use crate::args::{ModelArgs, PageArgs, TextArgs, check_outputs};
use crate::save::write_bytes;
use crate::shown::write_page;
use crate::source::inputs;
use crate::study::{DrawArgs, TextInDecoder, name};

/// What each head adds to the logit of the next token, beside random tokens
///
/// Of a model that goes on with a text. A page shows it of every head, as bars.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    text: TextArgs,
    /// Whose logits: tokens with a comma between, spaces counting, as in " Mary, John";
    /// without, of the most likely token
    #[arg(long, value_name = "TOKENS")]
    of: Option<String>,
    /// Write it as JSON: every head, for each of these tokens or of the most likely
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    draws: DrawArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    page: PageArgs,
}

/// Prints what heads add, and writes it.
pub fn run(args: &Args) -> Result<()> {
    let folder = args.model.folder()?;
    let Some(sentence) = args.text.read()? else { return Ok(()) };
    let (html, json) = (args.page.html.as_ref(), args.json.as_ref());
    let outputs = [(html, "--html"), (json, "--json")];
    let outputs = outputs.into_iter().filter_map(|(path, flag)| Some((&**path?, flag)));
    let (inputs, existing) =
        (inputs(&[&folder], args.text.file.as_deref()), args.page.existing());
    check_outputs(outputs, existing, &inputs)?;
    let long = args.model.long();
    let read = TextInDecoder::open(&folder, &sentence, long, WHAT)?;
    let tokens = args.of.as_deref().map(|tokens| read.tokens(tokens)).transpose()?;
    print(read.tokens_line())?;
    print(report(&read, tokens.as_deref(), args.draws)?)?;
    if html.is_none() && json.is_none() {
        return Ok(());
    }
    let adds = to_json(&read, tokens.as_deref(), args.draws)?;
    if let Some(path) = json {
        write_bytes(path, format!("{adds}\n").as_bytes(), existing)?;
        print(format_args!("\n{} has what every head adds.\n", path.display()))?;
    }
    write_page(&args.page, (&folder, &sentence, long), |beside| beside.adds = Some(adds))
}

/// What models are read for.
const WHAT: &str = "`cargo learn logits`";

/// So many heads have a bar.
const MOST: usize = 12;
/// The width of their column: the longest bar and a space.
const WIDTH: usize = 25;
/// For so many of the most likely tokens a page has what heads add.
const IN_JSON: usize = 8;

/// What each part adds to some tokens, and to random ones.
struct Contributions {
    tokens: Vec<Attribution>,
    random: Vec<Attribution>,
    probabilities: Vec<f64>,
}

impl Contributions {
    /// Of these tokens, or the most likely.
    fn of(
        read: &TextInDecoder,
        tokens: Option<&[usize]>,
        most: usize,
        draws: DrawArgs,
    ) -> Result<Self> {
        let TextInDecoder { model, .. } = read;
        let pass = model.pass(read.ids())?;
        let next = model.next(&pass.layers)?;
        ensure!(
            next.iter().all(|it| it.is_finite()),
            "the logits are not all finite: `cargo learn model` says where it begins"
        );
        let mut likely: Vec<usize> = (0..next.len()).collect();
        likely.sort_by(|&a, &b| next[b].total_cmp(&next[a]));
        likely.truncate(most);
        let tokens = tokens.unwrap_or(&likely);
        let rng = &mut Rng::seed_from_u64(draws.seed);
        let random: Vec<usize> =
            (0..draws.n).map(|_| rng.random_range(0..next.len())).collect();
        let last = read.ids().len() - 1;
        let mut all = model.attribution(&pass, last, &[tokens, &random].concat())?;
        let random = all.split_off(tokens.len());
        let probabilities = tokens.iter().map(|&token| next[token]).collect();
        Ok(Self { tokens: all, random, probabilities })
    }

    /// What a head adds to a token, beside what it adds to random ones.
    fn beside(&self, token: &Attribution, (layer, head): HeadOfLayer) -> BesideDraws {
        let of = |it: &Attribution| it.layers[layer].heads[head];
        BesideDraws { observed: of(token), draws: self.random.iter().map(of).collect() }
    }
}

fn report(
    read: &TextInDecoder,
    tokens: Option<&[usize]>,
    draws: DrawArgs,
) -> Result<String> {
    let adds = Contributions::of(read, tokens, 1, draws)?;
    let mut text = String::new();
    for (token, probability) in adds.tokens.iter().zip(&adds.probabilities) {
        let (piece, n_random) = (read.piece(token.token)?, adds.random.len());
        let n_heads: usize = token.layers.iter().map(|layer| layer.heads.len()).sum();
        text += &format!(
            "\nWhat each head adds to the logit of {piece} (probability {probability:.4}) \
             behind your text, with the last norm's\nscale held at what it is here; the \
             largest of {n_heads}, beside what the head adds to {n_random} random tokens.\n\n\
             {:<9}{:>9}  {:WIDTH$}   median and range of random tokens\n",
            "head", "adds", ""
        );
        text += &bars(&adds, token);
        text += &sums(token);
    }
    Ok(text)
}

/// The heads that add or take most.
fn bars(adds: &Contributions, token: &Attribution) -> String {
    let heads = token.layers.iter().enumerate();
    let heads = heads.flat_map(|(l, of)| (0..of.heads.len()).map(move |i| (l, i)));
    let mut all: Vec<(HeadOfLayer, BesideDraws)> =
        heads.map(|head| (head, adds.beside(token, head))).collect();
    all.sort_by(|a, b| b.1.observed.abs().total_cmp(&a.1.observed.abs()));
    let longest =
        all.first().map_or(1.0, |(_, it)| it.observed.abs()).max(f64::MIN_POSITIVE);
    let mut text = String::new();
    for (head, of) in all.iter().take(MOST) {
        let added = of.observed;
        let length = (added.abs() / longest * (WIDTH - 1) as f64).round() as usize;
        let bar = if added < 0.0 { "░" } else { "█" }.repeat(length);
        let [least, most] = of.range();
        let random = match of.draws.is_empty() {
            true => String::new(),
            false => format!("{:+.3}, {least:+.3} to {most:+.3}", of.median()),
        };
        text += &format!("{:<9}{added:>+9.3}  {bar:WIDTH$}   {random}\n", name(*head));
    }
    let rest: f64 = all.iter().skip(MOST).map(|(_, it)| it.observed).sum();
    let n_rest = all.len().saturating_sub(MOST);
    text + &format!("{:<24}{rest:>+12.5}\n", format!("{n_rest} other heads"))
}

/// The other parts, the sum, and the model's own logit.
fn sums(token: &Attribution) -> String {
    let of_layers =
        |of: fn(&LayerParts) -> f64| -> f64 { token.layers.iter().map(of).sum() };
    let rows = [
        ("feed-forward layers", of_layers(|it| it.feed_forward)),
        ("embedding", token.embedding),
        ("biases", of_layers(|it| it.attention_bias) + token.last_bias),
    ];
    let rows = rows.map(|(what, sum)| format!("{what:<24}{sum:>+12.5}\n")).concat();
    let (sum, capped, own) = (token.sum(), token.capped(), token.logit);
    let cap = token.soft_cap.map_or(String::new(), |cap| {
        format!(" before the cap of {}, {capped:.5} within it", cap.bound())
    });
    let difference = (capped - own).abs();
    let own = format!("the model's own logit {own:+.5} (difference {difference:.0e})");
    rows + &format!("{:<24}{sum:>+12.5}{cap}; {own}\n", "sum")
}

/// What a page shows: per token what each head adds, and the median and the range of random
/// tokens.
fn to_json(
    read: &TextInDecoder,
    tokens: Option<&[usize]>,
    draws: DrawArgs,
) -> Result<Value> {
    let adds = Contributions::of(read, tokens, IN_JSON, draws)?;
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
            "piece": read.piece(token.token)?,
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
        "pieces": read.shown_pieces(),
        "n_random": adds.random.len(),
        "tokens": tokens.collect::<Result<Vec<_>>>()?,
    }))
}

/// To five decimals; null where there is no number.
fn rounded(x: f64) -> Value {
    json!((x * 1e5).round() / 1e5 + 0.0)
}

#[cfg(test)]
mod tests {
    use ::texts::Long;

    use super::*;
    use crate::tests::{at, command, tiny, word};

    fn of_bank(model: &str, of: Option<&str>) -> Result<String> {
        let folder = tiny(model);
        let read = TextInDecoder::open(folder.path(), "the bank", Long::Refuse, WHAT)?;
        let tokens = of.map(|tokens| read.tokens(tokens)).transpose()?;
        report(&read, tokens.as_deref(), DrawArgs::default())
    }

    /// The number behind a word.
    fn number(line: &str, word: &str) -> f64 {
        let (_, rest) = line.split_once(word).unwrap_or_else(|| panic!("{line}"));
        rest.split_whitespace().next().unwrap().trim_matches(';').parse().unwrap()
    }

    #[test]
    fn what_heads_add_sums_to_the_logit() {
        for model in ["gpt2-1", "gemma2-1", "llama-1"] {
            let report = of_bank(model, None).unwrap();
            let sum = report.lines().find(|line| line.starts_with("sum ")).unwrap();
            let within = if model == "gemma2-1" { "of 30, " } else { "sum" };
            let found = number(sum, within) - number(sum, "own logit");
            assert!(found.abs() < 1e-4, "{sum}");
            assert!(report.contains("beside what the head adds to 20 random tokens"));
        }
    }

    #[test]
    fn a_page_gets_every_head_of_every_token() {
        let folder = tiny("gpt2-1");
        let path = at(&folder, "adds.json");
        let write = |path: &str, more: &[&str]| {
            let words =
                ["logits", "the bank", "--model", &word(&folder), "--of", "the,bank"];
            command(&words, &[&["--json", path], more].concat())
        };
        write(&path, &[]).unwrap();
        let refused = write(&path, &[]).unwrap_err();
        assert!(refused.contains("write over it with --force"), "{refused}");
        write(&path, &["--force"]).unwrap();
        let refused = write(&at(&folder, "model.safetensors"), &["--force"]).unwrap_err();
        assert!(refused.contains("is read by this command"), "{refused}");
        let json: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let number = |it: &Value| it.as_f64().unwrap();
        let sum = |of: &Value| of.as_array().unwrap().iter().map(number).sum::<f64>();
        let tokens = json["tokens"].as_array().unwrap();
        assert_eq!(tokens.len(), 2);
        for token in tokens {
            let layers = token["heads"].as_array().unwrap();
            let n_heads = layers.iter().map(|it| it.as_array().unwrap().len());
            assert_eq!(n_heads.collect::<Vec<_>>(), [4; 3]);
            let parts = layers.iter().map(sum).sum::<f64>()
                + sum(&token["feed_forward"])
                + sum(&token["attention_bias"])
                + number(&token["embedding"])
                + number(&token["last_bias"]);
            assert!((parts - number(&token["logit"])).abs() < 1e-3, "{token}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let refused = |model, of| of_bank(model, of).unwrap_err().to_string();
        insta::assert_snapshot!(refused("bert-1", None), @"a model of the family bert does not go on with a text, and has no logits of a next token: `cargo learn logits` is for those that do");
        insta::assert_snapshot!(refused("llama-1", Some("the bank")), @r#""the bank" is 2 tokens (the bank), and must be one"#);
    }
}
