//! The row of *overflowed*, backwards by hand.

use lessons::one_head::head;
use lessons::the_backward_pass::by_hand::{QUERY, backward, loss, off};

use crate::quote::{Table, assert_quote, below, bound, values};

const TOLERANCE: f64 = 1e-9;

#[test]
fn one_row_backwards() {
    let d = backward(&head(2.0).unwrap()).unwrap();
    let out = d.pass.out.row(QUERY);

    // The numbers in the prose, and all 24 weights against central differences.
    let off = off(&head(2.0).unwrap(), &d.d_w).unwrap();
    println!("off by {off:e}");
    let (verb, noun) = (3, 0);
    let gradient = d.d_w[0][(verb, noun)];
    assert_eq!(gradient, d.d_q[noun]);
    assert!(gradient < 0.0 && d.d_scores[1] < 0.0, "both should grow");
    let better = loss(&head(2.0 - gradient).unwrap()).unwrap();
    let quoted = [
        ("loss", format!("{:.3}", d.loss)),
        ("out_water", format!("{:.3}", out[0])),
        ("out_money", format!("{:.3}", out[1])),
        ("dot", three(d.dot)),
        ("d_verb", three(gradient)),
        ("verb_after", format!("{:.3}", 2.0 - gradient)),
        ("loss_after", format!("{better:.3}")),
        ("off", bound(off, TOLERANCE)),
    ];
    assert_quote!("the_backward_pass_by_hand_values", values(&quoted));
}

#[test]
fn the_verbs_question_nudged() {
    let gradient = backward(&head(2.0).unwrap()).unwrap().d_w[0][(3, 0)];
    let nudged = |h: f64| loss(&head(2.0 + h).unwrap()).unwrap();
    let quotient = |h: f64| (nudged(h) - nudged(-h)) / (2.0 * h);
    let mut table = Table::new(["nudge h", "difference / 2h", "relative error"]);
    for h in [1.0, 0.1, 0.01, 1e-4] {
        let off = (quotient(h) / gradient - 1.0).abs();
        let off = match h {
            1e-4 => format!("below {}", below(off, 1e-7)),
            _ => format!("{off:.1e}"),
        };
        table.row([h.to_string(), format!("{:.9}", quotient(h)), off]);
    }
    table.row(["gradient", &format!("{gradient:.9}"), ""]);
    assert_quote!("the_backward_pass_nudge", table.text());

    // So small a nudge drowns in the last digits of the loss.
    let worst = |nudges: [f64; 5]| {
        nudges
            .map(|h| (quotient(h) / gradient - 1.0).abs())
            .into_iter()
            .fold(0.0, f64::max)
    };
    let (tiny, fair) = (worst([1e-12, 2e-12, 3e-12, 5e-12, 7e-12]), worst([1e-4; 5]));
    println!("off by up to {tiny:e} with nudges of 1e-12, {fair:e} with 1e-4");
    assert!(tiny > 1e3 * fair);
}

/// Three digits after the point, and no minus before a zero.
fn three(x: f64) -> String {
    let text = format!("{x:.3}");
    if text == "-0.000" { "0.000".to_owned() } else { text.replace('-', "−") }
}
