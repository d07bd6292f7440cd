//! A reader's own layer in the page: what is said of it is what the crates say.

use std::fs;

use headless_chrome::protocol::cdp::DOM;
use serde_json::{Value, json};
use workshop::paths;

use crate::VIEWS;
use crate::browser::{AXE, Open};

const PAGE: &str = "what-is-wrong.html";

/// The layers that the page offers: the mistake's name, its step, and the first tensor that
/// differs by more than an eye passes over.
const TRIED: [(&str, &str, &str); 6] = [
    ("Merged without transpose", "merge of heads", "concat"),
    ("Split without transpose", "split into heads", "attn"),
    ("Mask of the opposite sign", "mask", "attn"),
    ("Scaled by sqrt(d_model)", "scale", "attn"),
    ("No weight transposed", "projections", "attn"),
    ("Rotary pairs and halves exchanged", "rotary positions", "attn"),
];

/// Waits until the page is in one of these states, and gives what it shows.
const STATE: &str = "(async (states) => {
  const place = document.querySelector('[data-wrong-layer]');
  while (!states.includes(place.dataset.state)) await new Promise((done) => setTimeout(done, 20));
  const text = (query) => [...place.querySelectorAll(query)].map((it) => it.textContent);
  return JSON.stringify({
    state: place.dataset.state, found: window.wrongLayer, error: text('.live-error')[0],
    verdict: text('.layer-verdict')[0],
    steps: text('.layer-wrong'), maps: text('.layer-map figcaption'),
  });
})";

fn state(page: &Open, states: &[&str]) -> Value {
    let said = page.text(&format!("{STATE}({})", json!(states))).unwrap();
    serde_json::from_str(&said).unwrap()
}

/// Chooses a file of the sixteen layers.
fn choose(page: &Open, name: &str) -> Value {
    page.tab
        .evaluate(
            "document.querySelector('[data-wrong-layer]').dataset.state = ''",
            false,
        )
        .unwrap();
    let path = layer(name).to_string_lossy().into_owned();
    let input = page.tab.find_element("#layer-file").unwrap();
    page.tab
        .call_method(DOM::SetFileInputFiles {
            files: vec![path],
            node_id: None,
            backend_node_id: Some(input.backend_node_id),
            object_id: None,
        })
        .unwrap();
    state(page, &["shown", "refused"])
}

fn layer(name: &str) -> std::path::PathBuf {
    paths::workspace()
        .join(format!("crates/5-book/diagnosis/tests/layers/{name}.safetensors"))
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn the_page_names_the_mistakes_that_the_crate_names() {
    let Some((server, browser)) = crate::served() else { return };
    for view in [VIEWS[0], VIEWS[3]] {
        let page = browser.open(&format!("{}{PAGE}", server.url()), view, "").unwrap();
        assert_eq!(state(&page, &["ready"])["state"], "ready");
        for (nth, (name, step, differs)) in TRIED.into_iter().enumerate() {
            let button = format!(
                "document.querySelector('[data-wrong-layer]').dataset.state = ''; \
                 document.querySelectorAll('.layer-broken button')[{nth}].click()"
            );
            page.tab.evaluate(&button, false).unwrap();
            let tried = state(&page, &["shown", "refused"]);
            let verdict = tried["verdict"].as_str().unwrap();
            assert!(verdict.starts_with(&format!("{name}.")), "{verdict}");
            assert_eq!(tried["steps"], json!([format!("{step} ✗ here")]));
            assert_eq!(tried["found"]["differs"]["of"], differs);
        }
        for name in ["a01", "a21", "b01", "r01", "u01"] {
            let shown = choose(&page, name);
            let native = live_model::layer(
                fs::read(layer(name)).unwrap(),
                &live_model::overrides(&json!({})),
            );
            let native = native.unwrap()["diagnosis"].take();
            let ids = |of: &Value| {
                let sets = of["explanations"].as_array().unwrap().iter();
                sets.map(|set| {
                    set.as_array().unwrap().iter().map(|it| it["id"].clone()).collect()
                })
                .collect::<Vec<Vec<Value>>>()
            };
            let there = &shown["found"]["diagnosis"];
            assert_eq!(there["verdict"], native["verdict"], "{name}");
            assert_eq!(ids(there), ids(&native), "{name}");
        }
        assert_eq!(
            choose(&page, "a24")["maps"],
            json!(["As it is", "As it should be", "Where they differ"])
        );
        page.tab.evaluate(AXE, false).unwrap();
        let axe = "axe.run('[data-wrong-layer]', { resultTypes: ['violations'] }).then(({ violations }) => \
                   JSON.stringify(violations.filter((it) => ['serious', 'critical'].includes(it.impact)).map((it) => [it.id, it.nodes.map((node) => node.html)])))";
        assert_eq!(page.text(axe).unwrap(), "[]");
        page.close_without_problems();
    }
}

/// Numbers that are pasted, and what is no layer.
#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn what_is_pasted_is_read_or_refused_in_words() {
    let Some((server, browser)) = crate::served() else { return };
    let page = browser.open(&format!("{}{PAGE}", server.url()), VIEWS[0], "").unwrap();
    state(&page, &["ready"]);
    let paste = |text: &str| {
        let run = format!(
            "(() => {{ const place = document.querySelector('[data-wrong-layer]'); \
             place.dataset.state = ''; place.querySelector('.layer-paste').open = true; \
             document.getElementById('layer-pasted').value = {}; \
             place.querySelector('.layer-paste button').click(); }})()",
            json!(text)
        );
        page.tab.evaluate(&run, false).unwrap();
        state(&page, &["shown", "refused"])
    };
    let identity = "[[1.0, 0.0], [0.0, 1.0]]";
    let layer = |output: &str| {
        format!(
            "{{\"heads\": 1, \"W_q.weight\": {identity}, \"W_k.weight\": {identity}, \
             \"W_v.weight\": {identity}, \"W_o.weight\": {identity}, \
             \"query\": [[[0.5, 1.0], [-0.25, 2.0], [1.5, -1.0]]]{output}}}"
        )
    };
    let without = paste(&layer(""));
    assert_eq!(without["state"], "refused");
    assert!(
        without["error"].as_str().unwrap().contains("there is no output"),
        "{without}"
    );
    let ragged = paste("{\"query\": [[1, 2], [3]]}");
    assert!(ragged["error"].as_str().unwrap().contains("query is no table of numbers"));
    let noise =
        paste(&layer(", \"output\": [[[0.31, -1.27], [2.23, 0.41], [-0.73, 0.96]]]"));
    assert_eq!(noise["found"]["diagnosis"]["verdict"], "unknown", "{noise}");
    page.close_without_problems();
}
