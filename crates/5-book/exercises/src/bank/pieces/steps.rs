//! A merge of two pieces in steps, and what mistakes of several kinds share.

use super::{Input, Piece};

/// A merge of two pieces, the one that was merged so far and the next, in steps, each of
/// which a mistake can change.
pub(super) struct Steps {
    /// The common reference, from those of the two.
    pub(super) reference: fn([f64; 2]) -> f64,
    /// The factors of both, from their references and the common one.
    pub(super) factors: fn([f64; 2], f64) -> Factors,
    /// An entry of the output, from o and l of all.
    pub(super) finish: fn(f64, f64) -> f64,
}

/// What l and o of the piece so far are multiplied by, and those of the next one.
pub(super) struct Factors {
    pub(super) l: [f64; 2],
    pub(super) o: [f64; 2],
}

pub(super) const RIGHT: Steps =
    Steps { reference: larger, factors: right, finish: divided };

/// −∞ − (−∞) is NaN.
pub(super) const RIGHT_BUT_FOR_NOTHING: Steps =
    Steps { factors: |m, common| both(m.map(|m| (m - common).exp())), ..RIGHT };

pub(super) fn larger([ours, theirs]: [f64; 2]) -> f64 {
    ours.max(theirs)
}

pub(super) fn right(references: [f64; 2], common: f64) -> Factors {
    both(references.map(|m| factor(m, common)))
}

/// The same factors for l and o.
pub(super) fn both(of: [f64; 2]) -> Factors {
    Factors { l: of, o: of }
}

pub(super) fn factor(m: f64, common: f64) -> f64 {
    (m - if common == f64::NEG_INFINITY { 0.0 } else { common }).exp()
}

/// 0 for a query that has seen no key.
pub(super) fn divided(o: f64, l: f64) -> f64 {
    if l == 0.0 { 0.0 } else { o / l }
}

impl Steps {
    /// From `all`, which is changed, and the next piece.
    pub(super) fn merge(&self, all: &mut Piece, next: &Piece) {
        let references = [all.m, next.m];
        let common = (self.reference)(references);
        let Factors { l, o } = (self.factors)(references, common);
        all.m = common;
        all.l = l[0] * all.l + l[1] * next.l;
        for (all, next) in all.o.iter_mut().zip(&next.o) {
            *all = o[0] * *all + o[1] * next;
        }
    }

    pub(super) fn finished(&self, all: &Piece) -> Vec<f64> {
        all.o.iter().map(|&o| (self.finish)(o, all.l)).collect()
    }

    /// The output from these pieces, merged one by one into this one.
    pub(super) fn onto(&self, mut all: Piece, pieces: &[Piece]) -> Vec<f64> {
        pieces.iter().for_each(|next| self.merge(&mut all, next));
        self.finished(&all)
    }

    pub(super) fn run(&self, input: &Input) -> Vec<f64> {
        self.onto(Piece::nothing(input.d_v()), &input.pieces)
    }

    /// The first piece is what the others are merged into.
    pub(super) fn onto_first(&self, input: &Input) -> Vec<f64> {
        self.onto(input.pieces[0].clone(), &input.pieces[1..])
    }

    /// As [`run`](Self::run), and pieces that saw nothing are left out.
    pub(super) fn onto_first_that_saw(&self, input: &Input) -> Vec<f64> {
        let pieces = seen(input);
        match pieces.split_first() {
            None => vec![0.0; input.d_v()],
            Some((first, others)) => self.onto(first.clone(), others),
        }
    }
}

/// The output from all factors at once, each from a piece's m.
pub(super) fn at_once(
    input: &Input,
    factor: impl Fn(f64) -> f64,
    finish: fn(f64, f64) -> f64,
) -> Vec<f64> {
    let sum = |of: &dyn Fn(&Piece) -> f64| {
        input.pieces.iter().map(|piece| factor(piece.m) * of(piece)).sum::<f64>()
    };
    let l = sum(&|piece| piece.l);
    (0..input.d_v()).map(|c| finish(sum(&|piece| piece.o[c]), l)).collect()
}

pub(super) fn seen(input: &Input) -> Vec<Piece> {
    input.pieces.iter().filter(|piece| piece.l > 0.0).cloned().collect()
}

pub(super) fn largest(pieces: &[Piece]) -> f64 {
    pieces.iter().map(|piece| piece.m).fold(f64::NEG_INFINITY, f64::max)
}

/// o divided by l, and l kept.
pub(super) fn divided_piece(piece: &Piece) -> Piece {
    Piece { o: RIGHT.finished(piece), ..piece.clone() }
}
