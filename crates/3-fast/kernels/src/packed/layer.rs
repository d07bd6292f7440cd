//! The layer of the last rung: weights as its products read them, and memory that is kept
//! between calls.

use attention::{LayerParameters, Matrix};
use tiles::attend::GROUPS;
use tiles::tile::ROWS;
use tiles::{Instructions, Lengths};

use super::backward::memory::Memory as BackwardMemory;
use super::backward::turned::Turned;
use super::forward::{Extent, Memory, Queries, forward};
use super::weights::Weights;
use crate::Inputs;

/// The layer with everything packed for its own product, there and back.
///
/// ```
/// use attention::{Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix};
/// use kernels::{Inputs, Packed, Rung};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let parameters = LayerParameters::random(Dims::new(8, 2)?, true, rng);
/// let x: Matrix<f32> = random_matrix(2 * 5, 8, 1.0, rng); // 2 sequences of 5 tokens
/// let inputs = Inputs::self_attention(2, &x, &[Mask::Causal]);
///
/// let (mut layer, mut out) = (Packed::new(&parameters), x.clone());
/// layer.forward(&inputs, &mut out)?;
/// assert_eq!(layer.maps(&inputs)?[1][0].shape(), (5, 5)); // sequence 1, head 0
///
/// let d_out = Matrix::from_element(10, 8, 1.0); // of the sum of all outputs
/// let gradients = layer.pass(&inputs, &mut out)?.backward(&d_out)?;
/// assert_eq!(gradients.d_w_q.weight.shape(), (8, 8));
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug)]
pub struct Packed {
    pub(crate) weights: Weights,
    /// Parameters for the backward pass, packed when it is first gone.
    pub(crate) turned: Option<Turned>,
    pub(crate) parameters: LayerParameters<f32>,
    pub(crate) instructions: Instructions,
    pub(crate) memory: Memory,
    pub(crate) back: BackwardMemory,
}

impl Packed {
    /// How many queries of a head go through its keys together.
    pub const QUERIES: usize = GROUPS * ROWS;

    /// The layer with these parameters, for the widest instructions of this processor.
    pub fn new(parameters: &LayerParameters<f32>) -> Self {
        Self::with_instructions(parameters, Instructions::best())
    }

    /// The same for other instructions.
    pub fn with_instructions(
        parameters: &LayerParameters<f32>,
        instructions: Instructions,
    ) -> Self {
        Self {
            weights: Weights::new(parameters),
            turned: None,
            parameters: parameters.clone(),
            instructions,
            memory: Memory::default(),
            back: BackwardMemory::default(),
        }
    }

    /// Other parameters, as a step of a training gives them: packed anew, in a layer that
    /// keeps its memory.
    pub fn set_parameters(&mut self, parameters: &LayerParameters<f32>) {
        self.weights = Weights::new(parameters);
        self.turned = None;
        self.parameters.clone_from(parameters);
    }

    /// A forward pass, after which the memory holds what [`Queries`] says.
    pub(crate) fn run(
        &mut self,
        inputs: &Inputs<'_>,
        lengths: Lengths,
        queries: Queries,
        out: &mut Matrix<f32>,
    ) -> Extent {
        let Self { weights, instructions, memory, .. } = self;
        let dims = weights.dims;
        // Within the pool, where joins are cheap and the number of threads is known.
        let within = || {
            let extent =
                Extent { dims, lengths, n_threads: rayon::current_num_threads() };
            forward(weights, *instructions, memory, inputs, extent, queries, out);
            extent
        };
        rayon::join(within, || ()).0
    }
}
