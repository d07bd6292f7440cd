//! The book's own parts: a stack of blocks whose heads are columns of one matrix.

use ablation::ablated_output;
use attention::{
    Dims, Error, Linear, Mask, Matrix, PackedParameters, Result, Rng, RowVector,
    softmax_rows,
};
use block::{
    Activation, Block, Embedding, FeedForward, LayerNorm, Layers, Norms, Positions,
    Stack, Sublayer,
};
use fused_heads::FusedAttention;
use gradients::Entries;
use rand::RngExt;

use crate::Architecture;
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
    /// [`Error::Length`] for a list of another length, and as [`Architecture::dims`].
    pub fn new(architecture: Architecture, parameters: &[f64]) -> Result<Self> {
        architecture.check(parameters)?;
        let d_model = architecture.d_model;
        let dims = architecture.dims()?;
        let blocks = (0..architecture.n_blocks).map(|_| empty_block(dims));
        let positions = Matrix::zeros(architecture.n_positions, d_model);
        let embedding = Embedding {
            tokens: Matrix::zeros(N_LETTERS, d_model),
            scale: 1.0,
            positions: Positions::Learned(positions),
        };
        let last_norm = Some(LayerNorm::identity(d_model).into());
        let stack = Stack { blocks: blocks.collect::<Result<_>>()?, last_norm };
        let mut model = (embedding, stack);
        let (parts, lists) = (architecture.parts(), architecture.cut(parameters));
        for (entries, i) in model.entries_mut().into_iter().zip(order(architecture)) {
            let (rows, columns) = parts[i].shape;
            let part = Matrix::from_row_slice(rows, columns, lists[i]);
            entries.copy_from_slice(part.as_slice());
        }
        let (embedding, stack) = model;
        Ok(Self { architecture, embedding, stack })
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
        let layers = self.layers(ids)?;
        let logits = layers.out() * self.embedding.tokens.transpose();
        Ok(Read { logits, maps: layers.attn })
    }

    /// The logits of the letter that comes next, `[27]`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn next(&self, ids: &[usize]) -> Result<Vec<f64>> {
        let layers = self.layers(ids)?;
        let last = layers.out().row(ids.len() - 1);
        Ok((last * self.embedding.tokens.transpose()).as_slice().to_vec())
    }

    fn layers(&self, ids: &[usize]) -> Result<Layers> {
        self.stack.forward(self.embedding.forward(ids, ids.len())?, &Mask::Causal)
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
        let packed = attention.parameters().clone();
        let dims = packed.dims();
        let [w_q, w_k, w_v, w_o] = packed.into_projections();
        let w_o = ablated_output(&w_o, dims, &[(head, None)])?;
        let packed = PackedParameters::new(dims, [w_q, w_k, w_v, w_o])?;
        *attention = FusedAttention::from_packed(packed);
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

/// A block whose parameters are still to be filled in.
fn empty_block(dims: Dims) -> Result<Block<FusedAttention>> {
    let (d_model, d_ff) = (dims.d_model(), 4 * dims.d_model());
    let zeros = |d_in, d_out| {
        Linear::new(Matrix::zeros(d_in, d_out), Some(RowVector::zeros(d_out)))
    };
    let square = || zeros(d_model, d_model);
    let packed =
        PackedParameters::new(dims, [square()?, square()?, square()?, square()?])?;
    let (w_1, w_2) = (zeros(d_model, d_ff)?, zeros(d_ff, d_model)?);
    let feed_forward = FeedForward::new(w_1, Activation::GeluTanh, w_2)?;
    let norms = || Norms::before(LayerNorm::identity(d_model));
    Ok(Block::new(
        Sublayer::new(FusedAttention::from_packed(packed), norms()),
        Some(Sublayer::new(feed_forward, norms())),
    ))
}

/// The places in the list of parts of what an embedding and a stack hold, in the order of
/// their entries.
pub(crate) fn order(architecture: Architecture) -> Vec<usize> {
    let last = architecture.first_of(architecture.n_blocks);
    let of_block = |b: usize| OF_BLOCK.map(|i| architecture.first_of(b) + i);
    let mut order = vec![0, 1];
    order.extend((0..architecture.n_blocks).flat_map(of_block));
    order.extend([last, last + 1]);
    order
}
