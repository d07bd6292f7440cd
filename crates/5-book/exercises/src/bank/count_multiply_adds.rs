//! The multiply-adds of one pass, from the sizes.

use std::process::ExitCode;

use attention::{Dims, MultiplyAdds};

use super::{inputs, places};
use crate::{Case, Exercise, Mistake, Section};

/// The sizes of a layer, and the lengths that it is used with.
#[derive(Clone, Copy)]
pub struct Input {
    dims: Dims,
    n_q: usize,
    n_kv: usize,
}

impl Input {
    /// The six products in order: Q, K and V of all heads, Q Kᵀ, A V, and W^O.
    fn products(&self) -> [usize; 6] {
        std::array::from_fn(|step| self.right().costs()[step].multiply_adds as usize)
    }

    fn right(&self) -> MultiplyAdds {
        MultiplyAdds::count(self.dims, self.n_q, self.n_kv).expect("the sizes are small")
    }

    /// The sum of the products, each of which is counted so many times.
    fn weighted(&self, times: [usize; 6]) -> usize {
        self.products().iter().zip(times).map(|(product, times)| times * product).sum()
    }
}

/// What the reader writes: from the sizes, the multiply-adds of one pass of `n_q` queries
/// over `n_kv` keys and values.
pub type CountMultiplyAdds = fn(dims: Dims, n_q: usize, n_kv: usize) -> usize;

/// Checks an answer.
pub fn check(answer: CountMultiplyAdds) -> ExitCode {
    EXERCISE.check(move |input| answer(input.dims, input.n_q, input.n_kv))
}

const WORK: Section = Section::new("counting", "Counting the work");
const LENGTH: Section = Section::new("counting", "What the length does");
const WRONG: Section = Section::new("counting", "What people get wrong");

/// Also without W^O, which is a projection too.
const NO_PROJECTIONS: Mistake<Input, usize> = Mistake {
    name: "leaves out the projections",
    does: "It counts the scores and the averages, and not the products with W^Q, W^K and \
        W^V",
    looks_right: "The formula of attention begins with Q, K and V; but they have to be made, \
        and in short sequences that is most of the work",
    read: WORK,
    answer: |input| input.weighted([0, 0, 0, 1, 1, 1]),
};

/// Also where W^O reads one head.
const ONE_HEAD: Mistake<Input, usize> = Mistake {
    name: "forgets that there are several heads",
    does: "It counts the projections, the scores and the average of one head, and each head \
        has its own",
    looks_right: "All six products are in the count, and for one head it is right",
    read: WORK,
    answer: |input| {
        input.weighted([1, 1, 1, 1, 1, 0]) / input.dims.n_heads()
            + input.weighted([0, 0, 0, 0, 0, 1])
    },
};

/// The exercise.
pub static EXERCISE: Exercise<Input, usize> = Exercise {
    name: "count_multiply_adds",
    title: "Count the multiply-adds",
    read: WORK,
    begin: "one product of a matrix (n, m) with a matrix (m, p): how many entries has the \
        result, and of how many products is each the sum?",
    print: "your six products, each by itself",
    passed: "Eight heads that share the width take the work of one, and eight of the full \
        width take eight times as much. Softmax is not in this count.",
    cases,
    reference: |input| input.right().total() as usize,
    mistakes: &[
        Mistake {
            name: "makes every head as wide as the model",
            does: "It takes d_model for d_k and d_v",
            looks_right: "A head reads the whole token; but it writes one of width d_k or \
                d_v, and each step after that works on those",
            read: WORK,
            answer: full_width,
        },
        Mistake {
            name: "counts a multiplication and its addition apart",
            does: "It gives floating-point operations, which are twice the multiply-adds",
            looks_right: "Many papers count so, under the name of FLOPs",
            read: WRONG,
            answer: |input| input.weighted([2; 6]),
        },
        Mistake {
            name: "pairs queries with queries",
            does: "It counts n_q · n_q scores and weighted values for a head, and there are \
                n_q · n_kv",
            looks_right: "In self-attention both lengths are the same",
            read: LENGTH,
            answer: pairs_of_queries,
        },
        Mistake {
            name: "projects keys and values from n_q tokens",
            does: "It counts all three projections with the length of the queries, and those \
                of keys and values have n_kv rows",
            looks_right: "In self-attention both lengths are the same",
            read: LENGTH,
            answer: projections_of_queries,
        },
        Mistake {
            name: "leaves out the product with W^O",
            does: "It stops at the outputs of the heads",
            looks_right: "The formula of attention ends with A V",
            read: WORK,
            answer: |input| input.weighted([1, 1, 1, 1, 1, 0]),
        },
        Mistake {
            name: "leaves out the product A V",
            does: "It counts the scores and not the averages that are made with them",
            looks_right: "Of the two steps that grow with pairs of tokens, the scores are \
                the better known",
            read: LENGTH,
            answer: |input| input.weighted([1, 1, 1, 1, 0, 1]),
        },
        NO_PROJECTIONS,
        Mistake { answer: |input| input.weighted([0, 0, 0, 1, 1, 0]), ..NO_PROJECTIONS },
        ONE_HEAD,
        Mistake {
            answer: |input| input.weighted([1; 6]) / input.dims.n_heads(),
            ..ONE_HEAD
        },
        Mistake {
            name: "projects for one head only",
            does: "It counts W_i^Q, W_i^K and W_i^V once, and each head has its own",
            looks_right: "In the code of a fused layer there is one product for Q; but it \
                is h · d_k wide",
            read: WORK,
            answer: one_head_projects,
        },
        Mistake {
            name: "runs W^O once for each head",
            does: "It multiplies all six products by the number of heads, and W^O runs \
                once",
            looks_right: "The other five do run once for each head",
            read: WORK,
            answer: |input| input.weighted([1, 1, 1, 1, 1, input.dims.n_heads()]),
        },
    ],
    place: places::count,
};

fn cases() -> Vec<Case<Input>> {
    let case = |[n_q, n_kv]: [usize; 2], [d_model, n_heads, d_k, d_v]: [usize; 4]| Case {
        sizes: format!(
            "{n_q} queries, {n_kv} keys, d_model {d_model}, {n_heads} heads, d_k {d_k}, \
             d_v {d_v}"
        ),
        square: n_q == n_kv && d_k == d_v && n_heads * d_k == d_model,
        input: Input { dims: inputs::dims(d_model, n_heads, d_k, d_v), n_q, n_kv },
    };
    vec![
        case([100, 100], [512, 8, 64, 64]),
        case([3, 7], [10, 4, 5, 2]),
        case([9, 2], [6, 3, 1, 4]),
    ]
}

fn full_width(input: &Input) -> usize {
    let (d_model, n_heads) = (input.dims.d_model(), input.dims.n_heads());
    let dims = inputs::dims(d_model, n_heads, d_model, d_model);
    Input { dims, ..*input }.weighted([1; 6])
}

fn pairs_of_queries(input: &Input) -> usize {
    let queries = Input { n_kv: input.n_q, ..*input };
    input.weighted([1, 1, 1, 0, 0, 1]) + queries.weighted([0, 0, 0, 1, 1, 0])
}

fn projections_of_queries(input: &Input) -> usize {
    let queries = Input { n_kv: input.n_q, ..*input };
    queries.weighted([1, 1, 1, 0, 0, 0]) + input.weighted([0, 0, 0, 1, 1, 1])
}

fn one_head_projects(input: &Input) -> usize {
    let of_all_heads = input.weighted([1, 1, 1, 0, 0, 0]);
    of_all_heads / input.dims.n_heads() + input.weighted([0, 0, 0, 1, 1, 1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Difference, Verdict};

    /// Counts what a triple loop does.
    fn product(n: usize, m: usize, p: usize) -> usize {
        (0..n).map(|_| (0..p).map(|_| m).sum::<usize>()).sum()
    }

    #[test]
    fn any_way_of_counting_is_right() {
        let head_by_head = |&Input { dims, n_q, n_kv }: &Input| {
            let (d_model, d_k, d_v) = (dims.d_model(), dims.d_k(), dims.d_v());
            let mut count = 0;
            for _ in 0..dims.n_heads() {
                count += product(n_q, d_v, d_model) + product(n_q, n_kv, d_v);
                count += product(n_q, d_k, n_kv) + product(n_q, d_model, d_k);
                count += product(n_kv, d_model, d_v) + product(n_kv, d_model, d_k);
            }
            count
        };
        let fused = |&Input { dims, n_q, n_kv }: &Input| {
            let q_width = dims.n_heads() * dims.d_k();
            let both = q_width + dims.concat_width();
            (n_q + n_kv) * both * dims.d_model() + n_q * n_kv * both
        };
        assert_eq!(EXERCISE.diagnose(head_by_head), Verdict::Passed);
        assert_eq!(EXERCISE.diagnose(fused), Verdict::Passed);
    }

    #[test]
    fn the_short_formula_is_right_in_self_attention_with_shared_width() {
        let short = |&Input { dims, n_q: n, .. }: &Input| {
            4 * n * dims.d_model() * dims.d_model() + 2 * n * n * dims.d_model()
        };
        let verdict = EXERCISE.diagnose(short);
        assert!(matches!(verdict, Verdict::SquareOnly { .. }), "{verdict:?}");
    }

    #[test]
    fn a_panic_is_told() {
        let verdict = EXERCISE.diagnose(|input| [0; 3][input.n_kv]);
        let Verdict::Unknown { difference: Difference::Panic { message, .. }, .. } =
            verdict
        else {
            panic!("{verdict:?}");
        };
        assert!(message.contains("out of bounds"), "{message}");
    }
}
