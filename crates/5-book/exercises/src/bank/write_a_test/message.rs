//! What the check says of a test.

use super::{
    EXERCISE, FUSED_WRONG, LAST_DIGIT, LENS_WRONG, MASKS_WRONG, RIGHT, SHOWN_BY, Verdict,
    mistakes,
};
use crate::Entry;
use crate::message::{labelled, paragraph};
use crate::outcome::Panic;

const BEGIN: &str = "a layer and some tokens: random_layer and random_tokens. Call \
    layer(…) on them and assert! one thing that is true of every right layer, such as the \
    sum of a row. Then look at what your test still accepts";

/// How many kinds of mistakes are told at a time.
const AT_A_TIME: usize = 3;

/// The verdict in words.
pub fn message(verdict: &Verdict) -> String {
    let title = format!("{:02} · {}", EXERCISE.number(), EXERCISE.title());
    let (n_right, n_wrong) = (RIGHT.len(), mistakes().len());
    let wrong_sections = format!(
        "“{}” in chapters {}, {} and {}; {}",
        LENS_WRONG.heading,
        LENS_WRONG.number(),
        FUSED_WRONG.number(),
        MASKS_WRONG.number(),
        EXERCISE.read()
    );
    match verdict {
        Verdict::Passed => format!(
            "✓ {title}: passed.\n\n{}",
            paragraph(&format!(
                "Your test accepts {n_right} right layers, one of them in single precision, \
                 and catches all {n_wrong} wrong ones. A change that breaks a \
                 layer will not go unseen."
            ))
        ),
        Verdict::NotWritten => [
            format!("○ {title}: not written yet."),
            labelled("Begin with", BEGIN),
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
                labelled("It says", &said(panic)),
            ];
            if let Some(&first) = believed.first() {
                let only = format!(
                    "a layer that {}. Do your own numbers do the same?",
                    mistakes()[first].name
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
            let read = if is_f32 { LAST_DIGIT.to_string() } else { wrong_sections };
            [
                format!("✗ {title}: your test rejects a layer that is right."),
                labelled(&format!("It is {}", right_layer.name), right_layer.because),
                labelled("Your test says", &said(panic)),
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
            text.extend(slipped_through(wrong));
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
fn slipped_through(wrong: &[usize]) -> Vec<String> {
    let mut text = Vec::new();
    let mut told = 0;
    for (shown_by, names) in SHOWN_BY {
        let of_this_kind: Vec<_> = (wrong.iter().map(|&i| &mistakes()[i]))
            .filter(|mistake| names.contains(&mistake.name))
            .collect();
        let (Some(mistake), true) = (of_this_kind.first(), text.len() < AT_A_TIME) else {
            continue;
        };
        let more = match of_this_kind.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more of this kind)"),
        };
        let label = format!("It accepts a layer that {}{more}", mistake.name);
        text.push(labelled(
            &label,
            &format!("{}. What shows it: {shown_by}", mistake.does),
        ));
        told += of_this_kind.len();
    }
    if told < wrong.len() {
        let rest = format!("{} wrong layers of other kinds", wrong.len() - told);
        text.push(labelled("It accepts too", &rest));
    }
    text
}

fn said(panic: &Panic) -> String {
    format!("{}, at {}", panic.message.trim_end_matches('.'), panic.at)
}
