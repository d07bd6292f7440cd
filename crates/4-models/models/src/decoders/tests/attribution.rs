//! The parts of a logit sum to it, and each is what it says.

use attention::{Mask, Matrix, MultiHeadAttention, Real};

use super::{names, tiny, without_heads};
use crate::decoders::AsRead;
use crate::decoders::attribution::Attribution;
use block::Norm;

const IDS: [usize; 8] = [5, 90, 17, 3, 3, 41, 8, 66];
const TOKENS: [usize; 3] = [0, 41, 96];
/// Of parts in f64 from a pass in f64, and from one in f32.
const TOLERANCE: f64 = 1e-10;
const TOLERANCE_F32: f64 = 1e-4;

fn parts<T: Real>(model: &AsRead<T>, position: usize) -> Vec<Attribution> {
    let pass = model.pass(&IDS).unwrap();
    model.attribution(&pass, position, &TOKENS).unwrap()
}

/// The logits before their cap, as the model's own forward pass gives them.
fn uncapped<T: Real>(model: &AsRead<T>, position: usize) -> Vec<f64> {
    let mut model = model.clone();
    model.unembedding.as_mut().unwrap().soft_cap = None;
    let out = model.forward(&model_files::Sequence::new(IDS.to_vec())).unwrap();
    let logits = model.logits(out.out()).unwrap();
    TOKENS.map(|token| logits[(position, token)].to_f64()).to_vec()
}

/// The largest difference of a sum from the logit, before the cap and behind it.
fn largest<T: Real>(name: &str) -> f64 {
    let model: AsRead<T> = tiny(name);
    let mut largest: f64 = 0.0;
    for position in 0..IDS.len() {
        let own = uncapped(&model, position);
        for (parts, own) in parts(&model, position).iter().zip(own) {
            let apart = [parts.sum() - own, parts.capped() - parts.logit];
            largest = apart.iter().fold(largest, |most, it| most.max(it.abs()));
            assert!(parts.sum().is_finite());
        }
    }
    largest
}

#[test]
fn the_parts_sum_to_the_logit_in_every_family() {
    for name in names() {
        let found = [largest::<f64>(&name), largest::<f32>(&name)];
        println!("{name}: max |Δ| = {:.1e} in f64, {:.1e} in f32", found[0], found[1]);
        assert!(found[0] <= TOLERANCE && found[1] <= TOLERANCE_F32, "{name}: {found:?}");
    }
}

/// Each part is large enough that the sum would miss it.
#[test]
fn a_head_or_a_bias_that_is_forgotten_would_show() {
    let is_seen = |part: f64| part.abs() > 10.0 * TOLERANCE_F32;
    for name in names() {
        let model: AsRead = tiny(&name);
        let all = parts(&model, IDS.len() - 1);
        for layer in all.iter().flat_map(|it| &it.layers) {
            assert!(layer.heads.len() == 4, "{name}");
            let mut parts = layer.heads.iter().chain([&layer.feed_forward]);
            assert!(parts.all(|part| part.abs() > 1e-7), "{name}: {layer:?}");
            let w_o = &model.blocks[0].attention.function.projections()[3];
            assert_eq!(
                layer.attention_bias != 0.0,
                w_o.bias.is_some(),
                "{name}: {layer:?}"
            );
        }
        let layers = || all.iter().flat_map(|it| &it.layers);
        assert!(layers().any(|it| it.heads.iter().any(|&head| is_seen(head))), "{name}");
        let is_layer_norm = matches!(model.last_norm, Norm::Layer(_));
        assert!(all.iter().all(|it| (it.last_bias != 0.0) == is_layer_norm), "{name}");
        if is_layer_norm {
            assert!(layers().any(|it| is_seen(it.attention_bias)), "{name}");
            assert!(all.iter().any(|it| is_seen(it.last_bias)), "{name}");
        }
    }
}

/// `norm(x + taken) − norm(x)` along a column, by a norm that divides by what it divides x
/// by.
fn expected(norm: &Norm, x: &Matrix, taken: &Matrix, column: &[f64]) -> f64 {
    let squares = |x: &Matrix| x.norm_squared() / x.len() as f64;
    let centred = |x: &Matrix| x.add_scalar(-x.mean());
    let (gain, taken, root) = match norm {
        Norm::Layer(norm) => {
            (&norm.gain, centred(taken), (squares(&centred(x)) + norm.eps).sqrt())
        }
        Norm::Rms(norm) | Norm::RmsInF32(norm) => {
            (&norm.gain, taken.clone(), (squares(x) + norm.eps).sqrt())
        }
    };
    (0..x.len()).map(|f| taken[f] / root * gain[f] * column[f]).sum()
}

/// The last token behind the last attention, and behind the last block, before the last norm.
fn last_rows(model: &AsRead) -> [Matrix; 2] {
    let hidden = model.pass(&IDS).unwrap().layers.hidden;
    let block = &model.blocks[2];
    let mut attended = Matrix::zeros(0, 0);
    let out = block.forward_by(&hidden[2], |_, attention, x| {
        let out = attention.self_attend(x, &Mask::Causal)?;
        attended = out.out.clone();
        Ok(out)
    });
    let row = |of: &Matrix| of.rows(IDS.len() - 1, 1).into_owned();
    [row(&attended), row(&out.unwrap().out)]
}

/// A head's part is what its ablation takes from the token, through a norm that is written
/// out here. So no heads are exchanged, and none has a share of another.
#[test]
fn a_heads_part_is_what_its_ablation_takes_away() {
    let mut largest: f64 = 0.0;
    for name in ["gpt2-1", "gpt_neox-1", "llama-1", "qwen2-1", "qwen3-1"] {
        let model: AsRead = tiny(name);
        let parts = parts(&model, IDS.len() - 1);
        let unembedding = model.unembedding.as_ref().unwrap().tokens.as_ref();
        let columns = unembedding.unwrap_or(&model.embedding.tokens);
        let [attended, x] = last_rows(&model);
        for head in 0..4 {
            let less = without_heads(&model, &[(2, head)]);
            let taken = &attended - &last_rows(&less)[0];
            for (parts, token) in parts.iter().zip(TOKENS) {
                let column: Vec<f64> = columns.column(token).iter().copied().collect();
                let expected = expected(&model.last_norm, &x, &taken, &column);
                let apart = (parts.layers[2].heads[head] - expected).abs();
                largest = largest.max(apart);
                assert!(apart <= TOLERANCE, "{name}, head {head}: {apart:e}");
            }
        }
    }
    println!("a head's part and its ablation: max |Δ| = {largest:.1e}");
}

#[test]
fn what_is_not_there_is_refused() {
    let model: AsRead = tiny("llama-1");
    let pass = model.pass(&IDS).unwrap();
    let refused = |position, token: usize| {
        model.attribution(&pass, position, &[token]).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(8, 1), @"there is no token 8 in a text of 8: they count from 0");
    insta::assert_snapshot!(refused(0, 97), @"token 0 has id 97, and the vocabulary has 97 entries, from 0");
}
