//! Rotary positions.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::Rotary;
use crate::step::Step;

const LIKE: &str = "It depends on positions, keeps lengths, and is 0 at position 0.";

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("pairs-and-halves", Step::Positions, "rotary pairs and halves exchanged", |r| {
        r.rotary = Rotary::OtherPairing;
    })
    .does("Entry p is rotated with its neighbour in place of entry p + d_k / 2, or the other way about.")
    .plausible(LIKE)
    .pytorch("torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2) where rotate_half was meant")
    .candle("candle_nn::rotary_emb::rope_i where candle_nn::rotary_emb::rope was meant")
    .chapter("variants")
    .report("skyzh/tiny-llm #63; jmaczan/tiny-vllm #4; naklecha/llama3-from-scratch #20; vllm-project/vllm-ascend #12820; EleutherAI/gpt-neox #834")
    .needs(&[Need::Rotary]),
    Mistake::new("angles-of-other-pairing", Step::Positions, "rotary angles of the other pairing", |r| {
        r.rotary = Rotary::AnglesOfOther;
    })
    .does("Entries are paired one way, and have the angles of the other: a pair has two angles.")
    .plausible("Each half of the code is right with another half.")
    .pytorch("freqs.repeat_interleave(2, -1) with rotate_half, which needs torch.cat((freqs, freqs), -1)")
    .chapter("variants")
    .report("raiyanyahya/how-to-train-your-gpt #6; huggingface/transformers #47328")
    .needs(&[Need::Rotary]),
    Mistake::new("not-rotated", Step::Positions, "not rotated", |r| r.rotary = Rotary::None)
    .does("Queries and keys know no positions.")
    .plausible("Without a causal mask, the order of tokens is lost in silence.")
    .pytorch("apply_rotary_pos_emb is never called, or its result is not used")
    .chapter("variants")
    .needs(&[Need::Rotary]),
    Mistake::new("values-rotated", Step::Positions, "values rotated too", |r| {
        r.rotary = Rotary::ValuesToo;
    })
    .does("Values are rotated by their positions as queries and keys are.")
    .plausible("q, k and v are treated alike elsewhere.")
    .pytorch("q, k, v = (rope(t) for t in (q, k, v))")
    .chapter("variants")
    .needs(&[Need::Rotary]),
    Mistake::new("queries-rotated-alone", Step::Positions, "only queries rotated", |r| {
        r.rotary = Rotary::QueriesAlone;
    })
    .does("Scores depend on the query's position, and not on the distance.")
    .plausible(LIKE)
    .pytorch("q = rope(q), and k as it is")
    .chapter("variants")
    .needs(&[Need::Rotary]),
    Mistake::new("keys-rotated-alone", Step::Positions, "only keys rotated", |r| {
        r.rotary = Rotary::KeysAlone;
    })
    .does("Scores depend on the key's position, and not on the distance.")
    .plausible(LIKE)
    .pytorch("k = rope(k), and q as it is: decoding with a cache of rotated keys")
    .chapter("variants")
    .needs(&[Need::Rotary]),
    Mistake::new("keys-rotated-backwards", Step::Positions, "keys rotated by the opposite angle", |r| {
        r.rotary = Rotary::KeysReversed;
    })
    .does("Scores depend on the sum of two positions, and not on their distance.")
    .plausible(LIKE)
    .pytorch("rope(k, cos, -sin)")
    .chapter("variants")
    .needs(&[Need::Rotary]),
    Mistake::new("rotated-backwards", Step::Positions, "rotated by the opposite angle", |r| {
        r.rotary = Rotary::Reversed;
    })
    .does("A distance counts as its negative: before is behind.")
    .plausible("Scores depend on the distance all the same.")
    .pytorch("torch.cat((x2, -x1), -1) where torch.cat((-x2, x1), -1) was meant")
    .chapter("variants")
    .needs(&[Need::Rotary]),
    Mistake::new("rotated-twice", Step::Positions, "rotated twice", |r| r.rotary = Rotary::Twice)
    .does("A distance counts twice.")
    .plausible("Scores depend on the distance all the same.")
    .pytorch("rope in the projection and once more in the attention")
    .chapter("variants")
    .needs(&[Need::Rotary]),
    Mistake::new("rotary-exponent-halved", Step::Positions, "rotary exponent p / d_k", |r| {
        r.rotary = Rotary::HalfExponent;
    })
    .does("Frequencies are base^(−p / d_k) in place of base^(−2p / d_k): the slow ones are missing.")
    .plausible("The first pair is right, and the others fall too.")
    .pytorch("torch.arange(0, d_k // 2) / d_k where torch.arange(0, d_k, 2) / d_k was meant")
    .chapter("variants")
    .report("rasbt/LLMs-from-scratch #410")
    .needs(&[Need::Rotary]),
    Mistake::new("rotary-exponent-odd", Step::Positions, "rotary exponent (2p + 1) / d_k", |r| {
        r.rotary = Rotary::OddExponent;
    })
    .does("Every frequency is half a step too low: the first is not 1.")
    .plausible("Formulas that count from 1 are read as if they counted from 0.")
    .pytorch("base ** (-(2 * p + 1) / d_k)")
    .chapter("variants")
    .report("stanford-cs336/assignment1-basics #22")
    .needs(&[Need::Rotary]),
    Mistake::new("rotary-exponent-of-model", Step::Positions, "rotary exponent of d_model", |r| {
        r.rotary = Rotary::ExponentOfModel;
    })
    .does("Frequencies are base^(−2p / d_model): a head has only the fastest.")
    .plausible("With one head it is right.")
    .pytorch("RotaryEmbedding(d_model) where RotaryEmbedding(d_k) was meant")
    .chapter("variants")
    .report("huggingface/transformers #32495; eole-nlp/eole #140")
    .needs(&[Need::Rotary, Need::Heads]),
    Mistake::new("rotated-before-split", Step::Positions, "rotated before the split", |r| {
        r.rotary = Rotary::WholeWidth;
    })
    .does("The whole width is rotated as one head: each head has other frequencies.")
    .plausible("Lengths stay and scores depend on distance.")
    .pytorch("rope(q).view(b, n, h, d_k) where rope(q.view(b, n, h, d_k)) was meant")
    .chapter("variants")
    .needs(&[Need::Rotary, Need::Heads]),
    Mistake::new("rotated-by-head", Step::Positions, "rotated by the number of the head", |r| {
        r.rotary = Rotary::ByHead;
    })
    .does("All tokens of head i are rotated as if they stood at position i, which changes nothing.")
    .plausible("The axes of heads and tokens are exchanged where angles are taken.")
    .pytorch("cos[:x.shape[1]] on (b, h, n, d_k), where x.shape[2] was meant")
    .chapter("variants")
    .report("mlfoundations/open_lm #4")
    .needs(&[Need::Rotary]),
    Mistake::new("first-head-rotated", Step::Positions, "only the first head rotated", |r| {
        r.rotary = Rotary::FirstHead;
    })
    .does("All heads but the first know no positions.")
    .plausible("With one head it is right.")
    .pytorch("q[:, 0] = rope(q[:, 0]), or a reshape that merges heads and batch before rope")
    .chapter("variants")
    .report("oxiglade/mlx-rs #357")
    .needs(&[Need::Rotary, Need::Heads]),
    Mistake::new("half-of-head-rotated", Step::Positions, "half of each head rotated", |r| {
        r.rotary = Rotary::HalfOfHead;
    })
    .does("Only the first d_k / 2 entries of a head are rotated.")
    .plausible("Some models rotate a part, and a table of d_k / 2 angles is taken for d_k.")
    .pytorch("RotaryEmbedding(d_k // 2), or rotary_pct = 0.5 where 1.0 was meant")
    .chapter("variants")
    .needs(&[Need::Rotary]),
    Mistake::new("queries-one-ahead", Step::Positions, "queries one position ahead", |r| {
        r.rotary = Rotary::QueriesAhead;
    })
    .does("A query stands one position behind its own key: every distance is one too large.")
    .plausible("Counting from 1 is no mistake where keys do so as well.")
    .pytorch("rope(q, offset=cache.len() + 1), rope(k, offset=cache.len())")
    .chapter("variants")
    .needs(&[Need::Rotary]),
    Mistake::new("rotary-base", Step::Positions, "another rotary base", |r| {
        r.rotary = Rotary::OtherBase;
    })
    .does("The base is 10,000 where another was meant, or 500,000 where 10,000 was.")
    .plausible("Short texts look right.")
    .pytorch("rope_theta is not read from the model's settings")
    .chapter("variants")
    .report("karpathy/llama2.c #356; lyogavin/airllm #369; NVIDIA/TransformerEngine #849")
    .needs(&[Need::Rotary]),
    Mistake::new("sine-for-cosine", Step::Positions, "sine and cosine exchanged", |r| {
        r.rotary = Rotary::SineForCosine;
    })
    .does("Entries are rotated by a right angle too much and backwards.")
    .plausible("Both are tables of one shape.")
    .pytorch("sin, cos = self.rotary_emb(x, position_ids), which gives cos, sin")
    .chapter("variants")
    .needs(&[Need::Rotary]),
    Mistake::new("rotary-without-minus", Step::Positions, "rotary without the minus", |r| {
        r.rotary = Rotary::WithoutMinus;
    })
    .does("It is no rotation: lengths change with the position.")
    .plausible("At position 0 it is right.")
    .pytorch("torch.cat((x2, x1), -1) where torch.cat((-x2, x1), -1) was meant")
    .chapter("variants")
    .needs(&[Need::Rotary]),
    Mistake::new("unmeant-halves", Step::Positions, "rotated where no rotation was meant", |r| {
        r.rotary = Rotary::UnmeantHalves;
    })
    .does("Queries and keys are rotated by their positions, in halves, with base 10,000.")
    .plausible("Most decoders do so.")
    .pytorch("apply_rotary_pos_emb(q, k, cos, sin)")
    .chapter("variants")
    .needs(&[Need::NoRotary]),
    Mistake::new("unmeant-pairs", Step::Positions, "rotated in pairs where no rotation was meant", |r| {
        r.rotary = Rotary::UnmeantPairs;
    })
    .does("Queries and keys are rotated by their positions, in pairs, with base 10,000.")
    .plausible("Most decoders do so.")
    .pytorch("torch.view_as_complex(q) * freqs_cis")
    .chapter("variants")
    .needs(&[Need::NoRotary]),
];
