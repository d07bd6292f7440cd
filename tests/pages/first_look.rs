//! The first page: a guess, the others, a second head, and then any word and any head, with
//! the numbers of the file that comes with the book.

use serde_json::Value;
use tensors::TensorFile;
use workshop::paths;

use crate::browser::{AXE, Open};
use crate::{VIEWS, View};

/// Clicks the first element that a selector finds and gives what the page says then.
const CLICK: &str = "(async (selector) => {
  document.querySelector(selector).click();
  await new Promise((done) => setTimeout(done));
  return document.querySelector('.first-says').textContent;
})";

fn click(page: &Open, selector: &str) -> String {
    page.text(&format!("{CLICK}({})", Value::from(selector))).unwrap()
}

/// The attention weights of a sentence, [layer][head][query][key] in one row, in 255ths.
fn kept(key: &str) -> (Vec<String>, Vec<f64>) {
    let file = paths::workspace().join(assets::own_sentence::MAPS).join(key);
    let file = TensorFile::open(file.with_extension("safetensors")).unwrap();
    let tokens = file.text("tokens").unwrap().split(' ').map(str::to_owned).collect();
    let bytes = file.tensor("maps").unwrap().integers().unwrap();
    (tokens, bytes.into_iter().map(|byte| byte as f64 / 255.0).collect())
}

fn hundredths(share: f64) -> String {
    format!("{share:.2}").trim_start_matches('0').to_owned()
}

/// The first page, on which nothing moves and nothing is compiled.
fn first_page(view: View, look: impl FnOnce(&Open)) {
    let Some((server, browser)) = crate::served() else { return };
    let page = browser.open(server.url(), view, "delete window.WebAssembly").unwrap();
    assert_eq!(page.text("firstLook.state.step").unwrap(), "guess");
    look(&page);
    page.close_without_problems();
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn three_clicks_from_a_guess_to_a_control_that_takes_the_news_away() {
    first_page(VIEWS[0], |page| {
        let (tokens, weights) = kept("tired");
        let n = tokens.len();
        let at = |token: &str| tokens.iter().position(|it| it == token).unwrap();
        let [it, animal, street] = ["it", "animal", "street"].map(at);
        let weight =
            |head: usize, query: usize, key: usize| weights[(head * n + query) * n + key];
        let others = |head: usize| {
            let others = (0..n).filter(|query| ![it, animal].contains(query));
            others.map(|query| weight(head, query, animal)).sum::<f64>() / (n - 2) as f64
        };
        let no_arcs =
            "String(document.querySelectorAll('.first-arc:not(.first-maybe)').length)";
        assert_eq!(page.text(no_arcs).unwrap(), "0", "the guess comes first");
        let [near, far] = [3 * 12 + 1, 5 * 12 + 11];
        let says = click(page, &format!(".first-word:nth-of-type({})", street + 1));
        let given = hundredths(weight(near, it, street));
        assert!(
            says.starts_with(&format!("You said street, which gets {given}.")),
            "{says}"
        );
        let given = hundredths(weight(near, it, animal));
        assert!(says.contains(&format!("it gives animal {given} of")), "{says}");
        let says = click(page, ".first-button");
        assert!(
            says.contains(&format!("animal {}.", hundredths(others(near)))),
            "{says}"
        );
        let says = click(page, ".first-button");
        for number in [weight(far, it, animal), others(far)] {
            assert!(says.contains(&hundredths(number)), "{says}");
        }
        let says = click(page, ".first-button");
        assert!(
            says.starts_with("Head 5.11: “it” gives most to “animal”: .67."),
            "{says}"
        );
    });
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn every_word_and_every_head_can_be_chosen_also_by_keyboard() {
    for view in [VIEWS[0], VIEWS[3]] {
        first_page(view, |page| {
            click(page, ".first-word:nth-of-type(3)");
            let says = click(page, ".first-heads > button:nth-child(3)");
            assert!(
                says.starts_with("Head 0.2: “it” gives most to “because”: 1.00."),
                "{says}"
            );
            page.text("document.querySelector('.first-heads > button:nth-child(3)').focus() ?? ''")
                .unwrap();
            page.tab.press_key("ArrowDown").unwrap();
            let says =
                page.text("document.querySelector('.first-says').textContent").unwrap();
            assert!(
                says.starts_with("Head 1.2: “it” gives most to “was”: .50."),
                "{says}"
            );
            page.tab.evaluate(AXE, false).unwrap();
            let found = page
                .text(
                    "axe.run('.first-look').then((it) => JSON.stringify(it.violations))",
                )
                .unwrap();
            assert_eq!(found, "[]");
        });
    }
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn another_sentence_brings_its_own_maps() {
    first_page(VIEWS[0], |page| {
        let chosen = "(async () => {
          const chooser = document.querySelector('.first-others select');
          chooser.value = 'steel';
          chooser.dispatchEvent(new Event('change'));
          while (firstLook.state.step !== 'free') await new Promise((done) => setTimeout(done, 20));
          return document.querySelector('.first-line').textContent;
        })()";
        let line = page.text(chosen).unwrap();
        assert!(line.contains("because it was made of steel."), "{line}");
        let says = click(page, ".first-heads > button:nth-child(38)");
        let (tokens, weights) = kept("steel");
        let n = tokens.len();
        let it = tokens.iter().position(|token| token == "it").unwrap();
        let row = &weights[(37 * n + it) * n..][..n];
        let most = (0..n).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        let said = format!("“{}” gives most to", tokens[it]);
        assert!(says.contains(&said) && says.contains(&hundredths(row[most])), "{says}");
    });
}
