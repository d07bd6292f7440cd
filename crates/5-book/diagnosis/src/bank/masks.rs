//! Which keys are open, and what becomes of the others.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Causal, Fill, Masking};
use crate::step::Step;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("mask-opposite", Step::Mask, "mask of the opposite sign", |r| {
        r.padding = Masking::Opposite;
        r.pairs = Masking::Opposite;
    })
    .does("True is read as \"may attend\" where it means \"may not\": padding alone is attended to.")
    .plausible("Both signs are in use: nn.MultiheadAttention's True blocks, that of scaled_dot_product_attention opens.")
    .pytorch("scores.masked_fill(mask, float('-inf')) where ~mask was meant, or the other way about")
    .jax("jnp.where(mask, -jnp.inf, scores) where jnp.where(mask, scores, -jnp.inf) was meant")
    .candle("mask.where_cond(&scores, &minus_infinity)? with the two exchanged")
    .chapter("masks")
    .report("lucidrains/halonet-pytorch #4; InseeFrLab/torchTextClassifiers #92")
    .needs(&[Need::GivenMask]),
    Mistake::new("padding-opposite", Step::Mask, "padding mask of the opposite sign", |r| {
        r.padding = Masking::Opposite;
    })
    .does("Padding alone is attended to; the other mask is right.")
    .plausible("Hugging Face's attention_mask is 1 for tokens, PyTorch's key_padding_mask for padding.")
    .pytorch("key_padding_mask=attention_mask.bool() where ~attention_mask.bool() was meant")
    .chapter("masks")
    .report("mlwithme/TransformerTranslation #6")
    .needs(&[Need::Padding]),
    Mistake::new("all-masks-opposite", Step::Mask, "open and blocked exchanged", |r| {
        r.fill = Fill::Opposite;
    })
    .does("All masks together are read with the opposite sign, the causal one too.")
    .plausible("Rows sum to 1, and the last query looks as blind as the first should.")
    .pytorch("scores.masked_fill(torch.tril(ones), float('-inf')) where == 0 is missing")
    .jax("jnp.where(jnp.tril(ones), -jnp.inf, scores)")
    .chapter("masks")
    .report("harvard-edge/cs249r_book #1785")
    .needs(&[Need::Mask]),
    Mistake::new("padding-left-out", Step::Mask, "padding not masked", |r| {
        r.padding = Masking::None;
    })
    .does("Padding is attended to as if it were words.")
    .plausible("With one sequence, or sequences of one length, it is right.")
    .pytorch("key_padding_mask is not given on")
    .chapter("masks")
    .report("jingyaogong/minimind-v #76; facebookresearch/SymbolicMathematics #19")
    .needs(&[Need::Padding]),
    Mistake::new("padding-of-queries", Step::Mask, "padded queries masked in place of keys", |r| {
        r.padding = Masking::Transposed;
    })
    .does("Rows of padded queries are blocked, and padded keys are open.")
    .plausible("unsqueeze(3) for unsqueeze(2): both broadcast.")
    .pytorch("mask.unsqueeze(1).unsqueeze(3) where unsqueeze(1).unsqueeze(2) was meant")
    .jax("mask[:, None, :, None] where mask[:, None, None, :] was meant")
    .chapter("masks")
    .report("hyunwoongko/transformer #40")
    .needs(&[Need::Padding]),
    Mistake::new("padding-of-first", Step::Mask, "padding of the first sequence for all", |r| {
        r.padding = Masking::FirstSequence;
    })
    .does("Every sequence is masked as the first one is.")
    .plausible("mask[0] broadcasts.")
    .pytorch("mask[:1].expand(b, -1)")
    .chapter("masks")
    .needs(&[Need::Padding, Need::Batch]),
    Mistake::new("padding-tiled", Step::Mask, "mask per head in the wrong order", |r| {
        r.padding = Masking::Tiled;
        r.pairs = Masking::Tiled;
    })
    .does("Masks are repeated as 0, 1, 0, 1 where heads of a sequence lie together, 0, 0, 1, 1.")
    .plausible("There are as many, and with one sequence it is right.")
    .pytorch("mask.repeat(h, 1, 1) where mask.repeat_interleave(h, dim=0) was meant")
    .jax("jnp.tile(mask, (h, 1, 1)) where jnp.repeat(mask, h, axis=0) was meant")
    .chapter("masks")
    .report("line/lighthouse #77")
    .needs(&[Need::Batch, Need::GivenMask]),
    Mistake::new("padding-repeated", Step::Mask, "mask per head repeated where it is tiled", |r| {
        r.padding = Masking::Repeated;
        r.pairs = Masking::Repeated;
    })
    .does("Masks are repeated as 0, 0, 1, 1 where sequences of a head lie together, 0, 1, 0, 1.")
    .plausible("There are as many, and with one sequence it is right.")
    .pytorch("mask.repeat_interleave(h, dim=0) where mask.repeat(h, 1, 1) was meant")
    .jax("jnp.repeat(mask, h, axis=0) where jnp.tile(mask, (h, 1, 1)) was meant")
    .chapter("masks")
    .report("lsdefine/attention-is-all-you-need-keras #36")
    .needs(&[Need::Batch, Need::GivenMask]),
    Mistake::new("mask-of-first-head", Step::Mask, "mask in the first head alone", |r| {
        r.padding = Masking::FirstHead;
        r.pairs = Masking::FirstHead;
    })
    .does("All heads but the first attend to what is blocked.")
    .plausible("With one head it is right, and one map is what one looks at.")
    .pytorch("scores[:, 0].masked_fill_(mask, float('-inf'))")
    .chapter("masks")
    .needs(&[Need::GivenMask, Need::Heads]),
    Mistake::new("padding-other-end", Step::Mask, "padding at the other end", |r| {
        r.padding = Masking::OtherEnd;
    })
    .does("As many keys are blocked, but at the sequence's start in place of its end.")
    .plausible("Tokenizers pad left or right, and masks of both look alike.")
    .pytorch("tokenizer.padding_side is 'left', and the mask is made of lengths")
    .chapter("masks")
    .report("flowersteam/lamorel #53")
    .needs(&[Need::Padding]),
    Mistake::new("mask-left-out", Step::Mask, "mask of queries and keys left out", |r| {
        r.pairs = Masking::None;
    })
    .does("attn_mask changes nothing.")
    .plausible("A fast path may ignore what it is not made for.")
    .pytorch("attn_mask is not given on")
    .chapter("masks")
    .needs(&[Need::Pairs]),
    Mistake::new("pairs-opposite", Step::Mask, "mask of queries and keys of the opposite sign", |r| {
        r.pairs = Masking::Opposite;
    })
    .does("True is read as \"may attend\" where it means \"may not\", or the other way about.")
    .plausible("Both signs are in use: nn.MultiheadAttention's True blocks, that of scaled_dot_product_attention opens.")
    .pytorch("F.scaled_dot_product_attention(q, k, v, attn_mask=mask) where ~mask was meant")
    .chapter("masks")
    .report("InseeFrLab/torchTextClassifiers #92")
    .needs(&[Need::Pairs]),
    Mistake::new("mask-transposed", Step::Mask, "mask transposed", |r| {
        r.pairs = Masking::Transposed;
    })
    .does("Row and column are exchanged: a causal mask opens the future and blocks the past.")
    .plausible("It is square.")
    .pytorch("mask.T, or torch.triu where torch.tril was meant")
    .chapter("masks")
    .needs(&[Need::Pairs]),
    Mistake::new("mask-before-scale", Step::Mask, "mask added before the scale", |r| {
        r.pairs = Masking::BeforeScale;
    })
    .does("What the mask adds is divided by √d_k as scores are.")
    .plausible("Of −∞ a part is −∞: only biases show it.")
    .pytorch("(q @ k.transpose(-2, -1) + mask) / math.sqrt(d_k)")
    .chapter("masks")
    .needs(&[Need::Pairs]),
    Mistake::new("not-causal", Step::Mask, "causal mask left out", |r| r.causal = Causal::None)
        .does("Every query sees the future.")
        .plausible("Training goes better than ever: the answer is in the input.")
        .pytorch("is_causal=True is missing")
        .chapter("masks")
        .report("facebookresearch/xformers #103; facebookresearch/xformers #1185")
        .needs(&[Need::Causal]),
    Mistake::new("causal-unmeant", Step::Mask, "causal mask where none was meant", |r| {
        r.causal = Causal::Unmeant;
    })
    .does("No query sees the future.")
    .plausible("Most decoders do so.")
    .pytorch("F.scaled_dot_product_attention(q, k, v, is_causal=True)")
    .chapter("masks")
    .report("zhouhaoyi/Informer2020 #38")
    .needs(&[Need::NoCausal]),
    Mistake::new("causal-without-itself", Step::Mask, "causal mask blocks the token itself", |r| {
        r.causal = Causal::WithoutItself;
    })
    .does("A query sees only what is before it; the first sees nothing.")
    .plausible("triu takes the diagonal that it begins with.")
    .pytorch("torch.triu(ones, diagonal=0) where diagonal=1 was meant")
    .jax("jnp.triu(ones, k=0) where k=1 was meant")
    .chapter("masks")
    .report("pytorch/pytorch #143287")
    .needs(&[Need::Causal]),
    Mistake::new("causal-one-ahead", Step::Mask, "causal mask leaves one key of the future", |r| {
        r.causal = Causal::OneAhead;
    })
    .does("A query sees the next token, which it should predict.")
    .plausible("tril takes the diagonal that it ends with.")
    .pytorch("torch.tril(ones, diagonal=1) where diagonal=0 was meant")
    .jax("jnp.tril(ones, k=1) where k=0 was meant")
    .chapter("masks")
    .report("RVC-Boss/GPT-SoVITS #965")
    .needs(&[Need::Causal]),
    Mistake::new("causal-future", Step::Mask, "causal mask of the future", |r| {
        r.causal = Causal::Future;
    })
    .does("A query sees itself and what comes, and not what was.")
    .plausible("triu for tril, or a mask of the other sign.")
    .pytorch("torch.triu(ones) where torch.tril(ones) was meant")
    .jax("jnp.triu(ones) where jnp.tril(ones) was meant")
    .chapter("masks")
    .needs(&[Need::Causal]),
    Mistake::new("causal-corner", Step::Mask, "causal mask aligned to the other corner", |r| {
        r.causal = Causal::OtherCorner;
    })
    .does("With more keys than queries, the first query sees the first key alone, or the last all.")
    .plausible("With as many queries as keys it is right.")
    .pytorch("is_causal=True with a cache: scaled_dot_product_attention aligns top left")
    .chapter("masks")
    .report("onnx/onnx #8068; Dao-AILab/flash-attention #517; pytorch/executorch #21749")
    .needs(&[Need::Causal]),
    Mistake::new("fill-1e-9", Step::Mask, "filled with -1e-9", |r| r.fill = Fill::MinusNano)
        .does("Blocked keys have score 0, and so are attended to.")
        .plausible("One sign away from −1e9.")
        .pytorch("scores.masked_fill(mask, -1e-9) where -1e9 was meant")
        .chapter("masks")
        .report("Shujun-He/RibonanzaNet #5; awslabs/gluonts #1401; hyunwoongko/transformer #10")
        .needs(&[Need::Mask]),
    Mistake::new("fill-zero", Step::Mask, "scores multiplied by the mask", |r| {
        r.fill = Fill::Zero;
    })
    .does("Blocked keys have score 0, and so are attended to.")
    .plausible("After the softmax a product with 0 would block.")
    .pytorch("scores * mask, or masked_fill(mask, 0)")
    .chapter("masks")
    .report("georg-wolflein/good-features #1; NTMC-Community/MatchZoo-py #163")
    .needs(&[Need::Mask]),
    Mistake::new("fill-minus-one", Step::Mask, "filled with -1", |r| r.fill = Fill::MinusOne)
        .does("Blocked keys have score −1, and so are attended to.")
        .plausible("Negative is not low.")
        .pytorch("scores.masked_fill(mask, -1)")
        .chapter("masks")
        .needs(&[Need::Mask]),
    Mistake::new("fill-1e4", Step::Mask, "filled with -1e4", |r| {
        r.fill = Fill::MinusTenThousand;
    })
    .does("Blocked keys have score −10,000: they have weight where all scores are below that.")
    .plausible("No score that one meets is so low, but those of models without norms are.")
    .pytorch("scores.masked_fill(mask, -1e4) where torch.finfo(scores.dtype).min was meant")
    .chapter("masks")
    .report("TransformerLensOrg/TransformerLens #385")
    .needs(&[Need::Mask]),
    Mistake::new("fill-large", Step::Mask, "filled with 1e9", |r| r.fill = Fill::Large)
        .does("Blocked keys have all the weight.")
        .plausible("A sign is missing; rows sum to 1.")
        .pytorch("scores.masked_fill(mask, 1e9) where -1e9 was meant")
        .chapter("masks")
        .needs(&[Need::Mask]),
    Mistake::new("blocked-plus-one", Step::Mask, "blocked keys get 1 more", |r| {
        r.fill = Fill::BlockedPlusOne;
    })
    .does("A mask of 0 and 1 is added to the scores: blocked keys gain.")
    .plausible("Masks of floats are added, and this one was made of flags.")
    .pytorch("key_padding_mask.float() given to nn.MultiheadAttention, which adds it")
    .chapter("masks")
    .report("mlverse/torch #1208; pytorch/pytorch #136816")
    .needs(&[Need::Mask]),
    Mistake::new("open-plus-one", Step::Mask, "open keys get 1 more", |r| {
        r.fill = Fill::OpenPlusOne;
    })
    .does("A mask of 0 and 1 is added to the scores: open keys gain, and none is blocked.")
    .plausible("Masks of floats are added, and this one was made of flags.")
    .pytorch("scores + mask where (1 - mask) * -1e9 was meant")
    .chapter("masks")
    .needs(&[Need::Mask]),
    Mistake::new("masked-after-softmax", Step::Mask, "mask after the softmax", |r| {
        r.fill = Fill::AfterSoftmax;
    })
    .does("Weights of blocked keys become 0, and the others no longer sum to 1.")
    .plausible("No blocked key is attended to.")
    .pytorch("torch.softmax(scores, dim=-1).masked_fill(mask, 0)")
    .jax("nn.softmax(scores) * mask")
    .chapter("masks")
    .report("huggingface/pytorch-image-models #2236; ruotianluo/self-critical.pytorch #89")
    .needs(&[Need::Mask]),
];
