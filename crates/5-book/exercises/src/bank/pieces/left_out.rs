//! Mistakes that leave out some of the pieces.

use super::steps::{RIGHT, divided, factor, largest, seen};
use super::{Input, Named, Piece, TOKENS};
use crate::Mistake;

pub(super) const LOWER_REFERENCES: Named = Mistake {
    name: "leaves out every piece that does not raise the reference",
    does: "It merges where the next m is larger, and has nothing for where it is not. \
        Keys with lower scores have smaller shares, but they have some",
    looks_right: "While the references rise it is right",
    read: TOKENS,
    answer: |input| {
        let mut all = input.pieces[0].clone();
        for next in &input.pieces[1..] {
            if next.m > all.m {
                RIGHT.merge(&mut all, next);
            }
        }
        RIGHT.finished(&all)
    },
};

pub(super) const ALL_BUT_TWO: Named = Mistake {
    name: "merges only the first two pieces",
    does: "From the third piece on none is read, so on a ring of 4 or 8 ranks most keys \
        are missing",
    looks_right: "The formula is one for two pieces, and with two it is right",
    read: TOKENS,
    answer: |input| {
        let pieces = &input.pieces[..input.pieces.len().min(2)];
        RIGHT.onto(Piece::nothing(input.d_v()), pieces)
    },
};

pub(super) const LAST: Named = Mistake {
    name: "leaves out the last piece",
    does: "It merges all pieces but one, so the keys of one rank are never read",
    looks_right: "Keys are passed on p − 1 times in a ring of p ranks; but there are p \
        pieces",
    read: TOKENS,
    answer: |input| {
        let (_, others) = input.pieces.split_last().expect("a piece");
        RIGHT.onto(Piece::nothing(input.d_v()), others)
    },
};

pub(super) const FIRST: Named = Mistake {
    name: "leaves out the first piece",
    does: "It merges all pieces but one, so the keys of one rank are never read",
    looks_right: "The first piece is merged with none before it, so a loop over merges \
        begins with the second",
    read: TOKENS,
    answer: |input| RIGHT.onto(Piece::nothing(input.d_v()), &input.pieces[1..]),
};

pub(super) const ALL_BUT_THE_LAST: Named = Mistake {
    name: "keeps the last piece alone",
    does: "The output is o / l of the last piece, as if l and o were set where they \
        should be added to, or m was never kept",
    looks_right: "With one piece it is right",
    read: TOKENS,
    answer: |input| RIGHT.finished(&input.pieces[input.pieces.len() - 1]),
};

pub(super) const ALL_BUT_THE_FIRST: Named = Mistake {
    name: "keeps the first piece alone",
    does: "It returns o / l of piece 0, and no other piece is merged",
    looks_right: "With one piece it is right",
    read: TOKENS,
    answer: |input| RIGHT.finished(&input.pieces[0]),
};

pub(super) const ALL_BUT_THE_LARGEST: Named = Mistake {
    name: "keeps the piece with the largest reference alone",
    does: "It takes the block with the best key for all blocks. The other keys have \
        smaller shares, but they have some",
    looks_right: "Where references are far apart it is right",
    read: TOKENS,
    answer: |input| {
        let common = largest(&input.pieces);
        let best = input.pieces.iter().find(|piece| piece.m == common);
        RIGHT.finished(best.expect("a piece"))
    },
};

pub(super) const ALL_BUT_THE_LAST_O: Named = Mistake {
    name: "keeps only the last piece's o",
    does: "It writes `o = …` where `o += …` adds up, and divides by the l of all pieces",
    looks_right: "l is right, and with one piece so is o",
    read: TOKENS,
    answer: last_o_alone,
};

/// The output with the o of the last piece that saw a key alone.
fn last_o_alone(input: &Input) -> Vec<f64> {
    let (pieces, m) = (seen(input), largest(&input.pieces));
    let l = pieces.iter().map(|piece| factor(piece.m, m) * piece.l).sum();
    let o = |c: usize| pieces.last().map_or(0.0, |last| factor(last.m, m) * last.o[c]);
    (0..input.d_v()).map(|c| divided(o(c), l)).collect()
}
