//! The questions of a chapter, in its page: a line is read and judged as in a terminal, and what
//! came of it is remembered.

use std::path::Path;

use headless_chrome::protocol::cdp::Emulation::SetScriptExecutionDisabled;
use questions::{Form, Topic, Verdict};
use serde_json::{Value, json};
use workshop::chapters;

use crate::browser::{AXE, Browser, Open};
use crate::{BUILT, VIEWS, View};

/// Lines as people write them, and some that say nothing.
const LINES: &str = "263168|263,168|263 168|263_168|263'168|× 263168|263168 times|0|~263K|≈ 263k|\
    about 263 K|~263000|~263.2K|~0.26M|~7|many|-5|1.5|26,3168|1,234 567|1,,000|~|K|~0K|12.K|\
    12x34|0x10|1e3|٣|99999999999999999999999|0.5|.5|0,5|1/2|50%|50 %|~0.5|√0.25|sqrt(32)|√(2)|\
    nan|NaN|∞|-inf|−0.5|-0.5|half|1.2.3|/|1/|1/0|%|√|√-1|.|-|30x256|30 × 256|(30, 256)|[30, 256]|\
    30,256|30 by 256|( 30 , 256 )|8, 30, 32|a x b|(30, 256|-1x3||  ";

/// Waits for the first question.
const READY: &str = "(async () => {
  const isAsked = () => window.progress && document.querySelector('.is-asked');
  for (let n = 0; n < 1000 && !isAsked(); n += 1) await new Promise((done) => setTimeout(done, 20));
  return isAsked() ? 'asked' : '';
})()";

fn topics() -> Vec<Topic> {
    questions::topics().unwrap_or_else(|fault| panic!("{fault}"))
}

/// What pages are given of a topic.
fn given(topic: &str) -> Value {
    let files = book::questions(Path::new("")).unwrap();
    let name = format!("{topic}.json");
    let found = files.into_iter().find(|(file, _)| file.ends_with(&name));
    found.unwrap_or_else(|| panic!("{topic} asks nothing")).1
}

fn page(topic: &str) -> String {
    let chapters = chapters::all().unwrap();
    let found = chapters.into_iter().find(|it| it.topic() == topic);
    format!("{}.html", found.expect("a chapter on it").page)
}

pub fn open(
    browser: &Browser,
    topic: &str,
    view: View,
    first: &str,
) -> (pages::Server, Open) {
    let _ = &*BUILT;
    let server = pages::serve(0).unwrap();
    let page =
        browser.open(&format!("{}{}", server.url(), page(topic)), view, first).unwrap();
    // A script that comes later than the figures.
    assert_eq!(page.text(READY).unwrap(), "asked");
    (server, page)
}

/// The lines that are tried on a question: those of all, its answer and its slips in several
/// forms, and the ends of what counts as right.
fn lines(form: &Form, answers: &[String], row: &Value) -> Vec<String> {
    if !form.options().is_empty() {
        return form.options().to_vec();
    }
    let mut lines: Vec<String> = LINES.split('|').map(str::to_owned).collect();
    for answer in answers {
        let bare = answer.replace(',', "");
        lines.extend([answer.clone(), format!("~{bare}"), format!("{bare}x"), bare]);
    }
    for end in row["right"].as_array().into_iter().flatten().filter_map(Value::as_f64) {
        lines.extend([-2e-9, 0.0, 2e-9].map(|off| (end + off).to_string()));
    }
    lines
}

/// Each question with each row, as `(name, what the page is asked, what the crate says)`.
fn cases() -> Vec<(String, Value, Vec<&'static str>)> {
    let mut cases = Vec::new();
    for topic in topics() {
        let given = given(topic.name);
        for (question, data) in topic.questions.iter().zip(given.as_array().unwrap()) {
            for (seed, row) in data["rows"].as_array().unwrap().iter().enumerate() {
                let posed = question.pose(seed as u64).unwrap();
                let outcome = posed.run().unwrap();
                let slips =
                    row["slips"].as_array().unwrap().iter().map(|it| &it["right"]);
                let rights = std::iter::once(&row["right"]).chain(slips);
                let answers = outcome.slips.iter().map(|slip| &slip.answer);
                let answers: Vec<_> =
                    std::iter::once(&outcome.answer).chain(answers).collect();
                let texts: Vec<String> =
                    answers.iter().map(|it| it.to_string()).collect();
                let lines = lines(&posed.form, &texts, row);
                for (right, answer) in rights.zip(answers) {
                    let name = format!("{} with row {seed} and {answer}", question.id);
                    let asked =
                        json!({ "kind": row["kind"], "right": right, "lines": lines });
                    let said = |line: &String| match posed.form.read(line) {
                        None => "unread",
                        Some(it) => match posed.form.judge(&it, answer) {
                            Verdict::Right => "right",
                            Verdict::Near => "near",
                            Verdict::Missed => "missed",
                        },
                    };
                    let said = lines.iter().map(said).collect();
                    cases.push((name, asked, said));
                }
            }
        }
    }
    cases
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_line_is_read_and_judged_in_the_page_as_in_the_terminal() {
    let browser = Browser::start().unwrap();
    let (_server, page) = open(&browser, "masks", VIEWS[0], "");
    let cases = cases();
    let asked: Vec<&Value> = cases.iter().map(|(_, asked, _)| asked).collect();
    let run = "(cases) => JSON.stringify(cases.map(({ kind, right, lines }) => lines.map((line) => { \
               const given = predictRead.read(kind, line); \
               return given ? predictRead.judge(kind, given, right) : 'unread'; })))";
    let found = page.text(&format!("({run})({})", json!(asked))).unwrap();
    let found: Vec<Vec<String>> = serde_json::from_str(&found).unwrap();
    let mut counts = [("right", 0), ("near", 0), ("missed", 0), ("unread", 0)];
    for ((name, asked, wanted), found) in cases.iter().zip(&found) {
        for ((line, wanted), found) in
            asked["lines"].as_array().unwrap().iter().zip(wanted).zip(found)
        {
            assert_eq!(found, wanted, "{name}: {line}");
            counts.iter_mut().filter(|(it, _)| it == wanted).for_each(|(_, n)| *n += 1);
        }
    }
    println!("{} answers and slips: {counts:?}", cases.len());
    assert!(counts.iter().all(|(_, n)| *n > 20), "{counts:?}");
    page.close_without_problems();
}

// ---- One question of each form, by keys.

/// Shows the question with this id, with keys where there is one to press.
fn bring(page: &Open, id: &str) {
    let script = format!(
        "(() => {{ const place = document.querySelector('.predict'); \
         const shown = () => place.querySelector('.predict-question:not([hidden])'); \
         for (let n = 0; n < 9 && shown().dataset.id !== '{id}'; n += 1) \
           [...shown().querySelectorAll('.predict-turns button')].at(-1).click(); \
         return shown().dataset.id; }})()"
    );
    assert_eq!(page.text(&script).unwrap(), id);
}

/// A text of the question that is shown.
fn text(page: &Open, query: &str) -> String {
    let shown =
        format!("document.querySelector('.predict-question:not([hidden]) {query}')");
    page.text(&format!("({shown}?.textContent ?? '')")).unwrap()
}

/// Types a line, or chooses an option, and presses Enter.
fn answer(page: &Open, kind: &str, line: &str) {
    let quoted = json!(line);
    let field = "document.querySelector('.predict-question:not([hidden]) input')";
    if kind == "option" {
        let chip = format!(
            "[...document.querySelectorAll('.predict-question:not([hidden]) input')]\
             .find((it) => it.value === {quoted}).focus()"
        );
        page.tab.evaluate(&chip, false).unwrap();
        page.tab.press_key(" ").unwrap();
    } else {
        page.tab.evaluate(&format!("{field}.focus(); {field}.select()"), false).unwrap();
        page.tab.type_str(line).unwrap();
    }
    page.tab.press_key("Enter").unwrap();
}

fn press(page: &Open, button: &str) {
    let found = page.text(&format!(
        "(() => {{ const found = [...document.querySelectorAll('.predict-question:not([hidden]) button')]\
         .find((it) => it.textContent === '{button}' && !it.hidden); found?.click(); \
         return found ? 'pressed' : ''; }})()"
    ));
    assert_eq!(found.unwrap(), "pressed", "{button}");
}

/// HTML as the page shows it.
fn plain(page: &Open, html: &Value) -> String {
    let of =
        format!("Object.assign(document.createElement('p'), {{ innerHTML: {html} }})");
    page.text(&format!("({of}).textContent")).unwrap()
}

/// What is kept, and what the contents say of the chapter.
pub fn kept(page: &Open, topic: &str) -> [String; 2] {
    let mark = format!(
        "document.querySelector('#mdbook-sidebar a[href$=\"-{topic}.html\"] .progress-mark')"
    );
    let script = format!("({mark}?.getAttribute('aria-label') ?? '')");
    [
        page.text("localStorage.getItem('learn-progress') ?? ''").unwrap(),
        page.text(&script).unwrap(),
    ]
}

/// The first question of this kind whose first row has a slip that can be typed.
fn first_of(kind: &str) -> (&'static str, Value, String) {
    for topic in topics() {
        let given = given(topic.name);
        for (question, data) in topic.questions.iter().zip(given.as_array().unwrap()) {
            if data["rows"][0]["kind"] == kind {
                let outcome = question.pose(0).unwrap().run().unwrap();
                return (topic.name, data.clone(), outcome.slips[0].answer.to_string());
            }
        }
    }
    panic!("no question asks for {kind}")
}

fn question_of(kind: &str, view: View) {
    let (topic, data, slip) = first_of(kind);
    let rows = &data["rows"];
    let browser = Browser::start().unwrap();
    let (_server, page) = open(&browser, topic, view, "");
    bring(&page, data["id"].as_str().unwrap());
    answer(&page, kind, if kind == "option" { "" } else { "what?" });
    answer(&page, kind, &slip);
    let says = text(&page, ".predict-says");
    assert!(says.contains(&plain(&page, &rows[0]["slips"][0]["says"])), "{says}");
    press(&page, "Hint");
    assert_eq!(text(&page, ".predict-hint"), plain(&page, &rows[0]["hint"]));
    press(&page, "Try again with different numbers");
    assert_eq!(text(&page, ".predict-text"), plain(&page, &rows[1]["text"]));
    assert_eq!(text(&page, ".predict-says"), "");
    answer(&page, kind, rows[1]["answer"].as_str().unwrap());
    let says = text(&page, ".predict-says");
    assert!(says.starts_with("Right: "), "{says}");
    assert_eq!(text(&page, "pre"), rows[1]["shown"].as_str().unwrap());
    assert!(says.ends_with(&plain(&page, &rows[1]["why"])), "{says}");
    page.tab.evaluate(AXE, false).unwrap();
    let axe = "axe.run('.predict', { resultTypes: ['violations'] }).then(({ violations }) => \
               JSON.stringify(violations.map((it) => [it.id, it.nodes.map((node) => node.html)])))";
    assert_eq!(page.text(axe).unwrap(), "[]");
    let [known, mark] = kept(&page, topic);
    assert_eq!(
        known,
        format!("{{\"question {topic}/{}\":\"later\"}}", data["id"].as_str().unwrap())
    );
    assert!(mark.starts_with("1 of ") && mark.ends_with("questions right"), "{mark}");
    remembered_and_cleared(&page, topic, data["id"].as_str().unwrap());
    page.close_without_problems();
}

/// After a reload it is known still, and after Clear no more.
fn remembered_and_cleared(page: &Open, topic: &str, id: &str) {
    let before = kept(page, topic);
    page.tab.reload(false, None).unwrap();
    page.tab.wait_until_navigated().unwrap();
    assert_eq!(page.text(READY).unwrap(), "asked");
    bring(page, id);
    assert_eq!(text(page, ".predict-state"), "✓ right");
    assert_eq!(kept(page, topic), before);
    let clear = "(() => { const clear = document.querySelector('[data-clear]'); clear.click(); \
                 const first = localStorage.getItem('learn-progress'); clear.click(); return first; })()";
    assert_eq!(page.text(clear).unwrap(), before[0], "it asks before it clears");
    assert_eq!(kept(page, topic), ["", ""]);
    assert_eq!(text(page, ".predict-state"), "");
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_question_of_each_form_is_answered_remembered_and_cleared() {
    for (kind, view) in ["whole", "number", "shape", "option"].into_iter().zip(VIEWS) {
        question_of(kind, view);
    }
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn what_is_right_at_first_stays_so_and_a_rounded_number_does_not_count() {
    let browser = Browser::start().unwrap();
    let (_server, page) = open(&browser, "counting", VIEWS[0], "");
    let given = given("counting");
    let find = |it: &&Value| it["rows"][0]["right"].as_u64().is_some_and(|n| n > 10_000);
    let question = given.as_array().unwrap().iter().find(find).expect("a large number");
    bring(&page, question["id"].as_str().unwrap());
    let right = question["rows"][0]["right"].as_u64().unwrap();
    answer(&page, "whole", &format!("~{}K", (right + 500) / 1000));
    assert!(
        text(&page, ".predict-says").starts_with("Close"),
        "{}",
        text(&page, ".predict-says")
    );
    assert_eq!(kept(&page, "counting")[0], "");
    answer(&page, "whole", &right.to_string());
    assert_eq!(text(&page, ".predict-state"), "✓ right on the first try");
    press(&page, "The same with different numbers");
    answer(&page, "whole", "1");
    assert!(text(&page, ".predict-says").starts_with("It is not 1."));
    assert_eq!(text(&page, ".predict-state"), "✓ right on the first try");
    page.close_without_problems();
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn where_nothing_can_be_kept_it_is_known_until_the_page_is_closed() {
    let forbidden = "for (const name of ['localStorage', 'sessionStorage']) \
        Object.defineProperty(window, name, { get() { throw new DOMException('no', 'SecurityError'); } })";
    let browser = Browser::start().unwrap();
    let (_server, page) = open(&browser, "masks", VIEWS[0], forbidden);
    let right = &given("masks")[0]["rows"][0]["answer"];
    answer(&page, "whole", right.as_str().unwrap());
    assert!(text(&page, ".predict-says").starts_with("Right"));
    assert_eq!(page.text("JSON.stringify(progress.of('masks').right)").unwrap(), "1");
    // mdBook's own scripts may complain.
    page.close().unwrap();
}

// ---- Without a script.

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn without_a_script_all_texts_stand_there_with_the_command() {
    let browser = Browser::start().unwrap();
    let page = browser.open("about:blank#", VIEWS[0], "");
    let page = page.unwrap_or_else(|error| panic!("{error:#}"));
    page.tab.call_method(SetScriptExecutionDisabled { value: true }).unwrap();
    let file = BUILT.join(crate::predict::page("masks"));
    page.tab.navigate_to(&format!("file://{}", file.display())).unwrap();
    page.tab.wait_until_navigated().unwrap();
    page.tab.call_method(SetScriptExecutionDisabled { value: false }).unwrap();
    let shown = page.text("document.querySelector('.predict').innerText").unwrap();
    for question in given("masks").as_array().unwrap() {
        let asked = plain(&page, &question["rows"][0]["text"]);
        assert!(shown.contains(&asked), "{asked} in {shown}");
    }
    assert!(shown.contains("cargo learn predict --chapter "), "{shown}");
    assert!(!shown.contains("remembered") && !shown.contains("Answer"), "{shown}");
    let sketch = "getComputedStyle(document.querySelector('.draw .figure-plot'), '::before').content.length > 200";
    assert_eq!(page.text(&format!("String({sketch})")).unwrap(), "true");
    page.close().unwrap();
}
