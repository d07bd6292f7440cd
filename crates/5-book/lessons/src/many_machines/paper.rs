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
    /// Its heads of keys and values, which several heads may read.
    pub n_kv_heads: usize,
    /// Sequences, and tokens of each.
    pub lengths: (usize, usize),
}

/// What the chapter asks, in a wide layer: many short sequences, one long, the same with
/// eight heads of keys and values, as layers of that width usually have, and one very long.
pub const CASES: [Case; 4] = {
    const WIDE: Case =
        Case { d_model: 8192, n_heads: 64, n_kv_heads: 64, lengths: (16, 2048) };
    [
        WIDE,
        Case { lengths: (1, 32_768), ..WIDE },
        Case { lengths: (1, 32_768), n_kv_heads: 8, ..WIDE },
        Case { lengths: (1, 1_048_576), ..WIDE },
    ]
};

/// Which machines of a grid stand next to each other, in one box as far as they fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbours {
    /// Those that share out the heads of the same tokens.
    Heads,
    /// Those that share out the tokens of the same heads.
    Tokens,
}

/// Into how many groups machines are cut, by sequences, by heads and by tokens, and which of
/// the last two are neighbours. Written `1×[8]×2`, where brackets stand around the neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Groups with some sequences each.
    pub by_sequences: usize,
    /// Groups with some heads each.
    pub by_heads: usize,
    /// Machines with some tokens each.
    pub by_tokens: usize,
    /// Who is in one box.
    pub neighbours: Neighbours,
}

impl Plan {
    /// One group by sequences, so many by heads and by tokens, heads in a box.
    pub fn grid(by_heads: usize, by_tokens: usize) -> Self {
        Self { by_sequences: 1, by_heads, by_tokens, neighbours: Neighbours::Heads }
    }

    /// All for so many machines, a power of 2, in which no group is without a sequence or a
    /// head.
    fn all(case: Case, n_machines: usize) -> impl Iterator<Item = Self> {
        let powers = |most: usize| {
            (0..usize::BITS).map(|n| 1 << n).take_while(move |n| *n <= most)
        };
        let pairs = powers(case.lengths.0).flat_map(move |by_sequences: usize| {
            powers(case.n_heads).map(move |by_heads: usize| (by_sequences, by_heads))
        });
        let plans = pairs.map(move |(by_sequences, by_heads)| {
            let by_tokens = n_machines / (by_sequences * by_heads);
            Self { by_sequences, ..Self::grid(by_heads, by_tokens) }
        });
        plans.filter(|plan| plan.by_tokens > 0).flat_map(|plan| {
            [Neighbours::Heads, Neighbours::Tokens]
                .map(|neighbours| Self { neighbours, ..plan })
        })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { by_sequences, by_heads, by_tokens, neighbours } = self;
        match neighbours {
            _ if *by_heads == 1 || *by_tokens == 1 => {
                write!(f, "{by_sequences}×{by_heads}×{by_tokens}")
            }
            Neighbours::Heads => write!(f, "{by_sequences}×[{by_heads}]×{by_tokens}"),
            Neighbours::Tokens => write!(f, "{by_sequences}×{by_heads}×[{by_tokens}]"),
        }
    }
}

impl Cluster {
    /// What a plan takes, forward. A ring that leaves a box goes at the speed of the link
    /// between boxes.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub fn predict(&self, case: Case, plan: Plan) -> Result<Prediction> {
        let Plan { by_sequences, by_heads, by_tokens, neighbours } = plan;
        // How many machines a ring spans, and how many of a sum stand in one box.
        let (span, in_a_box) = match neighbours {
            Neighbours::Heads => (by_heads * by_tokens, self.in_a_box),
            Neighbours::Tokens => (by_tokens, (self.in_a_box / by_tokens).max(1)),
        };
        let n_sequences = share(case.lengths.0, by_sequences, 0).len();
        let model = Model {
            dims: Dims::new(case.d_model, case.n_heads)?,
            n_kv_heads: case.n_kv_heads,
            lengths: (n_sequences, case.lengths.1),
            is_causal: true,
            bytes: self.bytes,
            speed: self.speed,
            sum: self.sum(by_heads, in_a_box),
            ring: if span <= self.in_a_box { self.inside } else { self.between },
        };
        Ok(model.predict(Split::Both { by_heads }, by_heads * by_tokens)?)
    }

    /// The link over which a ring of p would make its sum in the time that boxes take, of
    /// which each has so many of the p: first each box sums for itself, so that each of its
    /// machines has a part of the sum; then the parts are summed from box to box, all machines
    /// at once; then each box puts them together.
    fn sum(&self, p: usize, in_a_box: usize) -> Link {
        let (inside, between) = (self.inside, self.between);
        if p <= in_a_box {
            return inside;
        }
        let (p, n_boxes) = (p as f64, p.div_ceil(in_a_box) as f64);
        let in_a_box = in_a_box as f64;
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
        Ok(self.predict(case, Plan::grid(1, 1))?.seconds())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The search can find either layout: the one that keeps in a box what waits, whatever
    /// that is; and where all links are alike the layout changes nothing.
    #[test]
    fn neighbours_are_those_that_wait_for_each_other() {
        let slow = Link { latency: 1e-6, bandwidth: 1e9 };
        let cluster = Cluster { between: slow, ..GPUS };
        let case = CASES[1];
        let took = |cluster: Cluster, neighbours, (by_heads, by_tokens)| {
            let plan = Plan { neighbours, ..Plan::grid(by_heads, by_tokens) };
            cluster.predict(case, plan).unwrap().seconds()
        };
        let [heads, tokens] = [Neighbours::Heads, Neighbours::Tokens];
        // Many share out the tokens, and the ring is what waits; then many share out heads.
        assert!(took(cluster, tokens, (2, 8)) < 0.5 * took(cluster, heads, (2, 8)));
        assert!(took(cluster, heads, (8, 2)) < took(cluster, tokens, (8, 2)));
        let alike = Cluster { between: GPUS.inside, ..GPUS };
        for shape in [(2, 4), (4, 16)] {
            let apart = took(alike, heads, shape) / took(alike, tokens, shape) - 1.0;
            assert!(apart.abs() < 0.05, "{shape:?}: {apart}");
        }
        // A sum in one box, or with one of a box each, is a ring's.
        assert_eq!(GPUS.sum(4, 8), GPUS.inside);
        let alone = GPUS.sum(4, 1);
        assert!((alone.bandwidth / GPUS.between.bandwidth - 1.0).abs() < 1e-12);
        assert!((alone.latency / GPUS.between.latency - 1.0).abs() < 1e-12);
    }
}
