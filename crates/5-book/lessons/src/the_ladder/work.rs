//! What each step of the layer computes, and what it must at least read and write.

use attention::{Dims, MultiplyAdds, Result};
use figures::RoofStep;

use runs::CaseReport;

/// Operations on an entry of a map in a softmax: compare with the maximum, subtract it,
/// take the exponential, add it to the sum, divide by the sum.
const SOFTMAX: usize = 5;

/// A step of a layer, or several in one go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it computes.
    pub name: &'static str,
    /// Multiplications, additions and the like, each counted.
    pub operations: usize,
    /// What goes in and what comes out, in f32, each once.
    pub bytes: usize,
}

impl Step {
    /// Operations a byte: the step's arithmetic intensity.
    pub fn intensity(&self) -> f64 {
        self.operations as f64 / self.bytes as f64
    }
}

/// A self-attention layer at work, without a mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// The layer.
    pub dims: Dims,
    /// How many sequences.
    pub batch: usize,
    /// How long each is.
    pub tokens: usize,
}

impl Work {
    /// The work of a case, without its mask.
    ///
    /// # Errors
    /// A width that the heads do not divide, or sizes that are too large to count.
    pub fn of(case: &CaseReport) -> Result<Self> {
        let dims = Dims::new(case.d_model, case.heads)?;
        MultiplyAdds::count(dims, case.tokens, case.tokens)?; // it can be counted
        Ok(Self { dims, batch: case.batch, tokens: case.tokens })
    }

    /// The multiply-adds of the steps whose names are these.
    fn products(&self, names: &[&str]) -> usize {
        let work = MultiplyAdds::count(self.dims, self.tokens, self.tokens)
            .expect("a layer that was timed is small enough to count");
        let named = work.costs().iter().filter(|cost| names.contains(&cost.name));
        self.batch * named.map(|cost| cost.multiply_adds as usize).sum::<usize>()
    }

    /// The entries of all maps.
    pub fn map_entries(&self) -> usize {
        self.batch * self.dims.n_heads() * self.tokens * self.tokens
    }

    /// One of the four projections.
    pub fn projection(&self) -> Step {
        let (d, n) = (self.dims.d_model(), self.batch * self.tokens);
        Step {
            name: "a projection",
            operations: 2 * self.products(&["query W^Q"]),
            bytes: 4 * (2 * n * d + d * d),
        }
    }

    /// One of the two products of pairs, with a map that is written or read.
    pub fn pairs(&self) -> Step {
        let tokens = 2 * self.batch * self.tokens * self.dims.d_model();
        Step {
            name: "Q Kᵀ or A V",
            operations: 2 * self.products(&["Q Kᵀ"]),
            bytes: 4 * (tokens + self.map_entries()),
        }
    }

    /// Softmax, from a map that was written to one that is.
    pub fn softmax(&self) -> Step {
        Step {
            name: "softmax",
            operations: SOFTMAX * self.map_entries(),
            bytes: 4 * 2 * self.map_entries(),
        }
    }

    /// All three without a map in memory: q, k and v go in, the heads' outputs come out.
    pub fn tiles(&self) -> Step {
        Step {
            name: "all three in tiles",
            operations: 2 * self.pairs().operations + self.softmax().operations,
            bytes: 4 * 4 * self.batch * self.tokens * self.dims.d_model(),
        }
    }

    /// One more token: in each head its query meets the keys and values of all tokens, which
    /// are read from a cache in numbers of so many bytes.
    pub fn decode(&self, name: &'static str, bytes_a_number: usize) -> Step {
        let cached = self.batch * self.tokens * self.dims.n_heads();
        let cached = cached * (self.dims.d_k() + self.dims.d_v());
        Step { name, operations: 2 * cached, bytes: bytes_a_number * cached }
    }

    /// The whole layer, as the ladder's GFLOP/s count it: its products. Tokens and weights
    /// go in, tokens come out.
    pub fn layer(&self) -> Step {
        let (d, n) = (self.dims.d_model(), self.batch * self.tokens);
        Step {
            name: "the layer",
            operations: 4 * self.projection().operations + 2 * self.pairs().operations,
            bytes: 4 * (2 * n * d + 4 * d * d),
        }
    }

    /// The steps in the order in which memory stops being their limit.
    pub fn steps(&self) -> [Step; 4] {
        [self.softmax(), self.pairs(), self.projection(), self.tiles()]
    }

    /// The steps as marks of a roofline.
    pub fn marks(&self) -> Vec<RoofStep> {
        let mark = |step: Step| {
            let flops_per_byte = step.intensity();
            RoofStep { name: step.name.to_owned(), flops_per_byte }
        };
        self.steps().map(mark).to_vec()
    }
}
