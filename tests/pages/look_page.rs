//! The pages that `cargo learn look --html` writes: opened from disk, they show what the
//! command says.

use std::path::{Path, PathBuf};
use std::{fs, iter};

use clap::Parser;
use look::sentence;
use serde_json::{Value, json};
use workshop::paths;

use crate::browser::{AXE, Browser, Open};
use crate::{VIEWS, View};

const TRIED: &str = include_str!("explorer.js");

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: sentence::Args,
}

/// `cargo learn look` with these arguments, and `--html`; gives the page.
fn written(folder: &Path, words: &[&str]) -> PathBuf {
    let page = folder.join("page.html");
    let out = ["--html", page.to_str().unwrap(), "--force"];
    let words = iter::once(&"look").chain(words).chain(&out);
    sentence::run(&Command::parse_from(words).args).unwrap();
    page
}

/// A tiny model with a tokenizer.
fn tiny(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = paths::workspace().join("tests/models");
    for file in ["config.json", "model.safetensors"] {
        fs::copy(from.join(name).join(file), folder.path().join(file)).unwrap();
    }
    fs::copy(from.join("tokenizer.json"), folder.path().join("tokenizer.json")).unwrap();
    let class = r#"{"tokenizer_class": "PreTrainedTokenizerFast"}"#;
    if name != "bert-1" {
        fs::write(folder.path().join("tokenizer_config.json"), class).unwrap();
    }
    folder
}

/// The page, when every head is measured.
fn open(browser: &Browser, page: &Path, view: View) -> Open {
    let page = browser.open(&format!("file://{}", page.display()), view, "").unwrap();
    page.tab.evaluate(TRIED, false).unwrap();
    page.text("tried.open('explorer')").unwrap();
    page
}

fn json_of(page: &Open, expression: &str) -> Value {
    serde_json::from_str(&page.text(expression).unwrap()).unwrap()
}

/// A number as the page writes it.
fn number(text: &Value) -> f64 {
    text.as_str().unwrap().replace('−', "-").parse().unwrap()
}

fn sits_well(page: Open, view: View) {
    page.tab.evaluate(AXE, false).unwrap();
    assert_eq!(page.text("tried.axe()").unwrap(), "[]", "{view:?}");
    let width = "String(document.documentElement.scrollWidth <= innerWidth)";
    assert_eq!(page.text(width).unwrap(), "true", "{view:?}");
    page.close_without_problems();
}

/// The numbers of the command are those of the module in a page, on other stages: of the same
/// draws, within what f32 rounds.
#[test]
fn a_page_says_of_a_removal_what_the_command_says() {
    let folder = tiny("bert-1");
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let [config, tokenizer, weights] =
        ["config.json", "tokenizer.json", "model.safetensors"].map(read);
    let mut reading =
        live_model::Reading::begin(&config, &tokenizer, weights.len()).unwrap();
    reading.part(&weights).unwrap();
    let model = reading.finish().unwrap();
    let sentence = "the bank of the river flooded the banks";
    let looked = model.look(sentence).unwrap();
    let mut largest = 0f64;
    for (heads, names) in [
        (vec![(0, 1)], "0.1"),
        (vec![(1, 3), (0, 0)], "0.0,1.3"),
        (vec![(2, 2)], "2.2"),
        ((0..4).map(|i| (1, i)).collect(), "1.0,1.1,1.2,1.3"),
    ] {
        let (mut removal, less) = model.switch_off(&looked, heads).unwrap();
        while model.draw(&looked, &mut removal).unwrap() {}
        let at = folder.path().to_str().unwrap();
        let page = written(folder.path(), &[sentence, "--model", at, "--without", names]);
        let told = data(&page)[0]["removed"].clone();
        let page = removal.to_json("zeros");
        largest = largest.max(apart(&page, &told));
        // Behind the last layer there is no map that could move.
        assert!((less.maps != looked.text.maps) == (names != "2.2"), "{names}");
        // Another head's numbers are others.
        let other = model.switch_off(&looked, vec![(0, 2)]).unwrap().0.to_json("zeros");
        assert!(other["measures"][0]["observed"] != told["measures"][0]["observed"]);
    }
    println!("largest difference: {largest:.1e}");
    assert!(largest < 2e-6, "{largest:e}");
}

/// What a page draws from.
fn data(page: &Path) -> Value {
    let page = fs::read_to_string(page).unwrap();
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
}

/// The largest difference of a number, in two answers of one form.
fn apart(a: &Value, b: &Value) -> f64 {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            (a.as_f64().unwrap() - b.as_f64().unwrap()).abs()
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).map(|(a, b)| apart(a, b)).fold(0.0, f64::max)
        }
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()));
            a.iter().map(|(key, it)| apart(it, &b[key])).fold(0.0, f64::max)
        }
        (a, b) => {
            assert_eq!(a, b);
            0.0
        }
    }
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn what_each_head_adds_sums_to_the_logit_and_a_bar_chooses_its_head() {
    let browser = Browser::start().unwrap();
    for (model, n_parts) in [("gpt2-1", 6), ("gemma2-1", 7)] {
        let folder = tiny(model);
        let kept = folder.path().join("adds.json");
        let (at, out) = (folder.path().to_str().unwrap(), kept.to_str().unwrap());
        let words = ["look", "the bank", "--model", at, "--adds-json", out];
        sentence::run(&Command::parse_from(words).args).unwrap();
        let written = written(folder.path(), &["the bank", "--model", at, "--adds"]);
        let kept: Value = serde_json::from_slice(&fs::read(kept).unwrap()).unwrap();
        for view in [VIEWS[0], VIEWS[3]] {
            let page = open(&browser, &written, view);
            for (nth, token) in kept["tokens"].as_array().unwrap().iter().enumerate() {
                page.text(&format!("tried.set({{ token: '{}' }})", token["id"])).unwrap();
                let shown = json_of(&page, "tried.adds()");
                let parts = shown["parts"].as_array().unwrap();
                assert_eq!(parts.len(), n_parts, "{model}");
                let bars = shown["bars"].as_array().unwrap();
                let flat = |key: &str| -> Vec<f64> {
                    let layers = token[key].as_array().unwrap().iter();
                    let heads = layers.flat_map(|it| it.as_array().unwrap());
                    heads.map(|it| it.as_f64().unwrap()).collect()
                };
                // The bars are the command's heads, the largest first.
                let mut heads = flat("heads");
                heads.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
                let found: Vec<f64> = bars.iter().map(|it| number(&it[1])).collect();
                assert_eq!(found.len(), heads.len());
                for (a, b) in found.iter().zip(&heads) {
                    assert!((a - b).abs() < 6e-4, "{model} {nth}: {a} {b}");
                }
                // All four parts sum to the sum, which is the model's own logit.
                let numbers: Vec<f64> = parts.iter().map(|it| number(&it[1])).collect();
                let sum: f64 = numbers[..4].iter().sum();
                let ends =
                    [sum - numbers[4], numbers[n_parts - 2] - numbers[n_parts - 1]];
                assert!(ends.iter().all(|it| it.abs() < 1e-3), "{model}: {ends:?}");
                let logit = token["logit"].as_f64().unwrap();
                assert!((numbers[n_parts - 1] - logit).abs() < 1e-3, "{model}");
                let expected = flat("random").len();
                assert_eq!(shown["medians"], expected, "a control beside each bar");
            }
            // A click and a key choose heads.
            let shown = json_of(&page, "tried.adds()");
            page.click("tried.spot('.explorer-bars > button:nth-child(3)')");
            let title = |nth: usize| {
                json!(format!("Head {}", shown["bars"][nth][0].as_str().unwrap()))
            };
            assert_eq!(json_of(&page, "tried.state()")["title"], title(2));
            page.tab.press_key("ArrowDown").unwrap();
            assert_eq!(json_of(&page, "tried.state()")["title"], title(3));
            sits_well(page, view);
        }
    }
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_removal_of_the_command_stands_in_its_page() {
    let folder = tiny("bert-1");
    let model = folder.path().to_str().unwrap();
    let words = ["the bank of the river", "--model", model, "--without", "0.1,0.3"];
    let written = written(folder.path(), &words);
    let browser = Browser::start().unwrap();
    let page = open(&browser, &written, VIEWS[2]);
    let told = page.text("document.querySelector('.explorer-off').innerText").unwrap();
    assert!(told.starts_with("Switched off: 0.1, 0.3\n"), "{told}");
    assert!(told.contains("the only set of as many other heads"), "{told}");
    assert!(told.contains("1 − cosine of the embedding"), "{told}");
    let bars = page.text(
        "String(document.querySelectorAll('.explorer-grid .explorer-track').length)",
    );
    assert_eq!(bars.unwrap(), "8");
    sits_well(page, VIEWS[2]);
}
