//! What a head of the first layer hands on: which token it saw, or where.

use attention::{Error, Matrix, Result, RowVector};

use super::predictor::largest;
use super::{Predictor, Sequences};

/// The scores of a model one head of whose first layer hands on only half of what it sees.
///
/// A token of the first layer is a sum, its embedding and its position, so a head's value is
/// a sum too. Here one of the two is replaced by its mean, in the values of one head; what
/// the head attends to stays as it is.
///
/// The two ways to find the token after the last same one need different halves. A head
/// that notes **which** token stood before hands on the embedding; one that points to
/// **where** the same token stood hands on the position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carried {
    /// The score if the head's values say only which token it saw.
    pub which: f64,
    /// The score if they say only where it stood.
    pub place: f64,
}

impl Carried {
    /// Asks of one head of the first layer.
    ///
    /// # Errors
    /// [`Error::NoSuchIndex`]; [`attention::Error`] for a model without positions; as
    /// [`Predictor::pass`].
    pub fn by(model: &Predictor, head: usize, read: &Sequences) -> Result<Self> {
        let pass = model.pass(read)?;
        let maps = pass.blocks()[0].attn();
        Error::expect_index("head", head, maps[0].len())?;
        let maps: Vec<&Matrix<f32>> =
            maps.iter().map(|of_heads| &of_heads[head]).collect();
        let [which, place] = halves(model, read)?;
        let score = |values: &Matrix<f32>| -> Result<f64> {
            Ok(read.score(&largest(&with_values(model, head, &maps, read, values)?)))
        };
        Ok(Self { which: score(&which)?, place: score(&place)? })
    }
}

/// The tokens with the mean position, and the positions with the mean token,
/// `[n_sequences · n_tokens, d_model]` each.
fn halves(model: &Predictor, read: &Sequences) -> Result<[Matrix<f32>; 2]> {
    let embedding = &model.embedding;
    let table = embedding.positions.table();
    let n_positions = table.map_or(0, |table| table.nrows());
    Error::expect_positive("the number of positions", n_positions)?;
    let x = embedding.forward(&read.ids, read.n_tokens)?;
    let mut places = Matrix::zeros(x.nrows(), x.ncols());
    embedding.positions.add_to(&mut places, read.n_tokens)?;
    let tokens = &x - &places;
    let with_mean = |half: &Matrix<f32>, mean: RowVector<f32>| {
        let mut all = half.clone();
        all.row_iter_mut().for_each(|mut row| row += &mean);
        all
    };
    Ok([with_mean(&tokens, places.row_mean()), with_mean(&places, tokens.row_mean())])
}

/// The logits if the values of a head of the first layer came from these tokens; `maps` has
/// the head's map for each sequence.
fn with_values(
    model: &Predictor,
    head: usize,
    maps: &[&Matrix<f32>],
    read: &Sequences,
    tokens: &Matrix<f32>,
) -> Result<Matrix<f32>> {
    let parameters = model.layer(0);
    let (v, d_v) = (parameters.w_v().forward(tokens)?, parameters.dims().d_v());
    let n = read.n_tokens;
    model.logits_with(read, |l, mut concat| {
        if l == 0 {
            for (s, &map) in maps.iter().enumerate() {
                let v_i = v.view((s * n, head * d_v), (n, d_v));
                let mut head_i = concat.view_mut((s * n, head * d_v), (n, d_v));
                head_i.copy_from(&(map * v_i));
            }
        }
        concat
    })
}
