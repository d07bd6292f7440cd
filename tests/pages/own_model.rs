//! A reader's own model that writes: the page's tokens, chances and looks are those that the
//! crates give natively for the same file.

use std::fs;
use std::path::{Path, PathBuf};

use live_model::{Model, Reading, Request};
use serde_json::{Value, json};
use workshop::{chapters, paths};

use crate::browser::{AXE, Browser, Open};
use crate::own_sentence::numbers;
use crate::{VIEWS, View};

/// The same file as in the crate's own tests.
#[path = "../../crates/5-book/live-model/src/tests/tiny.rs"]
mod tiny;

/// The topic of the chapter that it stands in.
pub const TOPIC: &str = "a-model-that-writes";
const TRIED: &str = include_str!("own_model.js");

/// The largest difference of a probability or a share, native against page: the products add in
/// another order.
pub const EQUAL: f64 = 5e-5;

/// The same before weights in few bits: an entry of a token between two whole numbers may be
/// rounded either way.
const ROUNDED: f64 = 3e-4;

/// Longer than what is read at once.
const PROMPT: &str = "The bank of the river, and the banks";

fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn native() -> Model {
    let bytes = tiny::gguf("llama");
    let mut reading = Reading::begin_gguf("tiny.gguf", bytes.len() as u64).unwrap();
    reading.part(&bytes).unwrap();
    reading.finish().unwrap()
}

fn open(browser: &Browser, url: &str, view: View) -> Open {
    open_at(TOPIC, browser, url, view)
}

/// A chapter with a place for a reader's own model.
pub fn open_at(topic: &str, browser: &Browser, url: &str, view: View) -> Open {
    let chapter = chapters::all().unwrap().into_iter().find(|it| it.topic() == topic);
    let name = chapter.expect("a chapter on a whole model").page;
    let page = browser.open(&format!("{url}{name}.html"), view, "").unwrap();
    page.tab.evaluate(TRIED, false).unwrap();
    page.text("ownModelTried.open()").unwrap();
    page
}

pub fn choose(page: &Open, files: &[&Path]) -> Value {
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let input = page.tab.wait_for_element("#own-files").unwrap();
    page.text("ownModelTried.clear()").unwrap();
    input.set_input_files(&files).unwrap();
    state(page)
}

pub fn write(page: &Open, fields: &Value) -> Value {
    page.text(&format!("ownModelTried.write({fields})")).unwrap();
    state(page)
}

/// When nothing is under way any more.
pub fn state(page: &Open) -> Value {
    serde_json::from_str(&page.text("ownModelTried.state()").unwrap()).unwrap()
}

/// The largest difference of a probability or a share of a text; its tokens are the same.
fn farthest(run: &Value, author: &mut Model, asked: &Request) -> f64 {
    let (mut writing, told) = author.begin(asked).unwrap();
    let mut ids: Vec<Value> =
        told["tokens"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    let mut steps = run["steps"].as_array().unwrap().iter();
    let mut largest = 0f64;
    let mut apart =
        |a: f64, b: &Value| largest = largest.max((a - b.as_f64().unwrap()).abs());
    loop {
        let step = author.step(&mut writing).unwrap();
        if step.looks.is_empty() {
            continue;
        }
        ids.push(step.told["next"]["id"].clone());
        let there = steps.next().expect("as many tokens");
        assert_eq!(there["at"], step.told["at"]);
        let likely = [&step.told["likely"], &there["likely"]];
        let [ours, theirs] = likely.map(|rows| rows.as_array().unwrap());
        assert_eq!((ours.len(), theirs.len()), (10, 10));
        for (ours, theirs) in ours.iter().zip(theirs) {
            assert_eq!(ours["id"], theirs["id"]);
            apart(ours["p"].as_f64().unwrap(), &theirs["p"]);
        }
        let (ours, theirs) = (step.shares(), there["looks"].as_array().unwrap());
        assert_eq!(ours.len(), theirs.len());
        ours.iter()
            .zip(theirs)
            .for_each(|(share, there)| apart(f64::from(*share), there));
        if step.is_last {
            break;
        }
    }
    assert_eq!((steps.next(), &run["ids"]), (None, &json!(ids)));
    largest
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn the_page_writes_what_the_crates_write() {
    let Some((server, browser)) = crate::served() else { return };
    let (_folder, path) = file("tiny.gguf", &tiny::gguf("llama"));
    let mut author = native();
    for view in [VIEWS[0], VIEWS[3]] {
        let page = open(&browser, server.url(), view);
        let read = choose(&page, &[&path]);
        assert_eq!((&read["state"], &read["error"]), (&json!("read"), &json!("")));
        assert_eq!(read["about"], author.about());
        for (temperature, top_p, seed, n_tokens) in
            [(0.0, 1.0, 1, 9), (1.5, 0.5, 3, 9), (1.5, 1.0, 7, 20)]
        {
            let fields = json!({ "prompt": PROMPT, "temperature": temperature, "topP": top_p, "seed": seed, "nTokens": n_tokens });
            let now = write(&page, &fields);
            assert_eq!(now["state"], "written", "{}", now["error"]);
            let prompt = PROMPT.to_owned();
            let off = Vec::new();
            let asked = Request { prompt, temperature, top_p, seed, n_tokens, off };
            let all = farthest(&now["runs"]["all"], &mut author, &asked);
            println!("{} px, at {temperature}: {all:.1e}", view.width);
            assert!(all < ROUNDED, "{all:e}");
            assert_eq!(now["nBars"].as_u64().map(|n| n >= 10), Some(true));
        }
        switched_off(&page, &mut author);
        page.tab.evaluate(AXE, false).unwrap();
        assert_eq!(page.text("ownModelTried.axe()").unwrap(), "[]", "{view:?}");
        assert_eq!(state(&page)["wide"], false, "{view:?}");
        page.close_without_problems();
    }
}

/// Heads off by click and key, the control, and all on again.
fn switched_off(page: &Open, author: &mut Model) {
    let asked = |off: &[&str]| {
        let prompt = PROMPT.to_owned();
        let off = off.iter().map(|&head| head.to_owned()).collect();
        Request { prompt, temperature: 1.5, top_p: 1.0, seed: 7, n_tokens: 20, off }
    };
    page.click("ownModelTried.spot('.own-heads button[aria-label=\"Head 0.1\"]')");
    assert!(state(page)["head"].as_str().unwrap().starts_with("Head 0.1, from "));
    page.click("ownModelTried.spot('.own-toggle')");
    let now = state(page);
    assert_eq!(now["runs"]["less"]["off"], json!(["0.1"]));
    let one = farthest(&now["runs"]["less"], author, &asked(&["0.1"]));
    // By key another one.
    page.text("(ownWriter.looks.buttons[1].focus(), '')").unwrap();
    page.tab.press_key("ArrowDown").unwrap();
    assert!(state(page)["focus"].as_str().unwrap().starts_with("Head 1.1"));
    page.text("(ownWriter.toggle.focus(), '')").unwrap();
    page.tab.press_key("Enter").unwrap();
    let now = state(page);
    assert_eq!(now["runs"]["less"]["off"], json!(["0.1", "1.1"]));
    let two = farthest(&now["runs"]["less"], author, &asked(&["0.1", "1.1"]));
    println!("without 0.1: {one:.1e}, without 1.1 too: {two:.1e}");
    assert!(one < ROUNDED && two < ROUNDED, "{one:e} {two:e}");
    let [less, all] =
        ["less", "all"].map(|key| now["runs"][key]["ids"].as_array().unwrap());
    let differs = less.iter().zip(all).position(|(a, b)| a != b);
    assert_eq!(now["runs"]["less"]["differs"], json!(differs.expect("another text")));
    page.click("ownModelTried.spot('.own-offline button:nth-of-type(2)')");
    let control = state(page)["runs"]["others"]["off"].clone();
    let others = author.others(&asked(&["0.1", "1.1"]).off, 0).unwrap();
    assert_eq!(control, json!(others));
    page.click("ownModelTried.spot('.own-offline button:nth-of-type(1)')");
    let now = state(page);
    let keys: Vec<&String> = now["runs"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["all"]);
    // An earlier token, by key.
    let first = format!("ownWriter.runs.all.spans[{}]", PROMPT.len() - 1);
    page.text(&format!("({first}.focus(), '')")).unwrap();
    page.tab.press_key("Home").unwrap();
    page.tab.press_key("ArrowRight").unwrap();
    let next = state(page)["next"].as_str().unwrap().to_owned();
    assert!(next.contains(&format!("(token {})", PROMPT.len())), "{next}");
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn what_cannot_be_written_with_is_said_in_the_crates_words() {
    let Some((server, browser)) = crate::served() else { return };
    let page = open(&browser, server.url(), VIEWS[0]);
    let bytes = tiny::gguf("llama");
    for (name, bytes, said) in [
        (
            "short.gguf",
            &bytes[..bytes.len() - 9],
            "short.gguf: cut short: the numbers of output_norm.weight needs 128 bytes, and 119 are left",
        ),
        (
            "other.gguf",
            &tiny::gguf("mamba"),
            "other.gguf: general.architecture is \"mamba\", expected \"llama\", \"qwen2\", \"qwen3\", \"gemma2\" or \"gemma3\"",
        ),
        (
            "model.bin",
            &bytes,
            "model.bin: no model that this page reads: that is one GGUF file, NAME.gguf, or config.json, tokenizer.json and model.safetensors of a folder",
        ),
    ] {
        let (_folder, path) = file(name, bytes);
        let now = choose(&page, &[&path]);
        assert_eq!((&now["state"], &now["error"]), (&json!("refused"), &json!(said)));
    }
    let (_folder, path) = file("tiny.gguf", &bytes);
    assert_eq!(choose(&page, &[&path])["state"], "read");
    let fields = |prompt: &str, n: usize| json!({ "prompt": prompt, "nTokens": n, "temperature": 0, "topP": 1 });
    for (asked, said) in [
        (
            fields(&"a".repeat(65), 9),
            "the text has 65 tokens, [CLS] and [SEP] or the like among them, and the model has 64 positions",
        ),
        (
            fields(PROMPT, 40),
            "the text has 36 tokens, and 40 more are to be written: the model has 64 positions",
        ),
        (fields("", 9), "the text is empty: no token is left of it"),
        (
            fields("a", 0),
            "the number of tokens is 0: a whole number from 1 to 2000 is expected",
        ),
        (
            json!({ "nTokens": 5, "temperature": -1 }),
            "the temperature is -1: 0 or more is expected",
        ),
        (
            json!({ "nTokens": 5, "temperature": 1, "topP": 0 }),
            "top-p is 0: a number above 0 and at most 1 is expected",
        ),
    ] {
        let now = write(&page, &asked);
        assert_eq!((&now["state"], &now["error"]), (&json!("refused"), &json!(said)));
    }
    let now = write(&page, &fields("The bank", 5));
    assert_eq!((&now["state"], &now["error"]), (&json!("written"), &json!("")));
    page.close_without_problems();
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn names_are_tested_and_an_encoder_comes_in_its_stead() {
    let Some((server, browser)) = crate::served() else { return };
    let page = open(&browser, server.url(), VIEWS[1]);
    let (_folder, path) = file("tiny.gguf", &tiny::gguf("llama"));
    assert_eq!(choose(&page, &[&path])["state"], "read");
    let test = |names: &str| -> Value {
        page.text(&format!("ownModelTried.names({})", json!(names))).unwrap();
        let now = state(&page);
        let tested = page.text("JSON.stringify(ownWriter.names.tested ?? null)").unwrap();
        json!({ "now": now, "tested": serde_json::from_str::<Value>(&tested).unwrap() })
    };
    let two = test("Nip, Bo");
    assert_eq!(two["now"]["state"], "refused");
    let said = "2 names, and at least 3 are needed, with commas between";
    assert_eq!(two["now"]["error"], said);
    let found = test("Nip, Bo, Tarq, Wem");
    assert_eq!(found["now"]["state"], "written", "{}", found["now"]["error"]);
    let mut author = native();
    let mut names = author.names("Nip, Bo, Tarq, Wem").unwrap();
    while author.read_names(&mut names).unwrap() {}
    let [found, expected] = [&found["tested"], &names.to_json()].map(numbers);
    // The page has one flag more, which is no number.
    assert_eq!(found.len(), expected.len());
    let apart =
        found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    println!("names: largest difference {apart:.1e}");
    assert!(apart < 1e-3, "{apart:e}");
    page.tab.evaluate(AXE, false).unwrap();
    assert_eq!(page.text("ownModelTried.axe()").unwrap(), "[]");
    let models = paths::workspace().join("tests/data/models");
    let encoder = ["bert-1/config.json", "tokenizer.json", "bert-1/model.safetensors"];
    let encoder = encoder.map(|file| models.join(file));
    let encoder: Vec<&Path> = encoder.iter().map(PathBuf::as_path).collect();
    let now = choose(&page, &encoder);
    assert_eq!((&now["state"], &now["error"]), (&json!("shown"), &json!("")));
    page.close_without_problems();
}
