//! On tiny models: what is said about heads, and what is refused.

use clap::Parser;

use super::*;
use crate::either::{decoder, read};
use crate::tests::with_tokenizer;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: Args,
}

fn args(words: &[&str]) -> Args {
    Command::try_parse_from(["look"].iter().chain(words)).unwrap().args
}

/// A tiny model with a tokenizer that is not its family's.
fn tiny(name: &str) -> tempfile::TempDir {
    let folder = with_tokenizer(name);
    let class = r#"{"tokenizer_class": "PreTrainedTokenizerFast"}"#;
    if name != "bert-1" {
        std::fs::write(folder.path().join("tokenizer_config.json"), class).unwrap();
    }
    folder
}

fn asked_of(model: &str, sentence: &str, words: &[&str]) -> Result<String> {
    let folder = tiny(model);
    let existing = Existing::Keep;
    Ok(answers(&args(words), folder.path(), sentence, Long::Refuse, existing)?.text)
}

fn refused(model: &str, words: &[&str]) -> String {
    asked_of(model, "the bank", words).unwrap_err().to_string()
}

#[test]
fn a_removal_is_told_beside_its_draws() {
    for (model, measure) in [
        ("llama-1", "next token: probability moved"),
        ("gemma2-1", "loss of the text, nats a token"),
        ("bert-1", "1 − cosine of the embedding"),
    ] {
        for replace in ["zero", "mean", "resample"] {
            let words = ["--without", "0.1", "--replace", replace, "--draws", "9"];
            let report = asked_of(model, "the bank", &words).unwrap();
            let line = report.lines().find(|line| line.starts_with(measure));
            // One of four heads has three others.
            let line = line.unwrap_or_else(|| panic!("{model}:\n{report}"));
            assert!(line.contains(" of 3, p = "), "{line}");
            assert!(report.contains("Beside 3 sets"), "{report}");
            assert!(report.contains("maps of later layers"), "{report}");
        }
    }
}

#[test]
fn a_layer_without_other_heads_has_no_control_and_it_is_said() {
    let all = ["--without", "1.0,1.1,1.2,1.3"];
    for model in ["llama-1", "bert-1"] {
        let report = asked_of(model, "the bank", &all).unwrap();
        assert!(report.contains("There is no control"), "{report}");
        assert!(report.contains("no draws") && !report.contains("p = "), "{report}");
        let report = asked_of(model, "the bank", &["--without", "1.0,1.1,1.2"]).unwrap();
        let lacks = "Layer 1 has too few others: each set lacks 2 heads there";
        assert!(report.contains(lacks), "{report}");
    }
}

/// The number behind a word.
fn number(line: &str, word: &str) -> f64 {
    let (_, rest) = line.split_once(word).unwrap_or_else(|| panic!("{line}"));
    rest.split_whitespace().next().unwrap().trim_matches(';').parse().unwrap()
}

#[test]
fn what_heads_add_sums_to_the_logit() {
    for model in ["gpt2-1", "gemma2-1", "llama-1"] {
        let report = asked_of(model, "the bank", &["--adds"]).unwrap();
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
    let path = folder.path().join("adds.json");
    let words = ["--adds-json", path.to_str().unwrap(), "--logits", "the,bank"];
    let write = |existing| {
        answers(&args(&words), folder.path(), "the bank", Long::Refuse, existing)
    };
    write(Existing::Keep).unwrap();
    let refused = write(Existing::Keep).unwrap_err().to_string();
    assert!(refused.contains("write over it with --force"), "{refused}");
    write(Existing::Replace).unwrap();
    let weights = folder.path().join("model.safetensors");
    let words = ["--adds-json", weights.to_str().unwrap()];
    let sentence = "the bank";
    let refused =
        answers(&args(&words), folder.path(), sentence, Long::Refuse, Existing::Replace);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("is read by this command"), "{refused}");
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let sum = |of: &serde_json::Value| -> f64 {
        let numbers = of.as_array().unwrap();
        numbers.iter().map(|it| it.as_f64().unwrap()).sum()
    };
    assert_eq!(json["tokens"].as_array().unwrap().len(), 2);
    for token in json["tokens"].as_array().unwrap() {
        let layers = token["heads"].as_array().unwrap();
        assert!(
            layers.len() == 3
                && layers.iter().all(|it| it.as_array().unwrap().len() == 4)
        );
        let parts = layers.iter().map(sum).sum::<f64>()
            + sum(&token["feed_forward"])
            + sum(&token["attention_bias"])
            + token["embedding"].as_f64().unwrap()
            + token["last_bias"].as_f64().unwrap();
        assert!((parts - token["logit"].as_f64().unwrap()).abs() < 1e-3, "{token}");
    }
}

#[test]
fn patching_shows_heads_beside_their_layers_and_other_texts() {
    let words = ["--patch-from", "bank the", "--logits", "the,bank", "--draws", "5"];
    let report = asked_of("gpt2-1", "the bank", &words).unwrap();
    assert_eq!(report.matches("its layer").count(), 9, "{report}"); // and in the head's line
    assert_eq!(report.matches(" of 5, p = ").count(), 9, "{report}");
    let named = [&words[..], &["--without", "0.1"]].concat();
    let report = asked_of("gpt2-1", "the bank", &named).unwrap();
    assert!(report.contains("The heads that were named: 0.1, at once"), "{report}");
    assert!(!report.contains("in their stead"), "{report}");
}

#[test]
fn what_does_not_fit_is_refused_with_its_numbers() {
    insta::assert_snapshot!(refused("llama-1", &["--without", "3.0"]), @"there is no head 3.0: the model has layers 0 to 2 and heads 0 to 3");
    insta::assert_snapshot!(refused("bert-1", &["--without", "0.4"]), @"there is no head 0.4: the model has layers 0 to 2 and heads 0 to 3");
    insta::assert_snapshot!(refused("llama-1", &["--without", "1.1,1.1"]), @"head 1.1 is named twice");
    insta::assert_snapshot!(refused("bert-1", &["--adds"]), @"a model of the family bert does not write, and has no logits of a next token: `--without` can be asked of it");
    insta::assert_snapshot!(refused("llama-1", &["--adds", "--logits", "the bank"]), @r#""the bank" is 2 tokens (the bank), and must be one"#);
    let patch =
        |from, tokens| refused("gpt2-1", &["--patch-from", from, "--logits", tokens]);
    insta::assert_snapshot!(patch("the bank the", "the,bank"), @"your text has 4 tokens and the one of `--patch-from` 5: what a head puts out goes from token to token, so they need as many. It is: [CLS] the bank the [SEP]");
    insta::assert_snapshot!(patch("bank the", "the"), @"`--patch-from` needs two tokens of `--logits`, and it names 1");
    insta::assert_snapshot!(patch("bank the", "the,the"), @"`--logits` names the same token twice: there is no difference");
    insta::assert_snapshot!(patch("the bank", "the,bank"), @"both texts give the same difference of logits, 0.9322: there is nothing to carry");
    assert!(Command::try_parse_from(["look", "--replace", "mean"]).is_err());
    assert!(Command::try_parse_from(["look", "--patch-from", "the"]).is_err());
}

#[test]
fn a_model_goes_on_with_all_heads_without_some_and_without_others() {
    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        removed: Removed,
    }
    let folder = tiny("gpt2-1");
    let going_on = |words: &[&str]| {
        let (model, text) = read(&decoder(folder.path()).unwrap()).unwrap();
        let asked = Asked::new(model, text, "the bank", Long::Refuse).unwrap();
        let removed = Command::parse_from(["write"].iter().chain(words)).removed;
        going_on(asked, &removed, 5, &decoders::Choice::greedy())
    };
    let report = going_on(&["--without", "0.1,1.2"]).unwrap();
    let headings =
        ["\nWith all heads:\n", "\nWithout 0.1, 1.2:\n", "\nThe control, without"];
    let found = headings.map(|heading| report.matches(heading).count());
    assert_eq!(found, [1, 1, 2], "{report}");
    let mean = going_on(&["--without", "0.1", "--replace", "mean"]).unwrap();
    assert!(mean.contains("their means over"), "{mean}");
    let refused = going_on(&["--without", "0.1", "--replace", "resample"]).unwrap_err();
    insta::assert_snapshot!(refused, @"a token that is still to be written has no counterpart in another text: `cargo learn look` has `--replace resample`");
}

#[test]
fn a_number_below_0_is_compared_downward_and_on_both_sides() {
    let draws = vec![-0.1, 0.2, 0.0, 0.3];
    let of = |observed| BesideDraws { observed, draws: draws.clone() };
    assert!(beside_signed(&of(-0.5)).ends_with("below 4 of 4, p = 0.40"));
    assert!(beside_signed(&of(0.25)).ends_with("above 3 of 4, p = 0.80"));
    assert!(beside(&of(-0.5)).ends_with("above 0 of 4, p = 1.00"));
    assert!(beside(&of(0.5)).ends_with("above 4 of 4, p = 0.20"));
}
