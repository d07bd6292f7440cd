//! The model of source 003: what its framework computes, every stage computes.

use attention::{LayerParameters, Matrix, MultiHeadAttention, Real, max_abs_diff};
use fused_heads::FusedAttention;
use sensors::{At, CAP, Features, Fleet, Plain, Prepared, Remaining, remaining, rmse};
use stages::cases::every_stage;
use tensors::TensorFile;
use workshop::paths;

use stages::cases::assert_close;

const TOLERANCE: f64 = 1e-5;

fn reference() -> TensorFile {
    let data = paths::workspace().join("crates/4-models/sensors/data");
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
        let output = (steps.remaining.to_f64() - lives[s]).abs() / CAP;
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

/// On engines that it has not seen, the trained model against a linear regression on the
/// last reading: what the training printed, from the weights alone.
#[test]
fn the_model_beats_the_last_reading() {
    let (readings, _) = Fleet::default().readings(0);
    let prepared = Prepared::of(&readings, 0).unwrap();
    let trained = remaining().unwrap();
    assert_eq!(trained.scale, prepared.scale);
    let model: Remaining<FusedAttention<f32>, f32> = trained.fused().unwrap();
    let (test, plain) =
        (&prepared.test, Plain::fit(&prepared.train, Features::Last).unwrap());
    let some: Vec<At> = test.at.iter().step_by(40).copied().collect();
    let targets: Vec<f64> = some.iter().map(At::target).collect();
    let of_plain: Vec<f64> =
        some.iter().map(|at| plain.predict(test, at).unwrap()).collect();
    let of_model = some.iter().map(|at| {
        let window = test.readings(at).unwrap().map(|x| x as f32);
        f64::from(model.forward(&window).unwrap().remaining).clamp(0.0, CAP)
    });
    let of_model = rmse(&of_model.collect::<Vec<_>>(), &targets);
    let of_plain = rmse(&of_plain, &targets);
    println!("{of_model:.2} and {of_plain:.2}: {:.2}", of_model / of_plain);
    assert!(of_model <= 0.7 * of_plain, "{of_model} and {of_plain}");
}
