//! Names, numbers and weights as the last rung has them in memory.
//!
//! A panel of `tiles` is rows of 48 numbers. Here it is one position of 48 names, a row a
//! feature. The longest names are in the first lanes, so that those which have ended are the
//! last, and no product reads them.

use std::cmp::Reverse;
use std::iter::zip;
use std::slice::{ChunksExact, ChunksExactMut};

use tiles::tile::{COLUMNS, ROWS};

/// Names in lanes, the longest first: place `t · n_groups + g` is position t of the names of
/// group g.
pub(crate) struct Batch<'a> {
    names: Vec<&'a [usize]>,
    pub(crate) n_groups: usize,
    /// How many names have a letter at each place.
    pub(crate) n_names: Vec<usize>,
}

impl<'a> Batch<'a> {
    pub(crate) fn of(names: &'a [Vec<usize>]) -> Self {
        let mut names: Vec<&[usize]> = names.iter().map(|name| &name[..]).collect();
        names.sort_by_key(|name| Reverse(name.len()));
        let n_groups = names.len().div_ceil(ROWS);
        let n_positions = names.first().map_or(0, |name| name.len() - 1);
        let mut batch =
            Self { names, n_groups, n_names: vec![0; n_positions * n_groups] };
        let places: Vec<usize> = batch.letters().map(|([place, _], ..)| place).collect();
        places.into_iter().for_each(|place| batch.n_names[place] += 1);
        batch
    }

    /// Each letter: its place and lane, its position, itself, and what comes after it.
    pub(crate) fn letters(
        &self,
    ) -> impl Iterator<Item = ([usize; 2], usize, [usize; 2])> + '_ {
        self.names.iter().enumerate().flat_map(move |(nth, name)| {
            name.windows(2).enumerate().map(move |(t, pair)| {
                let place = t * self.n_groups + nth / ROWS;
                ([place, nth % ROWS], t, [pair[0], pair[1]])
            })
        })
    }

    /// Places with a letter, and how many lanes are computed there: whole vectors.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let in_use = self.n_names.iter().enumerate().filter(|(_, n)| **n > 0);
        in_use.map(|(place, n)| (place, n.next_multiple_of(16)))
    }

    pub(crate) fn rows(&self, n_features: usize) -> Rows {
        let n = n_features.next_multiple_of(COLUMNS);
        Rows { n, numbers: vec![0.0; self.n_names.len() * n * ROWS] }
    }
}

/// A panel for each place, `[features][48]`; there are 8, 16, 24 … features.
pub(crate) struct Rows {
    pub(crate) n: usize,
    numbers: Vec<f32>,
}

impl Rows {
    pub(crate) fn panel(&self, place: usize) -> &[f32] {
        &self.numbers[place * self.n * ROWS..][..self.n * ROWS]
    }

    pub(crate) fn panel_mut(&mut self, place: usize) -> &mut [f32] {
        &mut self.numbers[place * self.n * ROWS..][..self.n * ROWS]
    }

    /// `[48]` of each feature.
    pub(crate) fn features(&self, place: usize) -> ChunksExact<'_, f32> {
        self.panel(place).chunks_exact(ROWS)
    }

    pub(crate) fn features_mut(&mut self, place: usize) -> ChunksExactMut<'_, f32> {
        self.panel_mut(place).chunks_exact_mut(ROWS)
    }

    /// The same of head i at a place, if each has so many.
    pub(crate) fn of_head(
        &self,
        [place, i]: [usize; 2],
        n: usize,
    ) -> ChunksExact<'_, f32> {
        self.panel(place)[i * n * ROWS..][..n * ROWS].chunks_exact(ROWS)
    }

    pub(crate) fn of_head_mut(
        &mut self,
        [place, i]: [usize; 2],
        n: usize,
    ) -> ChunksExactMut<'_, f32> {
        self.panel_mut(place)[i * n * ROWS..][..n * ROWS].chunks_exact_mut(ROWS)
    }

    /// Times another, number by number.
    pub(crate) fn times(&mut self, other: &Self) {
        zip(&mut self.numbers, &other.numbers).for_each(|(x, y)| *x *= y);
    }
}

/// `W` and `b` as the product reads them.
pub(crate) struct Weight {
    pub(crate) d_in: usize,
    pub(crate) d_out: usize,
    /// In a list, how far entry (i + 1, j) and entry (i, j + 1) are behind (i, j).
    pub(crate) steps: [usize; 2],
    /// `[columns / 8][d_in][8]`, with zeros behind the last row and column.
    panels: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

impl Weight {
    /// The first two of some lists: a weight, row by row, and its bias.
    pub(crate) fn of(parts: &[&[f64]]) -> Self {
        let (weight, bias) = (parts[0], parts[1]);
        let d_out = bias.len();
        Self::new(weight, [weight.len() / d_out, d_out], [d_out, 1], bias)
    }

    pub(crate) fn new(
        list: &[f64],
        [d_in, d_out]: [usize; 2],
        steps: [usize; 2],
        bias: &[f64],
    ) -> Self {
        let [rows, columns] = [d_in, d_out].map(|n| n.next_multiple_of(COLUMNS));
        let mut panels = vec![0.0; rows * columns];
        for j in 0..d_out {
            let panel = &mut panels[j / COLUMNS * rows * COLUMNS + j % COLUMNS..];
            let column = list[j * steps[1]..].iter().step_by(steps[0]).take(d_in);
            let to = panel.iter_mut().step_by(COLUMNS);
            zip(column, to).for_each(|(from, to)| *to = *from as f32);
        }
        let mut padded = vec![0.0; columns];
        zip(bias, &mut padded).for_each(|(from, to)| *to = *from as f32);
        Self { d_in, d_out, steps, panels, bias: padded }
    }

    /// `[d_in][8]` of each 8 columns.
    pub(crate) fn panels(&self) -> ChunksExact<'_, f32> {
        self.panels.chunks_exact(self.d_in.next_multiple_of(COLUMNS) * COLUMNS)
    }
}
