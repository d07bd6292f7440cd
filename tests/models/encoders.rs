//! Whole models from folders: with every stage as the attention they give what PyTorch
//! gives.

use std::path::PathBuf;

use ablation::Replacement;
use attention::{LayerParameters, Matrix, MultiHeadAttention, Real};
use block::Layers;
use fused_heads::FusedAttention;
use kernels::PackedStage;
use model_files::Sequence;
use models::encoders::{Encoder, Files, Study};
use tensors::TensorFile;
use workshop::paths;

use stages::cases::{assert_close, every_stage_and_batched};

/// What this project promises of whole models, in both precisions.
const TOLERANCE: f64 = 2e-5;

type Stage<T> = Box<dyn MultiHeadAttention<T>>;

pub fn models() -> PathBuf {
    paths::workspace().join("tests/data/models")
}

/// What a text must come to: hidden states and maps by layer, rows of real tokens alone.
pub struct Reference {
    pub sequence: Sequence,
    hidden: Vec<(usize, Matrix)>,
    attn: Vec<Vec<Matrix>>,
}

impl Reference {
    /// The largest difference on rows of real tokens; of NaN, NaN.
    pub fn difference<T: Real>(&self, layers: &Layers<T>) -> f64 {
        let hidden =
            self.hidden.iter().map(|(l, expected)| (&layers.hidden[*l], expected));
        let found = layers.attn.iter().flatten();
        let attn = found.zip(self.attn.iter().flatten());
        assert_eq!(layers.attn.len(), self.attn.len());
        let mut worst: f64 = 0.0;
        for (found, expected) in hidden.chain(attn) {
            assert_eq!(found.shape(), expected.shape());
            let real = (0..found.nrows()).filter(|&row| self.sequence.is_real[row]);
            for (row, column) in
                real.flat_map(|i| (0..found.ncols()).map(move |j| (i, j)))
            {
                let d = (found[(row, column)].to_f64() - expected[(row, column)]).abs();
                worst = if d.is_nan() || d > worst { d } else { worst };
            }
        }
        worst
    }
}

/// One stage after the other as the attention of a whole model, and how far each is off.
fn compare<T: Real>(
    name: &str,
    folder: &Files,
    references: &[Reference],
    stages: &dyn Fn(&LayerParameters<T>) -> Vec<Stage<T>>,
) {
    let precision = std::any::type_name::<T>();
    let parameters = Encoder::read(folder, LayerParameters::clone).unwrap();
    let n_stages = stages(&parameters.stack.blocks[0].attention.function).len();
    for i in 0..n_stages {
        let model = parameters.with_attention(|_, p| stages(p).swap_remove(i));
        let stage = model.stack.blocks[0].attention.function.name();
        let worst = references.iter().map(|reference| {
            reference.difference(&model.forward(&reference.sequence).unwrap())
        });
        let worst = worst.fold(0.0, |a: f64, b| if b.is_nan() || b > a { b } else { a });
        println!("{name}, {precision}, {stage}: max |Δ| = {worst:.1e}");
        assert_close(format!("{name}, {precision}, {stage}"), worst, TOLERANCE);
    }
}

fn compare_all(name: &str, folder: &Files, references: &[Reference]) {
    compare::<f64>(name, folder, references, &every_stage_and_batched);
    compare::<f32>(name, folder, references, &|parameters| {
        let mut stages = every_stage_and_batched(parameters);
        stages.push(Box::new(PackedStage::new(parameters)));
        stages
    });
}

/// The references of a tiny model of h heads, in a batch with padding.
pub fn tiny(
    sequences: Vec<Sequence>,
    n_layers: usize,
    h: usize,
    file: &TensorFile,
) -> Vec<Reference> {
    let all = |name: String| file.matrices(&name).unwrap();
    let of = |(s, sequence): (usize, Sequence)| {
        let hidden = |l| (l, all(format!("hidden.{l}")).swap_remove(s));
        let attn = |l| all(format!("attn.{l}"))[s * h..][..h].to_vec();
        Reference {
            sequence,
            hidden: (0..=n_layers).map(hidden).collect(),
            attn: (0..n_layers).map(attn).collect(),
        }
    };
    sequences.into_iter().enumerate().map(of).collect()
}

#[test]
fn every_family_gives_its_references_with_every_stage() {
    // CamemBERT is XLM-RoBERTa under another name, as a test of `encoders` says.
    let families = models::encoders::families().filter(|it| it.name != "camembert");
    for family in families {
        let name = &format!("{}-1", family.name.replace('-', "_"));
        let folder = Files::open(models().join(name)).unwrap();
        let file = TensorFile::open(models().join(name).join("reference.safetensors"));
        let (config, file) = (&folder.config, file.unwrap());
        let sequences = config.sequences(&file).unwrap();
        let (n_layers, h) = (config.n_layers, config.dims.n_heads());
        compare_all(name, &folder, &tiny(sequences, n_layers, h, &file));
    }
}

#[test]
fn minilm_gives_its_references_with_every_stage() {
    let folder = paths::minilm();
    if !folder.is_dir() {
        println!(
            "left out: {} is not there; `cargo learn look --download` fetches the model",
            folder.display()
        );
        return;
    }
    let folder = Files::open(folder).unwrap();
    let file = TensorFile::open(models().join("minilm-sentences.safetensors")).unwrap();
    let h = folder.config.dims.n_heads();
    let of = |s: &str| {
        let ids = file.tensor(&format!("{s}.input_ids")).unwrap().integers().unwrap();
        let ids = ids.into_iter().map(|id| usize::try_from(id).unwrap());
        let hidden = |l| (l, file.matrix(&format!("{s}.hidden.{l}")).unwrap());
        let attn = file.matrices(&format!("{s}.attn")).unwrap();
        Reference {
            sequence: Sequence::new(ids.collect()),
            hidden: [0, 3, 6].map(hidden).into(),
            attn: attn.chunks(h).map(<[_]>::to_vec).collect(),
        }
    };
    compare_all("MiniLM", &folder, &["s00", "s03", "s08", "s13", "s17"].map(of));
}

#[test]
fn an_ablation_of_what_is_not_there_is_refused() {
    let folder = Files::open(models().join("bert-1")).unwrap();
    let file = TensorFile::open(models().join("bert-1").join("reference.safetensors"));
    let sequences = folder.config.sequences(&file.unwrap()).unwrap();
    let model: Encoder<LayerParameters<f32>, f32> =
        Encoder::read(&folder, LayerParameters::clone).unwrap();
    let stage = |p: &LayerParameters<f32>| -> Box<dyn MultiHeadAttention<f32>> {
        Box::new(FusedAttention::new(p))
    };
    let study = Study::new(&model, stage, &sequences).unwrap();
    for replacement in [Replacement::Zero, Replacement::Mean] {
        assert_eq!(study.loss(&[], replacement).unwrap(), 0.0);
        assert!(study.loss(&[(0, 1)], replacement).unwrap() > 0.0);
    }
    let refused = |at, replacement| study.loss(&[at], replacement).unwrap_err();
    insta::assert_snapshot!(refused((9, 0), Replacement::Zero), @"there are 3 layers, 0 to 2: layer 9 does not exist");
    insta::assert_snapshot!(refused((0, 9), Replacement::Mean), @"there are 4 heads, 0 to 3: head 9 does not exist");
    insta::assert_snapshot!(refused((0, 1), Replacement::Resample), @"a head of a whole model is replaced by zeros or by its mean: what it says in another example is no constant");
}
