//! Layers of trained models with each mistake of the bank: it is named as in random layers,
//! and the layer as it was trained is right. Left out where the models are not.

use std::collections::BTreeMap;
use std::thread;

use attention::{LayerParameters, Mask, Matrix, MultiHeadAttention, Real};
use diagnosis::{
    Corner, Diagnosis, Intent, Masks, Mistake, Precision, Record, State, Verdict,
    Weights, bank, computed, diagnose,
};
use model_files::Sequence;
use models::decoders::{AsRead, Decoder};
use models::encoders::Encoder;
use tensors::TensorFile;
use workshop::paths;

use crate::encoders::models;

/// So many tokens of two texts are the batch.
const N_TOKENS: usize = 7;

/// Of this share of the output at least is an effect that can show in float32.
const SHOWS: f64 = 2e-3;

/// A trained layer with what it reads and what its model makes of that, in float32.
struct Trained {
    name: String,
    record: Record,
    intent: Intent,
}

/// Two texts of a file of references.
fn sequences(file: &str, names: [&str; 2]) -> [Sequence; 2] {
    let file = TensorFile::open(models().join(file)).unwrap();
    names.map(|name| {
        let ids = file.tensor(&format!("{name}.input_ids")).unwrap().integers().unwrap();
        let ids = ids.into_iter().take(N_TOKENS).map(|id| usize::try_from(id).unwrap());
        Sequence::new(ids.collect())
    })
}

fn cast<T: Real>(x: &Matrix<T>) -> Matrix {
    x.map(T::to_f64)
}

fn record(weights: Weights, inputs: &[Matrix<f32>], outputs: &[Matrix<f32>]) -> Record {
    let inputs: Vec<Matrix> = inputs.iter().map(cast).collect();
    Record {
        weights,
        inputs: [inputs.clone(), inputs.clone(), inputs],
        masks: Masks::default(),
        tensors: BTreeMap::from([(State::Output, outputs.iter().map(cast).collect())]),
        precision: Precision::F32,
    }
}

/// Layers of MiniLM, in which a layer reads the tokens as they are.
fn minilm(layers: &[usize]) -> Option<Vec<Trained>> {
    let folder = paths::minilm();
    if !folder.is_dir() {
        println!("left out: `cargo learn look --download` fetches MiniLM");
        return None;
    }
    let model: Encoder<LayerParameters<f32>, f32> =
        Encoder::load(folder, LayerParameters::clone).unwrap();
    let model = model
        .with_attention(|_, parameters| fused_heads::FusedAttention::new(parameters));
    let texts = sequences("minilm-sentences.safetensors", ["s03", "s08"]);
    let hidden = texts.map(|text| model.forward(&text).unwrap().hidden);
    let trained = |&layer: &usize| {
        let attention = &model.stack.blocks[layer].attention.function;
        let inputs = hidden.each_ref().map(|hidden| hidden[layer].clone());
        let outputs = inputs.each_ref().map(|x| output(attention, x, &Mask::None));
        let [q, k, v, o] = attention.parameters().projections().map(|it| it.cast());
        let weights = Weights::new([q, k, v], Some(o));
        Trained {
            name: format!("MiniLM, layer {layer}"),
            record: record(weights, &inputs, &outputs),
            intent: Intent::heads(model.config.dims.n_heads()),
        }
    };
    Some(layers.iter().map(trained).collect())
}

fn output<A: MultiHeadAttention<f32>>(
    attention: &A,
    x: &Matrix<f32>,
    mask: &Mask,
) -> Matrix<f32> {
    attention.self_attend(x, mask).unwrap().out
}

/// Layers of SmolLM2: a causal mask, rotary positions, three query heads on each key head.
fn smollm2(layers: &[usize]) -> Option<Vec<Trained>> {
    let path = paths::smollm2();
    if !path.is_file() {
        println!("left out: `cargo learn write --download` fetches SmolLM2");
        return None;
    }
    let model: AsRead<f32> = Decoder::load(path).unwrap();
    let texts = sequences("smollm2.safetensors", ["p00", "p02"]);
    let hidden = texts.map(|text| model.forward(&text).unwrap().hidden);
    let trained = |&layer: &usize| {
        let block = &model.blocks[layer];
        let read = |hidden: &Vec<Matrix<f32>>| {
            block.attention.norms.before.as_ref().unwrap().forward(&hidden[layer])
        };
        let inputs = hidden.each_ref().map(|hidden| read(hidden).unwrap());
        let outputs = inputs
            .each_ref()
            .map(|x| output(&block.attention.function, x, &Mask::Causal));
        let [q, k, v, o] =
            block.attention.function.projections().each_ref().map(|it| it.cast());
        let weights = Weights::new([q, k, v], Some(o));
        Trained {
            name: format!("SmolLM2, layer {layer}"),
            record: record(weights, &inputs, &outputs),
            intent: intent(&model, layer),
        }
    };
    Some(layers.iter().map(trained).collect())
}

/// What a layer of a decoder was meant to be.
fn intent(model: &AsRead<f32>, layer: usize) -> Intent {
    let attention = &model.blocks[layer].attention.function;
    let sizes = attention.sizes();
    let rotary = attention.changes().rotary.as_ref().unwrap();
    // The frequency of pair p is base^(-2p / d_k).
    let base = rotary.frequencies[1].powf(-(sizes.dims.d_k() as f64) / 2.0).round();
    Intent {
        n_kv_heads: sizes.groups.n_kv_heads(),
        causal: Some(Corner::BottomRight),
        rotary: Some((rotary.pairing, base)),
        ..Intent::heads(sizes.dims.n_heads())
    }
}

/// What was said of a mistake in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    Alone,
    First,
    InGroup,
    Unknown,
    Condition,
    Right,
    Otherwise,
}

fn named(diagnosis: &Diagnosis, mistake: &'static Mistake) -> Named {
    let place = diagnosis.explanations.iter().position(|set| set[..] == [mistake]);
    match (diagnosis.verdict, place) {
        (Verdict::Right, _) => Named::Right,
        (Verdict::Unknown, _) => Named::Unknown,
        (Verdict::Condition, _) => Named::Condition,
        (Verdict::Mistake, Some(0)) if diagnosis.explanations.len() == 1 => Named::Alone,
        (Verdict::Mistake, Some(0)) => Named::First,
        (Verdict::Mistake, Some(_)) => Named::InGroup,
        (Verdict::Mistake, None) => Named::Otherwise,
    }
}

/// A mistake in a layer, and what is said of it; nothing where it does not show.
fn diagnosed(trained: &Trained, mistake: &'static Mistake) -> Option<(Named, String)> {
    let Trained { name, record, intent } = trained;
    if !mistake.is_possible(record, intent) {
        return None;
    }
    let mut wrong = computed(record, intent, State::Output, &[mistake])?;
    let right = record.output();
    let has_shape = wrong.len() == right.len() && wrong[0].shape() == right[0].shape();
    if has_shape {
        let apart: f64 =
            wrong.iter().zip(right).map(|(a, b)| (a - b).norm_squared()).sum();
        let size: f64 = right.iter().map(|m| m.norm_squared()).sum();
        if apart <= SHOWS * SHOWS * size {
            return None;
        }
    }
    wrong.iter_mut().for_each(|m| m.apply(|x| *x = f64::from(*x as f32)));
    let tensors = BTreeMap::from([(State::Output, wrong)]);
    let diagnosis = diagnose(&Record { tensors, ..record.clone() }, intent).unwrap();
    let sets = diagnosis.explanations.iter();
    let ids: Vec<Vec<&str>> =
        sets.map(|set| set.iter().map(|it| it.id).collect()).collect();
    let named = named(&diagnosis, mistake);
    Some((named, format!("{name}, {}: {:?} {ids:?}", mistake.id, diagnosis.verdict)))
}

/// Every mistake in each layer, in two threads, is named or in a group, and what was trained
/// is right.
fn each_is_named(layers: &[Trained]) {
    let mut wrong = Vec::new();
    for layer in layers {
        let right = diagnose(&layer.record, &layer.intent).unwrap();
        assert_eq!(right.verdict, Verdict::Right, "{}: {:?}", layer.name, right.tensors);
        let all: Vec<&'static Mistake> = bank().collect();
        let run = |part: &[&'static Mistake]| -> Vec<(Named, String)> {
            part.iter().filter_map(|mistake| diagnosed(layer, mistake)).collect()
        };
        let said = thread::scope(|scope| {
            let (first, second) = all.split_at(all.len() / 2);
            let first = scope.spawn(|| run(first));
            let second = run(second);
            [first.join().expect("no panic"), second].concat()
        });
        let mut counts: BTreeMap<Named, usize> = BTreeMap::new();
        for (named, text) in said {
            *counts.entry(named).or_default() += 1;
            if named > Named::InGroup {
                wrong.push(text);
            }
        }
        let shown: usize = counts.values().sum();
        let is_possible = |it: &&&Mistake| it.is_possible(&layer.record, &layer.intent);
        let hidden = all.iter().filter(is_possible).count() - shown;
        println!("{}: {counts:?}, {hidden} do not show", layer.name);
        assert!(shown > 50, "{}: only {shown} mistakes show", layer.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "some minutes, with a model"]
fn each_is_named_in_layers_of_minilm() {
    let Some(layers) = minilm(&[0, 2, 5]) else { return };
    each_is_named(&layers);
}

#[test]
#[ignore = "some minutes, with a model"]
fn each_is_named_in_layers_of_smollm2() {
    let Some(layers) = smollm2(&[0, 11, 29]) else { return };
    each_is_named(&layers);
}
