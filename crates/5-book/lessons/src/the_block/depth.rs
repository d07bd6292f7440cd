//! A deep stack at its start: what the residual and the norm do for it.

use crate::Args;
use crate::named_rows::{Look, NamedRows, RowList, RowPanel};
use crate::numbers::brief;
use anyhow::Result;
use attention::{
    Batch, Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix,
};
use block::{Block, FeedForward, LayerNorm, Norms, Stack, StackPass, Sublayer};
use figures::{Axis, Figure, log_axis, palette, significant};
use fused_heads::FusedAttention;
use gradients::Entries;

/// The width of a token.
pub const D_MODEL: usize = 16;
/// The number of heads.
pub const N_HEADS: usize = 2;
/// The width within the feed-forward layers.
pub const D_FF: usize = 64;
/// The length of the sequence.
pub const N_TOKENS: usize = 8;
/// How many blocks the chapter stacks.
pub const N_BLOCKS: usize = 24;

/// Where the norms of a stack stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nowhere.
    None,
    /// Before each layer, and one behind the last block.
    Before,
    /// After each sum.
    After,
}

/// What a stack is built with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Whether each layer's input is added to what it says.
    pub residual: bool,
    /// Where the norms stand.
    pub place: Place,
    /// How many blocks it has.
    pub n_blocks: usize,
    /// What every parameter of a fresh layer is multiplied by: 1 leaves the spread of Glorot
    /// and Bengio. BERT and GPT-2 begin smaller.
    pub size: f64,
}

impl Setting {
    /// 24 blocks.
    pub const fn deep(residual: bool, place: Place, size: f64) -> Self {
        Self { residual, place, n_blocks: N_BLOCKS, size }
    }

    /// All six, 24 blocks deep, with parameters of this size.
    pub fn all(size: f64) -> impl Iterator<Item = Self> {
        let places = [Place::None, Place::Before, Place::After];
        [true, false].into_iter().flat_map(move |residual| {
            places.map(|place| Self::deep(residual, place, size))
        })
    }

    /// What it is called: `residual, norm before`.
    pub fn name(&self) -> &'static str {
        match (self.residual, self.place) {
            (true, Place::None) => "residual, no norm",
            (true, Place::Before) => "residual, norm before",
            (true, Place::After) => "residual, norm after",
            (false, Place::None) => "neither",
            (false, Place::Before) => "norm before, no residual",
            (false, Place::After) => "norm after, no residual",
        }
    }

    fn norms(&self) -> Norms {
        match self.place {
            Place::None => Norms::none(),
            Place::Before => Norms::before(LayerNorm::identity(D_MODEL)),
            Place::After => Norms::after(LayerNorm::identity(D_MODEL)),
        }
    }

    /// A stack with random parameters, the same for every setting but for their size.
    ///
    /// # Errors
    /// None; the sizes fit.
    pub fn stack(&self, rng: &mut Rng) -> Result<Stack<FusedAttention>> {
        let dims = Dims::new(D_MODEL, N_HEADS)?;
        let mut block = || {
            let mut parameters = LayerParameters::random(dims, true, rng).pack();
            let mut ffn = FeedForward::random(D_MODEL, D_FF, rng);
            let all = parameters.entries_mut().into_iter().chain(ffn.entries_mut());
            all.flatten().for_each(|parameter| *parameter *= self.size);
            let attention = FusedAttention::from_packed(parameters);
            let residual = self.residual;
            let attention = Sublayer::new(attention, self.norms());
            let ffn = Sublayer::new(ffn, self.norms());
            Block::new(
                Sublayer { residual, ..attention },
                Some(Sublayer { residual, ..ffn }),
            )
        };
        let blocks = (0..self.n_blocks).map(|_| block()).collect();
        let last_norm =
            (self.place == Place::Before).then(|| LayerNorm::identity(D_MODEL).into());
        Ok(Stack { blocks, last_norm })
    }
}

/// What was measured along a stack: before the first block, and after each.
#[derive(Debug, Clone, PartialEq)]
pub struct Depth {
    /// The size of the gradient there, as a part of that after the last block.
    pub gradients: Vec<f64>,
    /// The spread of the tokens' entries.
    pub scales: Vec<f64>,
    /// How far tokens are from their mean, as a part of how large they are: 0 where all
    /// are the same.
    pub apart: Vec<f64>,
}

/// Random tokens through a fresh stack, and a random gradient back.
///
/// # Errors
/// None; the sizes fit.
pub fn measure(setting: &Setting, seed: u64) -> Result<Depth> {
    let rng = &mut Rng::seed_from_u64(seed);
    let x = random_matrix(N_TOKENS, D_MODEL, 1.0, rng);
    let d_out = random_matrix(N_TOKENS, D_MODEL, 1.0, rng);
    let stack = setting.stack(rng)?;
    let pass = StackPass::forward(&stack, &Batch::new(1, x.clone())?, &[Mask::None])?;
    let hidden = std::iter::once(&x).chain(pass.blocks().iter().map(|block| block.out()));
    let spread = |x: &Matrix| x.norm() / (x.len() as f64).sqrt();
    let (scales, apart) = hidden.map(|x| (spread(x), apart(x))).unzip();
    let d = pass.backward(&d_out)?.d_hidden;
    // What reaches the last block's output: behind it there may be a norm.
    let top = d[d.len() - 1].norm();
    let gradients = d.iter().map(|d| d.norm() / top).collect();
    Ok(Depth { gradients, scales, apart })
}

/// How far tokens are from their mean, as a part of their size: 1 for tokens that cancel, 0
/// for tokens that are the same.
pub fn apart(tokens: &Matrix) -> f64 {
    let mean = tokens.row_mean();
    let off =
        Matrix::from_fn(tokens.nrows(), tokens.ncols(), |i, j| tokens[(i, j)] - mean[j]);
    // Where nothing is left, so much as an axis of powers of ten can show.
    (off.norm() / tokens.norm()).max(f64::EPSILON)
}

/// How many seeds are drawn.
pub const N_SEEDS: u64 = 10;
/// What is less is rounding.
const LEAST: f64 = 1e-14;

/// All six settings and their halves: a dot per seed.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let measured = |size: f64| -> Result<Vec<Vec<Depth>>> {
        let seeds = |setting| (0..N_SEEDS).map(|seed| measure(&setting, seed)).collect();
        Setting::all(size).map(seeds).collect()
    };
    let (whole, half) = (measured(1.0)?, measured(0.5)?);
    let panel = |title: &str, ends: [f64; 2], of: fn(&Depth) -> f64| {
        let number = |depth: &Depth| significant(of(depth).max(LEAST));
        let list = |name: &str, all: &[Vec<Depth>], nth: usize| {
            let row = |seeds: &Vec<Depth>| seeds.iter().map(number).collect();
            let rows: Vec<Vec<f64>> = all.iter().map(row).collect();
            RowList::new(name, rows, Look::Runs(palette::beside_wrong(nth)))
        };
        let lists = vec![list("as they begin", &whole, 0), list("halved", &half, 1)];
        let x = Axis::decades(ends, log_axis::power_of_ten);
        RowPanel::new(title, x, brief, lists)
    };
    let panels = [
        panel("how far apart tokens are", [1e-16, 1.0], |it| it.apart[N_BLOCKS]),
        panel("gradient at the bottom", [1e-17, 1e10], |it| it.gradients[0]),
        panel("spread of the entries", [1e-3, 1e6], |it| it.scales[N_BLOCKS]),
    ];
    let rows: Vec<String> =
        Setting::all(1.0).map(|setting| setting.name().to_owned()).collect();
    let title = "Without a residual, all tokens become alike; with one, the result depends on \
                 the norm and on how small the initial parameters are";
    NamedRows::new(&rows, 44.0, 3).figure(title, &panels)
}
