//! An exercise in any language, checked in its page: what is said there is what the crates say.

use std::fs;
use std::io::{Cursor, Write};

use attention::Matrix;
use catalogue::{Elsewhere, Exercise};
use exercises::{ExerciseWords, Numbers};
use headless_chrome::protocol::cdp::Input::InsertText;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::browser::{AXE, Browser, Open, View};
use crate::{BUILT, VIEWS};

/// The matrices of each case.
type Answer = Vec<Vec<Matrix>>;

/// An exercise, and what is kept of it.
struct Kept {
    exercise: Exercise,
    numbers: Vec<u8>,
    kept: Numbers,
}

impl Kept {
    fn of(name: &str) -> Self {
        let exercise = catalogue::find(name).unwrap();
        let numbers = fs::read(Numbers::path(name)).unwrap();
        let kept = Numbers::read(&numbers).unwrap();
        Self { exercise, numbers, kept }
    }

    fn right(&self) -> Answer {
        self.kept.cases.iter().map(|case| case.right.clone()).collect()
    }

    /// What each mistake gives, with its place in the sheet, where it ends on no case.
    fn wrong(&self) -> impl Iterator<Item = (usize, Answer)> {
        self.kept.wrong.iter().filter_map(|wrong| {
            let cases = wrong.outcomes.iter().zip(self.right());
            let cases =
                cases.map(|(outcome, right)| outcome.clone().unwrap_or(Some(right)));
            Some((wrong.mistake, cases.collect::<Option<Answer>>()?))
        })
    }

    /// What the page must say of a text or a file.
    fn verdict_on(&self, given: &[u8], file: &str) -> Value {
        let words = serde_json::to_vec(&ExerciseWords::from(&self.exercise)).unwrap();
        let name = &self.exercise.name;
        live_answers::verdict(name, &self.numbers, &words, given.to_vec(), file).unwrap()
    }
}

// ---- Answers, as Python prints and saves them.

fn matrix(matrix: &Matrix, number: impl Fn(f64) -> String) -> String {
    let row = |row: Vec<String>| format!("[{}]", row.join(", "));
    let rows = matrix.row_iter().map(|it| row(it.iter().map(|&x| number(x)).collect()));
    row(rows.collect())
}

fn printed(answer: &Answer, call: &str, number: impl Fn(f64) -> String) -> String {
    let case = |parts: &Vec<Matrix>| {
        let parts =
            parts.iter().map(|it| format!("tensor({}{call})", matrix(it, &number)));
        format!("({})", parts.collect::<Vec<_>>().join(",\n "))
    };
    format!("[{}]", answer.iter().map(case).collect::<Vec<_>>().join(", "))
}

/// With the 8 bits of a bfloat16, cut off.
fn coarse(answer: &Answer) -> String {
    let cut = |x: f64| f64::from(f32::from_bits((x as f32).to_bits() & 0xffff_0000));
    printed(answer, ", dtype=torch.bfloat16", |x| format!("{:?}", cut(x)))
}

fn npy(shape: &[usize], entries: impl Iterator<Item = f64>) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let head =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
    let head = format!("{head:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.bytes());
    bytes.extend(entries.flat_map(f64::to_le_bytes));
    bytes
}

/// Each part an array of its own: `case_1.0`.
fn npz(answer: &Answer) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (case, parts) in answer.iter().enumerate() {
        for (part, it) in parts.iter().enumerate() {
            let name = format!("case_{case}.{part}.npy");
            archive.start_file(name, SimpleFileOptions::default()).unwrap();
            let rows = it.transpose();
            let bytes = npy(&[it.nrows(), it.ncols()], rows.iter().copied());
            archive.write_all(&bytes).unwrap();
        }
    }
    archive.finish().unwrap().into_inner()
}

// ---- The page.

fn fold(name: &str) -> String {
    format!("document.querySelector('details[data-answer=\"{name}\"]')")
}

/// The page of an exercise, its fold opened with the keyboard, and then without a network.
fn opened(browser: &Browser, kept: &Kept, view: View) -> (pages::Server, Open) {
    let server = pages::serve(0).unwrap();
    let Exercise { name, .. } = &kept.exercise;
    let mark = format!("data-answer=\"{name}\"");
    let has =
        |page: &String| fs::read_to_string(BUILT.join(page)).unwrap().contains(&mark);
    let chapters = crate::pages(&BUILT).into_iter().filter(|page| page != "print.html");
    let page = chapters.into_iter().find(has).unwrap();
    let page = browser.open(&format!("{}{page}", server.url()), view, "").unwrap();
    let fold = fold(name);
    page.tab
        .evaluate(&format!("{fold}.querySelector('summary').focus()"), false)
        .unwrap();
    page.tab.press_key("Enter").unwrap();
    assert_eq!(state(&page, name)["state"], "ready", "{name}");
    page.offline().unwrap();
    (server, page)
}

/// What a fold shows, once it shows something new.
fn state(page: &Open, name: &str) -> Value {
    let script = format!(
        "(async (fold) => {{ const until = Date.now() + 20000; \
         while (!fold.dataset.state && Date.now() < until) await new Promise((done) => setTimeout(done, 20)); \
         const texts = (query) => [...fold.querySelectorAll(query)].map((it) => it.textContent); \
         return JSON.stringify({{ state: fold.dataset.state, headline: texts('.answer-verdict')[0], \
           maps: texts('.layer-map figcaption'), links: [...fold.querySelectorAll('.answer-says a')].map((it) => it.href), \
           text: texts('.answer-says')[0], passed: texts('[data-passed]')[0], answered: window.answered, \
           wide: Math.max(0, document.documentElement.scrollWidth - innerWidth) }}); }})({})",
        fold(name)
    );
    serde_json::from_str(&page.text(&script).unwrap()).unwrap()
}

fn forget(page: &Open, name: &str) {
    let script = format!("{}.dataset.state = ''; window.answered = null", fold(name));
    page.tab.evaluate(&script, false).unwrap();
}

/// Types a text into the field and presses Check, by keys alone.
fn paste(page: &Open, name: &str, text: &str) -> Value {
    forget(page, name);
    let field = format!(
        "(() => {{ const it = {}.querySelector('.answer-drop textarea'); it.focus(); it.select(); }})()",
        fold(name)
    );
    page.tab.evaluate(&field, false).unwrap();
    page.tab.call_method(InsertText { text: text.to_owned() }).unwrap();
    page.tab.press_key("Tab").unwrap();
    page.tab.press_key("Enter").unwrap();
    state(page, name)
}

fn drop_file(page: &Open, name: &str, file: &str, bytes: &[u8]) -> Value {
    forget(page, name);
    let script = format!(
        "(() => {{ const data = new DataTransfer(); \
         data.items.add(new File([new Uint8Array({})], {})); \
         {}.querySelector('.answer-drop').dispatchEvent(new DragEvent('drop', {{ dataTransfer: data, bubbles: true, cancelable: true }})); }})()",
        json!(bytes),
        json!(file),
        fold(name)
    );
    page.tab.evaluate(&script, false).unwrap();
    state(page, name)
}

/// The page says what the crate says, and fits.
#[track_caller]
fn agrees(page: &Open, shown: &Value, said: &Value) {
    // A script writes a whole number without a point.
    let written = page.text(&format!("JSON.stringify({said})")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(shown["answered"], written, "{}", shown["headline"]);
    assert_eq!(shown["state"], said["report"]["verdict"], "{shown}");
    let n_maps = if said["maps"].is_null() { 0 } else { 3 };
    assert_eq!(shown["maps"].as_array().unwrap().len(), n_maps, "{shown}");
    assert_eq!(shown["wide"], 0, "{shown}");
}

fn is_clean(page: &Open) {
    page.tab.evaluate(AXE, false).unwrap();
    let axe = "axe.run('details.answer[open]', { resultTypes: ['violations'] }).then(({ violations }) => \
               JSON.stringify(violations.map((it) => [it.id, it.nodes.map((node) => node.html)])))";
    assert_eq!(page.text(axe).unwrap(), "[]");
}

const FULL: fn(f64) -> String = |x| format!("{x:?}");

/// A map, pasted: wrong, right and unreadable.
fn map_by_paste(browser: &Browser, view: View) {
    let kept = Kept::of("scale");
    let (_server, page) = opened(browser, &kept, view);
    let (mistake, wrong) = kept.wrong().next().unwrap();
    let wrong = printed(&wrong, "", FULL);
    let shown = paste(&page, "scale", &wrong);
    agrees(&page, &shown, &kept.verdict_on(wrong.as_bytes(), ""));
    let name = &kept.exercise.sheet.mistakes[mistake].name;
    assert_eq!(shown["headline"], format!("✗ Your answer {name}."));
    assert_eq!(shown["passed"], "");
    is_clean(&page);
    let refused = paste(&page, "scale", "[[1., 2., ..., 3.]]");
    assert_eq!(refused["state"], "refused");
    assert!(
        refused["headline"].as_str().unwrap().contains("were not printed"),
        "{refused}"
    );
    let right = printed(&kept.right(), "", FULL);
    let shown = paste(&page, "scale", &right);
    agrees(&page, &shown, &kept.verdict_on(right.as_bytes(), ""));
    assert_eq!([&shown["headline"], &shown["passed"]], ["✓ Passed.", " ✓ passed"]);
    let known = page.text("localStorage.getItem('learn-progress')").unwrap();
    assert!(known.contains("/scale\":\"passed\""), "{known}");
    page.close_without_problems();
}

/// An answer of several parts, in a dropped `.npz`.
fn parts_by_npz(browser: &Browser, view: View) {
    let kept = Kept::of("head_backward");
    let (_server, page) = opened(browser, &kept, view);
    drops(&page, &kept, "mine.npz", npz);
    is_clean(&page);
    page.close_without_problems();
}

/// A count, in a dropped `.npy`: a number for each case, and no map.
fn count_by_npy(browser: &Browser, view: View) {
    let kept = Kept::of("count_parameters");
    let (_server, page) = opened(browser, &kept, view);
    drops(&page, &kept, "mine.npy", |answer| {
        npy(&[answer.len()], answer.iter().map(|parts| parts[0][(0, 0)]))
    });
    page.close_without_problems();
}

/// Drops a wrong answer and the right one, each as a file.
fn drops(page: &Open, kept: &Kept, file: &str, written: impl Fn(&Answer) -> Vec<u8>) {
    let (_, wrong) = kept.wrong().next().unwrap();
    for (answer, verdict) in [(wrong, "mistake"), (kept.right(), "passed")] {
        let bytes = written(&answer);
        let shown = drop_file(page, &kept.exercise.name, file, &bytes);
        assert_eq!(shown["state"], verdict);
        agrees(page, &shown, &kept.verdict_on(&bytes, file));
    }
}

/// The first mistake that so few bits do not tell from another answer.
fn first_coarse() -> (Kept, String) {
    for exercise in catalogue::all().unwrap() {
        if live_answers::signature(&exercise.name, "lists", "f").is_err() {
            continue;
        }
        let kept = Kept::of(&exercise.name);
        let found = kept.wrong().find_map(|(_, answer)| {
            let text = coarse(&answer);
            let said = kept.verdict_on(text.as_bytes(), "");
            let is_coarse = said["report"]["verdict"] == "coarse";
            let has_names = said["report"]["mistakes"][0].is_object();
            (is_coarse && has_names).then_some(text)
        });
        if let Some(text) = found {
            return (kept, text);
        }
    }
    panic!("bfloat16 tells all mistakes apart")
}

/// Numbers of few bits: all that it may be is listed, with what helps.
fn few_bits_by_paste(browser: &Browser, view: View) {
    let (kept, text) = first_coarse();
    let name = kept.exercise.name.clone();
    let (_server, page) = opened(browser, &kept, view);
    let shown = paste(&page, &name, &text);
    let said = kept.verdict_on(text.as_bytes(), "");
    agrees(&page, &shown, &said);
    let words = shown["text"].as_str().unwrap();
    assert!(words.contains("float64 and print all digits"), "{words}");
    for mistake in said["report"]["mistakes"].as_array().unwrap() {
        assert!(words.contains(mistake["name"].as_str().unwrap()), "{words}");
    }
    is_clean(&page);
    page.close_without_problems();
}

#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn an_answer_in_any_language_gets_the_verdict_of_the_crates_without_a_network() {
    if crate::live_book().is_none() {
        return;
    }
    let browser = Browser::start().unwrap();
    for view in [VIEWS[0], VIEWS[3]] {
        map_by_paste(&browser, view);
        parts_by_npz(&browser, view);
        count_by_npy(&browser, view);
        few_bits_by_paste(&browser, view);
    }
}

/// A library is chosen once for all exercises, and what is copied ends with the call.
#[test]
#[ignore = "opens Chromium: `cargo learn verify --pages`"]
fn a_library_is_remembered_and_the_inputs_are_copied_or_shown() {
    if crate::live_book().is_none() {
        return;
    }
    let browser = Browser::start().unwrap();
    let kept = Kept::of("scale");
    let (_server, page) = opened(&browser, &kept, VIEWS[2]);
    let fold = fold("scale");
    let choose = format!(
        "(async (fold) => {{ const field = fold.querySelector('select'); field.value = 'jax'; \
         field.dispatchEvent(new Event('change')); const code = fold.querySelector('.answer-form code'); \
         while (!code.textContent.includes('jax')) await new Promise((done) => setTimeout(done, 20)); \
         navigator.clipboard.writeText = () => Promise.reject(); fold.querySelector('.answer-form button').click(); \
         while (!fold.querySelector('textarea[readonly]')?.value) await new Promise((done) => setTimeout(done, 20)); \
         return JSON.stringify([localStorage.getItem('learn-library'), code.textContent, fold.querySelector('textarea[readonly]').value]); }})({fold})"
    );
    let found: [String; 3] = serde_json::from_str(&page.text(&choose).unwrap()).unwrap();
    assert_eq!(found[0], "jax");
    assert!(
        found[1]
            .starts_with("import jax\n\ndef attention_map(q: jax.Array, k: jax.Array,"),
        "{found:?}"
    );
    let program =
        live_answers::given("scale", &kept.numbers, "jax", "attention_map").unwrap();
    assert_eq!(found[2].as_bytes(), program);
    is_clean(&page);
    page.close_without_problems();
}

/// The pages write what is said of an exercise without the crate that reads it, and lead to
/// places that are there.
#[test]
#[ignore = "needs the book, which the other tests build"]
fn what_pages_say_of_exercises_is_what_the_crate_says() {
    let leads = |href: &Value| {
        let href = href.as_str().unwrap();
        let (page, id) = href.split_once('#').unwrap();
        let html = fs::read_to_string(BUILT.join(page)).unwrap();
        assert!(html.contains(&format!("id=\"{id}\"")), "{href}");
    };
    let mistakes = pages::pages_of_mistakes().unwrap();
    for exercise in catalogue::all().unwrap() {
        let words = pages::exercise_words(exercise, &mistakes).unwrap();
        leads(&words["read"]["href"]);
        for mistake in words["mistakes"].as_array().unwrap() {
            leads(&mistake["href"]);
            leads(&mistake["read"]["href"]);
        }
        // What is built with the whole workspace has the layer that no page loads, too.
        let is_here = live_answers::signature(&exercise.name, "lists", "f").is_ok();
        if matches!(exercise.sheet.elsewhere, Elsewhere::Function(_)) {
            assert!(is_here || exercise.name == "whole_layer", "{}", exercise.name);
        }
        let words: ExerciseWords = serde_json::from_value(words).unwrap();
        assert_eq!(words, ExerciseWords::from(exercise));
    }
}
