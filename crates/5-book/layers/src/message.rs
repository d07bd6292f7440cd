//! What the check says of a test.

use exercises::{Panic, labelled, paragraph};

use crate::{RIGHT, Sheets, Verdict, WRONG};

/// How many kinds of mistakes are told at a time.
const AT_A_TIME: usize = 3;

/// The verdict in words.
pub fn message(sheets: &Sheets, verdict: &Verdict) -> String {
    let sheet = &sheets.own.sheet;
    let title = format!("{:02} · {}", sheets.own.number, sheet.title);
    let (n_right, n_wrong) = (RIGHT.len(), WRONG.len());
    let wrong_sections = format!("{}; {}", sheets.wrong_sections(), sheet.read);
    match verdict {
        Verdict::Passed => format!(
            "✓ {title}: passed.\n\n{}",
            paragraph(&format!(
                "Your test accepts {n_right} right layers, one of them in single precision, \
                 and catches all {n_wrong} wrong ones. {}",
                sheet.passed
            ))
        ),
        Verdict::NotWritten => [
            format!("○ {title}: not written yet."),
            labelled("Begin with", &sheet.begin),
            format!("{}\n    exercises/write_a_test.rs", paragraph("Write it in")),
            labelled("It is explained in", &wrong_sections),
        ]
        .join("\n\n"),
        Verdict::BelievesAll => [
            format!("✗ {title}: your test accepts every layer, the wrong ones too."),
            labelled("Score", &format!("it catches 0 of {n_wrong} wrong layers")),
            labelled(
                "Look for",
                "an assert! that is reached and can fail: a comparison whose result nobody \
                 reads, a shape that every layer has, or a loop over nothing",
            ),
            labelled("Read", &wrong_sections),
        ]
        .join("\n\n"),
        Verdict::RejectsEveryRight { believed, panic } => {
            let layers = match believed.len() {
                0 => "every layer, the right ones too",
                _ => "every layer that is right",
            };
            let mut text = vec![
                format!("✗ {title}: your test rejects {layers}."),
                labelled("It says", &panic_words(panic)),
            ];
            if let Some(&first) = believed.first() {
                let only = format!(
                    "a layer that {}. Do your own numbers do the same?",
                    sheets.mistake(first).name
                );
                text.push(labelled("It accepts", &only));
            }
            text.push(labelled(
                "Look for",
                "a mistake in the test itself: shapes that do not fit, an error that is \
                 unwrapped, a step of the layer left out, numbers that must be equal to the last \
                 digit",
            ));
            text.join("\n\n")
        }
        Verdict::RejectsRight { right, rejected, caught, panic } => {
            let right_layer = &RIGHT[*right];
            let is_f32 = *right + 1 == n_right;
            let look_for = if is_f32 {
                "two numbers that must agree to more digits than f32 has. Say by how much they \
                 may differ"
            } else {
                "something that you ask of a layer and that the formula does not promise"
            };
            let read = if is_f32 { LAST_DIGIT.to_owned() } else { wrong_sections };
            [
                format!("✗ {title}: your test rejects a layer that is right."),
                labelled(&format!("It is {}", right_layer.name), right_layer.because),
                labelled("Your test says", &panic_words(panic)),
                labelled(
                    "Score",
                    &format!(
                        "it rejects {rejected} of {n_right} right layers, and {caught} of \
                         {n_wrong} wrong ones"
                    ),
                ),
                labelled("Look for", look_for),
                labelled("Read", &read),
            ]
            .join("\n\n")
        }
        Verdict::Believes { wrong } => {
            let caught = n_wrong - wrong.len();
            let mut text =
                vec![format!("✗ {title}: your test catches {caught} of {n_wrong} wrong layers.")];
            text.extend(slipped_through(sheets, wrong));
            text.push(labelled("Read", &wrong_sections));
            text.join("\n\n")
        }
        Verdict::NoEnd { layer, seconds } => [
            format!("✗ {title}: stopped after {seconds} s, your test had not ended."),
            labelled("It was given", layer),
            labelled("Look for", "a loop whose end does not come nearer"),
        ]
        .join("\n\n"),
    }
}

/// One mistake of each kind that a test believes, and what would show it.
fn slipped_through(sheets: &Sheets, wrong: &[usize]) -> Vec<String> {
    let mut text = Vec::new();
    let mut n_named = 0;
    for kind in &sheets.own.sheet.shown_by {
        let mistakes = wrong.iter().map(|&it| sheets.mistake(it));
        let of_this_kind: Vec<_> =
            mistakes.filter(|mistake| kind.mistakes.contains(&mistake.id)).collect();
        let (Some(mistake), true) = (of_this_kind.first(), text.len() < AT_A_TIME) else {
            continue;
        };
        let more = match of_this_kind.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more of this kind)"),
        };
        let label = format!("It accepts a layer that {}{more}", mistake.name);
        let does = mistake.does.trim_end_matches('.');
        text.push(labelled(&label, &format!("{does}. What shows it: {}", kind.what)));
        n_named += of_this_kind.len();
    }
    if n_named < wrong.len() {
        let rest = format!("{} wrong layers of other kinds", wrong.len() - n_named);
        text.push(labelled("It accepts too", &rest));
    }
    text
}

/// Where it is explained that a test may not ask for every digit.
const LAST_DIGIT: &str = "“Is my code wrong? The last digit”, in the chapter on one head";

impl Sheets {
    /// The chapters that explain the mistakes of a layer: “What people get wrong” in chapters
    /// 4, 5 and 7.
    fn wrong_sections(&self) -> String {
        let mut chapters: Vec<usize> = Vec::new();
        for (wrong, _) in WRONG.iter().enumerate() {
            chapters.push(self.mistake(wrong).read.number);
        }
        chapters.sort_unstable();
        chapters.dedup();
        let last = chapters.pop().unwrap_or_default();
        let others: Vec<String> = chapters.iter().map(usize::to_string).collect();
        format!("“What people get wrong” in chapters {} and {last}", others.join(", "))
    }
}

fn panic_words(panic: &Panic) -> String {
    format!("{}, at {}", panic.message.trim_end_matches('.'), panic.at)
}
