//! What a layer would take on up to a thousand machines: live.

use crate::live::{LiveFigure, LiveView, Question, Settings, live};
use crate::numbers::written;
use anyhow::Result;
use attention::thousands;
use distributed::{Link, Speed};
use figures::{
    Axis, Chart, DASHES, Figure, Mark, NARROW, NEUTRAL, Panel, Place, palette,
};

use super::paper::{Case, Cluster, GPUS, Plan};

/// Draws how much of so many machines is used, by the number of machines.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("many-machines", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Drag along the axis: how many machines are the most of which half is still \
              used, by the best plan?",
        is_answered: |set, it| {
            *set == Set { n: set.n, ..Set::first() } && set.n == it.pays
        },
        answer: |set| set.n = 16,
        found: "Sixteen. In one box of eight, tokens apart use all of them; beyond it, \
                machines wait for messages, and each doubling adds less.",
    },
    Question {
        ask: "Drag along the lower axis: how long must the sequence be for 1,024 of these machines to reach half of \
              what they could compute?",
        is_answered: |set, it| {
            *set == Set { tokens: set.tokens, n: set.n, ..Set::first() }
                && it.pays >= 1024
        },
        answer: |set| set.tokens = 524_288,
        found: "Half a million tokens: pairs grow with n², and what machines send with \
                n.",
    },
    Question {
        ask: "Leave the layer. With which link can no more than eight GPUs, one box, \
              reach half of what they could compute?",
        is_answered: |set, it| {
            *set == Set { link: set.link, n: set.n, ..Set::first() } && it.pays <= 8
        },
        answer: |set| set.link = 100.0,
        found: "With 100 Gbit/s already: links inside a box carry 36 times as much.",
    },
    Question {
        ask: "Leave layer and link. Of which machines would a thousand reach half of \
              what they could compute?",
        is_answered: |set, it| {
            *set == Set { machines: set.machines, n: set.n, ..Set::first() }
                && it.pays >= 1024
        },
        answer: |set| set.machines = "laptops",
        found: "Slow ones: they hardly wait. What counts is how much a machine computes \
                in the time that it takes to send a byte.",
    },
];

/// The number of machines ends here, as a power of 2.
const MOST: u32 = 10;
/// The same of tokens, and where it begins.
const TOKENS: [u32; 2] = [8, 20];

/// Two cores of the machine on which this book is measured, and what it sends over.
const LAPTOPS: Speed = Speed { products: 9e10, attention: 9e10 };

live! {
    struct Set {
        n: usize = "Machines", power_of_two([0, MOST], 6);
        machines: &'static str = "Made of", named([
            ("gpus", "GPUs, eight to a box"), ("laptops", "processors of two cores"),
        ]);
        link: f64 = "Link between them", choice([400.0, 100.0, 10.0, 1.0].map(|link: f64| {
            (link.to_string(), format!("{link} Gbit/s"), link)
        }));
        tokens: usize = "Tokens", power_of_two(TOKENS, 15);
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

/// One way of splitting, by the number of machines.
struct Way {
    name: &'static str,
    /// The part of the machines that is used, `[exponent]`.
    used: Vec<f64>,
}

impl Set {
    fn cluster(&self) -> Cluster {
        let between = Link { bandwidth: self.link / 8.0 * 1e9, ..GPUS.between };
        match self.machines {
            "gpus" => Cluster { between, ..GPUS },
            _ => Cluster {
                speed: LAPTOPS,
                bytes: 4,
                inside: between,
                in_a_box: 1,
                between,
            },
        }
    }

    fn case(&self) -> Case {
        Case {
            d_model: self.width,
            n_heads: self.heads,
            n_kv_heads: self.heads,
            lengths: (self.sequences, self.tokens),
        }
    }

    /// Sequences are a way only where there are several.
    fn ways(&self) -> Result<Vec<Way>> {
        let (cluster, case) = (self.cluster(), self.case());
        let (one, in_a_box) = (cluster.one(case)?, cluster.in_a_box.max(2));
        let names = ["heads", "tokens", "both", "sequences"];
        let names =
            names.into_iter().filter(|name| *name != "sequences" || self.sequences > 1);
        let best = |exponent: u32| Ok(cluster.best(case, 1 << exponent)?.1);
        let best = (0..=MOST).map(best).collect::<Result<_>>()?;
        let best = Way { name: "best plan", used: best };
        let others = names.map(|name| {
            let used = |exponent: u32| -> Result<f64> {
                let n = 1 << exponent;
                let found = cluster.predict(case, plan(name, n, in_a_box))?;
                Ok(one / found.seconds() / n as f64)
            };
            Ok(Way { name, used: (0..=MOST).map(used).collect::<Result<_>>()? })
        });
        [Ok(best)].into_iter().chain(others).collect()
    }
}

impl Set {
    /// By the number of tokens, which is dragged: up to how many machines half is used, as a
    /// power of 2.
    fn by_tokens(&self) -> Result<Mark> {
        let cluster = self.cluster();
        let [first, last] = TOKENS;
        let all = (first..=last).map(|exponent| 1 << exponent);
        let pays = all.clone().map(|tokens| {
            cluster.most_machines(Self { tokens, ..self.clone() }.case(), 0.5)
        });
        let pays = pays.collect::<Result<Vec<usize>>>()?;
        let colour =
            |tokens| if tokens == self.tokens { palette::head(0) } else { NEUTRAL };
        // A bar of its own for one machine.
        Ok(Mark::bars(pays.iter().map(|n| f64::from(n.ilog2()) + 0.3))
            .named("half is used")
            .coloured_each(all.clone().map(colour))
            .written(pays.iter().map(|n| short(n.ilog2())), "outside")
            .sets(all.map(|tokens| format!("tokens={tokens}")))
            .silent())
    }
}

/// A power of 2 in few letters: 512, 1k, 2k.
fn short(exponent: u32) -> String {
    match exponent {
        ..10 => (1u32 << exponent).to_string(),
        10..20 => format!("{}k", 1u32 << (exponent - 10)),
        _ => "1M".to_owned(),
    }
}

fn tokens_panel() -> Panel {
    let [first, last] = TOKENS;
    let names: Vec<String> = (first..=last).map(short).collect();
    let y = Axis::hidden([0.0, f64::from(MOST) + 4.0]);
    let x = Axis::across(&names, 12).titled("tokens (drag)");
    Panel::new("machines of which half is used, by the best plan", x, y, 80.0)
}

impl Way {
    /// `named_at` is the height of its name, right of its end.
    fn marks(&self, which: usize, chosen: usize, named_at: f64) -> [Mark; 3] {
        let percent: Vec<f64> = self.used.iter().map(|part| 100.0 * part).collect();
        let colour = palette::head([0, 2, 5, 1, 3][which]);
        let x: Vec<f64> = (0..percent.len()).map(|at| at as f64).collect();
        let line = Mark::lines(x, percent.clone())
            .named(self.name)
            .line(colour, 2.5)
            .dashed(DASHES[which % DASHES.len()]);
        let n_decimals = i32::from(percent[chosen] < 10.0);
        let name_of = format!("{} {} %", self.name, written(percent[chosen], n_decimals));
        let name = Mark::points([NAMED], [named_at]).marked("square", 8);
        let name = name.written([name_of], "middle right");
        let dot = Mark::points([chosen as f64], [percent[chosen]]);
        [
            line,
            name.coloured(colour).silent().unclipped(),
            dot.coloured(colour).sized(9).silent().unclipped(),
        ]
    }
}

/// Where the names of lines stand, behind the last number of machines.
const NAMED: f64 = MOST as f64 + 0.6;

/// The height of each way's name beside the end of its line, apart from the others, and that
/// of a line of text over them all.
fn heights(ways: &[Way]) -> (Vec<f64>, f64) {
    let end = |way: usize| 100.0 * ways[way].used[MOST as usize];
    let mut rising: Vec<usize> = (0..ways.len()).collect();
    rising.sort_by(|&a, &b| end(a).total_cmp(&end(b)));
    let (mut heights, mut free) = (vec![0.0; ways.len()], 4.0);
    for way in rising {
        heights[way] = end(way).max(free);
        free = heights[way] + 9.0;
    }
    (heights, free)
}

/// Lines by the number of machines, which is dragged along the axis; the numbers of the best
/// plan large above them.
fn figure(set: &Set, title: String, best: [String; 2]) -> Result<Figure> {
    let ways = set.ways()?;
    let names: Vec<String> =
        (0..=MOST).map(|exponent| (1 << exponent).to_string()).collect();
    let chosen = set.n.ilog2() as usize;
    let told = |exponent: usize| {
        let each = ways.iter().map(|way| {
            format!("{}: {} %", way.name, written(100.0 * way.used[exponent], 1))
        });
        format!(
            "{} machines<br>{}",
            names[exponent],
            each.collect::<Vec<_>>().join("<br>")
        )
    };
    let columns = Mark::bars(vec![136.0; names.len()])
        .named("machines")
        .coloured("transparent")
        .sets(names.iter().map(|n| format!("n={n}")))
        .hover((0..names.len()).map(told))
        .silent();
    let at = chosen as f64;
    let rules = [[[at, 0.0], [at, 105.0]], [[-0.5, 50.0], [MOST as f64 + 0.5, 50.0]]];
    let (heights, over) = heights(&ways);
    let lines = ways.iter().zip(heights).enumerate();
    let lines = lines.flat_map(|(which, (way, at))| way.marks(which, chosen, at));
    let [large, small] = best;
    let left = -0.4;
    let large = Mark::texts([left], [126.0], [large]).text_size(22);
    let small = Mark::texts([left + 3.0], [124.0], [small]).text_size(13);
    let on = Mark::texts([NAMED - 0.2], [over], [format!("on {}:", names[chosen])]);
    let texts =
        [large, small, on].map(|mark| mark.placed("middle right").silent().unclipped());
    let panels = |width: f64| {
        let room = if width == NARROW { 6.4 } else { 3.2 };
        let x = Axis::across(&names, 12).titled("machines");
        let x = x.range([-0.5, f64::from(MOST) + 0.5 + room]);
        let y = Axis::between([0.0, 136.0]).numbered_at([0.0, 50.0, 100.0]);
        let used = "used, in % of what the machines could compute";
        let place = Place { width, left: 36.0, below: 36.0, ..Place::default() };
        (vec![Panel::new(used, x, y, 270.0), tokens_panel()], place)
    };
    Ok(Chart::new(title)
        .by_width(panels)
        .bar_gap(0.06)
        .marks(rules.map(Mark::rule).into_iter().chain(lines).chain(texts))
        .marks([columns, set.by_tokens()?.on(1)])
        .says(told(chosen).replace("<br>", ", "))
        .figure()?)
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let (cluster, case) = (set.cluster(), set.case());
    let one = cluster.one(case)?;
    let (best, efficiency) = cluster.best(case, set.n)?;
    let pays = cluster.most_machines(case, 0.5)?;
    let machines = if set.n == 1 { "machine" } else { "machines" };
    let best_of = [
        format!("{} × as fast", written(efficiency * set.n as f64, 1)),
        format!("on {} {machines}, by the best plan", thousands(set.n as u64)),
    ];
    let words = format!(
        "One machine takes {}. On {}, the best plan (by sequences × heads × tokens) is \
         {best}. Up to {pays} machines reach half of what they could compute.",
        duration(one),
        set.n,
    );
    let title = format!(
        "A layer of {} heads, {} wide, on {} tokens: how much of the machines is used",
        case.n_heads,
        case.d_model,
        thousands((case.lengths.0 * case.lengths.1) as u64)
    );
    Ok(LiveView { figure: figure(set, title, best_of)?, words, facts: Facts { pays } })
}

/// Seconds as a person says them.
fn duration(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{} s", written(seconds, 1)),
        1e-3.. => format!("{} ms", written(seconds * 1e3, 1)),
        _ => format!("{} µs", written(seconds * 1e6, 1)),
    }
}
