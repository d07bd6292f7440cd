//! A recipe, computed: the tensors of a layer, each made from those before it.

mod heads;
mod mask;
mod projection;
mod scores;
mod softmax;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use attention::Matrix;

use crate::precision::Rounding;
use crate::recipe::{Axes, Recipe, Scale};
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
pub(crate) struct Run<'a> {
    pub record: &'a Record,
    pub intent: &'a Intent,
    /// What each step gives is rounded to it.
    pub precision: Precision,
    pub rounding: Rounding,
    /// A number of the layer, which the intent has where it can.
    pub number: Option<Number>,
    pub side: Option<Side>,
    pub sequences: Vec<usize>,
    /// These rows of outputs alone: enough to see that a recipe is not the one.
    pub rows: Option<Vec<usize>>,
    pub memo: RefCell<HashMap<Key, Option<Tensor>>>,
    /// Whether tensors are kept for recipes to come.
    pub keeps: Cell<bool>,
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

    /// Of the same sequences and rows as another.
    pub fn like(mut self, other: &Run<'_>) -> Self {
        self.sequences.clone_from(&other.sequences);
        self.rows.clone_from(&other.rows);
        self
    }

    /// The same for another layer, whose tensors up to this one are the same.
    pub fn varied<'b>(&self, intent: &'b Intent, after: State) -> Run<'b>
    where
        'a: 'b,
    {
        let run = Run::new(self.record, intent).like(self);
        let memo = self.memo.borrow();
        let same = memo.iter().filter(|(key, _)| key.0 <= after);
        run.memo.borrow_mut().extend(same.map(|(key, it)| (*key, it.clone())));
        run
    }

    /// A tensor by this recipe, made from the nearest ones that the record has; nothing where
    /// shapes do not fit.
    pub fn step(&self, state: State, recipe: &Recipe) -> Option<Tensor> {
        self.forward(recipe, self.intent.empty_row).step(state)
    }

    /// The forward pass by a recipe, where a query without a key gets this.
    pub fn forward<'r>(&'r self, recipe: &'r Recipe, empty: EmptyRow) -> Forward<'r> {
        let Self { record, intent, .. } = *self;
        Forward { run: self, record, intent, recipe, empty }
    }

    /// Whether some query may attend to no key, by this recipe.
    pub fn has_empty_rows(&self, recipe: &Recipe) -> bool {
        self.forward(recipe, self.intent.empty_row).has_empty_rows()
    }

    /// What scores should be multiplied by.
    pub fn right_scale(&self) -> f64 {
        let right = self.forward(&Recipe::RIGHT, self.intent.empty_row);
        right.scale(Scale::Meant, self.record.lengths().1)
    }

    /// The record's own tensor, where this recipe's has these sequences and rows.
    pub fn given(&self, state: State, recipe: &Recipe) -> Option<Cow<'a, [Matrix]>> {
        let given = self.record.tensors.get(&state)?;
        let Some(rows) = &self.rows else { return Some(Cow::Borrowed(given)) };
        let all: Vec<usize> = (0..self.record.batch()).collect();
        let is_exchanged = recipe.axes == Axes::Exchanged;
        let sequences = if is_exchanged { &all } else { &self.sequences };
        let chosen = of_sequences(given, all.len(), sequences)?;
        Some(Cow::Owned(match state {
            State::Output => chosen.map(|m| select(m, rows)).collect::<Option<_>>()?,
            _ => chosen.cloned().collect(),
        }))
    }
}

/// The matrices of these sequences, where each has as many.
fn of_sequences<'m>(
    given: &'m [Matrix],
    batch: usize,
    sequences: &'m [usize],
) -> Option<impl Iterator<Item = &'m Matrix>> {
    let each = given.len() / batch;
    let of = move |&s: &usize| &given[s * each..][..each];
    given.len().is_multiple_of(batch).then(|| sequences.iter().flat_map(of))
}

/// A recipe at work in a run.
#[derive(Clone, Copy)]
pub(crate) struct Forward<'r> {
    run: &'r Run<'r>,
    record: &'r Record,
    intent: &'r Intent,
    recipe: &'r Recipe,
    /// What a query without a key gets.
    empty: EmptyRow,
}

impl Forward<'_> {
    /// A tensor, made from the nearest ones that the record has.
    pub fn step(&self, state: State) -> Option<Tensor> {
        let run = self.run;
        let empty = if state >= State::Attn { self.empty } else { EmptyRow::Zeros };
        let has_rows = state != State::HeadKey && state != State::HeadValue;
        let is_narrow = has_rows && state >= State::HeadQuery && self.is_narrow();
        let key = (state, empty, is_narrow, self.recipe.before(state));
        if let Some(tensor) = run.memo.borrow().get(&key) {
            return tensor.clone();
        }
        let computed = self.compute(state).map(|mut tensor| {
            tensor.iter_mut().for_each(|m| run.precision.round_all(m, run.rounding));
            Rc::new(tensor)
        });
        // There are few ways to project, and each takes long.
        if run.keeps.get() || state <= State::Value {
            run.memo.borrow_mut().insert(key, computed.clone());
        }
        computed
    }

    /// What a later step reads: the record's own tensor where it has one.
    fn read(&self, state: State) -> Option<Tensor> {
        let Some(given) = self.record.tensors.get(&state) else {
            return self.step(state);
        };
        let n = self.record.batch();
        if self.run.sequences.len() == n && self.run.rows.is_none() {
            let fits = given.len().is_multiple_of(self.n_sequences());
            return fits.then(|| Rc::new(given.clone()));
        }
        if self.recipe.axes == Axes::Exchanged {
            return None;
        }
        Some(Rc::new(of_sequences(given, n, &self.run.sequences)?.cloned().collect()))
    }

    fn compute(&self, state: State) -> Option<Vec<Matrix>> {
        let read = |state| self.read(state);
        match state {
            State::Query | State::Key | State::Value => self.project(state as usize),
            State::HeadQuery => {
                let heads = self.split(&read(State::Query)?, 0)?;
                match self.rows_of_heads() {
                    Some(rows) => heads.iter().map(|q| select(q, rows)).collect(),
                    None => Some(heads),
                }
            }
            State::HeadKey => self.split(&read(State::Key)?, 1),
            State::HeadValue => self.split(&read(State::Value)?, 2),
            State::Scores => {
                self.scores(&read(State::HeadQuery)?, &read(State::HeadKey)?)
            }
            State::Attn => self.attn(&read(State::Scores)?),
            State::Heads => self.average(&read(State::Attn)?, &read(State::HeadValue)?),
            State::Concat => self.merge(&read(State::Heads)?),
            State::Output => self.output(&read(State::Concat)?),
        }
    }

    /// Whether the chosen rows are chosen from the heads' queries on.
    fn is_narrow(&self) -> bool {
        let mut inner = self.record.tensors.range(State::HeadQuery..State::Output);
        self.run.rows.is_some() && self.recipe.keeps_rows() && inner.next().is_none()
    }

    fn rows_of_heads(&self) -> Option<&Vec<usize>> {
        self.run.rows.as_ref().filter(|_| self.is_narrow())
    }

    /// A product as this run's precision has it.
    fn product(&self, a: &Matrix, b: &Matrix) -> Matrix {
        let (precision, rounding) = (self.run.precision, self.run.rounding);
        let mut product = match precision {
            Precision::F64 | Precision::F32 => multiplied(a, b),
            _ => {
                let [a, b] = [a, b].map(|m| precision.factor(m, rounding));
                multiplied(&a, &b)
            }
        };
        precision.round_all(&mut product, rounding);
        product
    }

    /// d_k, h and the heads of keys and values.
    fn sizes(&self) -> (usize, usize, usize) {
        let Intent { n_heads, n_kv_heads, .. } = *self.intent;
        let d_k = self.record.weights.projections[0].d_out() / n_heads;
        (d_k, n_heads, n_kv_heads)
    }

    /// Where `n` queries (0) or keys (1) of a sequence stand: what rotary positions, masks and
    /// slopes count by. Across sequences they are counted.
    fn places(&self, s: usize, role: usize, n: usize) -> Vec<f64> {
        let counted =
            |first: isize| (0..n).map(|t| (t as isize + first) as f64).collect();
        let (intent, (n_q, n_kv)) = (self.intent, self.record.lengths());
        let is_meant = self.recipe.axes == Axes::Meant && n == [n_q, n_kv][role];
        let Some(&s) = self.run.sequences.get(s).filter(|_| is_meant) else {
            return counted(0);
        };
        if let Some(listed) = &intent.positions {
            let lists = if role == 0 { &listed.queries } else { &listed.keys };
            let list = lists.get(if lists.len() == 1 { 0 } else { s });
            if let Some(list) = list.filter(|list| list.len() == n) {
                return list.clone();
            }
        }
        counted(if role == 0 { intent.first_query((n_q, n_kv)) } else { 0 })
    }

    fn n_sequences(&self) -> usize {
        let n_tokens = || self.record.lengths().0;
        match self.recipe.axes {
            Axes::Meant => self.run.sequences.len(),
            Axes::Exchanged => self.run.rows.as_ref().map_or_else(n_tokens, Vec::len),
        }
    }

    /// How many of these are a tile.
    fn tile(&self, n: usize) -> usize {
        if self.recipe.tile > 0 {
            self.recipe.tile
        } else {
            (n.next_power_of_two() / 2).max(1)
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
