//! What a layer would take on up to a thousand machines: live.

use crate::live::{Control, Kind, Live, LiveView, Question, Settings};
use crate::numbers::written;
use anyhow::Result;
use attention::thousands;
use distributed::{Link, Speed};
use figures::{Lines, lines};

use super::paper::{Case, Cluster, GPUS, Plan};

/// Draws speed and waiting by the number of machines.
pub const LIVE: Live = Live {
    name: "many-machines",
    questions: &[
        Question {
            ask: "How long must the sequence be for 1,024 of these machines to reach half of \
                  what they could compute?",
            is_answered: |settings, view| {
                let [_, _, pays] = view.last()?;
                Ok(settings.has_moved_only(&controls(), &["tokens"])? && pays >= 1024.0)
            },
            answer: &[("tokens", "524288")],
            found: "Half a million tokens: pairs grow with n², and what machines send \
                   with n.",
        },
        Question {
            ask: "Leave the layer. With which link can no more than eight GPUs, one box, \
                 reach half of what they could compute?",
            is_answered: |settings, view| {
                let [_, _, pays] = view.last()?;
                Ok(settings.has_moved_only(&controls(), &["link"])? && pays <= 8.0)
            },
            answer: &[("link", "100")],
            found: "With 100 Gbit/s already: links inside a box carry 36 times as much.",
        },
        Question {
            ask: "Leave layer and link. Of which machines would a thousand reach half of \
                 what they could compute?",
            is_answered: |settings, view| {
                let [_, _, pays] = view.last()?;
                Ok(settings.has_moved_only(&controls(), &["machines"])? && pays >= 1024.0)
            },
            answer: &[("machines", "laptops")],
            found: "Slow ones: they hardly wait. What counts is how much a machine \
                   computes in the time that it takes to send a byte.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: None,
};

/// The number of machines ends here, as a power of 2.
const MOST: u32 = 10;

/// Two cores of the machine on which this book is measured, and what it sends over.
const LAPTOPS: Speed = Speed { products: 9e10, attention: 9e10 };

fn controls() -> Vec<Control> {
    let machines =
        [("gpus", "GPUs, eight to a box"), ("laptops", "processors of two cores")];
    let links = [
        ("400", "400 Gbit/s"),
        ("100", "100 Gbit/s"),
        ("10", "10 Gbit/s"),
        ("1", "1 Gbit/s"),
    ];
    vec![
        Control::new("machines", "Machines", Kind::choice(machines)),
        Control::new("link", "Link between them", Kind::choice(links)),
        Control::new("tokens", "Tokens", Kind::power_of_two([8, 20], 15)),
        Control::new("width", "Width d_model", Kind::power_of_two([8, 14], 13)),
        Control::new("heads", "Heads", Kind::power_of_two([2, 7], 6)),
        Control::new("sequences", "Sequences", Kind::power_of_two([0, 6], 0)),
    ]
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

fn draw(settings: &Settings) -> Result<LiveView> {
    let gigabits: f64 = settings.choice("link")?.parse()?;
    let between = Link { bandwidth: gigabits / 8.0 * 1e9, ..GPUS.between };
    let cluster = match settings.choice("machines")? {
        "gpus" => Cluster { between, ..GPUS },
        _ => Cluster { speed: LAPTOPS, bytes: 4, inside: between, in_a_box: 1, between },
    };
    let n_heads = settings.size("heads")?;
    let case = Case {
        d_model: settings.size("width")?,
        n_heads,
        n_kv_heads: n_heads,
        lengths: (settings.size("sequences")?, settings.size("tokens")?),
    };
    let mut panels = ["times as fast as one machine", "waiting, as a part of the time"]
        .map(|title| Lines {
            title: title.to_owned(),
            x: "machines, as a power of 2".to_owned(),
            is_log: title.starts_with("times"),
            lines: Vec::new(),
        });
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
    let drawn = panels.iter().flat_map(|panel| &panel.lines);
    let mut numbers: Vec<f64> =
        drawn.flat_map(|(_, points)| points.iter().map(|point| point[1])).collect();
    numbers.extend([one, efficiency, pays as f64]);
    Ok(LiveView { figure: lines(title, &panels)?, words, numbers })
}

/// Seconds as a person says them.
fn duration(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{} s", written(seconds, 1)),
        1e-3.. => format!("{} ms", written(seconds * 1e3, 1)),
        _ => format!("{} µs", written(seconds * 1e6, 1)),
    }
}
