//! How fast a model reads a source and writes from it on this machine, in f32:
//! `cargo run --release -p models --example translate -- FOLDER`.

use std::time::Instant;

use model_files::Sequence;
use models::Generation;
use models::translators::{AsRead, Translator};

const SOURCE: usize = 25;
const WRITTEN: usize = 20;

fn main() -> models::Result<()> {
    let folder = std::env::args().nth(1).expect("a folder");
    let start = Instant::now();
    let mut model: AsRead<f32> = Translator::load(folder)?;
    println!("read in {:.2} s", start.elapsed().as_secs_f64());
    // No end, so that as many tokens are written by any model.
    model.config.writing = Generation { ends: Vec::new(), ..model.config.writing };
    let n = model.config.n_vocabulary;
    let ids: Vec<usize> = (0..SOURCE).map(|i| (i * 7919 + 13) % n).collect();
    for _ in 0..5 {
        let start = Instant::now();
        let source = model.read_source(&Sequence::new(ids.clone()))?;
        let reading = start.elapsed().as_secs_f64();
        let written = model.write(&source, WRITTEN)?;
        println!(
            "{SOURCE} tokens read in {reading:.3} s, with {} written in {:.3} s",
            written.written().len(),
            start.elapsed().as_secs_f64()
        );
    }
    Ok(())
}
