//! A causal mask on a ring: queries of one rank, and keys that come from another.

use std::ops::Range;
use std::process::ExitCode;

use attention::{Mask, Matrix};

use crate::{Answer, Case, Exercise, Mistake, Place, Section};

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

fn n_tokens(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(Range::len).sum()
}

/// The position if the second range followed the first.
fn as_one_run(ranges: &[Range<usize>], token: Token) -> usize {
    ranges[0].start + token.place
}

/// The position if both ranges had half of the tokens.
fn in_halves(ranges: &[Range<usize>], token: Token) -> usize {
    let half = n_tokens(ranges) / 2;
    match ranges {
        [first, _] if token.place < half => first.start + token.place,
        [_, second] => second.start + token.place - half,
        _ => token.position,
    }
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

    /// Whether the block is all that the rank itself has.
    fn is_own_block(&self) -> bool {
        self.queries == self.keys
    }

    /// Whether the block begins where the rank's own does.
    fn begins_like_own(&self) -> bool {
        self.queries[0].start == self.keys[0].start
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

const CHAPTER: &str = "20-many-machines";
const SHARE: Section = Section::new(CHAPTER, "A fair share under a causal mask");
const WRONG: Section = Section::new(CHAPTER, "What people get wrong");
const CAUSAL: Section = Section::new("07-masks", "Causal");

type Named = Mistake<Input, Vec<Vec<bool>>>;

/// From the first row and column on, or so that the last of both meet.
const fn counts_within_the_rank(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "counts positions within the rank",
        does: "It compares the number of a row with the number of a column. So wherever a \
            block comes from, a query sees as much of it as of its own rank's",
        looks_right: "It is right on one rank, and on any for its own block, where rows and \
            columns are in the order of the sequence",
        read: WRONG,
        answer,
    }
}

/// Queries, keys or both.
const fn counts_within_the_chunk(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "counts positions within the chunk",
        does: "It begins at 0 again in every chunk, of queries, of keys or of both, as if \
            each were the first of the sequence",
        looks_right: "Inside a loop over chunks one counts from 0, and for the first chunk of \
            the sequence that is right",
        read: SHARE,
        answer,
    }
}

/// Queries, keys or both.
const fn takes_one_run(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "counts on from the first chunk into the second",
        does: "It adds a row's or a column's number to the start of the first chunk, as if \
            the second chunk came right after it in the sequence",
        looks_right: "One start per rank is enough where its tokens are one run, and for the \
            first chunk it is right",
        read: SHARE,
        answer,
    }
}

/// Queries, keys or both.
const fn cuts_in_halves(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "takes both chunks for equally long",
        does: "It starts the second chunk in the middle of the rows or columns",
        looks_right: "Where the tokens are divisible by twice the ranks it is right",
        read: SHARE,
        answer,
    }
}

/// Known by all of its ranges, or by where it begins.
const fn opens_others(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "masks its own block and opens all others",
        does: "Queries see keys from other ranks that come after them",
        looks_right: "Only in its own block does a token meet itself, so that seems to be \
            the one that needs a mask",
        read: SHARE,
        answer,
    }
}

/// Known by all of its ranges, or by where it begins.
const fn closes_others(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "masks its own block and closes all others",
        does: "No query sees a key from another rank, so each rank reads its own tokens \
            as if they were the whole sequence",
        looks_right: "No query sees what comes after it",
        read: SHARE,
        answer,
    }
}

/// Its own chunk open or closed, where the whole block is decided at once.
const fn decides_by_chunk(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "compares chunks and not tokens",
        does: "It decides for all pairs of two ranges at once, from where they start. Within \
            one chunk some pairs may meet and some may not",
        looks_right: "Between two different chunks all pairs may meet, or none",
        read: SHARE,
        answer,
    }
}

/// In whichever way its own block is masked.
const fn decides_by_block(answer: fn(&Input) -> Vec<Vec<bool>>) -> Named {
    Mistake {
        name: "decides for a whole block from another rank",
        does: "Its own block is masked; another is open if its first key comes before the \
            first query, and closed if not. But with two chunks each, some of a block's keys \
            come before a query and some after it",
        looks_right: "It is right where each rank has one run of tokens",
        read: SHARE,
        answer,
    }
}

/// The exercise.
pub static EXERCISE: Exercise<Input, Vec<Vec<bool>>> = Exercise {
    name: "42_ring_mask",
    title: "A causal mask on a ring",
    read: SHARE,
    begin: "a rank that has 0..4 and 12..16: which token of the sequence is its row 5?",
    print: "the position of each query and of each key",
    passed: "Whichever rank has a query and whichever had the key, they meet if they would \
        have met on one.",
    cases,
    reference: Input::right,
    mistakes: &[
        counts_within_the_rank(|input| input.each(|query, key| key.place <= query.place)),
        counts_within_the_rank(|input| {
            let (n_q, n_kv) = (n_tokens(&input.queries), n_tokens(&input.keys));
            input.each(|query, key| key.place + n_q <= query.place + n_kv)
        }),
        Mistake {
            name: "counts the block's keys from 0",
            does: "It knows where its queries are in the sequence, and takes the keys of any \
                block for the first ones. Keys that come later look as if they came early",
            looks_right: "It is right for a block from the beginning of the sequence",
            read: WRONG,
            answer: |input| input.each(|query, key| key.place <= query.position),
        },
        Mistake {
            name: "counts its queries from 0",
            does: "It knows where the keys are in the sequence, and takes its own queries \
                for the first ones. They see less than they should",
            looks_right: "The queries never move, so they seem to need no position; for those \
                at the beginning of the sequence it is right",
            read: WRONG,
            answer: |input| input.each(|query, key| key.position <= query.place),
        },
        counts_within_the_chunk(|input| {
            input.each(|query, key| key.in_range() <= query.in_range())
        }),
        counts_within_the_chunk(|input| {
            input.each(|query, key| key.position <= query.in_range())
        }),
        counts_within_the_chunk(|input| {
            input.each(|query, key| key.in_range() <= query.position)
        }),
        takes_one_run(|input| {
            input.each(|query, key| {
                as_one_run(&input.keys, key) <= as_one_run(&input.queries, query)
            })
        }),
        takes_one_run(|input| {
            input.each(|query, key| key.position <= as_one_run(&input.queries, query))
        }),
        takes_one_run(|input| {
            input.each(|query, key| as_one_run(&input.keys, key) <= query.position)
        }),
        cuts_in_halves(|input| {
            input.each(|query, key| {
                in_halves(&input.keys, key) <= in_halves(&input.queries, query)
            })
        }),
        cuts_in_halves(|input| {
            input.each(|query, key| key.position <= in_halves(&input.queries, query))
        }),
        cuts_in_halves(|input| {
            input.each(|query, key| in_halves(&input.keys, key) <= query.position)
        }),
        Mistake {
            name: "hides each token from itself",
            does: "It asks for a key before the query. The first token of the sequence then \
                sees nothing at all",
            looks_right: "A token meets itself only in the block of its own rank, so all other \
                blocks are right",
            read: CAUSAL,
            answer: |input| input.each(|query, key| key.position < query.position),
        },
        Mistake {
            name: "lets a token see the next one",
            does: "It is off by one: a query may attend to the token right behind it, which \
                a model that writes has to guess",
            looks_right: "At most one entry of a row is wrong, and in most blocks none is",
            read: CAUSAL,
            answer: |input| input.each(|query, key| key.position <= query.position + 1),
        },
        Mistake {
            name: "exchanges queries and keys",
            does: "A query sees itself and what comes after it, and not what comes before",
            looks_right: "It has as many pairs, and a token still meets itself",
            read: CAUSAL,
            answer: |input| input.each(|query, key| query.position <= key.position),
        },
        Mistake {
            name: "says which pairs may not meet",
            does: "`true` stands where a key is hidden, so every entry is the opposite of \
                what was asked",
            looks_right: "Some libraries ask for a mask in that sense, PyTorch's \
                MultiheadAttention for one",
            read: CAUSAL,
            answer: |input| input.each(|query, key| key.position > query.position),
        },
        Mistake {
            name: "has a row for each key",
            does: "Its rows are keys and its columns queries, so an entry belongs to \
                another pair than the one that it is read for",
            looks_right: "Every pair is judged rightly, and with as many queries as keys the \
                shape is right",
            read: SHARE,
            answer: |input| {
                let queries = tokens(&input.queries);
                let row = |key: Token| {
                    queries.iter().map(|query| key.position <= query.position).collect()
                };
                tokens(&input.keys).into_iter().map(row).collect()
            },
        },
        opens_others(|input| {
            input.each(|query, key| {
                !input.is_own_block() || key.position <= query.position
            })
        }),
        opens_others(|input| {
            input.each(|query, key| {
                !input.begins_like_own() || key.position <= query.position
            })
        }),
        closes_others(|input| {
            input
                .each(|query, key| input.is_own_block() && key.position <= query.position)
        }),
        closes_others(|input| {
            input.each(|query, key| {
                input.begins_like_own() && key.position <= query.position
            })
        }),
        decides_by_block(|input| {
            input.each(|query, key| match input.is_own_block() {
                true => key.position <= query.position,
                false => input.keys[0].start <= input.queries[0].start,
            })
        }),
        decides_by_block(|input| {
            input.each(|query, key| match input.is_own_block() {
                true => key.position <= query.position,
                false => input.keys[0].start < input.queries[0].start,
            })
        }),
        decides_by_block(|input| {
            input.each(|query, key| match input.begins_like_own() {
                true => key.position <= query.position,
                false => input.keys[0].start < input.queries[0].start,
            })
        }),
        decides_by_block(|input| {
            input.each(|query, key| match input.begins_like_own() {
                true => key.place <= query.place,
                false => input.keys[0].start < input.queries[0].start,
            })
        }),
        decides_by_chunk(|input| input.each(|query, key| key.start <= query.start)),
        decides_by_chunk(|input| input.each(|query, key| key.start < query.start)),
        Mistake {
            name: "takes a part of a chunk for a whole one",
            does: "Where two ranges start at different positions it opens or closes all \
                pairs, and masks only where both start at the same. But a block may be a part \
                of the chunk that the queries are from",
            looks_right: "For blocks of whole chunks it is right",
            read: SHARE,
            answer: |input| {
                input.each(|query, key| {
                    key.start < query.start
                        || key.start == query.start && key.in_range() <= query.in_range()
                })
            },
        },
        Mistake {
            name: "opens only pairs of two first or two second chunks",
            does: "First chunks meet first chunks and second chunks meet second chunks, and \
                no query of a second chunk sees a key of a first one",
            looks_right: "Every pair that it opens may meet",
            read: SHARE,
            answer: |input| {
                input.each(|query, key| {
                    key.range == query.range && key.position <= query.position
                })
            },
        },
        Mistake {
            name: "masks nothing",
            does: "Every query sees every key, also those that come after it",
            looks_right: "Without a causal mask a ring needs no positions at all",
            read: CAUSAL,
            answer: |input| input.each(|_, _| true),
        },
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
    ]
}
