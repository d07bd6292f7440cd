//! What was measured with two processes and with four, next to what was predicted.

use lessons::many_machines::measured::{CASES, Run, one_machine, slow_links};
use lessons::numbers::ends;

use crate::quote::{assert_quote, values};

fn middle(runs: &[&Run], of: impl Fn(&Run) -> f64) -> f64 {
    attention::median(runs.iter().map(|run| of(run)))
}

/// The runs of one split of one case.
fn of<'a>(runs: &'a [Run], case: [usize; 4], split: &str) -> Vec<&'a Run> {
    runs.iter()
        .filter(|run| run.processes == 2 && run.case == case && run.split == split)
        .collect()
}

/// Two processes of one thread on one machine, next to one process of two.
#[test]
fn on_one_machine() {
    let runs = one_machine().unwrap();
    let (mut slowest, mut off) = (f64::INFINITY, 0f64);
    for case in CASES {
        for split in ["heads", "tokens", "batch"] {
            let runs = of(&runs, case, split);
            if runs.is_empty() {
                continue;
            }
            assert_eq!(runs.len(), 3, "{case:?}, {split}");
            let one = middle(&runs, |run| run.one_machine);
            let speed = one / middle(&runs, |run| run.seconds);
            let this_off = middle(&runs, Run::off);
            slowest = slowest.min(speed);
            off = off.max(this_off.abs());
        }
    }
    assert!(slowest >= 0.85, "{slowest}");
    assert!(off <= 0.25, "{off}");
    assert_quote!(
        "many_machines_one_machine_values",
        values(&[
            ("slowest", format!("{slowest:.2}")),
            ("off", format!("{:.0} %", 100.0 * off)),
        ])
    );
}

#[test]
fn on_slow_links() {
    let runs = slow_links().unwrap();
    let nearest = |case, split, gigabits: f64| -> &Run {
        let runs = of(&runs, case, split);
        let apart = |run: &Run| (run.bandwidth * 8e-9 / gigabits).ln().abs();
        runs.into_iter().min_by(|a, b| apart(a).total_cmp(&apart(b))).unwrap()
    };
    let waits = |case, split, gigabits| {
        let run = nearest(case, split, gigabits);
        format!("{:.0}", 1e3 * run.waiting)
    };
    let off = ends(runs.iter().map(Run::off));
    println!("off: {off:?}");
    let [long, wide] = CASES;
    assert_quote!(
        "many_machines_slow_links",
        values(&[
            ("heads_wait", waits(long, "heads", 1.0)),
            ("tokens_wait", waits(long, "tokens", 1.0)),
            ("wide_heads_wait", waits(wide, "heads", 1.0)),
            ("wide_tokens_wait", waits(wide, "tokens", 1.0)),
            ("off_most", format!("{:.0} %", -100.0 * off[0])),
        ])
    );
    assert!(off[0].abs() >= off[2].abs());
}
