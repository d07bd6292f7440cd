//! One rank's part of a layer whose heads are on several, and b^O once.

use std::ops::Range;
use std::process::ExitCode;

use attention::{Linear, Matrix};

use super::heads;
use crate::{Answer, Case, Exercise, Mistake, Place, Section};

#[cfg(test)]
mod tests;

/// What all heads put out, W^O, and the number of ranks.
pub struct Input {
    heads: Vec<Matrix>,
    w_o: Linear,
    n_ranks: usize,
}

/// The part of each rank.
pub struct Parts(Vec<Matrix>);

/// What a rank's heads write, and then the sum. A rank's rows are taken less its first: b^O
/// is the same in all of them, so it is seen in the sum alone, and any rank may add it.
impl Answer for Parts {
    fn parts(&self) -> Vec<Matrix> {
        let Self(parts) = self;
        let mut all: Vec<Matrix> = parts.iter().map(less_its_first_row).collect();
        all.push(sum(parts));
        all
    }

    fn part_name(&self, part: usize) -> String {
        format!("rank {part}")
    }
}

fn less_its_first_row(part: &Matrix) -> Matrix {
    Matrix::from_fn(part.nrows(), part.ncols(), |i, c| part[(i, c)] - part[(0, c)])
}

/// As an all-reduce gives it, and empty for parts of different shapes.
fn sum(parts: &[Matrix]) -> Matrix {
    let shape = parts.first().map_or((0, 0), Matrix::shape);
    let shape = if parts.iter().all(|it| it.shape() == shape) { shape } else { (0, 0) };
    parts
        .iter()
        .filter(|part| part.shape() == shape)
        .fold(Matrix::zeros(shape.0, shape.1), |sum, part| sum + part)
}

/// The range of `rank` if the first ranks have one more where `n` is not divisible.
fn share(n: usize, n_ranks: usize, rank: usize) -> Range<usize> {
    let start = |rank: usize| rank * (n / n_ranks) + rank.min(n % n_ranks);
    start(rank)..start(rank + 1)
}

impl Input {
    fn n_heads(&self) -> usize {
        self.heads.len()
    }

    fn d_v(&self) -> usize {
        self.heads[0].ncols()
    }

    fn share(&self, rank: usize) -> Range<usize> {
        share(self.n_heads(), self.n_ranks, rank)
    }

    /// The part of each rank.
    fn each(&self, part: impl Fn(usize) -> Matrix) -> Parts {
        Parts((0..self.n_ranks).map(part).collect())
    }

    /// What some heads write if each meets the rows of W^O from this one on.
    fn written(
        &self,
        of: impl IntoIterator<Item = usize>,
        row: impl Fn(usize) -> usize,
    ) -> Matrix {
        let mut out = Matrix::zeros(self.heads[0].nrows(), self.w_o.d_out());
        for i in of {
            out += &self.heads[i] * self.w_o.weight.rows(row(i), self.d_v());
        }
        out
    }

    /// What some heads write with their own rows of W^O.
    fn written_by(&self, of: impl IntoIterator<Item = usize>) -> Matrix {
        self.written(of, |i| i * self.d_v())
    }

    /// The same, and b^O so many times.
    fn plus_bias(&self, mut out: Matrix, times: f64) -> Matrix {
        if let Some(b_o) = &self.w_o.bias {
            out.row_iter_mut().for_each(|mut token| token += b_o * times);
        }
        out
    }

    /// Rank 0 adds b^O, and what the ranks' heads write is given.
    fn with_bias_once(&self, written: impl Fn(usize) -> Matrix) -> Parts {
        self.each(|rank| self.plus_bias(written(rank), once(rank)))
    }

    /// Each rank has the right heads, and adds b^O so many times.
    fn with_bias(&self, times: impl Fn(usize) -> f64) -> Parts {
        self.each(|rank| self.plus_bias(self.written_by(self.share(rank)), times(rank)))
    }

    /// Rank 0 adds b^O, and each rank has these heads.
    fn with_heads(&self, of: impl Fn(usize) -> Range<usize>) -> Parts {
        self.with_bias_once(|rank| self.written_by(of(rank)))
    }

    fn has_heads(&self, rank: usize) -> bool {
        !self.share(rank).is_empty()
    }
}

fn once(rank: usize) -> f64 {
    f64::from(u8::from(rank == 0))
}

/// What the reader writes: from h outputs, `[n_tokens, d_v]` each, and W^O,
/// `[h · d_v, d_model]`, what a rank adds to the layer's output, `[n_tokens, d_model]`.
pub type Part = fn(heads: &[Matrix], w_o: &Linear, n_ranks: usize, rank: usize) -> Matrix;

/// Checks an answer.
pub fn check(answer: Part) -> ExitCode {
    EXERCISE.check(move |input| {
        input.each(|rank| answer(&input.heads, &input.w_o, input.n_ranks, rank))
    })
}

const HEADS: Section = Section::new("20-many-machines", "Heads apart");
const WRONG: Section = Section::new("20-many-machines", "What people get wrong");
const AS_SUM: Section = Section::new("04-a-lens-per-head", "The same layer, as a sum");
const SQUARE: Section =
    Section::new("12-trained-heads", "The mistake that a square hides");

type Named = Mistake<Input, Parts>;

/// Ranks without heads among them, or not.
const fn on_every_rank(answer: fn(&Input) -> Parts) -> Named {
    Mistake {
        name: "adds b^O on every rank",
        does: "The all-reduce adds it up with the rest, so the output has b^O as often as \
            there are ranks that add it",
        looks_right: "W^O comes with its bias, and with one rank it is right. So it is with a \
            bias of 0, which a fresh layer often has",
        read: WRONG,
        answer,
    }
}

/// b^O divided too, or not.
const fn takes_the_mean(answer: fn(&Input) -> Parts) -> Named {
    Mistake {
        name: "takes the mean over ranks and not the sum",
        does: "It divides what its heads write by the number of ranks. The layer is a sum \
            over heads, wherever they are",
        looks_right: "Gradients of a batch are averaged over ranks, and with one rank it is \
            right",
        read: HEADS,
        answer,
    }
}

/// A rank without heads gives zeros, or NaN.
const fn takes_the_mean_of_heads(answer: fn(&Input) -> Parts) -> Named {
    Mistake {
        name: "takes the mean over its heads",
        does: "It divides what its heads write by how many they are",
        looks_right: "With one head per rank it is right; but W^O has learned its size, and \
            nothing else may change it",
        read: HEADS,
        answer,
    }
}

/// The first rows, or from wherever the list of its heads says.
const fn starts_at_a_multiple_of_its_own(answer: fn(&Input) -> Parts) -> Named {
    Mistake {
        name: "begins at rank times its own number of heads",
        does: "Where the first ranks have one head more than the last, a rank with fewer \
            heads begins too early: it takes a head, or rows of W^O, of an earlier rank",
        looks_right: "Where the heads are divisible by the ranks it is right",
        read: HEADS,
        answer,
    }
}

/// The exercise. Its reference concatenates and cuts W^O into blocks of rows, with b^O on the
/// last rank that has heads.
pub static EXERCISE: Exercise<Input, Parts> = Exercise {
    name: "43_part_of_sum",
    title: "b^O once",
    read: HEADS,
    begin: "two ranks and four heads: which heads does rank 1 have, and which rows of W^O do \
        they meet? Then ask which rank adds b^O",
    print: "each rank's range of heads",
    passed: "One all-reduce makes the layer of all parts, with any number of ranks, and b^O \
        is in it once.",
    cases,
    reference: right,
    mistakes: &[
        on_every_rank(|input| input.with_bias(|_| 1.0)),
        on_every_rank(|input| {
            input.with_bias(|rank| f64::from(u8::from(input.has_heads(rank))))
        }),
        Mistake {
            name: "adds b^O on no rank",
            does: "Each column of the sum is off by one number, the same for every token",
            looks_right: "b^O belongs to no head, so no head brings it along",
            read: HEADS,
            answer: |input| input.with_bias(|_| 0.0),
        },
        Mistake {
            name: "adds b^O on the last rank, and only if that has heads",
            does: "With more ranks than heads the last rank has none, and then nobody adds \
                b^O",
            looks_right: "With at least as many heads as ranks it is right",
            read: HEADS,
            answer: |input| {
                input.with_bias(|rank| {
                    let is_last = rank + 1 == input.n_ranks;
                    f64::from(u8::from(is_last && input.has_heads(rank)))
                })
            },
        },
        Mistake {
            name: "adds b^O on rank 1",
            does: "Ranks are counted from 0, so with one rank there is no rank 1, and nobody \
                adds b^O",
            looks_right: "With two ranks or more it is right",
            read: HEADS,
            answer: |input| input.with_bias(|rank| f64::from(u8::from(rank == 1))),
        },
        Mistake {
            name: "adds b^O once for every head",
            does: "It stands in the loop over heads, so the sum has it h times. It belongs to \
                the layer and not to a head",
            looks_right: "With one head it is right",
            read: AS_SUM,
            answer: |input| input.with_bias(|rank| input.share(rank).len() as f64),
        },
        Mistake {
            name: "shares b^O out among all ranks, and those without heads add none",
            does: "Each rank adds b^O / n_ranks, and a rank without heads returns zeros: \
                its share is missing",
            looks_right: "With at least as many heads as ranks the shares sum to b^O",
            read: HEADS,
            answer: |input| {
                let of_each = 1.0 / input.n_ranks as f64;
                input.with_bias(|rank| if input.has_heads(rank) { of_each } else { 0.0 })
            },
        },
        Mistake {
            name: "adds b^O to token 0 alone",
            does: "It adds b^O to one row of the output. It belongs to every token",
            looks_right: "With one token it is right",
            read: HEADS,
            answer: |input| {
                input.each(|rank| {
                    let mut out = input.written_by(input.share(rank));
                    if let (0, Some(b_o)) = (rank, &input.w_o.bias) {
                        let mut token = out.row_mut(0);
                        token += b_o;
                    }
                    out
                })
            },
        },
        Mistake {
            name: "drops the heads that are left over",
            does: "Every rank has h / n_ranks heads, rounded down. The last heads are on no \
                rank, and with more ranks than heads no head is on any",
            looks_right: "Where the heads are divisible by the ranks it is right",
            read: HEADS,
            answer: |input| {
                let n = input.n_heads() / input.n_ranks;
                input.with_heads(|rank| rank * n..(rank + 1) * n)
            },
        },
        Mistake {
            name: "gives all the heads that are left over to the last rank",
            does: "The sum is right, but of 7 heads on 4 ranks the last has 4 and the others \
                one each. All wait for it",
            looks_right: "Every head is on one rank, and the last range only has another end",
            read: HEADS,
            answer: |input| {
                let (h, p) = (input.n_heads(), input.n_ranks);
                input.with_heads(|rank| {
                    rank * (h / p)..if rank + 1 == p { h } else { (rank + 1) * (h / p) }
                })
            },
        },
        Mistake {
            name: "gives all the heads that are left over to rank 0",
            does: "The sum is right, but of 7 heads on 4 ranks rank 0 has 4 and the others \
                one each. All wait for it",
            looks_right: "Every head is on one rank, and only the first range has another \
                end",
            read: HEADS,
            answer: |input| {
                let (n, more) =
                    (input.n_heads() / input.n_ranks, input.n_heads() % input.n_ranks);
                input.with_heads(|rank| {
                    let start = if rank == 0 { 0 } else { rank * n + more };
                    start..(rank + 1) * n + more
                })
            },
        },
        Mistake {
            name: "gives the last ranks one head more",
            does: "The sum is right and the shares are even, but the heads that are left over \
                were to go to the first ranks. Where ranks do not agree on that, some heads \
                are added twice and some never",
            looks_right: "Every head is on one rank, and the shares are even",
            read: HEADS,
            answer: |input| {
                let (h, p) = (input.n_heads(), input.n_ranks);
                let start =
                    |rank: usize| rank * (h / p) + (rank + h % p).saturating_sub(p);
                input.with_heads(|rank| start(rank)..start(rank + 1))
            },
        },
        Mistake {
            name: "lets rank r begin at h · r / n_ranks",
            does: "It rounds every beginning down, so the heads that are left over go to \
                ranks here and there, and not to the first",
            looks_right: "The sum is right and the shares are even, and it is a common way \
                to share out",
            read: HEADS,
            answer: |input| {
                let start = |rank: usize| input.n_heads() * rank / input.n_ranks;
                input.with_heads(|rank| start(rank)..start(rank + 1))
            },
        },
        Mistake {
            name: "gives a rank without heads one that another rank has",
            does: "Every rank has at least one head, so with more ranks than heads some \
                heads are added up twice",
            looks_right: "No rank has nothing to do, and with enough heads it is right",
            read: HEADS,
            answer: |input| {
                input.with_heads(|rank| match input.share(rank) {
                    none if none.is_empty() => {
                        let head = rank % input.n_heads();
                        head..head + 1
                    }
                    heads => heads,
                })
            },
        },
        Mistake {
            name: "gives each rank h / n_ranks heads, rounded up",
            does: "The sum is right, but the first ranks take all: of 7 heads on 5 ranks the \
                last rank has none, and could have one",
            looks_right: "Every head is on one rank, and no rank has more than the first",
            read: HEADS,
            answer: |input| {
                let h = input.n_heads();
                let n = h.div_ceil(input.n_ranks);
                input.with_heads(|rank| (rank * n).min(h)..((rank + 1) * n).min(h))
            },
        },
        Mistake {
            name: "deals the heads out one by one",
            does: "Head i goes to rank i mod n_ranks. The sum is right, but a rank's heads \
                are no range, and their rows of W^O no block",
            looks_right: "Every head is on one rank, and the shares are even",
            read: HEADS,
            answer: |input| {
                input.with_bias_once(|rank| {
                    input.written_by((rank..input.n_heads()).step_by(input.n_ranks))
                })
            },
        },
        starts_at_a_multiple_of_its_own(|input| {
            input.with_heads(|rank| {
                let n = input.share(rank).len();
                rank * n..(rank + 1) * n
            })
        }),
        starts_at_a_multiple_of_its_own(|input| {
            input.with_bias_once(|rank| {
                let heads = input.share(rank);
                let (start, n) = (heads.start, heads.len());
                input.written(heads, |i| (rank * n + i - start) * input.d_v())
            })
        }),
        Mistake {
            name: "begins at the head with the rank's number",
            does: "Rank 1 begins at head 1, however many heads rank 0 has: some heads are on \
                two ranks and some on none",
            looks_right: "With one head per rank it is right",
            read: HEADS,
            answer: |input| {
                input.with_heads(|rank| {
                    let start = rank.min(input.n_heads());
                    start..(start + input.share(rank).len()).min(input.n_heads())
                })
            },
        },
        Mistake {
            name: "counts the rows of W^O from its own first head",
            does: "Every rank reads W^O from row 0 on. A rank that has only its own rows \
                counts them like that; here W^O has the rows of all heads",
            looks_right: "Rank 0 is right, and with one rank all is",
            read: HEADS,
            answer: |input| {
                input.with_bias_once(|rank| {
                    let heads = input.share(rank);
                    let start = heads.start;
                    input.written(heads, |i| (i - start) * input.d_v())
                })
            },
        },
        Mistake {
            name: "gives every head the first block of W^O",
            does: "It multiplies each head by W_0^O, the rows of head 0, which is the same as \
                adding up the bare heads of a rank and mixing the sum",
            looks_right: "Every head is as wide as that block is high",
            read: AS_SUM,
            answer: |input| {
                input.with_bias_once(|rank| input.written(input.share(rank), |_| 0))
            },
        },
        Mistake {
            name: "lets the blocks of W^O overlap",
            does: "It starts the block of head i at row i and not at row i · d_v",
            looks_right: "Head 0 is right, and each block is d_v rows high",
            read: AS_SUM,
            answer: |input| {
                input.with_bias_once(|rank| input.written(input.share(rank), |i| i))
            },
        },
        Mistake {
            name: "gives all heads of a rank the block of its first head",
            does: "It multiplies each head of the rank by the rows of its first one, which is \
                the same as adding up its bare heads and mixing the sum once",
            looks_right: "With one head per rank it is right",
            read: HEADS,
            answer: |input| {
                input.with_bias_once(|rank| {
                    let heads = input.share(rank);
                    let start = heads.start;
                    input.written(heads, |_| start * input.d_v())
                })
            },
        },
        Mistake {
            name: "takes columns of W^O for rows",
            does: "The block of head i is the columns from i · d_v on, transposed",
            looks_right: "The blocks of W^Q are columns, and with a square W^O it runs",
            read: SQUARE,
            answer: |input| {
                let (n_tokens, d_v) = input.heads[0].shape();
                input.with_bias_once(|rank| {
                    let mut out = Matrix::zeros(n_tokens, input.w_o.d_out());
                    for i in input.share(rank) {
                        let block = input.w_o.weight.columns(i * d_v, d_v);
                        out += &input.heads[i] * block.transpose();
                    }
                    out
                })
            },
        },
        takes_the_mean(|input| {
            let of_each = 1.0 / input.n_ranks as f64;
            input.with_bias_once(|rank| input.written_by(input.share(rank)) * of_each)
        }),
        takes_the_mean(|input| {
            let of_each = 1.0 / input.n_ranks as f64;
            input.each(|rank| {
                let written = input.written_by(input.share(rank));
                input.plus_bias(written, once(rank)) * of_each
            })
        }),
        takes_the_mean_of_heads(|input| {
            input.with_bias_once(|rank| {
                let heads = input.share(rank);
                let n = heads.len().max(1) as f64;
                input.written_by(heads) / n
            })
        }),
        takes_the_mean_of_heads(|input| {
            input.with_bias_once(|rank| {
                let heads = input.share(rank);
                let n = heads.len() as f64;
                input.written_by(heads) / n
            })
        }),
        Mistake {
            name: "computes all heads on every rank",
            does: "Every part is the whole layer's, so the sum has every head as often as \
                there are ranks",
            looks_right: "Each part is right by itself, and with one rank the sum is",
            read: HEADS,
            answer: |input| input.with_heads(|_| 0..input.n_heads()),
        },
        Mistake {
            name: "computes the whole layer on every rank",
            does: "Every part is the whole layer's output, b^O in it, so the sum has \
                everything as often as there are ranks",
            looks_right: "Each part is right by itself, and with one rank the sum is",
            read: HEADS,
            answer: |input| {
                input.each(|_| input.plus_bias(input.written_by(0..input.n_heads()), 1.0))
            },
        },
        Mistake {
            name: "computes the whole layer on rank 0",
            does: "The sum is right, and all other ranks have nothing to do",
            looks_right: "Rank 0 is where b^O is added, and the sum is what is asked for",
            read: HEADS,
            answer: |input| {
                input.with_heads(|rank| if rank == 0 { 0..input.n_heads() } else { 0..0 })
            },
        },
    ],
    place: |input, Place { part, row, column }| {
        if part == input.n_ranks {
            format!("the sum of all ranks, token {row}, feature {column}")
        } else {
            format!(
                "rank {part}, feature {column}, token {row} less token 0, where b^O cancels"
            )
        }
    },
};

/// A rank's columns of the heads side by side, times its rows of W^O.
fn right(input: &Input) -> Parts {
    let concat = heads::concat(&input.heads);
    let last = input.n_ranks.min(input.n_heads()) - 1;
    input.each(|rank| {
        let heads = input.share(rank);
        let (start, n) = (heads.start * input.d_v(), heads.len() * input.d_v());
        let written = concat.columns(start, n) * input.w_o.weight.rows(start, n);
        input.plus_bias(written, f64::from(u8::from(rank == last)))
    })
}

fn cases() -> Vec<Case<Input>> {
    let case = |n_ranks, n_heads, [n_tokens, d_v, d_model]: [usize; 3], seed| {
        let ranks =
            if n_ranks == 1 { "1 rank".into() } else { format!("{n_ranks} ranks") };
        Case {
            sizes: format!(
                "{ranks}, {n_heads} heads, {n_tokens} tokens, d_v {d_v}, d_model {d_model}"
            ),
            square: n_heads * d_v == d_model,
            input: Input {
                heads: heads::outputs(n_heads, n_tokens, d_v, seed),
                w_o: heads::mixer(n_heads, d_v, d_model, seed),
                n_ranks,
            },
        }
    };
    vec![
        case(1, 3, [3, 2, 5], 1),
        case(2, 4, [3, 2, 8], 2),
        case(2, 4, [4, 3, 5], 3),
        case(3, 7, [3, 2, 9], 4),
        case(5, 7, [3, 3, 4], 5),
        case(4, 2, [3, 2, 7], 6),
    ]
}
