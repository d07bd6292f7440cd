//! A reader's own model that reads one text and writes another: the page's tokens, chances and
//! maps are those that the crates give natively for the same files.

use std::path::{Path, PathBuf};

use live_model::{Error, Model, Reading, Request, SelectedFiles};
use serde_json::{Value, json};
use workshop::paths;

use crate::browser::{AXE, Open};
use crate::own_model::{EQUAL, TOPIC, choose, open_at, state, write};
use crate::{VIEWS, View};

/// The same files as in the crate's own tests.
#[path = "../../crates/5-book/live-model/src/tests/selected.rs"]
mod selected;

const SOURCE: &str = "The bank of the river.";

/// A folder that says more than its three files.
fn folder(name: &str) -> tempfile::TempDir {
    let generation = json!({ "bad_words_ids": [[11]], "forced_bos_token_id": 9 });
    let more = [("generation_config.json", generation)];
    selected::folder(&paths::workspace().join("tests/data/models"), name, &more)
}

fn choose_all(page: &Open, folder: &Path) -> Value {
    let files: Vec<PathBuf> =
        selected::names(folder).iter().map(|name| folder.join(name)).collect();
    choose(page, &files.iter().map(PathBuf::as_path).collect::<Vec<_>>())
}

fn asked(temperature: f64, off: &[&str]) -> Request {
    let (prompt, off) = (SOURCE.to_owned(), off.iter().map(|&head| head.to_owned()));
    Request { prompt, temperature, top_p: 1.0, seed: 7, n_tokens: 15, off: off.collect() }
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// The largest difference of a probability or a share of a run; its tokens are the same.
fn farthest(run: &Value, translator: &mut Model, asked: &Request) -> f64 {
    let (mut translation, told) = translator.begin(asked).unwrap();
    let ids = |rows: &Value| -> Vec<Value> {
        rows.as_array().unwrap().iter().map(|row| row["id"].clone()).collect()
    };
    assert_eq!(run["source"]["ids"], json!(ids(&told["source"])));
    let mut written = ids(&told["tokens"]);
    let mut there = run["steps"].as_array().unwrap().iter();
    let mut largest = 0f64;
    let mut compare = |ours: &[f64], theirs: &[f64]| {
        assert_eq!(ours.len(), theirs.len());
        let apart = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs());
        largest = apart.fold(largest, f64::max);
    };
    let mut is_last = false;
    while !is_last {
        let step = translator.step(&mut translation).unwrap();
        is_last = step.is_last;
        let shares: Vec<f64> = step.shares().into_iter().map(f64::from).collect();
        if step.source.is_some() {
            compare(&shares, &numbers(&run["source"]["maps"]));
            continue;
        }
        let there = there.next().expect("as many tokens");
        compare(&shares, &numbers(&there["looks"]));
        let [ours, theirs] = [&step.told["likely"], &there["likely"]];
        assert_eq!(ids(ours), ids(theirs));
        let chances = |rows: &Value| -> Vec<f64> {
            rows.as_array()
                .unwrap()
                .iter()
                .map(|row| row["p"].as_f64().unwrap())
                .collect()
        };
        compare(&chances(ours), &chances(theirs));
        written.push(step.told["next"]["id"].clone());
    }
    assert_eq!((there.next(), &run["ids"]), (None, &json!(written)));
    largest
}

/// Chooses a kind of heads and one of it by click, and switches it off or on.
fn toggle(page: &Open, name: &str) -> Value {
    let kind = name.split(' ').next().unwrap_or_default();
    page.click(&format!("ownModelTried.spot('.own-kinds input[value={kind}]')"));
    let head = format!(".own-heads button[aria-label^=\"Head {name}\"]");
    page.click(&format!("ownModelTried.spot({})", json!(head)));
    let shown = state(page)["head"].as_str().unwrap().to_owned();
    assert!(shown.starts_with(&format!("Head {name}, from ")), "{shown}");
    page.click("ownModelTried.spot('.own-toggle')");
    state(page)
}

fn written_and_switched_off(page: &Open, name: &str, folder: &Path) {
    let mut translator = selected::read(folder).unwrap();
    let read = choose_all(page, folder);
    assert_eq!((&read["state"], &read["error"]), (&json!("read"), &json!("")));
    assert_eq!(read["about"], translator.about());
    assert_eq!(read["label"], "What it reads");
    assert!(read["prompt"].as_str().unwrap().ends_with(SOURCE), "{}", read["prompt"]);
    for temperature in [0.0, 1.5] {
        let fields = json!({ "prompt": SOURCE, "temperature": temperature, "seed": 7, "nTokens": 15 });
        let now = write(page, &fields);
        assert_eq!(now["state"], "written", "{}", now["error"]);
        let all =
            farthest(&now["runs"]["all"], &mut translator, &asked(temperature, &[]));
        println!("{name}, at {temperature}: {all:.1e}");
        assert!(all < EQUAL, "{all:e}");
        assert_eq!(now["runs"]["all"]["ids"][1], 9, "the first token is forced");
    }
    let heads = ["source 0.1", "written 1.0", "cross 0.2"];
    for n in 1..=heads.len() {
        let now = toggle(page, heads[n - 1]);
        assert_eq!(now["state"], "written", "{}", now["error"]);
        let less = &now["runs"]["less"];
        assert_eq!(less["off"], json!(heads[..n]));
        let off = asked(1.5, &heads[..n]);
        let apart = farthest(less, &mut translator, &off);
        println!("{name}, without {}: {apart:.1e}", heads[..n].join(", "));
        assert!(apart < EQUAL, "{apart:e}");
        assert_ne!(less["steps"], now["runs"]["all"]["steps"]);
    }
    page.click("ownModelTried.spot('.own-offline button:nth-of-type(2)')");
    let control = state(page)["runs"]["others"]["off"].clone();
    let others = translator.others(&asked(1.5, &heads).off, 0).unwrap();
    assert_eq!(control, json!(others));
    page.click("ownModelTried.spot('.own-offline button:nth-of-type(1)')");
    assert_eq!(state(page)["runs"].as_object().unwrap().len(), 1);
    by_key(page);
}

/// A token of the source, and from there a neighbour; then one of what was written.
fn by_key(page: &Open) {
    page.text("(ownWriter.source.spans[2].focus(), '')").unwrap();
    page.tab.press_key("Enter").unwrap();
    page.tab.press_key("ArrowRight").unwrap();
    let now = state(page);
    let head = now["head"].as_str().unwrap();
    assert!(head.starts_with("Head source ") && head.ends_with("(token 3)"), "{head}");
    let n_source = now["runs"]["all"]["source"]["ids"].as_array().unwrap().len();
    let n_keys = "ownWriter.looks.spans.length.toString()";
    assert_eq!(page.text(n_keys).unwrap(), n_source.to_string());
    page.text("(ownWriter.runs.all.spans[0].focus(), '')").unwrap();
    page.tab.press_key("Enter").unwrap();
    let now = state(page);
    let head = now["head"].as_str().unwrap();
    assert!(head.starts_with("Head cross ") && head.ends_with("(token 0)"), "{head}");
    assert_eq!(page.text(n_keys).unwrap(), n_source.to_string());
    page.click("ownModelTried.spot('.own-kinds input[value=written]')");
    assert_eq!(
        state(page)["head"].as_str().map(|it| it.starts_with("Head written ")),
        Some(true)
    );
    assert_eq!(page.text(n_keys).unwrap(), "1");
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn the_page_writes_from_a_source_what_the_crates_write() {
    let Some((server, browser)) = crate::served() else { return };
    // In both chapters that have a place for a model.
    for (name, topic, view) in
        [("marian-1", TOPIC, VIEWS[0]), ("t5-1", "trained-heads", VIEWS[3])]
    {
        let folder = folder(name);
        let page = open_at(topic, &browser, server.url(), view);
        written_and_switched_off(&page, name, folder.path());
        page.tab.evaluate(AXE, false).unwrap();
        let View { width, .. } = view;
        assert_eq!(
            page.text("String(document.querySelectorAll('.explorer-waits').length)")
                .unwrap(),
            "0"
        );
        assert_eq!(page.text("ownModelTried.axe()").unwrap(), "[]", "{width} px");
        assert_eq!(state(&page)["wide"], false, "{width} px");
        page.close_without_problems();
    }
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_source_that_cannot_be_read_is_refused_in_the_crates_words() {
    let Some((server, browser)) = crate::served() else { return };
    let page = open_at(TOPIC, &browser, server.url(), VIEWS[2]);
    let folder = folder("bart-1");
    assert_eq!(choose_all(&page, folder.path())["state"], "read");
    let long = "the ".repeat(63);
    for (prompt, said) in [
        (
            long.as_str(),
            "the text has 65 tokens, [CLS] and [SEP] or the like among them, and the model has 64 positions",
        ),
        ("", "the text is empty: no token is left of it"),
    ] {
        let now = write(&page, &json!({ "prompt": prompt }));
        assert_eq!((&now["state"], &now["error"]), (&json!("refused"), &json!(said)));
    }
    assert_eq!(write(&page, &json!({ "prompt": SOURCE }))["state"], "written");
    // Without the file that says how the tokenizer is to be read.
    std::fs::remove_file(folder.path().join("tokenizer_config.json")).unwrap();
    let said = selected::read(folder.path()).unwrap_err().to_string();
    let now = choose_all(&page, folder.path());
    assert_eq!((&now["state"], &now["error"]), (&json!("refused"), &json!(said)));
    page.close_without_problems();
}
