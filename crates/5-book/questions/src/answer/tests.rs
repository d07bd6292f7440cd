//! Every form of an answer, and what is no answer.

use super::*;
use crate::question::form;

const CHOICE: &str = "one of zeros | NaN | an even row | another row";
const SUMS: &str = "one of every row | every column | every row and column";
const PILOT: &str = "token of The pilot flew the plane to Paris.";
const SHARE: Form = Form::Decimal { within: 0.01 };

fn of(text: &str) -> Form {
    form(text).unwrap()
}

/// That each of these lines is read as this.
#[track_caller]
fn all_are(form: &Form, lines: &str, wanted: &Prediction) {
    for line in lines.split(" | ") {
        assert_eq!(form.read(line).as_ref(), Some(wanted), "{line}");
    }
}

#[track_caller]
fn all_say(form: &Form, lines: &str, answer: impl Into<Answer>) {
    all_are(form, lines, &Prediction::Exactly(answer.into()));
}

#[track_caller]
fn all_judged(form: &Form, lines: &str, answer: impl Into<Answer>, verdict: Verdict) {
    let answer = answer.into();
    for line in lines.split(" | ") {
        let given = form.read(line).unwrap_or_else(|| panic!("{line} is not read"));
        assert_eq!(form.judge(&given, &answer), verdict, "{line}");
    }
}

#[test]
fn whole_numbers_in_every_form() {
    let exactly = "263168 | 263,168 | 263 168 | 263_168 |  263'168  | 263\u{202f}168 | \
                   263,168x | × 263168 | 263168 times";
    all_say(&Form::Whole, exactly, 263_168);
    all_say(&Form::Whole, "0", 0);
    let about = |lines, value, step| {
        all_are(&Form::Whole, lines, &Prediction::About { value, step });
    };
    about("~263K | ≈ 263k | 263K | about 263 K | ~263000 | ~263,000", 263e3, 1e3);
    about("~263.2K", 263_200.0, 100.0);
    about("~0.26M | ~260K", 260e3, 1e4);
    about("~7", 7.0, 1.0);
}

#[test]
fn a_rounded_number_is_near_and_not_right() {
    let all = |lines, n, verdict| all_judged(&Form::Whole, lines, n, verdict);
    all("263,168", 263_168, Verdict::Right);
    all("~263K | 263K | ~263.2K | ~0.26M | ~260K", 263_168, Verdict::Near);
    let missed = "~262K | ~264K | ~0.27M | ~263.1K | ~263,167 | 262,144";
    all(missed, 263_168, Verdict::Missed);
    all("~80K", 80_000, Verdict::Right);
    all("~7", 7, Verdict::Right);
    all("~7", 8, Verdict::Missed);
}

#[test]
fn decimals_in_every_form_and_within_what_is_said() {
    let right = "0.5 | .5 | 0,5 | 1/2 | 50% | 50 % | ~0.5 | 0.509 | √0.25";
    all_judged(&SHARE, right, 0.5, Verdict::Right);
    let missed = "0.511 | 0.489 | 1 | -0.5 | −0.5 | NaN | ∞ | -inf";
    all_judged(&SHARE, missed, 0.5, Verdict::Missed);
    all_judged(&SHARE, "nan", f64::NAN, Verdict::Right);
    all_say(&SHARE, "sqrt(32)", 32_f64.sqrt());
}

#[test]
fn shapes_in_every_form() {
    let lines = "30x256 | 30 x 256 | 30X256 | 30×256 | 30*256 | (30, 256) | (30,256) | \
                 [30, 256] | 30, 256 | 30,256 | 30 256 | 30 by 256 | ( 30 , 256 )";
    all_say(&Form::Shape, lines, (30, 256));
}

#[test]
fn choices_by_name_number_or_beginning() {
    let choice = of(CHOICE);
    all_say(&choice, "zeros | ZEROS | 1 | z", "zeros");
    all_say(&choice, "“NaN” | 2", "NaN");
    all_say(&choice, "an even row", "an even row");
    all_say(&choice, "ano", "another row");
    all_say(&of(PILOT), "[CLS] | cls | [cls] | 1", "[CLS]");
    all_say(&of(PILOT), ".", ".");
}

#[test]
fn every_and_the_plural_do_not_count_in_a_choice() {
    let sums = of(SUMS);
    all_say(&sums, "rows | row | each row | all rows", "every row");
    all_say(&sums, "the columns", "every column");
    all_say(&sums, "rows and columns", "every row and column");
    for line in ["every", "the", "s", "rows or columns"] {
        assert_eq!(sums.read(line), None, "{line}");
    }
    // The words of a sentence are not to be changed: “the” is one of its tokens.
    assert_eq!(of(PILOT).read("pilots"), None);
}

#[test]
fn tokens_that_come_twice_are_listed_once() {
    insta::assert_snapshot!(of(PILOT).options().join(" "), @"[CLS] the pilot flew plane to paris . [SEP]");
}

#[test]
fn what_is_no_answer_is_not_guessed() {
    // A number that no f64 can hold is near to nothing.
    let too_large =
        format!("~1{} | 1{}K | {}", "0".repeat(400), "0".repeat(307), "9".repeat(23));
    let no_numbers = "many | -5 | 1.5 | 26,3168 | 263,16 | 1,234 567 | 1,,000 | ~ | K | \
                      ~0K | 12.K | 12x34 | 0x10 | 1e3 | ٣";
    let cases = [
        (Form::Whole, too_large.as_str()),
        (Form::Whole, no_numbers),
        (SHARE, "half | 1.2.3 | 1,000.5 | / | 1/ | % | √ | . | - | 1e3 | 0x1"),
        (Form::Shape, "30 | 30x | 8, 30, 32 | a x b | (30, 256 | -1x3 | 30.5x2"),
        (of(CHOICE), "0 | 5 | an | row | … | -1 | 99999999999999999999999"),
    ];
    for (form, lines) in cases {
        for line in lines.split(" | ").chain(["", " "]) {
            assert_eq!(form.read(line), None, "{form:?} {line:?}");
        }
    }
}

#[test]
fn answers_print_as_a_person_writes_them() {
    let numbers = [3.0, 5.65685, f64::NAN].map(Answer::Decimal);
    let others = [263_168.into(), (30, 256).into(), "zeros".into()];
    let printed =
        [numbers, others].concat().iter().map(Answer::to_string).collect::<Vec<_>>();
    insta::assert_snapshot!(printed.join("  "), @"3  5.657  NaN  263,168  (30, 256)  zeros");
}
