//! The model of source 003: what its framework computes, every stage computes.

use attention::{LayerParameters, Matrix, MultiHeadAttention, Real, max_abs_diff};
use fused_heads::FusedAttention;
use lessons::every_stage;
use pretrained::TensorFile;
use sensors::{Remaining, remaining};
use workshop::paths;

use crate::cases::assert_close;

const TOLERANCE: f64 = 1e-5;

fn reference() -> TensorFile {
    let data = paths::workspace().join("crates/sensors/data");
    TensorFile::open(data.join("remaining-reference.safetensors")).unwrap()
}

/// Output, tokens and maps of each window against the framework's.
fn compare<A: MultiHeadAttention<T>, T: Real>(stage: &str, model: &Remaining<A, T>) {
    let file = reference();
    let windows = file.matrices("windows").unwrap();
    let (x, maps) = (file.matrices("x").unwrap(), file.matrices("attn").unwrap());
    let lives = file.tensor("remaining").unwrap().numbers().unwrap();
    let cast = |m: &Matrix<T>| m.map(T::to_f64);
    for (s, window) in windows.iter().enumerate() {
        let steps = model.forward(&window.map(T::of)).unwrap();
        let attn = &steps.attended.as_ref().unwrap().attn;
        let h = attn.len();
        assert_eq!(maps.len(), h * windows.len());
        let of_maps = attn.iter().zip(&maps[s * h..]);
        let of_maps = of_maps.map(|(a, b)| max_abs_diff(b, &cast(a)).unwrap());
        // In parts of 125 cycles, which is what the model puts out.
        let output = (steps.remaining.to_f64() - lives[s]).abs() / sensors::CAP;
        let pairs = [
            ("tokens", max_abs_diff(&x[s], &cast(&steps.x)).unwrap()),
            ("maps", of_maps.fold(0.0, f64::max)),
            ("output", output),
        ];
        for (what, diff) in pairs {
            let precision = std::any::type_name::<T>();
            println!("{stage}, {precision}, window {s}, {what}: max |Δ| = {diff:.1e}");
            assert_close(format!("{stage}, window {s}, {what}"), diff, TOLERANCE);
        }
    }
}

#[test]
fn every_stage_gives_what_the_framework_gives() {
    let trained = remaining().unwrap();
    let packed: Remaining<LayerParameters, f64> = trained.model(|p| p).unwrap();
    let sublayer = packed.attention.clone().unwrap();
    for stage in every_stage(&sublayer.function) {
        let name = stage.name();
        let model: Remaining<Box<dyn MultiHeadAttention>, f64> =
            trained.model(|_| stage).unwrap();
        compare(name, &model);
    }
    let model: Remaining<FusedAttention<f32>, f32> = trained.fused().unwrap();
    compare("fused", &model);
}
