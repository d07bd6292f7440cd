//! Whole decoders: each family gives what PyTorch gives, and token by token what it gives
//! all at once.

use std::time::Instant;

mod study;

use attention::{Matrix, Real, max_abs_diff};
use model_files::Sequence;
use models::decoders::{AsRead, CachedDecoder, Decoder, FastDecoder, Files, Reader};
use models::{Choice, Predict, Writer};
use tensors::TensorFile;
use workshop::paths;

use crate::encoders::{models, tiny};
use stages::cases::assert_close;

/// What this project promises of whole models, in both precisions.
const TOLERANCE: f64 = 2e-5;

/// A tiny model of each family: one without is not known to this project.
fn each() -> Vec<String> {
    models::decoders::families().map(|family| format!("{}-1", family.name)).collect()
}

/// Folders as people have them, each with a README that describes it. Their logits are larger than
/// those of the tiny models, so that f32 loses more.
const CASES: [&str; 5] = [
    "cases/tied-and-a-head",
    "cases/head-alone",
    "cases/rope-scaling-added",
    "cases/gemma2-keys-left-out",
    "cases/neox-gelu-fast",
];
const TOLERANCE_F32: f64 = 5e-5;

fn worst(differences: impl IntoIterator<Item = f64>) -> f64 {
    let larger = |a: f64, b: f64| if b.is_nan() || b > a { b } else { a };
    differences.into_iter().fold(0.0, larger)
}

fn cast<T: Real>(x: &Matrix<T>) -> Matrix {
    x.map(T::to_f64)
}

fn compare<T: Real>(name: &str, tolerance: f64) {
    let folder = models().join(name);
    let model: AsRead<T> = Decoder::load(&folder).unwrap();
    let file = TensorFile::open(folder.join("reference.safetensors")).unwrap();
    let config = &model.config;
    let sequences = Sequence::read(&file, config.n_vocabulary, 1, true).unwrap();
    let h = config.dims().n_heads();
    let logits = file.matrices("logits").unwrap();
    let mut found = Vec::new();
    for (s, reference) in tiny(sequences, config.n_layers, h, &file).iter().enumerate() {
        let layers = model.forward(&reference.sequence).unwrap();
        found.push(reference.difference(&layers));
        let of_logits = cast(&model.logits(layers.out()).unwrap());
        for (row, _) in reference.sequence.is_real.iter().enumerate().filter(|(_, r)| **r)
        {
            found.push((of_logits.row(row) - logits[s].row(row)).amax());
        }
    }
    let precision = std::any::type_name::<T>();
    let worst = worst(found);
    println!("{name}, {precision}: max |Δ| = {worst:.1e}");
    assert_close(format!("{name}, {precision}"), worst, tolerance);
}

#[test]
fn every_family_gives_its_references() {
    for name in &each() {
        compare::<f64>(name, TOLERANCE);
        compare::<f32>(name, TOLERANCE);
    }
    for name in CASES {
        compare::<f64>(name, TOLERANCE);
        compare::<f32>(name, TOLERANCE_F32);
    }
}

/// Some ids, which a tiny model has.
fn ids(n: usize) -> Vec<usize> {
    (0..n).map(|i| (i * i * 31 + 7 * i + 3) % 97).collect()
}

#[test]
fn token_by_token_is_the_whole_pass() {
    for name in &each() {
        let model: AsRead = Decoder::load(models().join(name)).unwrap();
        let ids = ids(23);
        let whole = model.forward(&Sequence::new(ids.clone())).unwrap();
        let logits = model.logits(whole.out()).unwrap();
        // All at once, one by one, and pieces of any length.
        for cuts in [vec![23], vec![1; 23], vec![4, 1, 9, 2, 7]] {
            let mut caches = model.caches();
            let (mut first, mut found) = (0, Vec::new());
            for n in cuts {
                let layers =
                    model.forward_cached(&ids[first..first + n], &mut caches).unwrap();
                for (part, all) in layers.hidden.iter().zip(&whole.hidden) {
                    found.push(
                        max_abs_diff(part, &all.rows(first, n).into_owned()).unwrap(),
                    );
                }
                let part = model.logits(layers.out()).unwrap();
                found.push((part - logits.rows(first, n)).amax());
                first += n;
                for (layer, part) in layers.attn.iter().enumerate() {
                    let places = caches[layer].positions();
                    for (part, all) in part.iter().zip(&whole.attn[layer]) {
                        found.extend(places.iter().enumerate().map(
                            |(column, &place)| {
                                let all = all
                                    .column(place as usize)
                                    .rows(first - n, n)
                                    .into_owned();
                                (part.column(column) - all).amax()
                            },
                        ));
                    }
                }
            }
            assert_close(format!("{name}, cached"), worst(found), 1e-12);
        }
        // A cache forgets what no later token sees: in a window it has what the last one saw.
        let n_cached = |layer: usize| {
            let mut caches = model.caches();
            for id in &ids {
                model.forward_cached(&[*id], &mut caches).unwrap();
            }
            caches[layer].positions().len()
        };
        let n_seen = |layer: usize| {
            let last = whole.attn[layer][0].row(ids.len() - 1);
            last.iter().filter(|weight| **weight > 0.0).count()
        };
        assert_eq!([0, 1].map(n_cached), [0, 1].map(n_seen), "{name}");
    }
}

#[test]
fn what_is_written_is_what_whole_passes_would_choose() {
    for name in &each() {
        let model: AsRead<f32> = Decoder::load(models().join(name)).unwrap();
        let mut text = ids(5);
        let writer = Writer::new(Reader::new(&model), &text, Choice::greedy());
        for id in writer.take(12) {
            let whole = model.forward(&Sequence::new(text.clone())).unwrap();
            let logits = model.logits(whole.out()).unwrap();
            let last = logits.row(logits.nrows() - 1);
            assert_eq!(id.unwrap(), last.transpose().imax(), "{name} after {text:?}");
            text.push(last.transpose().imax());
        }
    }
}

/// The fast decoder next to the readable one: a prompt, and then a token at a time.
#[test]
fn the_fast_decoder_is_the_readable_one() {
    expect_fast("llama-1", TOLERANCE);
    CASES.into_iter().for_each(|name| expect_fast(name, TOLERANCE_F32));
}

fn expect_fast(name: &str, tolerance: f64) {
    let folder = models().join(name);
    let mut fast = FastDecoder::new(Decoder::load(&folder).unwrap()).unwrap();
    let readable: AsRead = Decoder::load(&folder).unwrap();
    let ids = ids(23);
    for n_prompt in [1, 9, 23] {
        let mut reader = Reader::new(&readable);
        let mut caches = fast.caches(ids.len());
        let one_by_one = (n_prompt..ids.len()).map(|place| place..place + 1);
        let cuts = std::iter::once(0..n_prompt).chain(one_by_one);
        let found = cuts.map(|cut| {
            let fast = fast.read_behind(&ids[cut.clone()], &mut caches, false).unwrap().0;
            difference(&fast, &reader.predict(&ids[cut]).unwrap())
        });
        let worst = worst(found);
        println!("{name}, fast, a prompt of {n_prompt}: max |Δ| = {worst:.1e}");
        assert_close(format!("{name}, a prompt of {n_prompt}"), worst, tolerance);
    }
}

fn difference(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    worst(found.iter().zip(expected).map(|(a, b)| (a - b).abs()))
}

/// The files of SmolLM2, if they were fetched.
pub fn smollm2() -> Option<Files> {
    let path = paths::smollm2();
    if path.is_file() {
        return Some(Files::open(&path).unwrap());
    }
    println!(
        "left out: {} is not there; `cargo learn write --download` fetches the model",
        path.display()
    );
    None
}

/// What SmolLM2 must come to.
fn smollm2_reference() -> TensorFile {
    TensorFile::open(models().join("smollm2.safetensors")).unwrap()
}

fn ids_of(file: &TensorFile, prompt: &str) -> Vec<usize> {
    let ids = file.tensor(&format!("{prompt}.input_ids")).unwrap().integers().unwrap();
    ids.into_iter().map(|id| usize::try_from(id).unwrap()).collect()
}

/// The logits after a prompt, and what is written behind it.
fn goes_on_as_it_did(
    file: &TensorFile,
    prompt: &str,
    logits: &[f64],
    writer: impl Iterator<Item = models::Result<usize>>,
) {
    let name = format!("{prompt}.logits_last");
    let expected = file.tensor(&name).unwrap().numbers().unwrap();
    let of_logits = difference(logits, &expected);
    assert_close(format!("SmolLM2, {prompt}, logits"), of_logits, 2e-3);
    let start = Instant::now();
    let written: Vec<String> =
        writer.take(12).map(|id| id.unwrap().to_string()).collect();
    let seconds = start.elapsed().as_secs_f64();
    println!("{prompt}: logits {of_logits:.1e}, 12 tokens in {seconds:.2} s");
    assert_eq!(written.join(" "), file.text(&format!("{prompt}.greedy")).unwrap());
}

#[test]
fn smollm2_gives_its_references_and_goes_on_as_it_did() {
    let Some(files) = smollm2() else { return };
    let start = Instant::now();
    let model: AsRead<f32> = Decoder::read(&files).unwrap();
    println!("read in {:.2} s", start.elapsed().as_secs_f64());
    let file = smollm2_reference();
    for prompt in ["p00", "p02"] {
        let ids = ids_of(&file, prompt);
        let layers = model.forward(&Sequence::new(ids.clone())).unwrap();
        let maps = file.matrices(&format!("{prompt}.attn")).unwrap();
        let found = [0, 11, 17, 29].map(|layer| &layers.attn[layer]);
        let found = found.iter().copied().flatten().map(cast);
        let of_maps = worst(found.zip(&maps).map(|(a, b)| max_abs_diff(&a, b).unwrap()));
        let hidden = file.matrix(&format!("{prompt}.hidden_last")).unwrap();
        let of_hidden = max_abs_diff(&cast(layers.out()), &hidden).unwrap();
        println!("{prompt}: maps {of_maps:.1e}, hidden {of_hidden:.1e}");
        assert_close(format!("SmolLM2, {prompt}, maps"), of_maps, 1e-4);
        let last = layers.out().rows(ids.len() - 1, 1).into_owned();
        let logits = cast(&model.logits(&last).unwrap());
        let writer = Writer::new(Reader::new(&model), &ids, Choice::greedy());
        goes_on_as_it_did(&file, prompt, logits.as_slice(), writer);
    }
}

#[test]
fn smollm2_goes_on_as_it_did_through_the_fast_decoder() {
    let Some(files) = smollm2() else { return };
    let mut model = FastDecoder::new(Decoder::read(&files).unwrap()).unwrap();
    let file = smollm2_reference();
    for prompt in ["p00", "p02"] {
        let ids = ids_of(&file, prompt);
        let room = ids.len() + 12;
        let mut caches = model.caches(room);
        let (logits, _) = model.read_behind(&ids, &mut caches, false).unwrap();
        let mut caches = model.caches(room);
        let reader = |ids: &[usize]| Ok(model.read_behind(ids, &mut caches, false)?.0);
        let writer = Writer::new(reader, &ids, Choice::greedy());
        goes_on_as_it_did(&file, prompt, &logits, writer);
    }
}
