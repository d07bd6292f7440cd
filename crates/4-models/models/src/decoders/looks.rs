//! Where heads look from one token.

use attention::Matrix;

/// Where the heads looked from one token: what it gives each token of the text so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Looks {
    /// Of each layer, `[n_heads, n_tokens]`.
    pub layers: Vec<Matrix<f32>>,
}

impl Looks {
    /// From the last token of some maps, `maps[l][h]` with a row for each token that was read.
    pub fn of_last(maps: &[Vec<Matrix<f32>>]) -> Self {
        let of_layer = |heads: &Vec<Matrix<f32>>| {
            let n_keys = heads.first().map_or(0, Matrix::ncols);
            Matrix::from_fn(heads.len(), n_keys, |head, key| {
                heads[head][(heads[head].nrows() - 1, key)]
            })
        };
        Self { layers: maps.iter().map(of_layer).collect() }
    }

    /// All shares, head after head, those of the first layer first.
    pub fn shares(&self) -> Vec<f32> {
        let heads = self.layers.iter().flat_map(Matrix::row_iter);
        heads.flat_map(|head| head.iter().copied().collect::<Vec<_>>()).collect()
    }
}
