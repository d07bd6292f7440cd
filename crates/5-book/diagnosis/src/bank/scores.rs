//! Scores, what they are divided by, and their bound.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Cap, Scale, Similarity};
use crate::step::Step;

const TEMPERATURE: &str =
    "It is one temperature for another: the layer trains all the same.";

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("scores-transposed", Step::Scores, "scores transposed", |r| {
        r.similarity = Similarity::Transposed;
    })
    .does("Row i has the scores of key i for every query.")
    .plausible("In self-attention the matrix is square.")
    .pytorch("k @ q.transpose(-2, -1) where q @ k.transpose(-2, -1) was meant")
    .jax("jnp.einsum('bhid,bhjd->bhji', q, k)")
    .candle("k.matmul(&q.t()?)?")
    .chapter("scores-softmax-scale")
    .report("huggingface/pytorch-openai-transformer-lm #2"),
    Mistake::new(
        "keys-reshaped",
        Step::Scores,
        "keys reshaped in place of transposed",
        |r| {
            r.similarity = Similarity::Reshaped;
        },
    )
    .does("The numbers of k are read as (d_k, n) without being moved: keys are mixed.")
    .plausible("The shape is that of the transpose.")
    .pytorch("q @ k.reshape(b, h, d_k, n) where k.transpose(-2, -1) was meant")
    .jax("q @ k.reshape(b, h, d_k, n) where k.swapaxes(-2, -1) was meant")
    .candle("q.matmul(&k.reshape((b, h, d_k, n))?)?")
    .chapter("scores-softmax-scale"),
    Mistake::new("cosine-scores", Step::Scores, "cosines in place of products", |r| {
        r.similarity = Similarity::Cosine;
    })
    .does("Queries and keys are made unit vectors first, so no score is above the scale.")
    .plausible("Some models have norms there.")
    .pytorch("F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)")
    .chapter("variants"),
    Mistake::new("scaled-by-d-model", Step::Scale, "scaled by sqrt(d_model)", |r| {
        r.scale = Scale::RootOfModel;
    })
    .does("Scores are divided by √d_model: maps are flatter than they should be.")
    .plausible(TEMPERATURE)
    .pytorch("scores / math.sqrt(d_model) where math.sqrt(d_k) was meant")
    .jax("scores / jnp.sqrt(x.shape[-1]) where q.shape[-1] was meant")
    .candle("(scores / (d_model as f64).sqrt())?")
    .chapter("scores-softmax-scale")
    .report(
        "lucidrains/vit-pytorch #65; chelsea0x3b/dfdx #171; karpathy/ng-video-lecture #6",
    )
    .needs(&[Need::Heads]),
    Mistake::new("not-scaled", Step::Scale, "not scaled", |r| r.scale = Scale::None)
        .does("Scores are not divided at all: maps are sharper than they should be.")
        .plausible(TEMPERATURE)
        .pytorch("torch.softmax(q @ k.transpose(-2, -1), dim=-1)")
        .jax("nn.softmax(q @ k.swapaxes(-2, -1))")
        .candle("softmax(&q.matmul(&k.t()?)?, D::Minus1)?")
        .chapter("scores-softmax-scale")
        .report(
            "delzac/cntkx #10; PAIR-code/tiny-transformers #71; huggingface/blog #2893",
        ),
    Mistake::new("scaled-by-d-k", Step::Scale, "scaled by d_k", |r| {
        r.scale = Scale::Width
    })
    .does("The root is missing, or √d_k is divided by twice: maps are flatter.")
    .plausible(TEMPERATURE)
    .pytorch("scores / d_k, or a q that is scaled given to scaled_dot_product_attention")
    .candle("(scores / d_k as f64)?")
    .chapter("scores-softmax-scale")
    .report("tunz/transformer-pytorch #8; thegregyang/NTK4A #3"),
    Mistake::new("scaled-by-whole-d-model", Step::Scale, "scaled by d_model", |r| {
        r.scale = Scale::Model;
    })
    .does("Scores are divided by d_model: maps are nearly even.")
    .plausible(TEMPERATURE)
    .pytorch("scores / d_model")
    .chapter("scores-softmax-scale"),
    Mistake::new("multiplied-by-root", Step::Scale, "multiplied by sqrt(d_k)", |r| {
        r.scale = Scale::Multiplied;
    })
    .does("Scores are multiplied by √d_k: a map has one 1 a row.")
    .plausible("d_k ** 0.5 and d_k ** -0.5 differ by one sign.")
    .pytorch("scores * d_k ** 0.5 where d_k ** -0.5 was meant")
    .chapter("scores-softmax-scale"),
    Mistake::new(
        "scaled-by-quarter-root",
        Step::Scale,
        "scaled by the fourth root of d_k",
        |r| {
            r.scale = Scale::QuarterRoot;
        },
    )
    .does(
        "The root of √d_k is divided by: q is scaled and k, which should be too, is not.",
    )
    .plausible("Where both are scaled by d_k ** -0.25 it is right.")
    .pytorch("(q * d_k ** -0.25) @ k.transpose(-2, -1)")
    .chapter("scores-softmax-scale")
    .report("openai/improved-diffusion #54; openai/guided-diffusion #38"),
    Mistake::new("scaled-by-heads", Step::Scale, "scaled by sqrt(heads)", |r| {
        r.scale = Scale::RootOfHeads;
    })
    .does("Scores are divided by √h.")
    .plausible("The axis before the last is not always that of the width.")
    .pytorch("scores / math.sqrt(q.size(1))")
    .chapter("scores-softmax-scale"),
    Mistake::new("scaled-by-keys", Step::Scale, "scaled by sqrt(n_kv)", |r| {
        r.scale = Scale::RootOfKeys;
    })
    .does("Scores are divided by the root of how many keys there are.")
    .plausible("The axis before the last is not always that of the width.")
    .pytorch("scores / math.sqrt(k.size(-2))")
    .chapter("scores-softmax-scale"),
    Mistake::new("scaled-after-softmax", Step::Scale, "scaled after the softmax", |r| {
        r.scale = Scale::AfterSoftmax;
    })
    .does("Weights, and not scores, are divided by √d_k: rows sum to 1 / √d_k.")
    .plausible("The same factor stands in the same line.")
    .pytorch("torch.softmax(scores, dim=-1) / math.sqrt(d_k)")
    .chapter("scores-softmax-scale"),
    Mistake::new("not-capped", Step::Cap, "not capped", |r| r.cap = Cap::None)
        .does("Scores have no bound.")
        .plausible("Only large scores show it.")
        .pytorch(
            "cap * torch.tanh(scores / cap) is missing: flash kernels need softcap=cap",
        )
        .chapter("variants")
        .report("paiml/realizar #27; dphnAI/sonar #688")
        .needs(&[Need::Cap]),
    Mistake::new("cap-not-multiplied", Step::Cap, "capped at 1", |r| {
        r.cap = Cap::WithoutProduct
    })
    .does("tanh(s / cap) is not multiplied by the cap: maps are nearly even.")
    .plausible("It is bounded, as it should be.")
    .pytorch("torch.tanh(scores / cap)")
    .chapter("variants")
    .needs(&[Need::Cap]),
    Mistake::new("cap-not-divided", Step::Cap, "cap without its quotient", |r| {
        r.cap = Cap::WithoutQuotient;
    })
    .does("cap · tanh(s): scores beyond ±2 are all the cap.")
    .plausible("It has the bound that it should have.")
    .pytorch("cap * torch.tanh(scores)")
    .chapter("variants")
    .needs(&[Need::Cap]),
    Mistake::new("score-for-cap", Step::Cap, "score for cap", |r| {
        r.cap = Cap::ScoreForCap
    })
    .does("s · tanh(s / cap): negative scores become positive, and nothing is bounded.")
    .plausible("One name for another in a formula of one line.")
    .pytorch("scores * torch.tanh(scores / cap)")
    .chapter("variants")
    .report("unslothai/unsloth-zoo #593")
    .needs(&[Need::Cap]),
];
