//! The live figures in a real browser: what the page shows is what the crates give
//! natively for the same settings, whatever control is moved and by whatever hand.
//!
//! Without the target for pages there is no module: on a reader's machine these tests then
//! say so and look at nothing, in CI they fail.

mod compare;
mod hand;
mod settings;

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use headless_chrome::browser::tab::point::Point;
use lessons::live::{Control, Kind, Live, Weights};
use serde_json::{Value, json};

use crate::browser::{Browser, Open, View};
use crate::{VIEWS, in_browsers};
use compare::Compared;

const TRIED: &str = include_str!("live.js");

/// Settings that each figure is compared at.
const N_SETTINGS: usize = 20;
/// The largest difference of a number, native against page.
const EQUAL: f64 = 1e-12;
/// The same of what is computed in f32: one in the last digit that is shown.
const EQUAL_IN_F32: f64 = 1.1e-3;
/// The same at the end of a training, which amplifies last digits.
const EQUAL_AT_THE_END: f64 = 1e-3;

/// The largest difference that a figure's numbers may have.
fn bound(live: &dyn Live) -> f64 {
    match (live.is_trained(), live.weights()) {
        (true, _) => EQUAL_AT_THE_END,
        (false, Some(Weights::Dates)) => EQUAL_IN_F32,
        (false, _) => EQUAL,
    }
}

/// What no control can be set to, but for a line of text.
const NONSENSE: &str = "nonsense";

/// Each live figure with the address of its chapter; `LIVE=positions,lookups` looks only at
/// these.
fn chapters<R: Send>(
    look: impl Fn(&'static dyn Live, &Browser, &str) -> R + Sync,
) -> Vec<R> {
    let Some(folder) = crate::live_book() else { return Vec::new() };
    let server = pages::serve(0).unwrap();
    let only = std::env::var("LIVE").ok();
    let asked = |live: &&dyn Live| {
        only.as_ref().is_none_or(|names| names.split(',').any(|name| name == live.name()))
    };
    let figures: Vec<&dyn Live> = lessons::gallery::live().filter(asked).collect();
    in_browsers(&figures, |browser, live| {
        look(*live, browser, &format!("{}{}", server.url(), page_of(folder, *live)))
    })
}

/// Each live figure in a page, opened; `look` gives what is wrong.
fn each(view: View, look: impl Fn(&'static dyn Live, &Open) -> Vec<String> + Sync) {
    let problems = chapters(|live, browser, url| {
        let page = browser.open(url, view, "").unwrap();
        open(&page, live);
        let mut found = look(live, &page);
        found.extend(page.close().unwrap().problems);
        found
            .into_iter()
            .map(|what| format!("{}: {what}", live.name()))
            .collect::<Vec<_>>()
    });
    let problems = problems.concat();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

fn open(page: &Open, live: &dyn Live) {
    page.tab.evaluate(TRIED, false).unwrap();
    page.text(&format!("tried.open({})", json!(live.name()))).unwrap();
}

/// The chapter that a live figure stands in.
fn page_of(folder: &Path, live: &dyn Live) -> String {
    let marked = format!("data-live=\"{}\"", live.name());
    let pages = crate::html_files(folder, "").into_iter();
    let holds = |page: &String| {
        page != "print.html"
            && fs::read_to_string(folder.join(page)).unwrap().contains(&marked)
    };
    pages
        .filter(holds)
        .min()
        .unwrap_or_else(|| panic!("no chapter shows {}", live.name()))
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn page_and_crates_give_the_same() {
    let largest = Mutex::new(0f64);
    each(VIEWS[0], |live, page| {
        let (call, n_settings) = match live.is_trained() {
            true => ("train", 3),
            false => ("draw", N_SETTINGS),
        };
        let bound = bound(live);
        let (mut problems, mut ms) = (Vec::new(), Vec::new());
        let mut n_refused = 0;
        for pairs in settings::of(live, n_settings) {
            let texts: Value =
                pairs.iter().map(|(key, text)| (*key, json!(text))).collect();
            let answer = page.text(&format!("tried.compute({}, {texts})", json!(call)));
            let answer: Value = serde_json::from_str(&answer.unwrap()).unwrap();
            ms.extend(answer["took"].as_f64());
            let pairs = pairs.iter().map(|(key, text)| (*key, text.as_str()));
            let compared = match live.draw(&pairs.collect::<Vec<_>>()) {
                Ok(shown) => Compared::new(&shown.to_json(), &answer["shown"], bound),
                Err(error) => {
                    n_refused += 1;
                    Compared::new(&json!(format!("{error:#}")), &answer["error"], bound)
                }
            };
            let mut largest = largest.lock().unwrap();
            *largest = largest.max(compared.largest);
            problems
                .extend(compared.problems.iter().map(|what| format!("{texts}: {what}")));
        }
        assert!(n_refused < n_settings, "{} refuses all settings", live.name());
        ms.sort_by(f64::total_cmp);
        println!(
            "{:<24} {n_settings} settings, {n_refused} refused; median {:.1} ms, most {:.1} ms",
            live.name(),
            ms[ms.len() / 2],
            ms[ms.len() - 1]
        );
        problems
    });
    let largest = largest.into_inner().unwrap();
    println!("largest difference, native against page: {largest:.1e}");
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn every_control_moves_its_figure_by_keyboard() {
    every_control_moves_its_figure(hand::Hand::Keyboard, VIEWS[0]);
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn every_control_moves_its_figure_by_mouse() {
    every_control_moves_its_figure(hand::Hand::Mouse, VIEWS[3]);
}

fn every_control_moves_its_figure(hand: hand::Hand, view: View) {
    each(view, |live, page| {
        let mut problems = Vec::new();
        for (nth, control) in live.controls().iter().enumerate() {
            let before = hand::state(page);
            hand.moves(page, nth, control);
            let after = hand::state(page);
            let what = format!("{hand:?}, {}", control.key);
            if after.settings[control.key] == before.settings[control.key] {
                problems.push(format!("{what}: the control did not move"));
            }
            problems.extend(after.faults(live).map(|fault| format!("{what}: {fault}")));
            hand.presses(page, "Reset");
        }
        problems.extend(hand.drags_edges(page, live));
        hand.presses(page, "Reset");
        if hand::state(page).settings != hand::first(live) {
            problems.push(format!("{hand:?}: Reset does not reset"));
        }
        if live.is_trained() {
            problems.extend(hand.trains(page, live));
        }
        problems
    });
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_press_on_a_place_of_a_chart_sets_what_it_stands_for() {
    let n_pressed = Mutex::new(0);
    each(VIEWS[0], |_, page| {
        let place: Value =
            serde_json::from_str(&page.text("tried.pressable()").unwrap()).unwrap();
        let Some(sets) = place["sets"].as_object() else { return Vec::new() };
        let [x, y] = [0, 1].map(|at| place["spot"][at].as_f64().unwrap());
        page.tab.click_point(Point { x, y }).unwrap();
        *n_pressed.lock().unwrap() += 1;
        let state = hand::state(page);
        let is_set = |(key, text): &(&String, &Value)| state.settings[*key] != **text;
        let missed = sets.iter().filter(is_set);
        missed
            .map(|(key, text)| format!("a press does not set {key} to {text}"))
            .collect()
    });
    assert!(n_pressed.into_inner().unwrap() > 0, "no chart can be pressed");
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_setting_that_makes_no_sense_is_refused_and_the_figure_stays() {
    chapters(|live, browser, url| {
        // By the address, for one of its controls.
        let mut controls = live.controls();
        controls.retain(|it| !matches!(it.kind, Kind::Text { .. }));
        let refused = |key| match live.draw(&[(key, NONSENSE)]) {
            Err(error) => format!("{error:#}"),
            Ok(_) => panic!("{}: {key} may be {NONSENSE}", live.name()),
        };
        let control = controls.iter().find(|it| !live.is_trained() || it.at_any_time);
        let key = control.unwrap_or(&controls[0]).key;
        let url = format!("{url}?{}.{key}={NONSENSE}", live.name());
        let page = browser.open(&url, VIEWS[0], "").unwrap();
        let caption = format!(
            "document.querySelector('#live-{} figcaption').textContent",
            live.name()
        );
        let before = page.text(&caption).unwrap();
        open(&page, live);
        if !live.is_trained() {
            let state = hand::state(&page);
            assert_eq!(state.text_of("error"), refused(key), "{}", live.name());
            assert_eq!(state.text_of("state"), "refused", "{}", live.name());
        }
        assert_eq!(page.text(&caption).unwrap(), before, "{}", live.name());
        // By the module, for each.
        for Control { key, .. } in &controls {
            let call = format!("tried.compute('draw', {})", json!({ *key: NONSENSE }));
            let answer: Value = serde_json::from_str(&page.text(&call).unwrap()).unwrap();
            assert_eq!(answer["error"], json!(refused(key)), "{}", live.name());
        }
        page.close_without_problems();
    });
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn what_stands_on_a_line_of_places_is_dragged_along_it() {
    let n_dragged = Mutex::new(0);
    each(VIEWS[0], |live, page| {
        let (n, problems) = hand::slides(page, live);
        *n_dragged.lock().unwrap() += n;
        problems
    });
    assert!(n_dragged.into_inner().unwrap() >= 3);
}

/// Nobody is told of controls that cannot be: not without the module, not without
/// WebAssembly.
#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn without_webassembly_a_page_shows_its_figures_and_says_nothing_more() {
    chapters(|live, browser, url| {
        let page = browser.open(url, VIEWS[0], "delete window.WebAssembly").unwrap();
        let shown = "(() => { const place = document.querySelector('[data-live]'); \
            place.scrollIntoView(); return new Promise((done) => setTimeout(done, 500)).then(\
            () => JSON.stringify([place.innerText.trim() === \
            place.querySelector('figure').innerText.trim(), !!place.querySelector('svg'), \
            !!window.live])); })()";
        assert_eq!(page.text(shown).unwrap(), "[true,true,false]", "{}", live.name());
        let seen = page.close().unwrap();
        assert!(seen.problems.is_empty(), "{}: {:?}", live.name(), seen.problems);
    });
}

/// Question, answer, figure and controls, all of it.
const A_SCREEN: f64 = 900.0;

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_live_figure_fits_a_screen_and_knows_its_answers() {
    each(VIEWS[0], |live, page| {
        let height: f64 = page.text("tried.height()").unwrap().parse().unwrap();
        println!("{:<24} {height:.0} px high", live.name());
        // A training takes its time: its answers are looked at natively.
        let found = match live.is_trained() {
            true => "[]".to_owned(),
            false => page.text("tried.answers()").unwrap(),
        };
        let mut problems: Vec<String> = serde_json::from_str(&found).unwrap();
        if height > A_SCREEN {
            problems.push(format!("{height:.0} px high, at most {A_SCREEN}"));
        }
        problems
    });
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn what_is_played_moves_by_itself_pauses_and_stops() {
    each(VIEWS[0], |live, page| {
        if !live.controls().iter().any(|control| control.is_played) {
            return Vec::new();
        }
        serde_json::from_str(&page.text("tried.plays()").unwrap()).unwrap()
    });
}

/// Once a figure is live, it needs no network.
#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_live_figure_goes_on_without_a_network() {
    chapters(|live, browser, url| {
        let page = browser.open(url, VIEWS[0], "").unwrap();
        open(&page, live);
        // The first answer brings the module, and the weights if it needs some.
        page.text("tried.compute('draw', {})").unwrap();
        page.offline().unwrap();
        hand::Hand::Keyboard.moves(&page, 0, &live.controls()[0]);
        let faults: Vec<String> = hand::state(&page).faults(live).collect();
        assert!(faults.is_empty(), "{}: {faults:?}", live.name());
        // What the browser asks for by itself (the page's icon, as the address changes)
        // is not there now.
        page.close().unwrap();
    });
}
