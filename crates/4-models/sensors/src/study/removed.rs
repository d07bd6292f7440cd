//! What a model loses without a head, next to random directions of the same width.

use attention::{LayerParameters, Mask, Matrix, Rng, SeedableRng};
use fused_heads::FusedAttention;
use training::{Removal, axes, orthonormal, taken};

use crate::{At, CAP, Error, Remaining, Result, Trained, Windows, capped, rmse};

/// The model's passes over some windows up to W^O, one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Removed {
    model: Remaining<FusedAttention>,
    layer: LayerParameters,
    targets: Vec<f64>,
    /// The tokens, `[n_windows · n_steps, d_model]`.
    x: Matrix,
    /// `Concat(head_1, …, head_h)` of each, `[n_windows · n_steps, h · d_v]`.
    concat: Matrix<f32>,
    /// The same if every reading attended to all readings alike.
    even: Matrix<f32>,
    n_steps: usize,
    /// How far the layer's output moves without a head, on average over heads.
    moved: f64,
}

impl Removed {
    /// Passes of a trained model over these windows.
    ///
    /// # Errors
    /// [`Error::NoAttention`] for a model without it; as [`Remaining::forward`].
    pub fn new(trained: &Trained, windows: &Windows, at: &[At]) -> Result<Self> {
        let (model, layer) = (trained.fused()?, trained.layer()?);
        let stage = &model.attention.as_ref().ok_or(Error::NoAttention)?.function;
        let (mut tokens, mut concats, mut evens) = (Vec::new(), Vec::new(), Vec::new());
        for at in at {
            let x = model.tokens(&windows.readings(at)?)?;
            let pass = stage.pass(&x, &x, &x, &Mask::None)?;
            evens.push(Matrix::from_rows(&vec![pass.v.row_mean(); x.nrows()]));
            concats.push(pass.concat);
            tokens.push(x);
        }
        let below = |all: &[Matrix]| {
            let rows: Vec<_> = all.iter().flat_map(|one| one.row_iter()).collect();
            Matrix::from_rows(&rows)
        };
        let n_steps = tokens.first().map_or(0, Matrix::nrows);
        let [concat, even] = [concats, evens].map(|all| below(&all).map(|x| x as f32));
        let mut removed = Self {
            targets: at.iter().map(At::target).collect(),
            x: below(&tokens),
            model,
            layer,
            concat,
            even,
            n_steps,
            moved: 0.0,
        };
        let n_heads = removed.layer.dims().n_heads();
        let moved = (0..n_heads).map(|head| removed.moved(&removed.part(head)));
        removed.moved = moved.sum::<f64>() / n_heads as f64;
        Ok(removed)
    }

    /// The RMSE with all heads, in cycles.
    ///
    /// # Errors
    /// None for a model that fits together.
    pub fn whole(&self) -> Result<f64> {
        self.without(&Matrix::zeros(self.concat.nrows(), self.concat.ncols()))
    }

    /// The RMSE without one head, which is replaced by its mean over windows and tokens.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn head(&self, head: usize) -> Result<f64> {
        self.without(&self.part(head))
    }

    /// The control: as many random directions as a head has, scaled so that without them the
    /// layer's output moves as far as without a head, on average over heads.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn random(&self, rng: &mut Rng) -> Result<f64> {
        self.without(&self.random_part(rng))
    }

    /// What is taken away with a head.
    fn part(&self, head: usize) -> Matrix<f32> {
        let d_v = self.layer.dims().d_v();
        self.less_mean(&axes(self.concat.ncols(), head * d_v, d_v))
    }

    /// What is taken away with random directions.
    fn random_part(&self, rng: &mut Rng) -> Matrix<f32> {
        let directions = orthonormal(self.concat.ncols(), self.layer.dims().d_v(), rng);
        let taken = self.less_mean(&directions);
        let scale = self.moved / self.moved(&taken);
        taken * scale as f32
    }

    /// These directions of the concatenation, less their mean, which stays.
    fn less_mean(&self, directions: &Matrix<f32>) -> Matrix<f32> {
        // A mean draws nothing.
        taken(&self.concat, directions, Removal::Mean, &mut Rng::seed_from_u64(0))
    }

    /// How far the layer's output moves without this part, as a mean over tokens.
    fn moved(&self, taken: &Matrix<f32>) -> f64 {
        let out = taken.map(f64::from) * &self.layer.w_o().weight;
        out.row_iter().map(|row| row.norm()).sum::<f64>() / out.nrows().max(1) as f64
    }

    /// The RMSE without all heads: the layer adds the same to every token.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn all(&self) -> Result<f64> {
        let width = self.concat.ncols();
        self.without(&self.less_mean(&Matrix::identity(width, width)))
    }

    /// The RMSE with the values of all heads and the choices of none: every reading attends to
    /// all readings alike.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn even(&self) -> Result<f64> {
        self.without(&(&self.concat - &self.even))
    }

    /// The same for one head, where the others choose as they do.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn even_head(&self, head: usize) -> Result<f64> {
        let mut taken = Matrix::zeros(self.concat.nrows(), self.concat.ncols());
        let d_v = self.layer.dims().d_v();
        let of = |all: &Matrix<f32>| all.columns(head * d_v, d_v).into_owned();
        taken
            .columns_mut(head * d_v, d_v)
            .copy_from(&(of(&self.concat) - of(&self.even)));
        self.without(&taken)
    }

    /// From the concatenation, less something, to the error.
    fn without(&self, taken: &Matrix<f32>) -> Result<f64> {
        let concat = (&self.concat - taken).map(f64::from);
        let out = self.layer.w_o().forward(&concat)?;
        let sublayer = self.model.attention.as_ref().ok_or(Error::NoAttention)?;
        let norm = sublayer.forward(&self.x, |_, _| Ok((out, ())))?.out;
        let each = norm.row_iter().collect::<Vec<_>>();
        let pooled = each
            .chunks(self.n_steps.max(1))
            .map(|window| Matrix::from_rows(window).row_mean());
        let pooled = Matrix::from_rows(&pooled.collect::<Vec<_>>());
        let said = self.model.head.forward(&pooled)? * CAP;
        let said: Vec<f64> = said.iter().copied().map(capped).collect();
        Ok(rmse(&said, &self.targets))
    }
}

#[cfg(test)]
mod tests {
    use attention::{Linear, RowVector};

    use super::*;
    use crate::{Fleet, Prepared, remaining};

    fn some_windows() -> (Windows, Vec<At>) {
        let (readings, _) = Fleet::default().readings(0);
        let windows = Prepared::of(&readings, 0).unwrap().test;
        let at = windows.at.iter().step_by(1500).copied().collect();
        (windows, at)
    }

    /// The error of a model, window by window.
    fn error(model: &Remaining<FusedAttention>, windows: &Windows, at: &[At]) -> f64 {
        let says = |at: &At| {
            capped(model.pass(&windows.readings(at).unwrap()).unwrap().remaining)
        };
        let targets: Vec<f64> = at.iter().map(At::target).collect();
        rmse(&at.iter().map(says).collect::<Vec<_>>(), &targets)
    }

    #[test]
    fn with_all_heads_it_is_the_model() {
        let (windows, at) = some_windows();
        let trained = remaining().unwrap();
        let removed = Removed::new(&trained, &windows, &at).unwrap();
        let expected = error(&trained.fused().unwrap(), &windows, &at);
        assert!((removed.whole().unwrap() - expected).abs() < 1e-4);
        // Random directions are others each time.
        let rng = &mut Rng::seed_from_u64(1);
        let [a, b] = [(); 2].map(|()| removed.random(rng).unwrap());
        assert!((a - b).abs() > 1e-6);
    }

    /// The same removal in the weights: no rows of W^O for the head, and its mean in b^O.
    #[test]
    fn without_a_head_it_is_a_model_that_has_only_its_mean() {
        let (windows, at) = some_windows();
        let trained = remaining().unwrap();
        let layer = trained.layer().unwrap();
        let d_v = layer.dims().d_v();
        let removed = Removed::new(&trained, &windows, &at).unwrap();
        let mean: RowVector = removed.concat.map(f64::from).row_mean();
        for heads in [vec![2], vec![5], (0..8).collect::<Vec<_>>()] {
            let Linear { mut weight, bias } = layer.w_o().clone();
            let mut bias = bias.unwrap();
            for head in &heads {
                let mut rows = weight.rows_mut(head * d_v, d_v);
                bias += mean.columns(head * d_v, d_v) * &rows;
                rows.fill(0.0);
            }
            let w_o = Linear::new(weight, Some(bias)).unwrap();
            let changed = LayerParameters::new(layer.heads().to_vec(), w_o).unwrap();
            let model = trained.model(|_| FusedAttention::new(&changed)).unwrap();
            let expected = error(&model, &windows, &at);
            let found = match heads[..] {
                [head] => removed.head(head).unwrap(),
                _ => removed.all().unwrap(),
            };
            assert!((found - expected).abs() < 1e-4, "{heads:?}: {found}, {expected}");
        }
    }

    /// Keys of zeros score all readings alike.
    #[test]
    fn even_shares_are_those_of_keys_that_say_nothing() {
        let (windows, at) = some_windows();
        let trained = remaining().unwrap();
        let layer = trained.layer().unwrap();
        let removed = Removed::new(&trained, &windows, &at).unwrap();
        for blind in [vec![3], (0..8).collect::<Vec<_>>()] {
            let mut heads = layer.heads().to_vec();
            blind.iter().for_each(|&head| heads[head].w_k.weight.fill(0.0));
            let changed = LayerParameters::new(heads, layer.w_o().clone()).unwrap();
            let model = trained.model(|_| FusedAttention::new(&changed)).unwrap();
            let expected = error(&model, &windows, &at);
            let found = match blind[..] {
                [head] => removed.even_head(head).unwrap(),
                _ => removed.even().unwrap(),
            };
            assert!((found - expected).abs() < 1e-4, "{blind:?}: {found}, {expected}");
        }
    }

    #[test]
    fn the_control_moves_the_output_as_far_as_a_head() {
        let (windows, at) = some_windows();
        let removed = Removed::new(&remaining().unwrap(), &windows, &at).unwrap();
        let rng = &mut Rng::seed_from_u64(1);
        let heads = (0..8).map(|head| removed.moved(&removed.part(head)));
        let mean = heads.sum::<f64>() / 8.0;
        let control = removed.moved(&removed.random_part(rng));
        assert!((control - mean).abs() < 1e-4 * mean, "{control}, {mean}");
    }
}
