//! How gradients of queries, keys and values lie in memory.

/// The features of a strip.
pub(crate) const WIDTH: usize = 16;

/// The gradients of one head and sequence: `[strip][token][16]`, strips of 16 features.
///
/// A product over tokens reads a strip row after row, and the step from row to row is
/// known when the program is compiled, whatever d_k is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strips {
    pub(crate) features: usize,
    pub(crate) tokens: usize,
}

impl Strips {
    pub(crate) fn len(&self) -> usize {
        self.features.div_ceil(WIDTH) * self.tokens * WIDTH
    }

    /// Where a feature of a token stands.
    pub(crate) fn at(&self, token: usize, feature: usize) -> usize {
        (feature / WIDTH * self.tokens + token) * WIDTH + feature % WIDTH
    }
}

/// The gradients of all heads and sequences: `[head][sequence]`, strips each.
#[derive(Clone, Copy)]
pub(crate) struct OfHeads<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) strips: Strips,
    pub(crate) n_heads: usize,
    pub(crate) n_sequences: usize,
}

impl<'a> OfHeads<'a> {
    /// From a feature of a token on.
    pub(crate) fn from(
        &self,
        head: usize,
        sequence: usize,
        token: usize,
        feature: usize,
    ) -> &'a [f32] {
        let first = (head * self.n_sequences + sequence) * self.strips.len();
        &self.data[first + self.strips.at(token, feature)..]
    }

    /// The sums over all tokens, feature by feature of head by head: the gradient of the
    /// bias, which was added to every token.
    pub(crate) fn sums(&self) -> Vec<f32> {
        let (features, tokens) = (self.strips.features, self.strips.tokens);
        let mut sums = vec![0f64; self.n_heads * features];
        for (head, sums) in sums.chunks_exact_mut(features).enumerate() {
            for sequence in 0..self.n_sequences {
                for (strip, sums) in sums.chunks_mut(WIDTH).enumerate() {
                    let rows = self.from(head, sequence, 0, strip * WIDTH);
                    for row in rows.as_chunks::<WIDTH>().0.iter().take(tokens) {
                        for (sum, &x) in sums.iter_mut().zip(row) {
                            *sum += f64::from(x);
                        }
                    }
                }
            }
        }
        sums.into_iter().map(|sum| sum as f32).collect()
    }
}
