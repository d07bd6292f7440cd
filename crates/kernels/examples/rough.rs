use attention::*;
use kernels::*;
use std::time::Instant;
fn main() {
    let only = std::env::args().nth(1);
    let which = std::env::args().nth(2);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| {
        for (name, b, n, d, h, causal) in [
            ("003", 1, 30, 256, 8, false),
            ("004", 32, 100, 512, 8, false),
            ("1k-causal", 8, 1024, 768, 12, true),
            ("4k", 1, 4096, 512, 8, false),
            ("16k", 1, 16384, 256, 4, false),
        ] {
            if which.as_ref().is_none_or(|w| w != name) {
                continue;
            }
            let rng = &mut Rng::seed_from_u64(1);
            let p: LayerParameters<f32> =
                LayerParameters::random(Dims::new(d, h).unwrap(), true, rng);
            let x: Matrix<f32> = random_matrix(b * n, d, 1.0, rng);
            let masks = [if causal { Mask::Causal } else { Mask::None }];
            let inputs = Inputs::self_attention(b, &x, &masks);
            let mut first: Option<Matrix<f32>> = None;
            for mut r in ladder(&p) {
                if only
                    .as_ref()
                    .is_some_and(|o| o != "all" && !o.split(',').any(|o| o == r.name()))
                {
                    continue;
                }
                let mut out = Matrix::zeros(b * n, d);
                r.forward(&inputs, &mut out).unwrap();
                let mut t: Vec<f64> = vec![];
                let start = Instant::now();
                while t.len() < 5 || (start.elapsed().as_secs_f64() < 0.5) {
                    let s = Instant::now();
                    r.forward(&inputs, &mut out).unwrap();
                    t.push(s.elapsed().as_secs_f64() * 1e3);
                }
                t.sort_by(f64::total_cmp);
                let diff = first.as_ref().map_or(0.0, |f| max_abs_diff(f, &out).unwrap());
                println!(
                    "{name:10} {:12} min {:8.3} median {:8.3} ms   Δ {diff:.1e}",
                    r.name(),
                    t[0],
                    t[t.len() / 2]
                );
                first.get_or_insert(out);
            }
        }
    });
}
