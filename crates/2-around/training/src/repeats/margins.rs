//! Why the last layer attends to the right token, and why the right one wins; and how much of what
//! a head writes another one reads, by their weights alone.

use ablation::orthonormal;
use attention::{
    Error, HeadParameters, LayerParameters, Matrix, Result, Rng, max_abs_diff,
};

use super::paths::{Part, Paths, Start};
use super::{Predictor, Sequences};

/// Two margins of a model of two layers, each split exactly by the paths that it came by;
/// means over all places at which what comes next can be known.
#[derive(Debug, Clone, PartialEq)]
pub struct Margins {
    /// The score that a head of the second layer gives to the token after the last same one,
    /// less the mean score of the other tokens that it sees; mean over heads. Entry (a, b) is
    /// from source a of the query and source b of the key: token, position, bias, and each
    /// head of the first layer, `[3 + h, 3 + h]`.
    pub scores: Matrix,
    /// The logit of what comes next, less the mean of all others. Entry (i, j) came through
    /// head i − 1 of the first layer and head j − 1 of the second; 0 is none,
    /// `[1 + h, 1 + h]`.
    pub logits: Matrix,
    /// The largest difference of any logit of any token, summed over its paths in f64, from
    /// the model's own, which it computes in f32.
    pub apart: f64,
}

/// A margin of logits by the layers whose heads it came through: [`Margins::by_layer`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attribution {
    /// No head.
    pub none: f64,
    /// A head of the first layer alone.
    pub first: f64,
    /// A head of the second layer alone.
    pub second: f64,
    /// One of each: V-composition.
    pub both: f64,
}

/// A margin of scores by what is composed: [`Margins::by_composition`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Composition {
    /// Neither query nor key came through a head of the first layer.
    pub none: f64,
    /// The query did: Q-composition.
    pub q: f64,
    /// The key did: K-composition.
    pub k: f64,
    /// Both did.
    pub both: f64,
}

impl Margins {
    /// Measures a model on some sequences.
    ///
    /// # Errors
    /// [`attention::Error`] unless it has two layers; as
    /// [`Predictor::pass`].
    pub fn of(model: &Predictor, read: &Sequences) -> Result<Self> {
        measured(model, read, None)
    }

    /// The control: the same models, sequences and maps, but what each head writes is rotated,
    /// by a random rotation of its own. It writes as much, to directions that say nothing.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn rotated(model: &Predictor, read: &Sequences, rng: &mut Rng) -> Result<Self> {
        let d_model = model.unembedding.d_in();
        let mut rotation = || orthonormal(d_model, d_model, rng).cast();
        let of_block =
            |l: usize| (0..model.layer(l).dims().n_heads()).map(|_| rotation()).collect();
        let rotations: Vec<_> = (0..model.stack.blocks.len()).map(of_block).collect();
        measured(model, read, Some(&rotations))
    }

    /// The margin of logits, by the layers whose heads it came through.
    pub fn by_layer(&self) -> Attribution {
        let [none, first, second, both] = quarters(&self.logits, 1);
        Attribution { none, first, second, both }
    }

    /// The margin of scores, by what the heads of the first layer have to do with it.
    pub fn by_composition(&self) -> Composition {
        let [none, q, k, both] = quarters(&self.scores, 3);
        Composition { none, q, k, both }
    }
}

/// The sums of a matrix that is cut after its first `n` rows and columns: of the first rows in
/// the first columns, of the other rows there, of the first rows in the other columns, and of
/// what is left.
fn quarters(matrix: &Matrix, n: usize) -> [f64; 4] {
    let rest = (matrix.nrows() - n, matrix.ncols() - n);
    [((0, 0), (n, n)), ((n, 0), (rest.0, n)), ((0, n), (n, rest.1)), ((n, n), rest)]
        .map(|(from, shape)| matrix.view(from, shape).sum())
}

fn measured(
    model: &Predictor,
    read: &Sequences,
    rotations: Option<&[Vec<Matrix>]>,
) -> Result<Margins> {
    Error::expect_length("the list of layers", 2, model.stack.blocks.len())?;
    let [first, second] = [0, 1].map(|l| model.layer(l).dims().n_heads());
    let mut scores = Matrix::zeros(3 + first, 3 + first);
    let mut logits = Matrix::zeros(1 + first, 1 + second);
    let own = model.logits(read)?.map(f64::from);
    let mut apart: f64 = 0.0;
    let n = read.n_tokens;
    let known: Vec<usize> = read.known().collect();
    for rows in known.chunk_by(|a, b| a / n == b / n) {
        let s = rows[0] / n;
        let rows: Vec<usize> = rows.iter().map(|row| row % n).collect();
        let mut paths = Paths::of(model, &read.ids[s * n..(s + 1) * n])?;
        if let Some(rotations) = rotations {
            paths = paths.rotated(rotations)?;
        }
        let own = own.rows(s * n, n).into_owned();
        apart = apart.max(max_abs_diff(&paths.all_logits(), &own)?);
        scores += of_scores(&paths, &rows, read.periods[s]);
        logits += of_logits(&paths, &rows, &read.next[s * n..(s + 1) * n]);
    }
    let n_known = known.len().max(1) as f64;
    scores /= n_known * second as f64;
    logits /= n_known;
    Ok(Margins { scores, logits, apart })
}

/// Sums over rows and heads, `[3 + h, 3 + h]`.
fn of_scores(paths: &Paths, rows: &[usize], period: usize) -> Matrix {
    let sources = sources(&paths.parts[1], paths.maps[0].len());
    let margin = |scores: &Matrix| {
        let of_row = |&t: &usize| {
            let right = scores[(t, t - period + 1)];
            let others = scores.row(t).columns(0, t + 1).sum() - right;
            right - others / t as f64
        };
        rows.iter().map(of_row).sum::<f64>()
    };
    Matrix::from_fn(sources.len(), sources.len(), |a, b| {
        let heads = 0..paths.maps[1].len();
        heads.map(|j| margin(&paths.scores([1, j], &sources[a], &sources[b]))).sum()
    })
}

/// Token, position, bias, and all that came through each head.
fn sources(parts: &[Part], n_heads: usize) -> Vec<Part> {
    let source = |part: &Part| match (part.heads.last(), part.start) {
        (Some([_, i]), _) => 3 + i,
        (None, Start::Token) => 0,
        (None, Start::Position) => 1,
        (None, Start::Bias) => 2,
    };
    let starts = [Start::Token, Start::Position, Start::Bias];
    let of = |nth: usize| {
        let zeros = parts[0].x.map(|_| 0.0);
        let own = parts.iter().filter(|part| source(part) == nth);
        let x = own.fold(zeros, |sum, part| sum + &part.x);
        match starts.get(nth) {
            Some(&start) => Part::starting(start, x),
            None => Part { start: Start::Token, heads: vec![[0, nth - 3]], x },
        }
    };
    (0..3 + n_heads).map(of).collect()
}

/// Sums over rows, `[1 + h, 1 + h]`.
fn of_logits(paths: &Paths, rows: &[usize], next: &[usize]) -> Matrix {
    let mut sums = Matrix::zeros(1 + paths.maps[0].len(), 1 + paths.maps[1].len());
    let margin = |logits: &Matrix| {
        let others = (logits.ncols() - 1).max(1) as f64;
        let of_row = |&t: &usize| {
            let right = logits[(t, next[t])];
            right - (logits.row(t).sum() - right) / others
        };
        rows.iter().map(of_row).sum::<f64>()
    };
    for part in &paths.parts[2] {
        let of_layer = |l: usize| {
            let head = part.heads.iter().find(|head| head[0] == l);
            head.map_or(0, |[_, i]| 1 + i)
        };
        sums[(of_layer(0), of_layer(1))] += margin(&paths.logits(part));
    }
    let bias = paths.logits_bias();
    sums[(0, 0)] += margin(&Matrix::from_fn(next.len(), bias.len(), |_, id| bias[id]));
    sums
}

/// Composition scores of the heads of the first layer with those of the second: entry (i, j)
/// is `‖M‖ / (‖W_i^VO‖ ‖W‖)` in the Frobenius norm, with `W_i^VO = W_i^V W_i^O`,
/// `[n_heads, n_heads]` each.
///
/// # Source
/// Elhage et al. 2021, section "Composition of attention heads"; there tokens are columns.
/// Differs: nothing is subtracted for chance. Fresh models have as much.
#[derive(Debug, Clone, PartialEq)]
pub struct CompositionScores {
    /// The second head's queries: `M = W_i^VO W_j^QK`, with `W_j^QK = W_j^Q W_j^Kᵀ`.
    pub q: Matrix,
    /// Its keys: `M = W_i^VO W_j^QKᵀ`.
    pub k: Matrix,
    /// Its values: `M = W_i^VO W_j^VO`.
    pub v: Matrix,
}

impl CompositionScores {
    /// Those of a model of two layers.
    ///
    /// # Errors
    /// [`attention::Error`] unless it has two layers.
    pub fn of(model: &Predictor) -> Result<Self> {
        Error::expect_length("the list of layers", 2, model.stack.blocks.len())?;
        let heads = |l: usize| circuits(&model.layer(l).unpack().cast());
        let (first, second) = (heads(0), heads(1));
        let score = |read: fn(&[Matrix; 2]) -> Matrix| {
            Matrix::from_fn(first.len(), second.len(), |i, j| {
                let (written, read) = (&first[i][1], read(&second[j]));
                (written * &read).norm() / (written.norm() * read.norm())
            })
        };
        Ok(Self {
            q: score(|[w_qk, _]| w_qk.clone()),
            k: score(|[w_qk, _]| w_qk.transpose()),
            v: score(|[_, w_vo]| w_vo.clone()),
        })
    }
}

/// `W_i^Q W_i^Kᵀ` and `W_i^V W_i^O` of each head, `[d_model, d_model]`.
fn circuits(layer: &LayerParameters) -> Vec<[Matrix; 2]> {
    let of_head = |(i, head): (usize, &HeadParameters)| {
        let w_qk = &head.w_q.weight * head.w_k.weight.transpose();
        [w_qk, &head.w_v.weight * layer.w_o_of_head(i)]
    };
    layer.heads().iter().enumerate().map(of_head).collect()
}
