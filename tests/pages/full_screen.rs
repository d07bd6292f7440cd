//! A figure on the whole screen, as a projector shows it: all of it, larger, with its controls.

use serde_json::Value;

use crate::browser::{AXE, Browser, Open, View};
use crate::served;

const SCRIPT: &str = include_str!("full_screen.js");

/// A page with a live figure along axes, one with a live diagram, and one with a figure that
/// only stands there.
const FIGURES: [(&str, &str); 3] = [
    ("blend", "[data-live=blend]"),
    ("tiles", "[data-live=tiles]"),
    ("averages", "main > figure"),
];

/// The page of a chapter that shows a figure.
fn page(figure: &str) -> String {
    let folder = workshop::paths::workspace().join("chapters");
    let asked = format!("{{{{#figure {figure}}}}}");
    let chapters = workshop::chapters::all().unwrap().into_iter();
    let mut pages = chapters.map(|it| it.page);
    let shows = |page: &String| {
        let text =
            std::fs::read_to_string(folder.join(page).with_extension("md")).unwrap();
        text.contains(&asked)
    };
    pages.find(shows).expect("a chapter shows the figure") + ".html"
}

fn opened(browser: &Browser, url: &str, figure: &str, view: View) -> Open {
    let open = browser.open(&format!("{url}{}", page(figure)), view, SCRIPT).unwrap();
    open.tab.evaluate(AXE, false).unwrap();
    open
}

fn value(open: &Open, call: &str) -> Value {
    serde_json::from_str(&open.text(call).unwrap()).unwrap()
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_figure_fills_the_screen_is_moved_there_and_left_with_its_settings() {
    let Some((server, browser)) = served() else { return };
    for (nth, (figure, place)) in FIGURES.into_iter().enumerate() {
        let view = View { width: 1280, dark: nth % 2 == 1 };
        let open = opened(&browser, server.url(), figure, view);
        let before = value(&open, &format!("fullScreen.ready('{place}')"));
        open.click("fullScreen.button()");
        let full = value(&open, "fullScreen.entered()");
        assert_eq!(full["faults"], Value::Array(Vec::new()), "{figure}: {full}");
        let larger =
            |key: &str| full[key].as_f64().unwrap() / before[key].as_f64().unwrap();
        assert!(
            larger("title") > 1.2,
            "{figure}: letters {:.2} times as large",
            larger("title")
        );
        assert!(larger("area") > 1.2, "{figure}: {:.2} times as large", larger("area"));
        if place.contains("live") {
            open.click("fullScreen.slider()");
            open.tab.press_key("ArrowRight").unwrap();
            let moved = value(&open, "fullScreen.moved()");
            assert!(moved["says"] != full["says"], "{figure}: {moved}");
        }
        let full = value(&open, "fullScreen.state()");
        open.click("fullScreen.button()");
        let left = value(&open, "fullScreen.left()");
        assert_eq!(left["settings"], full["settings"], "{figure}");
        assert!(left["title"] == before["title"], "{figure}: {left}");
        assert_eq!(left["page"], before["page"], "{figure}: the page was left");
        open.close_without_problems();
    }
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn on_a_phone_the_button_covers_nothing_and_a_browser_without_it_has_none() {
    let Some((server, browser)) = served() else { return };
    for (figure, place) in FIGURES {
        let view = View { width: 390, dark: false };
        let open = opened(&browser, server.url(), figure, view);
        value(&open, &format!("fullScreen.ready('{place}')"));
        let found = value(&open, "fullScreen.covered()");
        assert_eq!(found, Value::Array(Vec::new()), "{figure}");
        open.close_without_problems();
    }
    let url = format!("{}{}", server.url(), page("averages"));
    let without = "Object.defineProperty(Document.prototype, 'fullscreenEnabled', { get: () => false })";
    let open = browser.open(&url, View { width: 1280, dark: false }, without).unwrap();
    let n =
        open.text("String(document.querySelectorAll('.figure-full').length)").unwrap();
    assert_eq!(n, "0");
    open.close_without_problems();
}
