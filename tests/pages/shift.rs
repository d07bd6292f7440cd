//! A page stays where it is while it is read, on a slow machine too: what comes later has its
//! room from the beginning.

use headless_chrome::protocol::cdp::Emulation::SetCPUThrottlingRate;
use serde_json::Value;

use crate::browser::{Browser, View};
use crate::{VIEWS, in_browsers, live_book, pages};

const SHIFT: &str = include_str!("shift.js");

/// The most that may move of a page, as Cumulative Layout Shift counts.
const MOST: f64 = 0.05;
/// How many times slower than this machine a page is read.
const SLOWER: f64 = 4.0;

/// How much of a page moves until its end has been read, and what.
fn shift(browser: &Browser, url: &str, view: View) -> (f64, String) {
    // Before a page comes, the machine is slow already.
    let open = browser.open("data:text/html,begins", view, SHIFT).unwrap();
    open.tab.call_method(SetCPUThrottlingRate { rate: SLOWER }).unwrap();
    open.tab.navigate_to(url).unwrap().wait_until_navigated().unwrap();
    let found: Value = serde_json::from_str(&open.text("shift.read()").unwrap()).unwrap();
    open.close().unwrap();
    (found["value"].as_f64().unwrap(), found["names"].to_string())
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn chapters_and_questions_stay_where_they_are_while_they_are_read() {
    let Some(folder) = live_book() else { return };
    let server = ::pages::serve(0).unwrap();
    let is_text = |page: &String| {
        page.starts_with(|c: char| c.is_ascii_digit()) || page.starts_with("questions/")
    };
    let looks: Vec<(String, View)> = pages(folder)
        .into_iter()
        .filter(|page| is_text(page) && page != "404.html")
        // One is read on a wide screen and the next on a phone.
        .enumerate()
        .map(|(nth, page)| (page, VIEWS[2 * (nth % 2)]))
        .collect();
    let seen = in_browsers(&looks, |browser, (page, view)| {
        shift(browser, &format!("{}{page}", server.url()), *view)
    });
    let mut problems = Vec::new();
    for ((page, view), (moved, names)) in looks.iter().zip(seen) {
        let line = format!("{page} at {} px: {moved:.3}", view.width);
        println!("{line}");
        if moved > MOST {
            problems.push(format!("{line}, {names}"));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// What comes above a text moves it, and what comes below does not.
#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_text_that_is_pushed_down_is_found() {
    let browser = Browser::start().unwrap();
    let page = |place: &str| {
        format!(
            "data:text/html,<p style='height:600px'>text</p><script>setTimeout(() => {{\
             const late = document.createElement('div'); late.style.height = '200px';\
             document.body.{place}(late) }}, 300)</script>"
        )
    };
    let moved = |place| shift(&browser, &page(place), VIEWS[0]).0;
    let (above, below) = (moved("prepend"), moved("append"));
    assert!(above > MOST && below == 0.0, "{above} {below}");
}
