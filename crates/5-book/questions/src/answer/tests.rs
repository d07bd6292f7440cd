//! Every form of an answer, and what is no answer.

use super::*;
use crate::question::form;

const CHOICE: &str = "one of zeros | NaN | an even row | another row";
const SUMS: &str = "one of every row | every column | every row and column";
const PILOT: &str = "token of The pilot flew the plane to Paris.";
const SHARE: Form = Form::Decimal { within: 0.01 };

fn read(form: Form, line: &str) -> Option<Prediction> {
    form.read(line)
}

fn of(text: &str) -> Form {
    form(text).unwrap()
}

fn about(value: f64, step: f64) -> Option<Prediction> {
    Some(Prediction::About { value, step })
}

#[test]
fn whole_numbers_in_every_form() {
    for line in [
        "263168",
        "263,168",
        "263 168",
        "263_168",
        " 263'168 ",
        "263\u{202f}168",
        "263,168x",
        "× 263168",
        "263168 times",
    ] {
        let exactly = Some(Prediction::Exactly(Answer::Whole(263_168)));
        assert_eq!(read(Form::Whole, line), exactly, "{line}");
    }
    assert_eq!(read(Form::Whole, "0"), Some(Prediction::Exactly(Answer::Whole(0))));
    for line in ["~263K", "≈ 263k", "263K", "about 263 K", "~263000", "~263,000"] {
        assert_eq!(read(Form::Whole, line), about(263e3, 1e3), "{line}");
    }
    assert_eq!(read(Form::Whole, "~263.2K"), about(263_200.0, 100.0));
    assert_eq!(read(Form::Whole, "~0.26M"), about(260e3, 1e4));
    assert_eq!(read(Form::Whole, "~260K"), about(260e3, 1e4));
    assert_eq!(read(Form::Whole, "~7"), about(7.0, 1.0));
}

#[test]
fn a_rounded_number_is_near_and_not_right() {
    let judged =
        |line, n| Form::Whole.judge(&read(Form::Whole, line).unwrap(), &Answer::Whole(n));
    assert_eq!(judged("263,168", 263_168), Verdict::Right);
    for line in ["~263K", "263K", "~263.2K", "~0.26M", "~260K"] {
        assert_eq!(judged(line, 263_168), Verdict::Near, "{line}");
    }
    for line in ["~262K", "~264K", "~0.27M", "~263.1K", "~263,167", "262,144"] {
        assert_eq!(judged(line, 263_168), Verdict::Missed, "{line}");
    }
    assert_eq!(judged("~80K", 80_000), Verdict::Right);
    assert_eq!(judged("~7", 7), Verdict::Right);
    assert_eq!(judged("~7", 8), Verdict::Missed);
}

#[test]
fn decimals_in_every_form_and_within_what_is_said() {
    for line in ["0.5", ".5", "0,5", "1/2", "50%", "50 %", "~0.5", "0.509", "√0.25"] {
        let given = read(SHARE, line).unwrap();
        assert_eq!(SHARE.judge(&given, &Answer::Decimal(0.5)), Verdict::Right, "{line}");
    }
    for line in ["0.511", "0.489", "1", "-0.5", "−0.5", "NaN", "∞", "-inf"] {
        let given = read(SHARE, line).unwrap();
        assert_eq!(SHARE.judge(&given, &Answer::Decimal(0.5)), Verdict::Missed, "{line}");
    }
    let nan = read(SHARE, "nan").unwrap();
    assert_eq!(SHARE.judge(&nan, &Answer::Decimal(f64::NAN)), Verdict::Right);
    let root = Some(Prediction::Exactly(Answer::Decimal(32_f64.sqrt())));
    assert_eq!(read(SHARE, "sqrt(32)"), root);
}

#[test]
fn shapes_in_every_form() {
    for line in [
        "30x256",
        "30 x 256",
        "30X256",
        "30×256",
        "30*256",
        "(30, 256)",
        "(30,256)",
        "[30, 256]",
        "30, 256",
        "30,256",
        "30 256",
        "30 by 256",
        "( 30 , 256 )",
    ] {
        let given = Some(Prediction::Exactly(Answer::Shape((30, 256))));
        assert_eq!(read(Form::Shape, line), given, "{line}");
    }
}

#[test]
fn choices_by_name_number_or_beginning() {
    let cases = [
        ("zeros", "zeros"),
        ("ZEROS", "zeros"),
        ("1", "zeros"),
        ("z", "zeros"),
        ("“NaN”", "NaN"),
        ("2", "NaN"),
        ("an even row", "an even row"),
        ("ano", "another row"),
    ];
    for (line, option) in cases {
        let given = Some(Prediction::Exactly(Answer::Text(option.to_owned())));
        assert_eq!(read(of(CHOICE), line), given, "{line}");
    }
    let cls = Some(Prediction::Exactly(Answer::Text("[CLS]".to_owned())));
    for line in ["[CLS]", "cls", "[cls]", "1"] {
        assert_eq!(read(of(PILOT), line), cls, "{line}");
    }
    let stop = Some(Prediction::Exactly(Answer::Text(".".to_owned())));
    assert_eq!(read(of(PILOT), "."), stop);
}

#[test]
fn every_and_the_plural_do_not_count_in_a_choice() {
    let cases = [
        ("rows", "every row"),
        ("row", "every row"),
        ("each row", "every row"),
        ("all rows", "every row"),
        ("the columns", "every column"),
        ("rows and columns", "every row and column"),
    ];
    for (line, option) in cases {
        let given = Some(Prediction::Exactly(Answer::Text(option.to_owned())));
        assert_eq!(read(of(SUMS), line), given, "{line}");
    }
    for line in ["every", "the", "s", "rows or columns"] {
        assert_eq!(read(of(SUMS), line), None, "{line}");
    }
    // The words of a sentence are not to be changed: “the” is one of its tokens.
    assert_eq!(read(of(PILOT), "pilots"), None);
}

#[test]
fn tokens_that_come_twice_are_listed_once() {
    insta::assert_snapshot!(of(PILOT).options().join(" "), @"[CLS] the pilot flew plane to paris . [SEP]");
}

#[test]
fn what_is_no_answer_is_not_guessed() {
    // A number that no f64 can hold is near to nothing.
    let too_large = format!("~1{}", "0".repeat(400));
    let too_many_thousands = format!("1{}K", "0".repeat(307));
    let cases: [(Form, &[&str]); 4] = [
        (
            Form::Whole,
            &[
                "many",
                "-5",
                "1.5",
                "26,3168",
                "263,16",
                "1,234 567",
                "1,,000",
                "~",
                "K",
                "~0K",
                "12.K",
                "12x34",
                "0x10",
                "1e3",
                "٣",
                "99999999999999999999999",
                &too_large,
                &too_many_thousands,
            ],
        ),
        (
            SHARE,
            &["half", "1.2.3", "1,000.5", "/", "1/", "%", "√", ".", "-", "1e3", "0x1"],
        ),
        (Form::Shape, &["30", "30x", "8, 30, 32", "a x b", "(30, 256", "-1x3", "30.5x2"]),
        (of(CHOICE), &["0", "5", "an", "row", "…", "-1", "99999999999999999999999"]),
    ];
    for (form, lines) in cases {
        for line in lines.iter().chain([&"", &" "]) {
            assert_eq!(form.read(line), None, "{form:?} {line:?}");
        }
    }
}

#[test]
fn answers_print_as_a_person_writes_them() {
    let printed = [
        Answer::Whole(263_168),
        Answer::Decimal(3.0),
        Answer::Decimal(5.65685),
        Answer::Decimal(f64::NAN),
        Answer::Shape((30, 256)),
        Answer::Text("zeros".into()),
    ]
    .map(|answer| answer.to_string());
    insta::assert_snapshot!(printed.join("  "), @"263,168  3  5.657  NaN  (30, 256)  zeros");
}
