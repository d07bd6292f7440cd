//! What a split takes, predicted: multiply-adds by their speed, bytes by the link's.

use std::fmt;

use attention::{Dims, MultiplyAdds, Result};

use crate::{Chunks, Error, share};

/// How a layer is shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// Every rank has some heads.
    Heads,
    /// Every rank has some tokens.
    Tokens,
    /// So many groups of ranks have some heads each, and share out the tokens.
    Both {
        /// The number of groups.
        by_heads: usize,
    },
    /// Every rank has some sequences.
    Batch,
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Heads => f.write_str("heads"),
            Self::Tokens => f.write_str("tokens"),
            Self::Both { by_heads } => write!(f, "both, {by_heads} by heads"),
            Self::Batch => f.write_str("batch"),
        }
    }
}

/// A link between two ranks: a message of b bytes takes `latency + b / bandwidth`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Seconds for an empty message.
    pub latency: f64,
    /// Bytes a second.
    pub bandwidth: f64,
}

impl Link {
    /// Seconds for one message.
    pub fn seconds(&self, bytes: f64) -> f64 {
        self.latency + bytes / self.bandwidth
    }

    /// Seconds for an all-reduce of so many bytes on p ranks: two rounds of a ring, each of
    /// p − 1 messages of a p-th.
    ///
    /// ```
    /// use distributed::Link;
    ///
    /// let link = Link { latency: 0.0, bandwidth: 1e9 };
    /// assert_eq!(link.all_reduce(1e9, 1), 0.0);
    /// assert_eq!(link.all_reduce(1e9, 2), 1.0);
    /// assert_eq!(link.all_reduce(1e9, 4), 1.5); // never more than 2
    /// ```
    pub fn all_reduce(&self, bytes: f64, p: usize) -> f64 {
        let p = p.max(1) as f64;
        2.0 * (p - 1.0) * self.seconds(bytes / p)
    }
}

/// How fast one rank computes, in multiply-adds a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// In the four projections.
    pub products: f64,
    /// In Q Kᵀ and A V, the softmax between them included.
    pub attention: f64,
}

/// What is computed, on what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// The sizes of the layer.
    pub dims: Dims,
    /// The number of heads of keys and values: as many as heads, or fewer that several read.
    /// A group of ranks with fewer heads than read one has that one whole.
    pub n_kv_heads: usize,
    /// The number of sequences, and of tokens of each.
    pub lengths: (usize, usize),
    /// Whether a query sees only what is before it: then half of the pairs are computed.
    pub is_causal: bool,
    /// The bytes of a number.
    pub bytes: usize,
    /// How fast a rank is.
    pub speed: Speed,
    /// What connects ranks that share out the heads: their sum goes over it.
    pub sum: Link,
    /// What connects ranks that share out the tokens: keys and values go round on it.
    pub ring: Link,
}

/// The time that a split is predicted to take, on the rank with the most to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Seconds in which it computes.
    pub computing: f64,
    /// Seconds in which it waits for messages and can compute nothing.
    pub waiting: f64,
    /// Bytes that it sends.
    pub bytes: u64,
}

impl Prediction {
    /// Seconds in all.
    pub fn seconds(&self) -> f64 {
        self.computing + self.waiting
    }
}

impl Model {
    /// What the split takes on so many ranks.
    ///
    /// # Errors
    /// [`Error::NoRanks`], [`Error::Grid`]; heads of keys and values that are none or do not
    /// divide the heads; sizes that cannot be counted.
    pub fn predict(&self, split: Split, n_ranks: usize) -> crate::Result<Prediction> {
        let (n_heads, n_kv_heads) = (self.dims.n_heads(), self.n_kv_heads);
        attention::Error::expect_positive("n_kv_heads", n_kv_heads)?;
        if !n_heads.is_multiple_of(n_kv_heads) {
            return Err(attention::Error::Groups { n_heads, n_kv_heads }.into());
        }
        let by_heads = match split {
            _ if n_ranks == 0 => {
                return Err(Error::NoRanks { what: "the number of ranks" });
            }
            Split::Batch => return Ok(self.batch(n_ranks)?),
            Split::Heads => n_ranks,
            Split::Tokens => 1,
            Split::Both { by_heads: 0 } => {
                return Err(Error::NoRanks { what: "the number of groups of heads" });
            }
            Split::Both { by_heads } => by_heads,
        };
        if !n_ranks.is_multiple_of(by_heads) {
            return Err(Error::Grid { size: n_ranks, by_heads });
        }
        Ok(self.grid(by_heads, n_ranks / by_heads)?)
    }

    /// Seconds of computing of `n` sequences, `[projections, attention]`, by a rank that has
    /// so many heads, and so many of keys and values.
    fn computing(&self, n: usize, heads: usize, kv_heads: usize) -> Result<[f64; 2]> {
        let cost = MultiplyAdds::count(self.dims, self.lengths.1, self.lengths.1)?;
        let of = |names: [&str; 2]| {
            let costs = cost.costs().iter().filter(|cost| names.contains(&cost.name));
            costs.map(|cost| cost.multiply_adds as f64).sum::<f64>() * n as f64
        };
        let share = |heads: usize| heads as f64 / self.dims.n_heads() as f64;
        let projections = of(["query W^Q", "concat W^O"]) * share(heads)
            + of(["key W^K", "value W^V"]) * share(kv_heads);
        let n_tokens = self.lengths.1.max(1) as f64;
        let share_of_pairs = match self.is_causal {
            true => (n_tokens + 1.0) / 2.0 / n_tokens,
            false => 1.0,
        };
        let pairs = of(["Q Kᵀ", "A V"]) * share(heads) * share_of_pairs;
        Ok([projections / self.speed.products, pairs / self.speed.attention])
    }

    fn batch(&self, n_ranks: usize) -> Result<Prediction> {
        let most = share(self.lengths.0, n_ranks, 0).len();
        let computing = self.computing(most, self.dims.n_heads(), self.n_kv_heads)?;
        let computing = computing.iter().sum();
        Ok(Prediction { computing, waiting: 0.0, bytes: 0 })
    }

    fn grid(&self, by_heads: usize, by_tokens: usize) -> Result<Prediction> {
        let (dims, (n, n_tokens)) = (self.dims, self.lengths);
        let [heads, kv_heads] =
            [dims.n_heads(), self.n_kv_heads].map(|all| share(all, by_heads, 0).len());
        let chunks = Chunks::new(n_tokens, by_tokens);
        let most = chunks.len(0);
        let tokens_share = most as f64 / n_tokens.max(1) as f64;
        let [projections, attention] =
            self.computing(n, heads, kv_heads)?.map(|seconds| seconds * tokens_share);

        // A step of the ring is over when its messages are there and its pairs are computed.
        let n_messages = 2.0 * chunks.n_blocks() as f64;
        // Counted in f64: in a page, a usize ends at four thousand million.
        let product = |sizes: [usize; 4]| sizes.map(|size| size as f64).iter().product();
        let piece: f64 =
            product([n * kv_heads, most, dims.d_k() + dims.d_v(), self.bytes]);
        let steps = by_tokens as f64 - 1.0;
        let step = attention / by_tokens as f64;
        let late =
            steps * (n_messages * self.ring.seconds(piece / n_messages) - step).max(0.0);

        let out: f64 = product([n, most, dims.d_model(), self.bytes]);
        let waiting = late + self.sum.all_reduce(out, by_heads);
        let reduced = 2.0 * (by_heads as f64 - 1.0) / by_heads as f64 * out;
        let bytes = (steps * piece + reduced) as u64;
        Ok(Prediction { computing: projections + attention, waiting, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Link = Link { latency: 0.0, bandwidth: f64::INFINITY };

    fn model() -> Model {
        Model {
            dims: Dims::new(8, 4).unwrap(),
            n_kv_heads: 4,
            lengths: (1, 16),
            is_causal: false,
            bytes: 8,
            speed: Speed { products: 1e9, attention: 1e9 },
            sum: FREE,
            ring: FREE,
        }
    }

    /// Where nothing costs but computing, each split takes a p-th of one machine's time, as
    /// long as what is shared out is divisible.
    #[test]
    fn without_a_cost_of_sending_p_ranks_are_p_times_as_fast() {
        let one = model().predict(Split::Heads, 1).unwrap().seconds();
        let both = Split::Both { by_heads: 2 };
        for (split, p) in [(Split::Heads, 4), (Split::Tokens, 4), (both, 4)] {
            let found = model().predict(split, p).unwrap().seconds();
            assert!((found * p as f64 / one - 1.0).abs() < 1e-12, "{split:?}");
        }
        // Of 4 heads on 3 ranks one has 2; on 8, nobody has less than one.
        let of = |p| model().predict(Split::Heads, p).unwrap().seconds() / one;
        assert_eq!((of(3), of(8)), (0.5, 0.25));
    }

    /// A ring of four ranks sends 512 bytes a step and computes for 0.256 µs: a link that is
    /// twice too slow is waited for in each of three steps, and one that is fast enough never.
    #[test]
    fn a_slow_ring_is_waited_for_and_a_fast_one_is_hidden() {
        let waiting = |bandwidth| {
            let ring = Link { latency: 0.0, bandwidth };
            Model { ring, ..model() }.predict(Split::Tokens, 4).unwrap().waiting
        };
        assert!((waiting(1e9) / (3.0 * 0.256e-6) - 1.0).abs() < 1e-9, "{}", waiting(1e9));
        assert_eq!((waiting(2.001e9), waiting(4e9)), (0.0, 0.0));
    }

    /// Four heads on one of keys and values: the ring carries a quarter, and each group of
    /// heads needs all of it. What is computed is what the products cost.
    #[test]
    fn shared_keys_shrink_the_ring_and_two_projections() {
        let shared = Model { n_kv_heads: 1, ..model() };
        let bytes = |model: Model| model.predict(Split::Tokens, 4).unwrap().bytes;
        assert_eq!(bytes(model()), 4 * bytes(shared));
        let grid = |model: Model| model.predict(Split::Both { by_heads: 4 }, 8).unwrap();
        assert_eq!(grid(model()).bytes, grid(shared).bytes);
        let one = |model: Model| model.predict(Split::Heads, 1).unwrap().seconds() * 1e9;
        let (projection, pairs) = (16.0 * 8.0 * 8.0, 2.0 * 16.0 * 16.0 * 8.0);
        assert!((one(model()) - 4.0 * projection - pairs).abs() < 1e-6);
        assert!((one(shared) - 2.5 * projection - pairs).abs() < 1e-6);
        let refused = |n_kv_heads| {
            let model = Model { n_kv_heads, ..model() };
            model.predict(Split::Heads, 2).unwrap_err().to_string()
        };
        assert!(refused(0).contains("n_kv_heads is 0"), "{}", refused(0));
        assert!(refused(3).contains('3') && refused(3).contains('4'), "{}", refused(3));
    }

    /// What is predicted to be sent is what ranks count.
    #[test]
    fn bytes_are_those_that_are_sent() {
        use crate::{Grid, Group, HeadsApart, OnGrid, Plain, Threads};
        use attention::{Batch, LayerParameters, Mask, Rng, SeedableRng, random_matrix};

        let rng = &mut Rng::seed_from_u64(1);
        let layer = LayerParameters::<f64>::random(model().dims, true, rng);
        let x = random_matrix(16, 8, 1.0, rng);
        for (by_heads, by_tokens) in [(1, 2), (1, 4), (2, 2)] {
            let p = by_heads * by_tokens;
            let sent = Threads::run(p, |group| {
                let mut grid = Grid::new(group, by_heads)?;
                let mut part: OnGrid<f64, Plain> = OnGrid::new(&layer, &grid)?;
                let rank = grid.ring().rank();
                let mine = grid.chunks::<f64>(16).rows(&x, 1, rank)?;
                part.forward(&mut grid, &mine, (1, 16), &[Mask::None])?;
                Ok(group.tally().bytes)
            });
            let predicted = model().predict(Split::Both { by_heads }, p).unwrap().bytes;
            assert_eq!(sent.unwrap(), vec![predicted; p], "{by_heads} × {by_tokens}");
        }
        let x = Batch::new(1, x).unwrap();
        let sent = Threads::run(4, |group| {
            let mut part: HeadsApart<f64, Plain> = HeadsApart::new(&layer, group)?;
            part.forward(group, [&x; 3], &[Mask::None])?;
            Ok(group.tally().bytes)
        });
        let predicted = model().predict(Split::Heads, 4).unwrap().bytes;
        assert_eq!(sent.unwrap(), [predicted; 4]);
    }
}
