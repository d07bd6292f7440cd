//! The book's own parts: a stack of blocks whose heads are columns of one matrix.

use ablation::ablated_layer;
use attention::{
    Error, Linear, Mask, Matrix, PackedParameters, Result, Rng, RowVector, softmax_rows,
};
use block::{
    Activation, Block, Embedding, FeedForward, LayerNorm, Norms, Positions, Stack,
    Sublayer,
};
use fused_heads::FusedAttention;
use rand::RngExt;

use crate::Architecture;
use crate::architecture::WEIGHTS;
use crate::scalars::N_LETTERS;

/// The places, among the parts of one block, of what the book's block holds, in the order of
/// its entries.
const OF_BLOCK: [usize; 16] = [2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 12, 13, 14, 15, 10, 11];

/// A model made of the book's parts.
///
/// ```
/// use attention::{Rng, SeedableRng};
/// use gpt::{Architecture, Model, scalars};
///
/// let architecture = Architecture { n_blocks: 2, ..Architecture::SMALL };
/// let parameters = architecture.parameters(&mut Rng::seed_from_u64(1));
/// let model = Model::new(architecture, &parameters)?;
/// let name = scalars::ids("mar"); // an end, three letters, an end
/// let read = model.read(&name[..4])?;
/// assert_eq!(read.logits.shape(), (4, 27)); // after the end, after `m`, `ma` and `mar`
/// assert_eq!((read.maps.len(), read.maps[0].len()), (2, 4)); // blocks, heads
/// assert_ne!(model.without(1, 2)?.read(&name[..4])?.logits, read.logits);
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub(crate) architecture: Architecture,
    pub(crate) embedding: Embedding,
    pub(crate) stack: Stack<FusedAttention>,
}

/// What a model makes of the beginning of a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// A row a letter: of each letter, the logit that it comes next, `[n, 27]`.
    pub logits: Matrix,
    /// `maps[b][i]` is the map of head i of block b, `[n, n]`.
    pub maps: Vec<Vec<Matrix>>,
}

impl Model {
    /// The model of a list of parameters.
    ///
    /// # Errors
    /// [`Error::Length`] for a list of another length; [`Error::NotDivisible`] if the width
    /// cannot be divided among the heads; [`Error::ZeroSize`].
    pub fn new(architecture: Architecture, parameters: &[f64]) -> Result<Self> {
        let dims = architecture.check(parameters)?;
        let (parts, lists) = (architecture.parts(), architecture.cut(parameters));
        let table = |at: usize| {
            let (rows, columns) = parts[at].shape;
            Matrix::from_row_slice(rows, columns, lists[at])
        };
        let row = |at: usize| RowVector::from_row_slice(lists[at]);
        // Each weight has its bias behind it, and each gain.
        let linear = |at| Linear::new(table(at), Some(row(at + 1)));
        let norm = |at| LayerNorm::new(row(at), row(at + 1), 1e-5);
        let block = |b| {
            let first = architecture.first_of(b);
            let [w_q, w_k, w_v, w_o, w_1, w_2] = WEIGHTS.map(|at| linear(first + at));
            let packed = PackedParameters::new(dims, [w_q?, w_k?, w_v?, w_o?])?;
            let attention = FusedAttention::from_packed(packed);
            let ffn = FeedForward::new(w_1?, Activation::GeluTanh, w_2?)?;
            Ok(Block::new(
                Sublayer::new(attention, Norms::before(norm(first)?)),
                Some(Sublayer::new(ffn, Norms::before(norm(first + 10)?))),
            ))
        };
        let positions = Positions::Learned(table(1));
        let embedding = Embedding { tokens: table(0), scale: 1.0, positions };
        let blocks = (0..architecture.n_blocks).map(block).collect::<Result<_>>()?;
        let last_norm = Some(norm(architecture.first_of(architecture.n_blocks))?.into());
        Ok(Self { architecture, embedding, stack: Stack { blocks, last_norm } })
    }

    /// The logits of the next letter behind each of some, and the map of each head.
    ///
    /// # Shapes
    /// `ids` begins with the end of the name before, 0, and has n letters in all.
    ///
    /// # Errors
    /// [`Error`] for no letters, for more than there are positions, and for an id that is no
    /// letter's.
    pub fn read(&self, ids: &[usize]) -> Result<Read> {
        let x = self.embedding.forward(ids, ids.len())?;
        let layers = self.stack.forward(x, &Mask::Causal)?;
        let logits = layers.out() * self.embedding.tokens.transpose();
        Ok(Read { logits, maps: layers.attn })
    }

    /// The logits of the letter that comes next, `[27]`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn next(&self, ids: &[usize]) -> Result<Vec<f64>> {
        let Read { logits, .. } = self.read(ids)?;
        Ok(logits.row(ids.len() - 1).iter().copied().collect())
    }

    /// The same model without one head: its rows of W^O are zeros, so that nothing reads what
    /// it says. Its own map is still there, and heads of later blocks may attend elsewhere.
    ///
    /// # Errors
    /// [`Error::NoSuchIndex`] if there is no such block or head.
    pub fn without(&self, block: usize, head: usize) -> Result<Self> {
        Error::expect_index("block", block, self.stack.blocks.len())?;
        let mut model = self.clone();
        let attention = &mut model.stack.blocks[block].attention.function;
        let layer = ablated_layer(&attention.parameters().unpack(), &[(head, None)])?;
        *attention = FusedAttention::new(&layer);
        Ok(model)
    }

    /// A new name, each letter drawn with the chance that the model gives it, as
    /// [`scalars::write`](crate::scalars::write) draws it.
    ///
    /// # Errors
    /// [`Error::NotPositive`] for a temperature that is not above 0.
    pub fn write(&self, temperature: f64, rng: &mut Rng) -> Result<String> {
        Error::expect_above_zero("the temperature", temperature)?;
        let mut ids = vec![0];
        while ids.len() <= self.architecture.n_positions {
            let logits = Matrix::from_row_slice(1, N_LETTERS, &self.next(&ids)?);
            let mut left: f64 = rng.random_range(0.0..1.0);
            let next = softmax_rows(logits / temperature).iter().position(|chance| {
                left -= chance;
                left < 0.0
            });
            match next {
                None | Some(0) => break, // the end
                Some(id) => ids.push(id),
            }
        }
        Ok(ids[1..].iter().map(|&id| char::from(b'a' + id as u8 - 1)).collect())
    }
}

/// The places in the list of parts of what an embedding and a stack hold, in the order of
/// their entries.
pub(crate) fn order(architecture: Architecture) -> Vec<usize> {
    let last = architecture.first_of(architecture.n_blocks);
    let of_block = |b: usize| OF_BLOCK.map(|i| architecture.first_of(b) + i);
    let blocks = (0..architecture.n_blocks).flat_map(of_block);
    [0, 1].into_iter().chain(blocks).chain([last, last + 1]).collect()
}
