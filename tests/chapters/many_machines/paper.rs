//! On paper, with the links of today.

use attention::thousands;
use lessons::many_machines::paper::{CASES, GPUS, Neighbours, Plan};

use crate::quote::{Table, assert_quote, percent, values};

const NAMES: [&str; 5] = ["short", "long", "long_shared", "very_long", "small"];

#[test]
fn up_to_a_thousand_machines() {
    let mut table =
        Table::new(["sequences", "wide, heads", "one", "8 machines", "16", "64", "1024"]);
    for case in CASES {
        let (n, n_tokens) = case.lengths;
        let best = |machines: usize| {
            let (plan, efficiency) = GPUS.best(case, machines).unwrap();
            let efficiency = match efficiency {
                small if small < 1e-3 => "< 0.1 %".to_owned(),
                large => percent(large),
            };
            format!("{plan}, {efficiency}")
        };
        table.row([
            format!("{n} × {}", thousands(n_tokens as u64)),
            match case.n_kv_heads == case.n_heads {
                true => format!("{}, {}", case.d_model, case.n_heads),
                false => {
                    format!("{}, {} on {}", case.d_model, case.n_heads, case.n_kv_heads)
                }
            },
            match GPUS.one(case).unwrap() {
                long if long >= 1.0 => format!("{long:.0} s"),
                short => format!("{:.1} ms", 1e3 * short),
            },
            best(8),
            best(16),
            best(64),
            best(1024),
        ]);
    }
    assert_quote!("many_machines_paper", table.text());
}

/// How long the splits wait, and what the layout changes.
#[test]
fn splits_and_layouts() {
    let waits = |case, plan| {
        let found = GPUS.predict(case, plan).unwrap();
        percent(found.waiting / found.seconds())
    };
    let mut numbers = Vec::new();
    for (key, case) in NAMES.into_iter().zip(CASES) {
        for n in [8, 64] {
            numbers.push((format!("{key}_sum_{n}"), waits(case, Plan::grid(n, 1))));
            numbers.push((format!("{key}_ring_{n}"), waits(case, Plan::grid(1, n))));
        }
        let pays = GPUS.most_machines(case, 0.5).unwrap();
        numbers.push((format!("{key}_pays"), thousands(pays as u64)));
        let (best, _) = GPUS.best(case, 64).unwrap();
        numbers.push((format!("{key}_grid_64"), waits(case, best)));
        // The best of the other layout.
        for n in [16, 64] {
            let (plan, best) = GPUS.best(case, n).unwrap();
            let other = match plan.neighbours {
                Neighbours::Heads => Neighbours::Tokens,
                Neighbours::Tokens => Neighbours::Heads,
            };
            let (_, efficiency) = GPUS.best_of(case, n, &[other]).unwrap();
            numbers.push((format!("{key}_best_{n}"), percent(best)));
            numbers.push((format!("{key}_other_{n}"), percent(efficiency)));
        }
    }
    assert_quote!("many_machines_paper_values", values(&numbers));
}
