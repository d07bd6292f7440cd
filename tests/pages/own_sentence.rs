//! A reader's own sentence in a reader's own model: the page's maps are those that the
//! crates give natively for the same files.
//!
//! With a tiny model and a tokenizer made for it, from files and from the book's host; and with
//! all-MiniLM-L6-v2 where the reader has fetched it. As with the live figures, without the target for pages
//! nothing is looked at, and CI fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use live_model::{Model, Reading};
use serde_json::{Value, json};
use tensors::TensorFile;
use workshop::{chapters, models, paths};

use crate::browser::{AXE, Browser, Open};
use crate::{VIEWS, View};

/// The topic of the chapter that it stands in.
const TOPIC: &str = "trained-heads";
const OWN: &str = include_str!("own_sentence.js");
const TRIED: &str = include_str!("explorer.js");

/// The largest difference of a share, native against page: the products add in another
/// order.
const EQUAL: f64 = 1e-6;
/// The same for six layers of twelve heads.
const EQUAL_LARGE: f64 = 5e-6;

const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];
const SENTENCE: &str = "The bank of the river flooded the banks .";

/// A folder with a model of random weights, and a tokenizer that fits it.
fn tiny() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = paths::workspace().join("tests/data/models");
    for file in ["tokenizer.json", "bert-1/config.json", "bert-1/model.safetensors"] {
        let name = Path::new(file).file_name().unwrap();
        fs::copy(from.join(file), folder.path().join(name)).unwrap();
    }
    folder
}

/// The same with NaN for the queries' weights of layer 0.
fn nan() -> tempfile::TempDir {
    let folder = tiny();
    let path = folder.path().join("model.safetensors");
    let mut weights = fs::read(&path).unwrap();
    let length = u64::from_le_bytes(weights[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&weights[8..8 + length]).unwrap();
    let offsets = &header["encoder.layer.0.attention.self.query.weight"]["data_offsets"];
    let [from, to] = [0, 1].map(|i| 8 + length + offsets[i].as_u64().unwrap() as usize);
    weights[from..to].as_chunks_mut().0.fill(f32::NAN.to_le_bytes());
    fs::write(path, weights).unwrap();
    folder
}

/// Folders of models in which the encoder that pages load is the tiny one, in few bits.
fn hosted() -> (tempfile::TempDir, PathBuf) {
    let (from, to) = (tiny(), tempfile::tempdir().unwrap());
    let folder = to.path().join(models::ALL[0].folder);
    look::few_bits::copy(from.path(), &folder, look::few_bits::BITS).unwrap();
    (to, folder)
}

/// The model as the crates have it.
pub fn native(folder: &Path) -> Model {
    let files = FILES.map(|file| (file.to_owned(), fs::read(folder.join(file)).unwrap()));
    let mut files = BTreeMap::from(files);
    let weights = files.remove("model.safetensors").unwrap();
    let mut reading = Reading::begin(&files, weights.len() as u64).unwrap();
    reading.part(&weights).unwrap();
    reading.finish().unwrap()
}

/// The chapter with the whole model, when the sentences that come with it are shown.
fn open(browser: &Browser, url: &str, view: View, first: &str) -> Open {
    let chapter = chapters::all().unwrap().into_iter().find(|it| it.topic() == TOPIC);
    let name = chapter.expect("a chapter on trained heads").page;
    let page = browser.open(&format!("{url}{name}.html"), view, first).unwrap();
    page.tab.evaluate(TRIED, false).unwrap();
    page.tab.evaluate(OWN, false).unwrap();
    page.text("tried.open('wholeModel')").unwrap();
    page.text("own.open()").unwrap();
    page
}

fn choose(page: &Open, files: &[PathBuf]) -> Value {
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let input = page.tab.wait_for_element("#own-files").unwrap();
    // As a click does: files that have changed may be chosen again.
    page.text("own.clear()").unwrap();
    input.set_input_files(&files).unwrap();
    state(page)
}

fn all_of(folder: &Path) -> Vec<PathBuf> {
    FILES.map(|file| folder.join(file)).to_vec()
}

fn look(page: &Open, sentence: &str) -> Value {
    page.text(&format!("own.look({})", json!(sentence))).unwrap();
    state(page)
}

/// When nothing is under way any more.
fn state(page: &Open) -> Value {
    serde_json::from_str(&page.text("own.state()").unwrap()).unwrap()
}

/// The largest difference of a share.
fn farthest(page: &Value, model: &Model, sentence: &str) -> f64 {
    let looked = model.look(sentence).unwrap().text;
    let told = looked.to_json();
    assert_eq!(page["looked"]["pieces"], told["pieces"]);
    assert_eq!(page["looked"]["special"], told["special"]);
    let rows = looked.maps.iter().flatten().flat_map(|map| map.row_iter());
    let shares: Vec<f32> =
        rows.flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
    let there = page["shares"].as_array().unwrap();
    assert_eq!(there.len(), shares.len());
    let apart = |(a, b): (f32, &Value)| (f64::from(a) - b.as_f64().unwrap()).abs();
    shares.into_iter().zip(there).map(apart).fold(0.0, f64::max)
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn the_page_gives_the_maps_that_the_crates_give() {
    let Some((server, browser)) = crate::served() else { return };
    let folder = tiny();
    let model = native(folder.path());
    for view in VIEWS {
        let page = open(&browser, server.url(), view, "");
        let first = choose(&page, &all_of(folder.path()));
        assert_eq!(first["state"], "shown", "{}", first["error"]);
        // From here on the page needs nobody.
        page.text("own.silent()").unwrap();
        let shown = look(&page, SENTENCE);
        let farthest = farthest(&shown, &model, SENTENCE);
        println!("{} px, {}: {farthest:.1e}", view.width, view.theme());
        assert!(farthest <= EQUAL, "{farthest:e}");
        // The twelve heads are reached with the arrows.
        page.text("tried.focus('.explorer-grid button[tabindex=\"0\"]')").unwrap();
        for (key, name) in [("Home", "0.0"), ("ArrowRight", "0.1"), ("End", "2.3")] {
            page.tab.press_key(key).unwrap();
            assert_eq!(state(&page)["title"], format!("Head {name}"));
        }
        page.tab.evaluate(AXE, false).unwrap();
        assert_eq!(page.text("tried.axe()").unwrap(), "[]", "{view:?}");
        let width = "String(document.documentElement.scrollWidth <= innerWidth)";
        assert_eq!(page.text(width).unwrap(), "true", "{view:?}");
        page.close_without_problems();
    }
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_click_loads_the_model_of_the_host_and_shows_its_heads() {
    let Some((_, browser)) = crate::served() else { return };
    let (folders, folder) = hosted();
    let server = pages::serve_with(0, folders.path()).unwrap();
    let model = native(&folder);
    for view in [VIEWS[0], VIEWS[3]] {
        let page = open(&browser, server.url(), view, "");
        page.text(&format!("own.sentence({})", json!(SENTENCE))).unwrap();
        assert_eq!(page.text("own.button()").unwrap(), "Look (loads 1 MB)");
        page.tab.evaluate(AXE, false).unwrap();
        assert_eq!(page.text("tried.axe()").unwrap(), "[]", "{view:?}");
        page.click("tried.spot('.own-form > button')");
        let shown = state(&page);
        assert_eq!(shown["state"], "shown", "{}", shown["error"]);
        assert_eq!((&shown["panels"], &shown["beside"]), (&json!(1), &json!("")));
        let farthest = farthest(&shown, &model, SENTENCE);
        println!("{} px, {}: {farthest:.1e}", view.width, view.theme());
        assert!(farthest <= EQUAL, "{farthest:e}");
        // It is there: another sentence needs nobody, and is shown on the head that was chosen.
        page.text("own.silent()").unwrap();
        page.click("tried.spot('.explorer-grid button:nth-child(3)')");
        assert_eq!(page.text("own.button()").unwrap(), "Look");
        let shown = look(&page, "the banks of the river");
        assert_eq!(
            (&shown["state"], &shown["title"]),
            (&json!("shown"), &json!("Head 0.2"))
        );
        assert_eq!(page.text("tried.axe()").unwrap(), "[]", "{view:?}");
        let width = "String(document.documentElement.scrollWidth <= innerWidth)";
        assert_eq!(page.text(width).unwrap(), "true", "{view:?}");
        page.close_without_problems();
    }
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_model_that_did_not_come_may_come_the_next_time() {
    let Some((_, browser)) = crate::served() else { return };
    let (folders, folder) = hosted();
    let server = pages::serve_with(0, folders.path()).unwrap();
    let page = open(&browser, server.url(), VIEWS[0], "");
    page.text(&format!("own.sentence({})", json!(SENTENCE))).unwrap();
    let [weights, aside] = ["model.safetensors", "aside"].map(|name| folder.join(name));
    fs::rename(&weights, &aside).unwrap();
    page.click("tried.spot('.own-form > button')");
    let refused = state(&page);
    assert_eq!(refused["error"], "model.safetensors did not come (404)");
    fs::rename(&aside, &weights).unwrap();
    page.click("tried.spot('.own-form > button')");
    assert_eq!(state(&page)["state"], "shown");
    // The console has noted the 404.
    page.close().unwrap();
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn where_no_model_is_the_page_names_the_command_that_brings_it() {
    let Some((_, browser)) = crate::served() else { return };
    let folders = tempfile::tempdir().unwrap();
    let server = pages::serve_with(0, folders.path()).unwrap();
    let page = open(&browser, server.url(), VIEWS[3], "");
    page.text("own.until(() => own.place.querySelector('.own-missing'))").unwrap();
    let said = page.text("own.rest()").unwrap();
    assert!(said.contains("cargo learn fetch minilm"), "{said}");
    assert!(
        !said.contains("Your sentence") && said.contains("from your files"),
        "{said}"
    );
    page.tab.evaluate(AXE, false).unwrap();
    assert_eq!(page.text("tried.axe()").unwrap(), "[]");
    page.close_without_problems();
}

/// Every number of an answer, in its order.
pub fn numbers(of: &Value) -> Vec<f64> {
    match of {
        Value::Number(it) => it.as_f64().into_iter().collect(),
        Value::Array(all) => all.iter().flat_map(numbers).collect(),
        Value::Object(all) => all.values().flat_map(numbers).collect(),
        _ => vec![],
    }
}

/// What a page shows of heads that are switched off, beside the same from the crates.
fn off(page: &Open, model: &Model, off: &[&str]) -> Value {
    let now: Value = serde_json::from_str(&page.text("own.off()").unwrap()).unwrap();
    let looked = model.look(SENTENCE).unwrap();
    let heads: Vec<String> = off.iter().map(|&head| head.to_owned()).collect();
    let (mut ablation, less) = model.ablate(&looked, &heads).unwrap();
    while model.draw(&looked, &mut ablation).unwrap() {}
    let expected = ablation.to_json("zeros");
    assert_eq!(now["ablated"]["heads"], expected["heads"]);
    let [found, expected] = [&now["ablated"], &expected].map(numbers);
    assert_eq!(found.len(), expected.len());
    let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
    let largest = apart.fold(0.0, f64::max);
    println!("without {heads:?}: largest difference {largest:.1e}");
    assert!(largest <= 1e-5, "{largest:e}");
    // As it is read: the number, and how far one head moved.
    let moved = ablation.embedding_moved();
    let found = format!("{:.4}", moved.observed);
    let rank = format!("above {} of {}", moved.n_below(), moved.draws.len());
    let table = now["table"].as_str().unwrap();
    assert!(table.contains(&found) && table.contains(&rank), "{table}");
    for ((layer, head), moved) in ablation.later_heads() {
        let name = format!("{layer}.{head}");
        if !heads.contains(&name) {
            let share = format!("{:.2}", moved.observed);
            assert_eq!(now["told"][name], share.trim_start_matches('0'));
        }
    }
    for head in off {
        assert_eq!(now["told"][head], "off");
    }
    // Beside the intact sentence the maps without the heads.
    let shown = "JSON.stringify([...tried.explorer.loaded[1].text.maps])";
    let shown: Vec<f32> = serde_json::from_str(&page.text(shown).unwrap()).unwrap();
    let apart = shown.iter().zip(less.shares()).map(|(a, b)| (a - b).abs());
    assert!(shown.len() == less.shares().len() && apart.fold(0.0, f32::max) < 1e-5);
    now
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn heads_are_switched_off_by_click_and_key_beside_random_ones() {
    let Some((server, browser)) = crate::served() else { return };
    let folder = tiny();
    let model = native(folder.path());
    for view in [VIEWS[0], VIEWS[3]] {
        let page = open(&browser, server.url(), view, "");
        choose(&page, &all_of(folder.path()));
        look(&page, SENTENCE);
        page.text("own.silent()").unwrap();
        page.text("tried.set({ head: '0.1' })").unwrap();
        page.click("tried.spot('.explorer-toggle')");
        let now = off(&page, &model, &["0.1"]);
        assert_eq!((&now["heads"], &now["bars"]), (&json!(["0.1"]), &json!(8)));
        // By keyboard another, and the focus stays.
        page.text("tried.focus('.explorer-grid button[tabindex=\"0\"]')").unwrap();
        page.tab.press_key("ArrowRight").unwrap();
        page.tab.press_key("x").unwrap();
        let now = off(&page, &model, &["0.1", "0.2"]);
        assert_eq!(now["focus"], "0.2");
        page.text("tried.set({ order: 'moved' })").unwrap();
        assert_eq!(state(&page)["shown"].as_array().unwrap().len(), 8);
        page.tab.evaluate(AXE, false).unwrap();
        assert_eq!(page.text("tried.axe()").unwrap(), "[]", "{view:?}");
        page.text("tried.focus('.explorer-grid button[tabindex=\"0\"]')").unwrap();
        page.text("tried.set({ order: 'all', head: '0.1' })").unwrap();
        page.click("tried.spot('.explorer-toggle')");
        off(&page, &model, &["0.2"]);
        page.click("tried.spot('.explorer-off button')");
        let now: Value = serde_json::from_str(&page.text("own.off()").unwrap()).unwrap();
        let all_on = [&now["heads"], &now["isHidden"], &now["bars"]];
        assert_eq!(all_on, [&json!([]), &json!(true), &json!(0)]);
        assert_eq!(state(&page)["panels"], 1);
        // Of another sentence all heads are on.
        page.click("tried.spot('.explorer-toggle')");
        page.text("own.off()").unwrap();
        look(&page, "the bank");
        let now: Value = serde_json::from_str(&page.text("own.off()").unwrap()).unwrap();
        assert_eq!([&now["heads"], &now["isHidden"]], [&json!([]), &json!(true)]);
        let width = "String(document.documentElement.scrollWidth <= innerWidth)";
        assert_eq!(page.text(width).unwrap(), "true", "{view:?}");
        page.close_without_problems();
    }
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn what_cannot_be_read_is_said_in_the_crates_words() {
    let Some((server, browser)) = crate::served() else { return };
    let folder = tiny();
    let page = open(&browser, server.url(), VIEWS[0], "");
    let refused = |state: Value, said: &str| {
        assert_eq!(state["state"], "refused", "{said}");
        assert_eq!(state["error"], said);
        assert_eq!(state["isGrey"], true, "what is shown is of another sentence");
    };
    let files = all_of(folder.path());
    refused(choose(&page, &files[..2]), "what was chosen has no model.safetensors");
    let other = tiny();
    fs::write(other.path().join("model.safetensors"), [9, 0, 0, 0, 0, 0, 0, 0, 1])
        .unwrap();
    let broken = choose(&page, &all_of(other.path()));
    assert_eq!(broken["state"], "refused");
    let said = broken["error"].as_str().unwrap();
    assert!(said.starts_with("model.safetensors: "), "{said}");
    fs::write(other.path().join("config.json"), r#"{"model_type": "mamba"}"#).unwrap();
    let unknown = "config.json: model_type is \"mamba\"; the known ones are bert, roberta, \
                   xlm-roberta, camembert, electra, distilbert, gpt2, gpt_neox, llama, \
                   mistral, qwen2, qwen3, gemma2, gemma3_text, marian, bart, mbart, t5";
    refused(choose(&page, &all_of(other.path())), unknown);
    // After all that, the right ones.
    assert_eq!(choose(&page, &files)["state"], "shown");
    let model = native(folder.path());
    for text in [" \t ".to_owned(), "the bank ".repeat(40)] {
        refused(look(&page, &text), &model.look(&text).unwrap_err().to_string());
    }
    let shown = look(&page, "the bank");
    assert_eq!((&shown["state"], &shown["isGrey"]), (&json!("shown"), &json!(false)));
    // Weights that are not finite are said in words too.
    let broken = nan();
    let words = native(broken.path()).look(SENTENCE).unwrap_err().to_string();
    assert!(words.starts_with("NaN or infinity begins in"), "{words}");
    page.text(&format!("own.sentence({})", json!(SENTENCE))).unwrap();
    refused(choose(&page, &all_of(broken.path())), &words);
    page.close_without_problems();
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn where_it_cannot_be_the_command_is_all_there_is() {
    let Some((server, browser)) = crate::served() else { return };
    let no_module = "const real = fetch; window.fetch = (url, ...rest) => \
        `${url}`.endsWith('live.json') ? Promise.resolve(new Response('{}')) : real(url, ...rest)";
    let no_vectors = "WebAssembly.validate = () => false";
    for first in ["delete window.WebAssembly", no_vectors, no_module] {
        let page = open(&browser, server.url(), VIEWS[0], first);
        let said = page.text("own.rest()").unwrap();
        assert!(said.contains("cargo learn look \"Your own sentence.\""), "{said}");
        assert!(said.contains("Head 3.1") && !said.contains("files"), "{said}");
        page.close_without_problems();
    }
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn it_starts_full_and_a_button_compares_a_pair() {
    let Some((server, browser)) = crate::served() else { return };
    let page = open(&browser, server.url(), VIEWS[1], "");
    let now = state(&page);
    let [text, beside, title] = ["text", "beside", "title"].map(|key| now[key].as_str());
    assert_eq!([text, beside, title], [Some("tired"), Some(""), Some("Head 3.1")]);
    assert_eq!((&now["panels"], now["shown"].as_array().unwrap().len()), (&json!(1), 72));
    page.click("tried.spot('.explorer-controls > button')");
    page.text("tried.rest()").unwrap();
    let now = state(&page);
    assert_eq!((&now["beside"], &now["panels"]), (&json!("wide"), &json!(3)));
    page.hover("tried.cell(10, 5)");
    let words = state(&page)["words"].as_str().unwrap().to_owned();
    assert!(words.contains("First: “") && words.contains(" Difference: "), "{words}");
    // The head is kept, and the largest difference comes first.
    page.text("tried.set({ text: 'steel', beside: 'paper', order: 'differ' })").unwrap();
    assert_eq!(state(&page)["title"], "Head 3.1");
    page.text("tried.set({ beside: 'full' })").unwrap();
    let now = state(&page);
    assert_eq!((&now["panels"], &now["error"]), (&json!(2), &json!("")));
    page.tab.evaluate(AXE, false).unwrap();
    assert_eq!(page.text("tried.axe()").unwrap(), "[]");
    // Every share as the file has it.
    for (key, _) in assets::own_sentence::sentences() {
        page.text(&format!("tried.set({{ text: '{key}', beside: '' }})")).unwrap();
        let file = paths::workspace().join(assets::own_sentence::MAPS).join(key);
        let file = TensorFile::open(file.with_extension("safetensors")).unwrap();
        let bytes = file.tensor("maps").unwrap().integers().unwrap();
        let shown = page.text("tried.numbers(3 * 12 + 1)").unwrap();
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let n = shown["map"].as_array().unwrap().len();
        for at in 0..n * n {
            let share = shown["map"][at / n][at % n].as_f64().unwrap();
            let expected = bytes[(3 * 12 + 1) * n * n + at] as f64 / 255.0;
            assert!((share - expected).abs() < 1e-12, "{key}");
        }
    }
    page.close_without_problems();
}

/// What a reader waits for where the host has the model, and what is sent for it.
#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn from_the_click_to_all_72_heads() {
    let folder = paths::models().join(models::ALL[0].folder);
    if !folder.is_dir() {
        println!("left out: `cargo learn fetch minilm --download` fetches the model");
        return;
    }
    let Some((server, browser)) = crate::served() else { return };
    let page = open(&browser, server.url(), VIEWS[0], "");
    let sentence = "The animal did not cross the wide street because it was too tired.";
    page.text(&format!("own.sentence({})", json!(sentence))).unwrap();
    println!("{}", page.text("own.button()").unwrap());
    page.click("tried.spot('.own-form > button')");
    let first = state(&page);
    assert_eq!(first["state"], "shown", "{}", first["error"]);
    println!("from the click to all heads: {} ms, {}", first["waited"], first["title"]);
    let shown = look(&page, sentence);
    println!("again: {} ms, of them computing {}", shown["waited"], shown["took"]);
    let farthest = farthest(&shown, &native(&folder), sentence);
    println!("largest difference of a share: {farthest:.1e}");
    assert!(farthest <= EQUAL_LARGE, "{farthest:e}");
    page.close_without_problems();
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn six_layers_of_twelve_heads() {
    let folder = paths::minilm();
    if !folder.is_dir() {
        println!("left out: `cargo learn look --download` fetches the model");
        return;
    }
    let Some((server, browser)) = crate::served() else { return };
    let page = open(&browser, server.url(), VIEWS[0], "");
    let sentence = "The animal did not cross the wide street because it was too tired, and the \
                    driver of the car waited for it.";
    page.text(&format!("own.sentence({})", json!(sentence))).unwrap();
    let first = choose(&page, &all_of(&folder));
    assert_eq!(first["state"], "shown", "{}", first["error"]);
    println!("from files chosen to maps shown: {} ms", first["waited"]);
    let shown = look(&page, sentence);
    println!(
        "{}; again: {} ms, of them computing {}",
        first["told"], shown["waited"], shown["took"]
    );
    let farthest = farthest(&shown, &native(&folder), sentence);
    println!("largest difference of a share: {farthest:.1e}");
    assert!(farthest <= EQUAL_LARGE, "{farthest:e}");
    page.close_without_problems();
}
