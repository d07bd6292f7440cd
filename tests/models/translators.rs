//! Whole encoder-decoders: each family gives what PyTorch gives, with any stage as its
//! attention, and token by token what it gives all at once.

use attention::{LayerParameters, Matrix, PackedParameters, Real, max_abs_diff};
use block::Layers;
use model_files::Sequence;
use models::translators::{AsRead, Files, Translator};
use tensors::TensorFile;

use crate::encoders::models;
use stages::cases::{assert_close, every_stage_and_batched};

/// What this project promises of whole models, in both precisions.
const TOLERANCE: f64 = 2e-5;

/// A tiny model of each family: one without is not known to this project.
fn each() -> Vec<String> {
    models::translators::families().map(|family| format!("{}-1", family.name)).collect()
}

/// The largest difference of rows of real tokens; of NaN, NaN.
struct Worst(f64);

impl Worst {
    fn add<T: Real>(&mut self, found: &Matrix<T>, expected: &Matrix, is_real: &[bool]) {
        assert_eq!(found.shape(), expected.shape());
        for row in (0..found.nrows()).filter(|&row| is_real[row]) {
            for column in 0..found.ncols() {
                let d = (found[(row, column)].to_f64() - expected[(row, column)]).abs();
                self.0 = if d.is_nan() || d > self.0 { d } else { self.0 };
            }
        }
    }
}

/// The texts of a tiny model and what they must come to.
struct References {
    file: TensorFile,
    texts: Vec<[Sequence; 2]>,
}

impl References {
    fn of(name: &str, files: &Files) -> Self {
        let file = TensorFile::open(models().join(name).join("reference.safetensors"));
        let file = file.unwrap();
        Self {
            texts: models::translators::sequences(&files.config, &file).unwrap(),
            file,
        }
    }

    /// The matrices of one text.
    fn of_text(&self, name: &str, s: usize) -> Vec<Matrix> {
        let all = self.file.matrices(name).unwrap();
        let n = all.len() / self.texts.len();
        all[s * n..][..n].to_vec()
    }

    fn add<T: Real>(&self, to: &mut Worst, side: &str, s: usize, layers: &Layers<T>) {
        let is_real = &self.texts[s][usize::from(side == "decoder")].is_real;
        for (l, hidden) in layers.hidden.iter().enumerate() {
            to.add(hidden, &self.of_text(&format!("{side}.hidden.{l}"), s)[0], is_real);
        }
        self.add_maps(to, &format!("{side}.attn"), s, &layers.attn, is_real);
    }

    fn add_maps<T: Real>(
        &self,
        to: &mut Worst,
        name: &str,
        s: usize,
        maps: &[Vec<Matrix<T>>],
        is_real: &[bool],
    ) {
        for (l, maps) in maps.iter().enumerate() {
            let expected = self.of_text(&format!("{name}.{l}"), s);
            assert_eq!(maps.len(), expected.len());
            maps.iter().zip(&expected).for_each(|(a, b)| to.add(a, b, is_real));
        }
        assert!(!self.file.contains(&format!("{name}.{}", maps.len())));
    }

    /// How far a model is off.
    fn difference<A, T: Real>(&self, model: &Translator<A, T>) -> f64
    where
        A: attention::MultiHeadAttention<T>,
    {
        let mut worst = Worst(0.0);
        for (s, [source, target]) in self.texts.iter().enumerate() {
            let encoded = model.encode(source).unwrap();
            let layers = model.decode(target, encoded.out(), source).unwrap();
            self.add(&mut worst, "encoder", s, &encoded);
            self.add(&mut worst, "decoder", s, &layers);
            self.add_maps(&mut worst, "cross", s, &layers.cross, &target.is_real);
            let logits = model.logits(layers.out()).unwrap();
            worst.add(&logits, &self.of_text("logits", s)[0], &target.is_real);
        }
        worst.0
    }
}

fn compare<T: Real>(name: &str, tolerance: f64) {
    let files = Files::open(models().join(name)).unwrap();
    let references = References::of(name, &files);
    let worst = references.difference(&AsRead::<T>::read(&files).unwrap());
    let name = format!("{name}, {}", std::any::type_name::<T>());
    println!("{name}: max |Δ| = {worst:.1e}");
    assert_close(name, worst, tolerance);
}

#[test]
fn every_family_gives_its_references() {
    for name in &each() {
        compare::<f64>(name, TOLERANCE);
        // Of norms before the layers the sums are large, and f32 has seven digits.
        let is_large = ["mbart-1", "t5-1"].contains(&name.as_str());
        compare::<f32>(name, if is_large { 1e-4 } else { TOLERANCE });
    }
}

/// T5 adds a bias to its scores, which only the attention that it is read with knows.
#[test]
fn every_stage_gives_the_references() {
    for name in each().iter().filter(|name| *name != "t5-1") {
        let files = Files::open(models().join(name)).unwrap();
        let references = References::of(name, &files);
        let model: AsRead = Translator::read(&files).unwrap();
        let parameters = model.with_attention(|attention| -> LayerParameters {
            let projections = attention.projections().clone();
            let dims = attention.sizes().dims;
            PackedParameters::new(dims, projections).unwrap().unpack()
        });
        let first = &parameters.encoder.blocks[0].attention.function;
        for i in 0..every_stage_and_batched(first).len() {
            let model =
                parameters.with_attention(|p| every_stage_and_batched(p).swap_remove(i));
            let worst = references.difference(&model);
            assert_close(format!("{name}, stage {i}"), worst, TOLERANCE);
        }
    }
}

#[test]
fn token_by_token_is_the_whole_pass() {
    let larger = |a: f64, b: f64| if b.is_nan() || b > a { b } else { a };
    for name in &each() {
        let model: AsRead = Translator::load(models().join(name)).unwrap();
        let ids: Vec<usize> = (0..23).map(|i| (i * i * 31 + 7 * i + 3) % 97).collect();
        let mut source = Sequence::new((0..14).map(|i| (i * i * 17 + 5) % 97).collect());
        source.is_real[11..].fill(false);
        let read = model.read_source(&source).unwrap();
        let target = Sequence::new(ids.clone());
        let whole = model.decode(&target, read.layers.out(), &source).unwrap();
        let logits = model.logits(whole.out()).unwrap();
        let before = read.clone();
        let mut worst = 0.0;
        for cuts in [vec![23], vec![1; 23], vec![4, 1, 9, 2, 7]] {
            let (mut caches, mut first) = (model.caches(), 0);
            for n in cuts {
                let ids = &ids[first..first + n];
                let part = model.decode_cached(ids, &read, &mut caches).unwrap();
                let mut found = Vec::new();
                for (part, all) in part.hidden.iter().zip(&whole.hidden) {
                    let all = all.rows(first, n).into_owned();
                    found.push(max_abs_diff(part, &all).unwrap());
                }
                let maps = part.attn.iter().zip(&whole.attn);
                for (part, all) in maps.flat_map(|(a, b)| a.iter().zip(b)) {
                    let all = all.view((first, 0), (n, first + n)).into_owned();
                    found.push(max_abs_diff(part, &all).unwrap());
                }
                for (part, all) in
                    part.cross.iter().flatten().zip(whole.cross.iter().flatten())
                {
                    found.push(
                        max_abs_diff(part, &all.rows(first, n).into_owned()).unwrap(),
                    );
                }
                let part = model.logits(part.out()).unwrap();
                found.push((part - logits.rows(first, n)).amax());
                worst = found.into_iter().fold(worst, larger);
                first += n;
            }
            // What is counted is what is there.
            let bytes = model.cache_bytes(source.n_tokens());
            for (layer, cache) in caches.iter().enumerate() {
                assert_eq!(cache.bytes(), 23 * bytes.per_token[layer]);
                assert_eq!(read.caches()[layer].bytes(), bytes.source[layer]);
            }
        }
        assert_eq!(read, before, "the source is read once");
        println!("{name}, cached: max |Δ| = {worst:.1e}");
        assert_close(format!("{name}, cached"), worst, 1e-12);
    }
}

/// The larger of the next token's logits by the whole pass, again and again.
#[test]
fn it_writes_what_the_whole_pass_would() {
    for name in &each() {
        let model: AsRead = Translator::load(models().join(name)).unwrap();
        let source = Sequence::new(vec![5, 40, 17, 9, 60, 2]);
        let read = model.read_source(&source).unwrap();
        let written = model.write(&read, 12).unwrap();
        let mut ids = vec![model.config.writing.start.unwrap()];
        while ids.len() < written.ids().len() {
            let target = Sequence::new(ids.clone());
            let decoded = model.decode(&target, read.layers.out(), &source).unwrap();
            let logits = model.logits(decoded.out()).unwrap();
            let last: Vec<f64> = logits.row(ids.len() - 1).iter().copied().collect();
            ids.push(
                (0..last.len()).max_by(|&a, &b| last[a].total_cmp(&last[b])).unwrap(),
            );
        }
        assert_eq!(written.ids(), ids, "{name}");
        let ended = model.config.writing.ends.contains(&ids[ids.len() - 1]);
        assert_eq!(written.has_ended(), ended);
    }
}
