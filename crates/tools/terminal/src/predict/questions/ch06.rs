//! Chapter 6: counting.

use anyhow::{Context, Result};
use attention::{
    Dims, Mask, MultiHeadAttention, MultiplyAdds, ParameterCount, thousands,
};
use fused_heads::FusedAttention;

use super::super::answer::{Answer, Form};
use super::parts::{layer, tokens};
use super::{Chapter, Outcome, Question};

pub const CHAPTER: Chapter = Chapter {
    number: 6,
    title: "Counting",
    questions: &[
        Question {
            id: "parameters",
            title: "The parameters of a layer",
            section: "Counting parameters",
            text: "A layer has d_model 256 and 8 heads that share the width, with biases. \
                   How many parameters has it?",
            hint: "Put the heads' matrices side by side: how many squares of side 256 are \
                   there with W^O? Each of them has a bias.",
            form: Form::Whole,
            run: parameters,
        },
        Question {
            id: "more-heads",
            title: "16 heads in place of 8",
            section: "Why the number of heads does not count",
            text: "A layer of d_model 256 gets 16 heads in place of 8. They share the \
                   same width. How many parameters does it gain?",
            hint: "Twice as many matrices, and how wide is each?",
            form: Form::Whole,
            run: more_heads,
        },
        Question {
            id: "biases",
            title: "How many parameters are biases",
            section: "Counting parameters",
            text: "A layer of d_model 256 with 8 heads is made without biases. How many \
                   parameters does it lose?",
            hint: "A bias is as wide as what its projection writes.",
            form: Form::Whole,
            run: biases,
        },
        Question {
            id: "w-o-512",
            title: "W^O at 512",
            section: "One number, two meanings",
            text: "The layer of the paper has d_model 512 and 8 heads of 64. How many \
                   parameters has W^O, without its bias?",
            hint: "It reads the concatenation and writes a token.",
            form: Form::Whole,
            run: w_o,
        },
        Question {
            id: "undivided",
            title: "Heads as wide as the token",
            section: "Why the number of heads does not count",
            text: "8 heads on tokens of 256 numbers, and each head is 256 wide instead of \
                   32. How many parameters has the layer in its matrices, without biases?",
            hint: "Three matrices a head. And how high is W^O, which reads all heads?",
            form: Form::Whole,
            run: undivided,
        },
        Question {
            id: "twice-the-length",
            title: "Twice as long a sequence",
            section: "What the length does",
            text: "A sequence becomes twice as long. How many times as many multiply-adds \
                   does Q Kᵀ take?",
            hint: "It has an entry for each pair of tokens.",
            form: Form::Whole,
            run: length,
        },
        Question {
            id: "maps",
            title: "The memory for maps",
            section: "What the ledger leaves out",
            text: "100 tokens go through a layer of 8 heads. How many numbers do its \
                   attention maps hold?",
            hint: "Does a narrow head have a smaller map?",
            form: Form::Whole,
            run: maps,
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

fn parameters() -> Result<Outcome> {
    let ledger = ledger_of(256, 8, None, true)?;
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

fn more_heads() -> Result<Outcome> {
    let eight = ledger_of(256, 8, None, true)?.total();
    let sixteen = ledger_of(256, 16, None, true)?.total();
    let shown = format!(
        " 8 heads of 32   {} parameters\n16 heads of 16   {}",
        thousands(eight),
        thousands(sixteen)
    );
    let why = "Twice the heads are half as wide each, and h · d_k stays d_model. So the \
               number of heads is not in the count, as long as they share the width.";
    let wide = ledger_of(256, 16, Some(32), true)?.total();
    Ok(Outcome::new(Answer::Whole(sixteen.abs_diff(eight)), shown, why)
        .slip(Answer::Whole(eight), "That would be twice as many.")
        .slip(
            Answer::Whole(wide - eight),
            "That is what it gains if each head stays 32 wide.",
        ))
}

fn biases() -> Result<Outcome> {
    let ledger = ledger_of(256, 8, None, true)?;
    let lost = ledger.total() - ledger_of(256, 8, None, false)?.total();
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

fn w_o() -> Result<Outcome> {
    let ledger = ledger_of(512, 8, None, true)?;
    let n = counted(&ledger, "W^O");
    let lines = ledger.to_string();
    let line = lines.lines().find(|line| line.starts_with("W^O"));
    let why = "It is one square, h · d_v high and d_model wide. Four squares of side 256 \
               have the same number, which is why you meet it twice.";
    Ok(Outcome::new(Answer::Whole(n), line.context("a layer has W^O")?, why)
        .slip(Answer::Whole(n / 8), "That is the part that reads one head.")
        .slip(
            Answer::Whole(n * 8),
            "That would be a W^O for each head, and there is one.",
        )
        .slip(Answer::Whole(ledger.total()), "That is the whole layer."))
}

fn undivided() -> Result<Outcome> {
    let (shared, wide) =
        (ledger_of(256, 8, None, false)?, ledger_of(256, 8, Some(256), false)?);
    let why = "Each head's matrices are eight times as large, and W^O reads 8 · 256 \
               numbers. All grows eightfold, and the output is no wider: that is why heads \
               share the width.";
    let small_w_o = wide.total() - counted(&wide, "W^O") + counted(&shared, "W^O");
    Ok(Outcome::new(Answer::Whole(wide.total()), wide.to_string(), why)
        .slip(Answer::Whole(shared.total()), "That is it if the heads share the width.")
        .slip(
            Answer::Whole(small_w_o),
            "That keeps W^O as it was, and it has to read all eight heads.",
        )
        .slip(
            Answer::Whole(wide.total() - counted(&wide, "W^O")),
            "That is without W^O.",
        ))
}

fn length() -> Result<Outcome> {
    let dims = Dims::new(256, 8)?;
    let (short, long) =
        (MultiplyAdds::count(dims, 30, 30)?, MultiplyAdds::count(dims, 60, 60)?);
    let mut shown = format!("{:<10}  {:>9}  {:>9}\n", "tokens", 30, 60);
    for (one, other) in short.costs().iter().zip(long.costs()) {
        shown += &format!(
            "{:<10}  {:>9}  {:>9}  × {}\n",
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
        Ok::<usize, anyhow::Error>(of(&long)? / of(&short)?)
    };
    let why = "Projections treat each token by itself and grow with the length. Scores and \
               weighted values treat pairs of tokens and grow with its square.";
    Ok(Outcome::new(Answer::Whole(factor("Q Kᵀ")?), shown, why)
        .slip(Answer::Whole(factor("query W^Q")?), "That is how the projections grow."))
}

fn maps() -> Result<Outcome> {
    let (n_tokens, dims) = (100, Dims::new(64, 8)?);
    let layer = FusedAttention::new(&layer::<f32>(dims, true));
    let attended = layer.self_attend(&tokens(n_tokens, dims.d_model()), &Mask::None)?;
    let one = attended.attn[0].len();
    let all = attended.attn.iter().map(|map| map.len()).sum();
    let shown = format!(
        "{} maps of {:?}: {} numbers",
        attended.attn.len(),
        attended.attn[0].shape(),
        thousands(all)
    );
    let why = "A map is as large as the sequence is long, squared, however narrow the head \
               is. Here the heads do not share: eight heads have eight full maps.";
    Ok(Outcome::new(Answer::Whole(all), shown, why)
        .slip(Answer::Whole(one), "That is one map, and each head has its own.")
        .slip(
            Answer::Whole(n_tokens * attended.attn.len()),
            "That forgets that a map has a share for each pair of tokens.",
        ))
}
