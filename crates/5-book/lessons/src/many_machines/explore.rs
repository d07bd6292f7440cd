//! What a layer would take on up to a thousand machines: live.

use crate::live::{LiveFigure, LiveView, Question, Settings, live};
use crate::numbers::{lines_panel, written};
use anyhow::Result;
use attention::thousands;
use distributed::{Link, Speed};
use figures::{Lines, lines};

use super::paper::{Case, Cluster, GPUS, Plan};

/// Draws speed and waiting by the number of machines.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("many-machines", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "How long must the sequence be for 1,024 of these machines to reach half of \
              what they could compute?",
        is_answered: |set, it| {
            *set == Set { tokens: set.tokens, ..Set::first() } && it.pays >= 1024
        },
        answer: |set| set.tokens = 524_288,
        found: "Half a million tokens: pairs grow with n², and what machines send with \
                n.",
    },
    Question {
        ask: "Leave the layer. With which link can no more than eight GPUs, one box, \
              reach half of what they could compute?",
        is_answered: |set, it| {
            *set == Set { link: set.link, ..Set::first() } && it.pays <= 8
        },
        answer: |set| set.link = 100.0,
        found: "With 100 Gbit/s already: links inside a box carry 36 times as much.",
    },
    Question {
        ask: "Leave layer and link. Of which machines would a thousand reach half of \
              what they could compute?",
        is_answered: |set, it| {
            *set == Set { machines: set.machines, ..Set::first() } && it.pays >= 1024
        },
        answer: |set| set.machines = "laptops",
        found: "Slow ones: they hardly wait. What counts is how much a machine computes \
                in the time that it takes to send a byte.",
    },
];

/// The number of machines ends here, as a power of 2.
const MOST: u32 = 10;

/// Two cores of the machine on which this book is measured, and what it sends over.
const LAPTOPS: Speed = Speed { products: 9e10, attention: 9e10 };

live! {
    struct Set {
        machines: &'static str = "Machines", named([
            ("gpus", "GPUs, eight to a box"), ("laptops", "processors of two cores"),
        ]);
        link: f64 = "Link between them", choice([400.0, 100.0, 10.0, 1.0].map(|link: f64| {
            (link.to_string(), format!("{link} Gbit/s"), link)
        }));
        tokens: usize = "Tokens", power_of_two([8, 20], 15);
        width: usize = "Width d_model", power_of_two([8, 14], 13);
        heads: usize = "Heads", power_of_two([2, 7], 6);
        sequences: usize = "Sequences", power_of_two([0, 6], 0);
    }

    struct Facts {
        /// Up to so many reach half of what they could compute.
        pays: usize,
    }
}

/// `n` machines by the way of splitting that is named so.
fn plan(name: &str, n: usize, in_a_box: usize) -> Plan {
    let [by_sequences, by_heads, by_tokens] = match name {
        "heads" => [1, n, 1],
        "tokens" => [1, 1, n],
        "sequences" => [n, 1, 1],
        _ => [1, n.min(in_a_box), n.div_ceil(in_a_box)],
    };
    Plan { by_sequences, ..Plan::grid(by_heads, by_tokens) }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let between = Link { bandwidth: set.link / 8.0 * 1e9, ..GPUS.between };
    let cluster = match set.machines {
        "gpus" => Cluster { between, ..GPUS },
        _ => Cluster { speed: LAPTOPS, bytes: 4, inside: between, in_a_box: 1, between },
    };
    let case = Case {
        d_model: set.width,
        n_heads: set.heads,
        n_kv_heads: set.heads,
        lengths: (set.sequences, set.tokens),
    };
    let panel = |title: &str| lines_panel(title, "machines, as a power of 2", Vec::new());
    let mut panels = [
        Lines { is_log: true, ..panel("times as fast as one machine") },
        panel("waiting, as a part of the time"),
    ];
    let one = cluster.one(case)?;
    let in_a_box = cluster.in_a_box.max(2);
    for name in ["heads", "tokens", "both, heads in a box", "sequences"] {
        let (mut faster, mut waits) = (Vec::new(), Vec::new());
        for exponent in 0..=MOST {
            let n: usize = 1 << exponent;
            let found = cluster.predict(case, plan(name, n, in_a_box))?;
            faster.push([f64::from(exponent), one / found.seconds()]);
            waits.push([f64::from(exponent), found.waiting / found.seconds()]);
        }
        panels[0].lines.push((name.to_owned(), faster));
        panels[1].lines.push((name.to_owned(), waits));
    }
    let n = 1usize << MOST;
    let (best, efficiency) = cluster.best(case, n)?;
    let pays = cluster.most_machines(case, 0.5)?;
    let words = format!(
        "One machine takes {}. On {n}, the best plan (by sequences × heads × tokens) is {best}, \
         {} times as fast. Up to {pays} machines reach half of what they could compute.",
        duration(one),
        written(efficiency * n as f64, 1),
    );
    let title = format!(
        "A layer of {} heads, {} wide, on {} tokens",
        case.n_heads,
        case.d_model,
        thousands((case.lengths.0 * case.lengths.1) as u64)
    );
    Ok(LiveView { figure: lines(title, &panels)?, words, facts: Facts { pays } })
}

/// Seconds as a person says them.
fn duration(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{} s", written(seconds, 1)),
        1e-3.. => format!("{} ms", written(seconds * 1e3, 1)),
        _ => format!("{} µs", written(seconds * 1e6, 1)),
    }
}
