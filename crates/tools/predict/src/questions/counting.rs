//! Counting.

use anyhow::{Context, Result};
use attention::{
    Dims, Mask, MultiHeadAttention, MultiplyAdds, ParameterCount, thousands,
};
use fused_heads::FusedAttention;

use super::super::answer::{Answer, Form};
use super::parts::{layer, tokens};
use super::{Instance, Outcome, Question, Topic, of};

pub const TOPIC: Topic = Topic {
    name: "counting",
    questions: &[
        Question {
            id: "parameters",
            title: "The parameters of a layer",
            section: "Counting parameters",
            pose: |seed| {
                let (d_model, n_heads) = of(seed, [(256, 8), (128, 4), (512, 16)]);
                Instance::new(
                    format!(
                        "A layer has d_model {d_model} and {n_heads} heads that share \
                         the width, with biases. How many parameters does it have?"
                    ),
                    format!(
                        "Put the heads' matrices side by side: how many squares of side \
                         {d_model} are there with W^O? Each of them has a bias."
                    ),
                    Form::Whole,
                    move || parameters(d_model, n_heads),
                )
            },
        },
        Question {
            id: "more-heads",
            title: "Twice as many heads",
            section: "Why the number of heads does not matter",
            pose: |seed| {
                let (d_model, n_heads) = of(seed, [(256, 8), (384, 6), (512, 4)]);
                Instance::new(
                    format!(
                        "A layer of d_model {d_model} gets {} heads instead of \
                         {n_heads}. They share the same width. How many parameters does \
                         it gain?",
                        2 * n_heads
                    ),
                    "Twice as many matrices, and how wide is each?",
                    Form::Whole,
                    move || more_heads(d_model, n_heads),
                )
            },
        },
        Question {
            id: "biases",
            title: "How many parameters are biases",
            section: "Counting parameters",
            pose: |seed| {
                let (d_model, n_heads) = of(seed, [(256, 8), (128, 4), (512, 8)]);
                Instance::new(
                    format!(
                        "A layer of d_model {d_model} with {n_heads} heads is made \
                         without biases. How many parameters does it lose?"
                    ),
                    "A bias is as wide as what its projection writes.",
                    Form::Whole,
                    move || biases(d_model, n_heads),
                )
            },
        },
        Question {
            id: "w-o-512",
            title: "The parameters of W^O",
            section: "One number, two meanings",
            pose: |seed| {
                let (d_model, n_heads) = of(seed, [(512, 8), (768, 12), (384, 6)]);
                Instance::new(
                    format!(
                        "A layer has d_model {d_model} and {n_heads} heads of 64. How \
                         many parameters does W^O have, without its bias?"
                    ),
                    "It reads the concatenation and writes a token.",
                    Form::Whole,
                    move || w_o(d_model, n_heads),
                )
            },
        },
        Question {
            id: "undivided",
            title: "Heads as wide as the token",
            section: "Why the number of heads does not matter",
            pose: |seed| {
                let (d_model, n_heads) = of(seed, [(256, 8), (128, 4), (64, 8)]);
                Instance::new(
                    format!(
                        "{n_heads} heads on tokens of {d_model} numbers, and each head \
                         is {d_model} wide instead of {}. How many parameters does the \
                         layer have in its matrices, without biases?",
                        d_model / n_heads
                    ),
                    "Three matrices per head. And how high is W^O, which reads all \
                     heads?",
                    Form::Whole,
                    move || undivided(d_model, n_heads),
                )
            },
        },
        Question {
            id: "twice-the-length",
            title: "A longer sequence",
            section: "What the length does",
            pose: |seed| {
                let (times, in_words) =
                    of(seed, [(2, "twice"), (3, "three times"), (10, "ten times")]);
                Instance::new(
                    format!(
                        "A sequence becomes {in_words} as long. How many times as many \
                         multiply-adds does Q Kᵀ take?"
                    ),
                    "It has an entry for each pair of tokens.",
                    Form::Whole,
                    move || length(times),
                )
            },
        },
        Question {
            id: "maps",
            title: "The memory for maps",
            section: "What the ledger leaves out",
            pose: |seed| {
                let (n_tokens, n_heads) = of(seed, [(100, 8), (50, 12), (200, 4)]);
                Instance::new(
                    format!(
                        "{n_tokens} tokens go through a layer of {n_heads} heads. How \
                         many entries do its attention maps have in all?"
                    ),
                    "Does a narrow head have a smaller map?",
                    Form::Whole,
                    move || maps(n_tokens, n_heads),
                )
            },
        },
    ],
};

/// The ledger of a live layer. `head_width` is `None` where heads share `d_model`.
fn ledger_of(
    d_model: usize,
    n_heads: usize,
    head_width: Option<usize>,
    bias: bool,
) -> Result<ParameterCount> {
    let dims = match head_width {
        None => Dims::new(d_model, n_heads)?,
        Some(width) => Dims::with_head_sizes(d_model, n_heads, width, width)?,
    };
    Ok(layer::<f32>(dims, bias).count())
}

/// What the lines of a ledger count whose names begin so.
fn counted(ledger: &ParameterCount, name: &str) -> usize {
    let lines = ledger.counts().iter().filter(|line| line.name().starts_with(name));
    lines.map(|line| line.parameters()).sum()
}

fn parameters(d_model: usize, n_heads: usize) -> Result<Outcome> {
    let ledger = ledger_of(d_model, n_heads, None, true)?;
    let (matrices, w_o) = (counted(&ledger, "W"), counted(&ledger, "W^O"));
    let why = "Side by side, the heads' matrices are three squares of side d_model, and \
               W^O is a fourth: 4 d_model², and 4 d_model for the biases.";
    Ok(Outcome::new(Answer::Whole(ledger.total()), ledger.to_string(), why)
        .slip(Answer::Whole(matrices), "That is without the biases.")
        .slip(Answer::Whole(matrices - w_o), "That is without W^O and the biases.")
        .slip(
            Answer::Whole(ledger.total() - w_o - counted(&ledger, "b^O")),
            "That is without W^O and its bias.",
        ))
}

fn more_heads(d_model: usize, n_heads: usize) -> Result<Outcome> {
    let few = ledger_of(d_model, n_heads, None, true)?.total();
    let many = ledger_of(d_model, 2 * n_heads, None, true)?.total();
    let width = d_model / n_heads;
    let shown = format!(
        "{n_heads:>2} heads of {width:<3}   {} parameters\n{:>2} heads of {:<3}   {}",
        thousands(few),
        2 * n_heads,
        width / 2,
        thousands(many)
    );
    let why = "Twice the heads are half as wide each, and h · d_k stays d_model. So the \
               number of heads is not in the count, as long as they share the width.";
    let wide = ledger_of(d_model, 2 * n_heads, Some(width), true)?.total();
    Ok(Outcome::new(Answer::Whole(many.abs_diff(few)), shown, why)
        .slip(Answer::Whole(few), "That would be twice as many.")
        .slip(
            Answer::Whole(wide - few),
            format!("That is what it gains if each head stays {width} wide."),
        ))
}

fn biases(d_model: usize, n_heads: usize) -> Result<Outcome> {
    let ledger = ledger_of(d_model, n_heads, None, true)?;
    let lost = ledger.total() - ledger_of(d_model, n_heads, None, false)?.total();
    let lines = ledger.to_string();
    let shown = lines.lines().filter(|line| line.starts_with('b'));
    let shown = shown.collect::<Vec<_>>().join("\n");
    let why = "The heads' biases are h · d_k long together, which is d_model, three times; \
               and b^O is d_model long.";
    let of_one_head = ledger.counts().iter().filter(|line| line.name().starts_with('b'));
    let of_one_head = of_one_head.map(|line| line.shape().1).sum();
    Ok(Outcome::new(Answer::Whole(lost), shown, why)
        .slip(Answer::Whole(lost - counted(&ledger, "b^O")), "That forgets b^O.")
        .slip(Answer::Whole(of_one_head), "That counts the biases of one head and b^O."))
}

fn w_o(d_model: usize, n_heads: usize) -> Result<Outcome> {
    let ledger = ledger_of(d_model, n_heads, None, true)?;
    let n = counted(&ledger, "W^O");
    let lines = ledger.to_string();
    let line = lines.lines().find(|line| line.starts_with("W^O"));
    let why = "It is one square, h · d_v high and d_model wide. Four squares of half the \
               side have as many entries, which is why you meet such numbers twice.";
    Ok(Outcome::new(Answer::Whole(n), line.context("a layer has W^O")?, why)
        .slip(Answer::Whole(n / n_heads), "That is the part that reads one head.")
        .slip(
            Answer::Whole(n * n_heads),
            "That would be a W^O for each head, and there is one.",
        )
        .slip(Answer::Whole(ledger.total()), "That is the whole layer."))
}

fn undivided(d_model: usize, n_heads: usize) -> Result<Outcome> {
    let shared = ledger_of(d_model, n_heads, None, false)?;
    let wide = ledger_of(d_model, n_heads, Some(d_model), false)?;
    let why = format!(
        "Each head's matrices are {n_heads} times as large, and W^O reads {n_heads} · \
         {d_model} numbers. All grows {n_heads} times, and the output is no wider: that is \
         why heads share the width."
    );
    let small_w_o = wide.total() - counted(&wide, "W^O") + counted(&shared, "W^O");
    Ok(Outcome::new(Answer::Whole(wide.total()), wide.to_string(), why)
        .slip(Answer::Whole(shared.total()), "That is it if the heads share the width.")
        .slip(
            Answer::Whole(small_w_o),
            "That keeps W^O as it was, and it has to read all heads at their full width.",
        )
        .slip(
            Answer::Whole(wide.total() - counted(&wide, "W^O")),
            "That is without W^O.",
        ))
}

fn length(times: usize) -> Result<Outcome> {
    let dims = Dims::new(256, 8)?;
    let (n, longer) = (30, 30 * times);
    let (short, long) =
        (MultiplyAdds::count(dims, n, n)?, MultiplyAdds::count(dims, longer, longer)?);
    let mut shown = format!("{:<10}  {:>10}  {:>11}\n", "tokens", n, longer);
    for (one, other) in short.costs().iter().zip(long.costs()) {
        shown += &format!(
            "{:<10}  {:>10}  {:>11}  × {}\n",
            one.name,
            thousands(one.multiply_adds),
            thousands(other.multiply_adds),
            other.multiply_adds / one.multiply_adds
        );
    }
    let factor = |name: &str| {
        let of = |ledger: &MultiplyAdds| {
            let cost = ledger.costs().iter().find(|cost| cost.name == name);
            cost.map(|cost| cost.multiply_adds).with_context(|| format!("no {name}"))
        };
        Ok::<usize, anyhow::Error>((of(&long)? / of(&short)?) as usize)
    };
    let why = "Projections treat each token by itself and grow with the length. Scores and \
               weighted values treat pairs of tokens and grow with its square.";
    Ok(Outcome::new(Answer::Whole(factor("Q Kᵀ")?), shown, why)
        .slip(Answer::Whole(factor("query W^Q")?), "That is how the projections grow."))
}

fn maps(n_tokens: usize, n_heads: usize) -> Result<Outcome> {
    let dims = Dims::new(8 * n_heads, n_heads)?;
    let layer = FusedAttention::new(&layer::<f32>(dims, true));
    let attended = layer.self_attend(&tokens(n_tokens, dims.d_model()), &Mask::None)?;
    let one = attended.attn[0].len();
    let all = attended.attn.iter().map(|map| map.len()).sum();
    let shown = format!(
        "{} maps of {:?}: {} entries",
        attended.attn.len(),
        attended.attn[0].shape(),
        thousands(all)
    );
    let why = "A map is as large as the sequence is long, squared, however narrow the head \
               is. Here the heads do not share: each has a full map.";
    Ok(Outcome::new(Answer::Whole(all), shown, why)
        .slip(Answer::Whole(one), "That is one map, and each head has its own.")
        .slip(
            Answer::Whole(n_tokens * attended.attn.len()),
            "That forgets that a map has a share for each pair of tokens.",
        ))
}
