//! A figure that a reader draws first: by keys and by the pointer, and nothing of what is to be
//! drawn shows before.

use std::fs;

use serde_json::Value;
use workshop::paths;

use crate::VIEWS;
use crate::browser::Browser;
use crate::predict::{kept, open};

/// The bars that are drawn first on the page about masks, and the range of their axis.
const FIGURE: &str = "mask-padding";
const MARK: &str = "padded, no mask";

fn bars() -> (Vec<f64>, f64) {
    let file = paths::workspace().join(format!("chapters/figures/{FIGURE}.html"));
    let html = fs::read_to_string(file).unwrap();
    let data = html.split("<script type=\"application/json\">").nth(1).unwrap();
    let spec: Value =
        serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
    let marks = spec["marks"].as_array().unwrap();
    let mark = marks.iter().find(|mark| mark["name"] == MARK).unwrap();
    let sizes = serde_json::from_value(mark["sizes"].clone()).unwrap();
    (sizes, spec["wide"]["panels"][0]["y"]["range"][1].as_f64().unwrap())
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_figure_is_drawn_by_keys_and_then_shown() {
    let browser = Browser::start().unwrap();
    let (_server, page) = open(&browser, "masks", VIEWS[3], "");
    let shows = |query: &str| {
        let of = format!(
            "document.querySelector('.draw {query}').getClientRects().length > 0"
        );
        page.text(&format!("String({of})")).unwrap() == "true"
    };
    assert!(!shows("figcaption") && !shows("details") && shows(".draw-over input"));
    page.tab
        .evaluate("document.querySelector('.draw-over input').focus()", false)
        .unwrap();
    for key in ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowRight", "ArrowDown"] {
        page.tab.press_key(key).unwrap();
    }
    let (truth, most) = bars();
    let mut drawn = vec![1.0 / truth.len() as f64; truth.len()];
    drawn[0] += 3.0 * most / 50.0;
    drawn[1] -= most / 50.0;
    page.tab.evaluate("document.querySelector('[data-show]').click()", false).unwrap();
    let off: Vec<f64> = truth.iter().zip(&drawn).map(|(a, b)| (a - b).abs()).collect();
    let mean = off.iter().sum::<f64>() / off.len() as f64;
    let largest = off.iter().copied().fold(0.0, f64::max);
    let says = page.text("document.querySelector('.draw-turns p').textContent").unwrap();
    let wanted = format!(
        "You were within {mean:.2} on average. Your largest miss was {largest:.2}, at “"
    );
    assert!(says.starts_with(&wanted), "{says} is not {wanted}");
    assert!(shows("figcaption") && shows("details") && shows(".figure-ghost"));
    assert_eq!(kept(&page, "masks")[0], format!("{{\"draw masks/{FIGURE}\":\"drawn\"}}"));
    page.close_without_problems();
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_figure_is_drawn_by_the_pointer_and_nothing_of_it_shows_before() {
    let browser = Browser::start().unwrap();
    let (_server, page) = open(&browser, "masks", VIEWS[0], "");
    let value = "document.querySelectorAll('.draw-over input')[4].value";
    page.tab
        .evaluate(
            "document.querySelector('.draw').scrollIntoView({ block: 'center' })",
            false,
        )
        .unwrap();
    // The bars that are to be drawn are all alike, whatever the true ones are.
    let alike = "JSON.stringify(new Set([...document.querySelectorAll('.draw-over input')].map((it) => it.value)).size)";
    assert_eq!(page.text(alike).unwrap(), "1");
    let before: f64 = page.text(&format!("String({value})")).unwrap().parse().unwrap();
    page.click(
        "(() => { const [over, handle] = ['.draw-over', '.draw-over input:nth-child(5)']\
         .map((it) => document.querySelector(it).getBoundingClientRect()); \
         return JSON.stringify([handle.left + 7, over.top + over.height / 3]); })()",
    );
    let after: f64 = page.text(&format!("String({value})")).unwrap().parse().unwrap();
    assert!(after > before + 0.1, "{before}, then {after}");
    let give = "(() => { document.querySelectorAll('.draw-turns button')[1].hidden; \
                document.querySelector('[data-show]').click(); \
                document.querySelector('[data-show]').click(); \
                document.querySelector('[data-give]').click(); \
                return document.querySelector('.draw').dataset.state; })()";
    assert_eq!(page.text(give).unwrap(), "shown");
    page.close_without_problems();
}
