//! On tiny models: what changes without heads, and what is refused.

use clap::Parser;

use super::*;
use crate::source::decoder;
use crate::study::TextInDecoder;
use crate::tests::{at, command, tiny, word};

fn report(model: &str, sentence: &str, words: &[&str]) -> Result<String> {
    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }
    let folder = tiny(model);
    let words = [&["ablate", sentence, "--heads"], words].concat();
    let ablation = Command::try_parse_from(words).unwrap().args.ablation;
    Ok(changes(ModelFiles::open(folder.path())?, sentence, Long::Refuse, &ablation)?.0)
}

fn refused(model: &str, heads: &str) -> String {
    report(model, "the bank", &[heads]).unwrap_err().to_string()
}

#[test]
fn an_ablation_is_told_beside_its_draws() {
    for (model, measure) in [
        ("llama-1", "next token: probability moved"),
        ("gemma2-1", "loss of the text, nats a token"),
        ("bert-1", "1 − cosine of the embedding"),
    ] {
        for replace in ["zero", "mean", "resample"] {
            let words = ["0.1", "--replace", replace, "--draws", "9"];
            let report = report(model, "the bank", &words).unwrap();
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
    let all = ["1.0,1.1,1.2,1.3"];
    for model in ["llama-1", "bert-1"] {
        let found = report(model, "the bank", &all).unwrap();
        assert!(found.contains("There is no control"), "{found}");
        assert!(found.contains("no draws") && !found.contains("p = "), "{found}");
        let found = report(model, "the bank", &["1.0,1.1,1.2"]).unwrap();
        let lacks = "Layer 1 has too few others: each set lacks 2 heads there";
        assert!(found.contains(lacks), "{found}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_numbers() {
    insta::assert_snapshot!(refused("llama-1", "3.0"), @"there is no head 3.0: the model has layers 0 to 2 and heads 0 to 3");
    insta::assert_snapshot!(refused("bert-1", "0.4"), @"there is no head 0.4: the model has layers 0 to 2 and heads 0 to 3");
    insta::assert_snapshot!(refused("llama-1", "1.1,1.1"), @"head 1.1 is named twice");
    let folder = tiny("llama-1");
    let words = ["ablate", "the bank", "--heads", "0.1", "--model", &word(&folder)];
    let refused = command(&words, &["--html", &at(&folder, "page.html")]).unwrap_err();
    insta::assert_snapshot!(refused, @"--html: a page shows what changes in the embedding of a text, and llama has none; `cargo learn look --html` shows its heads");
}

#[test]
fn a_model_goes_on_with_all_heads_without_some_and_without_others() {
    let folder = tiny("gpt2-1");
    let going_on = |heads: &str, replace| {
        let files = decoder(folder.path()).unwrap();
        let read = TextInDecoder::of(&files, "the bank", Long::Refuse).unwrap();
        let heads = heads.split(',').map(|it| it.parse().unwrap()).collect();
        let ablation = Ablation { heads, replace, draws: DrawArgs::default() };
        going_on(read, &ablation, 5, &models::Choice::greedy())
    };
    let report = going_on("0.1,1.2", Replace::Zero).unwrap();
    let headings =
        ["\nWith all heads:\n", "\nWithout 0.1, 1.2:\n", "\nThe control, without"];
    let found = headings.map(|heading| report.matches(heading).count());
    assert_eq!(found, [1, 1, 2], "{report}");
    let mean = going_on("0.1", Replace::Mean).unwrap();
    assert!(mean.contains("their means over"), "{mean}");
    let refused = going_on("0.1", Replace::Resample).unwrap_err();
    insta::assert_snapshot!(refused, @"a token that is still to be written has no counterpart in another text: `cargo learn ablate` has `--replace resample`");
}
