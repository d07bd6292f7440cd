//! Cross-attention, its masks and its two caches.

use anyhow::Result;
use attention::{Dims, Mask, Matrix, Rng, SeedableRng};
use variants::{Changes, Sizes, VariantAttention};

use super::super::answer::{Answer, Form};
use super::parts::tokens;
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "from-one-sequence-to-another",
    questions: &[
        Question {
            id: "cross-open",
            title: "What may be seen of the source",
            section: "Three maps, three masks",
            pose: |seed| {
                let (n, n_real, n_written) =
                    of(seed, [(18, 12, 10), (16, 9, 8), (20, 13, 6)]);
                Instance::new(
                    format!(
                        "A source of {n_real} letters is filled up to {n}; {n_written} letters \
                         are written. How many entries of the cross-attention's map does its \
                         mask leave open?"
                    ),
                    "Is there anything in the source that comes later than what is written?",
                    Form::Whole,
                    move || open(n, n_real, n_written),
                )
            },
        },
        Question {
            id: "two-caches",
            title: "Keys that are computed",
            section: "Written letter by letter: two caches",
            pose: |seed| {
                let (n_source, n_written) = of(seed, [(18, 10), (12, 20), (30, 5)]);
                Instance::new(
                    format!(
                        "A decoder's block writes {n_written} letters after reading {n_source}, \
                         with both of its caches. How many keys does it compute in all, those of \
                         its own attention and those of the cross-attention together? (A key of \
                         all heads counts once.)"
                    ),
                    "Which of the two texts is longer at each step than at the step before?",
                    Form::Whole,
                    move || keys(n_source, n_written),
                )
            },
        },
    ],
};

fn open(n: usize, n_real: usize, n_written: usize) -> Result<Outcome> {
    let mask = Mask::FirstKeys(n_real);
    let cell = |i, j| {
        if mask.added((i, j), (n_written, n)).is_some() { " x" } else { " ." }
    };
    let row = |i: usize| (0..n).map(|j| cell(i, j)).collect::<String>();
    let shown: String =
        (0..n_written).map(|i| format!("letter {i:>2} {}\n", row(i))).collect();
    let open = shown.matches(" x").count();
    let causal = (0..n_written).map(|i| (i + 1).min(n_real)).sum();
    let why = "Every letter that is written may see all of the source, which is there before \
               the first one is written; only what fills it up is blocked.";
    Ok(Outcome::new(Answer::Whole(open), shown, why)
        .slip(Answer::Whole(n * n_written), "That is the whole map, filling included.")
        .slip(
            Answer::Whole(causal),
            "That is with a causal mask: letter i would see i + 1 letters of the source.",
        ))
}

fn keys(n_source: usize, n_written: usize) -> Result<Outcome> {
    let sizes = Sizes::new(Dims::new(8, 2)?, 2)?;
    let rng = &mut Rng::seed_from_u64(1);
    let layer = VariantAttention::<f64>::random(sizes, true, Changes::default(), rng)?;
    let source = layer.source_cache(&tokens(n_source, 8))?;
    let mut own = layer.cache();
    let written: Matrix = tokens(n_written, 8);
    let mut shown = format!("before the first letter   source {n_source}, own 0\n");
    for step in 0..n_written {
        layer.forward_cached(&written.rows(step, 1).into_owned(), &mut own)?;
        let rows = [&source, &own].map(|cache| cache.keys().nrows());
        shown += &format!(
            "after letter {step:>2}          source {}, own {}\n",
            rows[0], rows[1]
        );
    }
    let computed = source.keys().nrows() + own.keys().nrows();
    let why = "Each letter that is written brings one key; the source's are computed once, before \
               the first.";
    Ok(Outcome::new(Answer::Whole(computed), shown, why)
        .slip(
            Answer::Whole(n_written * (1 + n_source)),
            "That computes the keys of the source again at every letter: they do not change.",
        )
        .slip(
            Answer::Whole(n_written),
            "Those are its own. The cross-attention has keys, too.",
        ))
}
