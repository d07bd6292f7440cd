//! What a model loses without a head, next to random directions of the same width.

use attention::{LayerParameters, Mask, Matrix, Rng, SeedableRng};
use fused_heads::FusedAttention;
use training::{Directions, Replacement, Site};

use crate::{At, CAP, Error, Remaining, Result, Trained, Windows, capped, rmse};

/// The model's passes over some windows up to W^O, stacked.
#[derive(Debug, Clone, PartialEq)]
pub struct Ablation {
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

impl Ablation {
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
        let mut ablation = Self {
            targets: at.iter().map(At::target).collect(),
            x: below(&tokens),
            model,
            layer,
            concat,
            even,
            n_steps,
            moved: 0.0,
        };
        ablation.moved = ablation.site().heads(&mut unused()).1;
        Ok(ablation)
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
    /// [`Error::Ablation`] for a head that is not there; as [`whole`](Self::whole).
    pub fn head(&self, head: usize) -> Result<f64> {
        self.less(&Directions::of_head(self.layer.dims(), head)?)
    }

    /// The control: as many random directions as a head has, scaled so that without them the
    /// layer's output moves as far as without a head, on average over heads.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn random(&self, rng: &mut Rng) -> Result<f64> {
        self.without(&self.site().control(self.moved, rng).0)
    }

    /// The RMSE without all heads: the layer adds the same to every token.
    ///
    /// # Errors
    /// As [`whole`](Self::whole).
    pub fn all(&self) -> Result<f64> {
        self.less(&Directions::all(self.layer.dims()))
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

    /// The RMSE without these directions of the concatenation, less their mean, which stays.
    fn less(&self, directions: &Directions) -> Result<f64> {
        self.without(&self.site().taken(directions, &mut unused()))
    }

    /// Where heads are ablated: all windows and tokens alike.
    fn site(&self) -> Site<'_, f64> {
        let (dims, w_o) = (self.layer.dims(), self.layer.w_o());
        let replacement = Replacement::Mean;
        Site { dims, concat: &self.concat, w_o, replacement, n_positions: 1 }
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

/// A mean draws nothing.
fn unused() -> Rng {
    Rng::seed_from_u64(0)
}

#[cfg(test)]
mod tests {
    use attention::RowVector;
    use training::layer_without;

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
        let ablation = Ablation::new(&trained, &windows, &at).unwrap();
        let expected = error(&trained.fused().unwrap(), &windows, &at);
        assert!((ablation.whole().unwrap() - expected).abs() < 1e-4);
        // Random directions are others each time.
        let rng = &mut Rng::seed_from_u64(1);
        let [a, b] = [(); 2].map(|()| ablation.random(rng).unwrap());
        assert!((a - b).abs() > 1e-6);
    }

    /// The same removal in the weights: no rows of W^O for the head, and its mean in b^O.
    #[test]
    fn without_a_head_it_is_a_model_that_has_only_its_mean() {
        let (windows, at) = some_windows();
        let trained = remaining().unwrap();
        let layer = trained.layer().unwrap();
        let d_v = layer.dims().d_v();
        let ablation = Ablation::new(&trained, &windows, &at).unwrap();
        let mean: RowVector = ablation.concat.map(f64::from).row_mean();
        for heads in [vec![2], vec![5], (0..8).collect::<Vec<_>>()] {
            let its_mean = |&head: &usize| {
                let mean = mean.columns(head * d_v, d_v).into_owned();
                (head, Some(mean))
            };
            let gone: Vec<_> = heads.iter().map(its_mean).collect();
            let changed = layer_without(&layer, &gone).unwrap();
            let model = trained.model(|_| FusedAttention::new(&changed)).unwrap();
            let expected = error(&model, &windows, &at);
            let found = match heads[..] {
                [head] => ablation.head(head).unwrap(),
                _ => ablation.all().unwrap(),
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
        let ablation = Ablation::new(&trained, &windows, &at).unwrap();
        for blind in [vec![3], (0..8).collect::<Vec<_>>()] {
            let mut heads = layer.heads().to_vec();
            blind.iter().for_each(|&head| heads[head].w_k.weight.fill(0.0));
            let changed = LayerParameters::new(heads, layer.w_o().clone()).unwrap();
            let model = trained.model(|_| FusedAttention::new(&changed)).unwrap();
            let expected = error(&model, &windows, &at);
            let found = match blind[..] {
                [head] => ablation.even_head(head).unwrap(),
                _ => ablation.even().unwrap(),
            };
            assert!((found - expected).abs() < 1e-4, "{blind:?}: {found}, {expected}");
        }
    }

    #[test]
    fn the_control_moves_the_output_as_far_as_a_head() {
        let (windows, at) = some_windows();
        let ablation = Ablation::new(&remaining().unwrap(), &windows, &at).unwrap();
        let rng = &mut Rng::seed_from_u64(1);
        let site = ablation.site();
        let (heads, moved) = site.heads(rng);
        let mean = heads.iter().map(|taken| site.moved(taken)).sum::<f64>() / 8.0;
        assert!((moved - mean).abs() < 1e-4 * mean, "{moved}, {mean}");
        let control = site.moved(&site.control(moved, rng).0);
        assert!((control - mean).abs() < 1e-4 * mean, "{control}, {mean}");
    }
}
