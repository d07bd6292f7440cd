//! On paper, with the links of today.

use attention::thousands;
use lessons::many_machines::paper::{CASES, GPUS, Plan};

use crate::quote::{Table, assert_quote, percent, values};

const NAMES: [&str; 4] = ["short", "long", "very_long", "small"];

#[test]
fn up_to_a_thousand_machines() {
    let mut table = Table::new([
        ("sequences", -15),
        ("wide, heads", -13),
        ("one", 7),
        ("8 machines", 15),
        ("64", 15),
        ("1024", 18),
    ]);
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
            format!("{}, {}", case.d_model, case.n_heads),
            match GPUS.one(case).unwrap() {
                long if long >= 1.0 => format!("{long:.0} s"),
                short => format!("{:.1} ms", 1e3 * short),
            },
            best(8),
            best(64),
            best(1024),
        ]);
    }
    assert_quote!("many_machines_paper", table.text());
    let mut numbers = Vec::new();
    for (key, case) in NAMES.into_iter().zip(CASES) {
        for by_heads in [8, 64] {
            let plan = Plan { by_sequences: 1, by_heads, by_tokens: 1 };
            let heads = GPUS.predict(case, plan).unwrap();
            let waits = percent(heads.waiting / heads.seconds());
            numbers.push((format!("{key}_sum_{by_heads}"), waits));
        }
        let pays = GPUS.most_machines(case, 0.5).unwrap();
        numbers.push((format!("{key}_pays"), thousands(pays as u64)));
        for n in [8, 64] {
            let plan = Plan { by_sequences: 1, by_heads: 1, by_tokens: n };
            let ring = GPUS.predict(case, plan).unwrap();
            let waits = percent(ring.waiting / ring.seconds());
            numbers.push((format!("{key}_ring_{n}"), waits));
        }
    }
    let grid = Plan { by_sequences: 1, by_heads: 8, by_tokens: 8 };
    let grid = GPUS.predict(CASES[1], grid).unwrap();
    numbers.push(("long_grid_64".to_owned(), percent(grid.waiting / grid.seconds())));
    assert_quote!("many_machines_paper_values", values(&numbers));
}
