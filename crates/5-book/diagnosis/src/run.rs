//! A recipe, computed: the tensors of a layer, each made from those before it.

mod dropout;
mod heads;
mod mask;
mod norms;
mod output;
mod projection;
mod scores;
mod tiles;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use attention::Matrix;

use crate::precision::Rounding;
use crate::recipe::{Axes, Recipe};
use crate::{EmptyRow, Intent, Number, Precision, Record, State};

/// A tensor: a matrix a sequence, or one a head, those of a sequence together.
pub type Tensor = Rc<Vec<Matrix>>;

/// A tensor, what an empty row gets, whether it has the chosen rows alone, and the recipe.
type Key = (State, EmptyRow, bool, Recipe);

/// Scores on one side of the diagonal that are others, as no mistake makes them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    /// Those of keys behind the query, and not of keys before it.
    pub is_ahead: bool,
    /// They are multiplied by this.
    pub factor: f64,
    /// Then they are larger by this.
    pub added: f64,
}

/// Computes recipes on one record. Tensors on which two recipes agree are computed once.
///
/// A tensor that the record has is taken as it is where a later one is made from it, so that
/// a step is tried on what it was given, and not on what it should have been given.
pub struct Run<'a> {
    record: &'a Record,
    intent: &'a Intent,
    precision: Precision,
    rounding: Rounding,
    /// A number that the intent does not have.
    number: Option<Number>,
    side: Option<Side>,
    sequences: Vec<usize>,
    rows: Option<Vec<usize>>,
    memo: RefCell<HashMap<Key, Option<Tensor>>>,
    keeps: Cell<bool>,
}

impl<'a> Run<'a> {
    /// A run in f64 over all of the record.
    pub fn new(record: &'a Record, intent: &'a Intent) -> Self {
        Self {
            record,
            intent,
            precision: Precision::F64,
            rounding: Rounding::Nearest,
            number: None,
            side: None,
            sequences: (0..record.batch()).collect(),
            rows: None,
            memo: RefCell::default(),
            keeps: Cell::new(true),
        }
    }

    /// The same in another precision: what each step gives is rounded.
    pub(crate) fn rounded(mut self, precision: Precision, rounding: Rounding) -> Self {
        (self.precision, self.rounding) = (precision, rounding);
        self
    }

    /// The same with this number, which the intent has where it can.
    pub(crate) fn with_number(mut self, number: Option<&Number>) -> Self {
        self.number = number.copied();
        self
    }

    /// The same where the scores on one side of the diagonal are others.
    pub(crate) fn with_side(mut self, side: Side) -> Self {
        self.side = Some(side);
        self
    }

    /// Of these sequences, and of their outputs these rows alone: enough to see that a recipe
    /// is not the one.
    pub(crate) fn part(mut self, sequences: Vec<usize>, rows: Vec<usize>) -> Self {
        (self.sequences, self.rows) = (sequences, Some(rows));
        self
    }

    /// Of the same sequences and rows as another.
    pub(crate) fn like(mut self, other: &Run<'_>) -> Self {
        self.sequences.clone_from(&other.sequences);
        self.rows.clone_from(&other.rows);
        self
    }

    /// The same for another layer, whose tensors up to this one are the same.
    pub(crate) fn varied<'b>(&self, intent: &'b Intent, after: State) -> Run<'b>
    where
        'a: 'b,
    {
        let run = Run::new(self.record, intent).like(self);
        let memo = self.memo.borrow();
        let same = memo.iter().filter(|(key, _)| key.0 <= after);
        run.memo.borrow_mut().extend(same.map(|(key, it)| (*key, it.clone())));
        run
    }

    /// Whether tensors are kept for recipes to come.
    pub(crate) fn keep(&self, keeps: bool) {
        self.keeps.set(keeps);
    }

    /// A tensor by this recipe, made from the nearest ones that the record has; nothing where
    /// shapes do not fit.
    pub fn step(&self, state: State, recipe: &Recipe) -> Option<Tensor> {
        self.step_with(state, recipe, self.intent.empty_row)
    }

    /// The same where a query without a key gets this.
    pub(crate) fn step_with(
        &self,
        state: State,
        recipe: &Recipe,
        empty: EmptyRow,
    ) -> Option<Tensor> {
        let masked = state >= State::Attn;
        let empty_of = if masked { empty } else { EmptyRow::Zeros };
        let has_rows = state != State::HeadKey && state != State::HeadValue;
        let is_narrow = has_rows && state >= State::HeadQuery && self.is_narrow(recipe);
        let key = (state, empty_of, is_narrow, recipe.before(state));
        if let Some(tensor) = self.memo.borrow().get(&key) {
            return tensor.clone();
        }
        let computed = self.compute(state, recipe, empty).map(|mut tensor| {
            let matrices = tensor.iter_mut();
            matrices.for_each(|m| self.precision.round_all(m, self.rounding));
            Rc::new(tensor)
        });
        // There are few ways to project, and each takes long.
        if self.keeps.get() || state <= State::Value {
            self.memo.borrow_mut().insert(key, computed.clone());
        }
        computed
    }

    /// What a later step reads: the record's own tensor where it has one.
    fn input_of_step(
        &self,
        state: State,
        recipe: &Recipe,
        empty: EmptyRow,
    ) -> Option<Tensor> {
        let Some(given) = self.record.tensors.get(&state) else {
            return self.step_with(state, recipe, empty);
        };
        let n = self.record.batch();
        if self.sequences.len() == n && self.rows.is_none() {
            let fits = given.len().is_multiple_of(self.n_sequences(recipe));
            return fits.then(|| Rc::new(given.clone()));
        }
        if recipe.axes == Axes::Exchanged || !given.len().is_multiple_of(n) {
            return None;
        }
        let each = given.len() / n;
        let of = |&s: &usize| given[s * each..][..each].iter().cloned();
        Some(Rc::new(self.sequences.iter().flat_map(of).collect()))
    }

    fn compute(
        &self,
        state: State,
        recipe: &Recipe,
        empty: EmptyRow,
    ) -> Option<Vec<Matrix>> {
        let given = |state| self.input_of_step(state, recipe, empty);
        match state {
            State::Query | State::Key | State::Value => {
                self.project(state as usize, recipe)
            }
            State::HeadQuery => {
                let heads = self.split(&given(State::Query)?, 0, recipe)?;
                match self.rows_of_heads(recipe) {
                    Some(rows) => heads.iter().map(|q| select(q, rows)).collect(),
                    None => Some(heads),
                }
            }
            State::HeadKey => self.split(&given(State::Key)?, 1, recipe),
            State::HeadValue => self.split(&given(State::Value)?, 2, recipe),
            State::Scores => {
                self.scores(&given(State::HeadQuery)?, &given(State::HeadKey)?, recipe)
            }
            State::Attn => self.attn(&given(State::Scores)?, recipe, empty),
            State::Heads => {
                self.average(&given(State::Attn)?, &given(State::HeadValue)?, recipe)
            }
            State::Concat => self.merge(&given(State::Heads)?, recipe),
            State::Output => self.output(&given(State::Concat)?, recipe),
        }
    }

    /// Whether the chosen rows are chosen from the heads' queries on.
    fn is_narrow(&self, recipe: &Recipe) -> bool {
        let mut inner = self.record.tensors.range(State::HeadQuery..State::Output);
        self.rows.is_some() && recipe.keeps_rows() && inner.next().is_none()
    }

    fn rows_of_heads(&self, recipe: &Recipe) -> Option<&Vec<usize>> {
        self.rows.as_ref().filter(|_| self.is_narrow(recipe))
    }

    /// The record's own tensor, where this recipe's has these sequences and rows.
    pub(crate) fn given(
        &self,
        state: State,
        recipe: &Recipe,
    ) -> Option<Cow<'a, [Matrix]>> {
        let given = self.record.tensors.get(&state)?;
        let n = self.record.batch();
        let Some(rows) = &self.rows else { return Some(Cow::Borrowed(given)) };
        if !given.len().is_multiple_of(n) {
            return None;
        }
        let each = given.len() / n;
        let of = |&s: &usize| given[s * each..][..each].iter();
        let all: Vec<usize> = (0..n).collect();
        let sequences =
            if recipe.axes == Axes::Exchanged { &all } else { &self.sequences };
        let chosen = sequences.iter().flat_map(of);
        let chosen = match state {
            State::Output => chosen.map(|m| select(m, rows)).collect::<Option<_>>()?,
            _ => chosen.cloned().collect(),
        };
        Some(Cow::Owned(chosen))
    }

    /// A product as this run's precision has it.
    fn product(&self, a: &Matrix, b: &Matrix) -> Matrix {
        let mut product = match self.precision {
            Precision::F64 | Precision::F32 => multiplied(a, b),
            precision => {
                let [a, b] = [a, b].map(|m| precision.factor(m, self.rounding));
                multiplied(&a, &b)
            }
        };
        self.precision.round_all(&mut product, self.rounding);
        product
    }

    /// d_k, h and the heads of keys and values.
    fn sizes(&self) -> (usize, usize, usize) {
        let Intent { n_heads, n_kv_heads, .. } = *self.intent;
        let d_k = self.record.weights.projections[0].d_out() / n_heads;
        (d_k, n_heads, n_kv_heads)
    }

    /// Where `n` queries (0) or keys (1) of a sequence stand; across sequences they are counted.
    fn places(&self, s: usize, role: usize, n: usize, axes: Axes) -> Vec<f64> {
        let listed = self.sequences.get(s).filter(|_| axes == Axes::Meant);
        let listed = listed.map(|&s| self.intent.positions(self.record, s, role));
        let listed = listed.filter(|list| list.len() == n);
        listed.unwrap_or_else(|| (0..n).map(|t| t as f64).collect())
    }

    fn n_sequences(&self, recipe: &Recipe) -> usize {
        match recipe.axes {
            Axes::Meant => self.sequences.len(),
            Axes::Exchanged => {
                self.rows.as_ref().map_or(self.record.lengths().0, Vec::len)
            }
        }
    }
}

/// `a b`. Of a part of a record, `a` has a few rows: each entry is then a dot product of two
/// columns, since nalgebra would go through all of `b` a few numbers at a time.
fn multiplied(a: &Matrix, b: &Matrix) -> Matrix {
    const FEW: usize = 5;
    if a.nrows() > FEW {
        return a * b;
    }
    let rows = a.transpose();
    Matrix::from_fn(a.nrows(), b.ncols(), |r, c| {
        dot(rows.column(r).as_slice(), b.column(c).as_slice())
    })
}

/// A dot product in several sums, which a processor adds to at once.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const SUMS: usize = 8;
    let (a, b) = (a.chunks_exact(SUMS), b.chunks_exact(SUMS));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; SUMS];
    for (a, b) in a.zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    rest + sums.iter().sum::<f64>()
}

/// These rows, if there are as many.
pub(crate) fn select(m: &Matrix, rows: &[usize]) -> Option<Matrix> {
    rows.iter().all(|&row| row < m.nrows()).then(|| m.select_rows(rows))
}
