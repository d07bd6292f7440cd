//! On paper: a layer on up to a thousand machines that nobody here has.

use std::fmt;

use anyhow::{Context, Result};
use attention::Dims;
use distributed::{Link, Model, Prediction, Speed, Split, share};

/// Nobody asks for more machines than this here.
const MOST: usize = 1 << 14;

/// A machine, and what connects such machines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cluster {
    /// What a machine computes.
    pub speed: Speed,
    /// Bytes of a number.
    pub bytes: usize,
    /// Within a box of so many machines.
    pub inside: Link,
    /// How many machines are in a box.
    pub in_a_box: usize,
    /// From box to box, for each machine.
    pub between: Link,
}

/// Boxes of eight H100 with today's links: NVLink 4 (450 GB/s each way) within, and for each
/// of the eight a port of InfiniBand NDR (400 Gbit/s) to other boxes. The speed is three
/// fifths of the 989 · 10¹² operations a second that its data sheet gives for dense bf16,
/// latencies are round numbers: none of this was measured here.
pub const GPUS: Cluster = Cluster {
    speed: Speed { products: 3e14, attention: 3e14 },
    bytes: 2,
    inside: Link { latency: 3e-6, bandwidth: 450e9 },
    in_a_box: 8,
    between: Link { latency: 10e-6, bandwidth: 50e9 },
};

/// A layer and its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// The width of the model.
    pub d_model: usize,
    /// Its heads.
    pub n_heads: usize,
    /// Sequences, and tokens of each.
    pub lengths: (usize, usize),
}

/// What the chapter asks: many short sequences, one long, one very long, in a wide layer; and
/// a small layer.
pub const CASES: [Case; 4] = [
    Case { d_model: 8192, n_heads: 64, lengths: (16, 2048) },
    Case { d_model: 8192, n_heads: 64, lengths: (1, 32_768) },
    Case { d_model: 8192, n_heads: 64, lengths: (1, 1_048_576) },
    Case { d_model: 1024, n_heads: 16, lengths: (1, 8192) },
];

/// Into how many groups machines are cut: each group of the first has some sequences; in it,
/// each group of the second some heads; in that, each machine some tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Groups with some sequences each.
    pub by_sequences: usize,
    /// Groups with some heads each.
    pub by_heads: usize,
    /// Machines with some tokens each.
    pub by_tokens: usize,
}

impl Plan {
    /// All for so many machines, a power of 2, in which no group is without a sequence or a
    /// head.
    fn all(case: Case, n_machines: usize) -> impl Iterator<Item = Self> {
        let powers = |most: usize| {
            (0..usize::BITS).map(|n| 1 << n).take_while(move |n| *n <= most)
        };
        let pairs = powers(case.lengths.0).flat_map(move |by_sequences: usize| {
            powers(case.n_heads).map(move |by_heads: usize| (by_sequences, by_heads))
        });
        pairs.filter_map(move |(by_sequences, by_heads)| {
            let by_tokens = n_machines / (by_sequences * by_heads);
            (by_tokens > 0).then_some(Self { by_sequences, by_heads, by_tokens })
        })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}×{}×{}", self.by_sequences, self.by_heads, self.by_tokens)
    }
}

impl Cluster {
    /// What a plan takes, forward. Machines that share out heads are neighbours: as many as
    /// fit are in one box. A ring that leaves a box goes at the speed of the link between.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub fn predict(&self, case: Case, plan: Plan) -> Result<Prediction> {
        let Plan { by_sequences, by_heads, by_tokens } = plan;
        let link =
            |size: usize| if size <= self.in_a_box { self.inside } else { self.between };
        let n_sequences = share(case.lengths.0, by_sequences, 0).len();
        let model = Model {
            dims: Dims::new(case.d_model, case.n_heads)?,
            lengths: (n_sequences, case.lengths.1),
            is_causal: true,
            bytes: self.bytes,
            speed: self.speed,
            sum: self.sum(by_heads),
            ring: link(by_heads * by_tokens),
        };
        Ok(model.predict(Split::Both { by_heads }, by_heads * by_tokens)?)
    }

    /// The link over which a ring of p would make its sum in the time that boxes take: first
    /// each box sums for itself, so that each of its machines has a part of the sum; then the
    /// parts are summed from box to box, all machines at once; then each box puts them together.
    fn sum(&self, p: usize) -> Link {
        let (inside, between) = (self.inside, self.between);
        if p <= self.in_a_box {
            return inside;
        }
        let in_a_box = self.in_a_box as f64;
        let (p, n_boxes) = (p as f64, p.div_ceil(self.in_a_box) as f64);
        let per_byte = (in_a_box - 1.0) / in_a_box / inside.bandwidth
            + (n_boxes - 1.0) / n_boxes / in_a_box / between.bandwidth;
        let latency =
            (in_a_box - 1.0) * inside.latency + (n_boxes - 1.0) * between.latency;
        Link { latency: latency / (p - 1.0), bandwidth: (p - 1.0) / p / per_byte }
    }

    /// Seconds on one machine.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn one(&self, case: Case) -> Result<f64> {
        let alone = Plan { by_sequences: 1, by_heads: 1, by_tokens: 1 };
        Ok(self.predict(case, alone)?.seconds())
    }

    /// The fastest plan for n machines, a power of 2, and its efficiency: the part of all
    /// machines' time in which they compute what one would, 1 if none waits and none has more
    /// to do than the others.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn best(&self, case: Case, n: usize) -> Result<(Plan, f64)> {
        let mut best: Option<(Plan, f64)> = None;
        for plan in Plan::all(case, n) {
            let seconds = self.predict(case, plan)?.seconds();
            if best.is_none_or(|(_, least)| seconds < least) {
                best = Some((plan, seconds));
            }
        }
        let (plan, seconds) = best.context("there is a plan for one machine at least")?;
        Ok((plan, self.one(case)? / (n as f64 * seconds)))
    }

    /// The most machines, doubled again and again, on which the best plan has at least this
    /// efficiency.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn most_machines(&self, case: Case, least: f64) -> Result<usize> {
        let mut n = 1;
        while n < MOST && self.best(case, 2 * n)?.1 >= least {
            n *= 2;
        }
        Ok(n)
    }
}
