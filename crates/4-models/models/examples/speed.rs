//! How fast the fast decoder reads and writes on this machine, next to what its memory
//! allows: `cargo run --release -p decoders --features fast --example speed -- MODEL`.
//! `with_transformers.py` beside this file measures the same in transformers.

use std::time::Instant;

use models::decoders::{FastDecoder, FastReader, Files};
use models::{Choice, Writer};
use tiles::Instructions;

const PROMPT: usize = 512;
const WRITTEN: usize = 40;

fn main() -> models::Result<()> {
    let path = std::env::args().nth(1).expect("a folder or a GGUF file");
    let n_threads = std::env::args().nth(2).map_or(2, |n| n.parse().expect("a number"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build();
    pool.expect("threads").install(|| run(&path, n_threads))
}

fn run(path: &str, n_threads: usize) -> models::Result<()> {
    let start = Instant::now();
    let mut model = FastDecoder::read_files(&Files::open(path)?)?;
    println!("read and packed in {:.2} s", start.elapsed().as_secs_f64());
    println!("{}", memory());

    prompts(&mut model, n_threads)?;
    writing(&mut model, n_threads)?;
    several_texts(&mut model)?;
    println!("{}", memory());
    Ok(())
}

fn prompts(model: &mut FastDecoder, n_threads: usize) -> models::Result<()> {
    let ids: Vec<usize> =
        (0..PROMPT).map(|i| (i * 7919 + 13) % model.config.n_vocabulary).collect();
    for round in 0..3 {
        let mut caches = model.caches(PROMPT + WRITTEN);
        let start = Instant::now();
        model.read(&ids, &mut caches)?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let peak = runs::machine::fma_peak(n_threads, Instructions::best());
        println!("{round}: a prompt of {PROMPT}: {ms:.0} ms (peak {peak:.0} GFLOP/s)");
    }
    Ok(())
}

fn writing(model: &mut FastDecoder, n_threads: usize) -> models::Result<()> {
    for round in 0..5 {
        let best = runs::machine::bandwidth(n_threads, Instructions::best());
        let n = model.config.n_vocabulary;
        let first: Vec<usize> = (0..5).map(|i| (i * 7919 + 13) % n).collect();
        let start = Instant::now();
        let mut writer =
            Writer::new(FastReader::new(model, 64), &first, Choice::greedy());
        let mut ms = Vec::new();
        for _ in 0..WRITTEN {
            let start = Instant::now();
            writer.next().expect("a token")?;
            ms.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let seconds = start.elapsed().as_secs_f64();
        ms.sort_by(f64::total_cmp);
        drop(writer);
        let rate = model.weight_bytes() as f64 / (ms[WRITTEN / 2] * 1e6);
        println!(
            "{round}: {:.1} tokens/s; a token {:.1} ms at best, {:.1} in the middle: {rate:.1} GB/s of \
             {best:.1}: {:.2}",
            WRITTEN as f64 / seconds,
            ms[0],
            ms[WRITTEN / 2],
            rate / best
        );
    }
    Ok(())
}

fn several_texts(model: &mut FastDecoder) -> models::Result<()> {
    for n_texts in [1, 2, 4, 8] {
        let mut texts: Vec<_> = (0..n_texts).map(|_| model.caches(64)).collect();
        let mut texts: Vec<_> = texts.iter_mut().collect();
        let ids: Vec<usize> = (0..n_texts).map(|i| 100 + i).collect();
        let mut best = f64::INFINITY;
        for _ in 0..10 {
            let start = Instant::now();
            model.read_each(&ids, &mut texts)?;
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
        }
        println!(
            "{n_texts} texts: {best:.1} ms, {:.0} tokens/s",
            n_texts as f64 / best * 1e3
        );
    }
    Ok(())
}

fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines =
        status.lines().filter(|l| l.starts_with("VmHWM") || l.starts_with("VmRSS"));
    lines.collect::<Vec<_>>().join(", ")
}
