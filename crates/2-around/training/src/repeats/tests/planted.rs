//! Circuits of two heads, written down and not trained: what measurements must find.

use attention::{Dims, HeadParameters, LayerParameters, Linear, Matrix, Result, Rng};
use block::Positions;
use fused_heads::FusedAttention;

use crate::repeats::{Architecture, Predictor, Repeats};

/// A score that leaves nothing to other tokens.
const SURE: f64 = 400.0;
/// How much louder a copied token is than the one at hand.
const LOUD: f32 = 4.0;

/// Which way two heads find the token after the last same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// The first head notes at every token which one stands before it, and the second looks
    /// for the note: an induction head by K-composition.
    Note,
    /// The first head notes at every token where it stood last, and the second looks for the
    /// next place: pointer arithmetic, by Q-composition.
    Pointer,
}

/// Where the parts of a token begin: what it is, where it stands, which token or which place
/// is noted.
struct Rooms {
    place: usize,
    note: usize,
}

impl Predictor {
    /// A model whose head 0 of each of two layers is such a circuit. Its other head has small
    /// random weights and writes nothing.
    pub(super) fn planted(
        planted: Planted,
        task: &Repeats,
        rng: &mut Rng,
    ) -> Result<Self> {
        let (n_ids, n_places) = (task.n_vocabulary, task.n_tokens);
        let d_head = n_ids + n_places;
        let d_model = 2 * d_head;
        let rooms = Rooms { place: n_ids, note: d_head };
        let built =
            Architecture { d_model, d_head, n_heads: 2, ..Architecture::TWO_LAYERS };
        let mut model = Self::random(built, task, rng)?;
        model.embedding.tokens = one_hot(n_ids, d_model, Some);
        let places = one_hot(n_places, d_model, |place| Some(rooms.place + place));
        model.embedding.positions = Positions::Learned(places);
        let dims = Dims::with_head_sizes(d_model, 2, d_head, d_head)?;
        for (l, block) in model.stack.blocks.iter_mut().enumerate() {
            let [w_q, w_k, w_v, w_o] = match (l, planted) {
                (0, Planted::Note) => rooms.previous(),
                (0, Planted::Pointer) => rooms.last_same(),
                (_, Planted::Note) => rooms.noted(),
                (_, Planted::Pointer) => rooms.pointed(),
            };
            block.attention.function =
                FusedAttention::new(&layer(dims, [w_q, w_k, w_v], w_o, rng)?);
        }
        let unembedding = one_hot(d_model, n_ids, |d| (d < n_ids).then_some(d));
        model.unembedding = Linear::new(unembedding, None)?;
        Ok(model)
    }
}

/// What each room of a token goes to in a head: 1 from room `from + n` to column `to + n`,
/// times a factor.
type Moves = Vec<(usize, usize, usize, f64)>;

impl Rooms {
    fn n_ids(&self) -> usize {
        self.place
    }

    fn n_places(&self) -> usize {
        self.note - self.place
    }

    /// A query for the place before, and what stands there is noted.
    fn previous(&self) -> [Moves; 4] {
        let n = self.n_places();
        let query = vec![(self.place + 1, 0, n - 1, SURE)];
        let copied = vec![(0, 0, self.n_ids(), 1.0)];
        [
            query,
            vec![(self.place, 0, n, 1.0)],
            copied,
            vec![(0, self.note, self.n_ids(), 1.0)],
        ]
    }

    /// A query for the same token, but not at the same place; where it stands is noted.
    fn last_same(&self) -> [Moves; 4] {
        let (ids, n) = (self.n_ids(), self.n_places());
        let query = vec![(0, 0, ids, SURE), (self.place, ids, n, -2.0 * SURE)];
        let key = vec![(0, 0, ids, 1.0), (self.place, ids, n, 1.0)];
        let copied = vec![(self.place, 0, n, 1.0)];
        [query, key, copied, vec![(0, self.note, n, 1.0)]]
    }

    /// A query for the note of the token at hand, and what stands there is said. The first
    /// token sees nothing but itself and notes that; so a key is a little less its own token.
    fn noted(&self) -> [Moves; 4] {
        let ids = self.n_ids();
        let key = vec![(self.note, 0, ids, 1.0), (0, 0, ids, -0.1)];
        let copied = vec![(0, 0, ids, 1.0)];
        let said = vec![(0, 0, ids, f64::from(LOUD))];
        [vec![(0, 0, ids, SURE)], key, copied, said]
    }

    /// A query for the place after the one that is noted, and what stands there is said.
    fn pointed(&self) -> [Moves; 4] {
        let (ids, n) = (self.n_ids(), self.n_places());
        let query = vec![(self.note, 1, n - 1, SURE)];
        let copied = vec![(0, 0, ids, 1.0)];
        let said = vec![(0, 0, ids, f64::from(LOUD))];
        [query, vec![(self.place, 0, n, 1.0)], copied, said]
    }
}

/// A layer whose head 0 is written down, and whose head 1 is random and writes nothing.
fn layer(
    dims: Dims,
    head: [Moves; 3],
    w_o: Moves,
    rng: &mut Rng,
) -> Result<LayerParameters<f32>> {
    let (d_model, d_k) = (dims.d_model(), dims.d_k());
    let written = |moves: Moves, (n_rows, n_columns), factor: f64| {
        let mut matrix = Matrix::zeros(n_rows, n_columns);
        for (from, to, n, size) in moves {
            (0..n).for_each(|i| matrix[(from + i, to + i)] = (size * factor) as f32);
        }
        Linear::new(matrix, None)
    };
    let [q, k, v] = head;
    let shape = (d_model, d_k);
    // Scores are divided by √d_k.
    let w_q = written(q, shape, (d_k as f64).sqrt())?;
    let (w_k, w_v) = (written(k, shape, 1.0)?, written(v, shape, 1.0)?);
    let random = HeadParameters::random(dims, false, rng);
    let w_o = written(w_o, (2 * d_k, d_model), 1.0)?;
    LayerParameters::new(vec![HeadParameters { w_q, w_k, w_v }, random], w_o)
}

fn one_hot(
    rows: usize,
    columns: usize,
    at: impl Fn(usize) -> Option<usize>,
) -> Matrix<f32> {
    Matrix::from_fn(rows, columns, |row, column| {
        f32::from(u8::from(at(row) == Some(column)))
    })
}
