//! A causal mask on a ring: queries of one rank, and keys that come from another.

use std::ops::Range;
use std::process::ExitCode;

use attention::{Mask, Matrix};

use crate::{Answer, Case, Exercise, Mistake, Place, Section};

mod blocks;
mod pairs;
mod positions;
#[cfg(test)]
mod tests;

/// The positions of some queries and of some keys in one sequence.
pub struct Input {
    queries: Vec<Range<usize>>,
    keys: Vec<Range<usize>>,
    n_tokens: usize,
}

/// A token, as a rank may count it.
#[derive(Clone, Copy)]
struct Token {
    /// In the whole sequence.
    position: usize,
    /// Among the rank's tokens, or the block's.
    place: usize,
    /// Which of the ranges it is in, and where that begins.
    range: usize,
    start: usize,
}

impl Token {
    fn in_range(self) -> usize {
        self.position - self.start
    }
}

/// The tokens of some ranges, one after the other.
fn tokens(ranges: &[Range<usize>]) -> Vec<Token> {
    let numbered = ranges.iter().enumerate();
    let each = numbered.flat_map(|(range, positions)| {
        let start = positions.start;
        positions.clone().map(move |position| (range, start, position))
    });
    let each = each.enumerate();
    each.map(|(place, (range, start, position))| Token { position, place, range, start })
        .collect()
}

impl Input {
    /// What `may` says of each query and each key.
    fn each(&self, may: impl Fn(Token, Token) -> bool) -> Vec<Vec<bool>> {
        let keys = tokens(&self.keys);
        let row = |query: Token| keys.iter().map(|&key| may(query, key)).collect();
        tokens(&self.queries).into_iter().map(row).collect()
    }

    /// The entries of the whole sequence's mask.
    fn right(&self) -> Vec<Vec<bool>> {
        let lengths = (self.n_tokens, self.n_tokens);
        self.each(|query, key| {
            Mask::Causal.added((query.position, key.position), lengths).is_some()
        })
    }
}

/// A row for each query, none of them nearly right.
impl Answer for Vec<Vec<bool>> {
    const TOLERANCE: f64 = 0.0;

    fn parts(&self) -> Vec<Matrix> {
        let row = |row: &Vec<bool>| {
            Matrix::from_fn(1, row.len(), |_, key| f64::from(u8::from(row[key])))
        };
        self.iter().map(row).collect()
    }

    fn n_parts(&self) -> String {
        match self.len() {
            1 => "1 row".into(),
            n => format!("{n} rows"),
        }
    }

    fn part_name(&self, part: usize) -> String {
        format!("row {part} (counted from 0)")
    }
}

/// What the reader writes: from the positions of n_q queries and of n_kv keys, n_q rows of
/// n_kv entries.
pub type MayAttend =
    fn(queries: &[Range<usize>], keys: &[Range<usize>]) -> Vec<Vec<bool>>;

/// Checks an answer.
pub fn check(answer: MayAttend) -> ExitCode {
    EXERCISE.check(move |input| answer(&input.queries, &input.keys))
}

const CHAPTER: &str = "many-machines";
const SHARE: Section = Section::new(CHAPTER, "A fair share under a causal mask");

type Named = Mistake<Input, Vec<Vec<bool>>>;

/// The exercise.
pub static EXERCISE: Exercise<Input, Vec<Vec<bool>>> = Exercise {
    name: "ring_mask",
    title: "A causal mask on a ring",
    read: SHARE,
    begin: "a rank that has 0..4 and 12..16: which token of the sequence is its row 5?",
    print: "the position of each query and of each key",
    passed: "Whichever rank has a query and whichever had the key, they meet if they would \
        have met on one.",
    cases,
    reference: Input::right,
    mistakes: &[
        positions::WITHIN_THE_RANK,
        positions::WITHIN_THE_RANK_FROM_THE_END,
        positions::KEYS_FROM_0,
        positions::QUERIES_FROM_0,
        positions::WITHIN_THE_CHUNK,
        positions::QUERIES_WITHIN_THE_CHUNK,
        positions::KEYS_WITHIN_THE_CHUNK,
        positions::ONE_RUN,
        positions::QUERIES_IN_ONE_RUN,
        positions::KEYS_IN_ONE_RUN,
        positions::HALVES,
        positions::QUERIES_IN_HALVES,
        positions::KEYS_IN_HALVES,
        positions::SORTED,
        positions::QUERIES_SORTED,
        positions::KEYS_SORTED,
        pairs::HIDES_ITSELF,
        pairs::SEES_THE_NEXT,
        pairs::EXCHANGED,
        pairs::OPPOSITE,
        pairs::ROW_PER_KEY,
        blocks::OTHERS_OPEN,
        blocks::OTHERS_OPEN_BY_START,
        blocks::OTHERS_CLOSED,
        blocks::OTHERS_CLOSED_BY_START,
        blocks::WHOLE_BLOCK,
        blocks::WHOLE_BLOCK_BEFORE,
        blocks::WHOLE_BLOCK_BY_START,
        blocks::WHOLE_BLOCK_BY_PLACE,
        blocks::WHOLE_CHUNK,
        blocks::WHOLE_CHUNK_BEFORE,
        blocks::PART_FOR_A_CHUNK,
        blocks::LIKE_CHUNKS_ALONE,
        pairs::ALL_OPEN,
    ],
    place: |input, Place { part, column, .. }| {
        let position = |ranges: &[Range<usize>], place: usize| {
            tokens(ranges).get(place).map_or(place, |token| token.position)
        };
        let (i, j) = (position(&input.queries, part), position(&input.keys, column));
        format!("row {part}, column {column} (query {i}, key {j}; 1 is true, 0 is false)")
    },
};

fn cases() -> Vec<Case<Input>> {
    let case = |queries: &[Range<usize>], keys: &[Range<usize>], n_tokens: usize| Case {
        sizes: format!("{n_tokens} tokens, queries {queries:?}, keys {keys:?}"),
        square: false,
        input: Input { queries: queries.to_vec(), keys: keys.to_vec(), n_tokens },
    };
    let [rank_0, rank_1] = [[0..2, 6..8], [2..4, 4..6]];
    let [long_0, long_1] = [[0..3, 8..10], [3..6, 6..8]];
    let [of_three_0, of_three_2] = [[0..2, 6..7], [3..4, 4..5]];
    vec![
        case(&[0..2, 2..4], &[0..2, 2..4], 4),
        case(&rank_0, &rank_0, 8),
        case(&rank_0, &rank_1, 8),
        case(&rank_1, &rank_0, 8),
        case(&rank_1, &rank_1, 8),
        case(&long_0, &long_1, 10),
        case(&long_1, &long_0, 10),
        case(&long_0, &long_0, 10),
        case(&of_three_2, &of_three_0, 7),
        case(&of_three_0, &of_three_2, 7),
        case(&[0..4, 12..16], &[2..4, 14..16], 16),
        case(&[0..4, 12..16], &[0..2, 12..14], 16),
        case(&[1..2, 2..3], &[0..1, 3..3], 3),
        case(&[0..1, 3..3], &[1..2, 2..3], 3),
        case(&[5..8, 0..2], &[6..8, 2..4], 8),
    ]
}
