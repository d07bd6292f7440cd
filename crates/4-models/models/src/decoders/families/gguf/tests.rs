use std::f64::consts::TAU;
use std::fs;
use std::path::PathBuf;

use model_files::testing::{GgufWriter, text};
use model_files::{Gguf, Sequence};
use tensors::TensorFile;
use variants::{Pairing, Rotary};

use crate::decoders::{AsRead, Biases, Config, Decoder, Files};
use crate::tests::{model, with_source};

mod refused;

/// The sizes of the tiny models, as whole-number settings.
const SIZES: [(&str, u32); 7] = [
    ("embedding_length", 24),
    ("attention.head_count", 4),
    ("attention.head_count_kv", 2),
    ("block_count", 3),
    ("feed_forward_length", 40),
    ("context_length", 64),
    ("vocab_size", 97),
];

/// What llama.cpp's converter calls a tensor of a folder.
fn renamed(name: String, architecture: &str) -> String {
    let before_ffn = match architecture {
        "gemma2" | "gemma3" => ("post_attention_layernorm", "post_attention_norm"),
        _ => ("post_attention_layernorm", "ffn_norm"),
    };
    let new = [
        before_ffn,
        ("pre_feedforward_layernorm", "ffn_norm"),
        ("post_feedforward_layernorm", "post_ffw_norm"),
        ("model.layers.", "blk."),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("self_attn.q_norm", "attn_q_norm"),
        ("self_attn.k_norm", "attn_k_norm"),
        ("input_layernorm", "attn_norm"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
        ("model.embed_tokens", "token_embd"),
        ("model.norm", "output_norm"),
        ("lm_head", "output"),
    ];
    new.iter().fold(name, |name, (from, to)| name.replace(from, to))
}

/// A tensor as llama.cpp's converter stores it: rows of Llama's W^Q and W^K permuted so that
/// the two halves of a head alternate, Gemma's gains whole.
fn stored(name: &str, architecture: &str, numbers: Vec<f64>) -> Vec<f64> {
    let is_permuted = name.contains("q_proj") || name.contains("k_proj");
    match architecture {
        "llama" if is_permuted => {
            let rows: Vec<_> = numbers.chunks(24).map(<[f64]>::to_vec).collect();
            let from = |row: usize| row / 6 * 6 + row % 6 / 2 + row % 2 * 3;
            (0..rows.len()).flat_map(|row| rows[from(row)].clone()).collect()
        }
        "gemma2" | "gemma3" if name.contains("norm") => {
            numbers.iter().map(|gain| gain + 1.0).collect()
        }
        _ => numbers,
    }
}

/// The same model as a folder.
fn folder(architecture: &str) -> PathBuf {
    match architecture {
        "gemma3" => model("gemma3_text-1"),
        name => model(&format!("{name}-1")),
    }
}

/// The settings of a tiny model; a size of `None` is left out.
fn settings(
    writer: GgufWriter,
    architecture: &str,
    of: impl Fn(&str, u32) -> Option<u32>,
) -> GgufWriter {
    let key = |name: &str| format!("{architecture}.{name}");
    let writer = writer
        .setting("general.architecture", 8, &text(architecture))
        .setting("general.name", 8, &text("tiny"))
        .float(&key("attention.layer_norm_rms_epsilon"), 1e-6);
    SIZES.iter().fold(writer, |writer, (name, size)| match of(name, *size) {
        Some(size) => writer.whole(&key(name), size),
        None => writer,
    })
}

/// With the tensors of its folder.
fn with_tensors(mut writer: GgufWriter, architecture: &str) -> GgufWriter {
    let file = folder(architecture).join("model.safetensors");
    let file = TensorFile::open(file).unwrap();
    for name in file.names() {
        let tensor = file.tensor(&name).unwrap();
        let shape: Vec<u64> = tensor.shape().iter().map(|&size| size as u64).collect();
        let numbers = stored(&name, architecture, tensor.numbers().unwrap());
        writer = writer.floats(&renamed(name, architecture), &shape, &numbers);
    }
    writer
}

/// A tiny model as a GGUF file, with some of its sizes other than they are.
fn sized(architecture: &str, changes: &[(&str, u32)]) -> GgufWriter {
    let writer = settings(GgufWriter::default(), architecture, |name, size| {
        let changed = changes.iter().find(|(changed, _)| *changed == name);
        Some(changed.map_or(size, |(_, size)| *size))
    });
    with_tensors(writer, architecture)
}

fn llama() -> GgufWriter {
    sized("llama", &[])
}

fn files(writer: GgufWriter) -> crate::Result<Files> {
    Files::of_gguf("model.gguf".into(), Gguf::from_bytes("model.gguf", writer.bytes())?)
}

fn config(writer: GgufWriter) -> Config {
    files(writer).unwrap().config
}

fn refused(writer: GgufWriter) -> String {
    match files(writer).and_then(|files| AsRead::<f64>::read(&files)) {
        Ok(_) => panic!("it was read"),
        Err(error) => with_source(&error),
    }
}

/// The largest difference of hidden states, maps and logits.
fn difference(a: &AsRead, b: &AsRead) -> f64 {
    let sequence = Sequence::new(vec![5, 90, 17, 3, 3, 41, 8, 77, 1, 2, 60]);
    let [a, b] = [a, b].map(|model| {
        let layers = model.forward(&sequence).unwrap();
        let logits = model.logits(layers.out()).unwrap();
        let maps = layers.attn.into_iter().flatten();
        layers.hidden.into_iter().chain(maps).chain([logits]).collect::<Vec<_>>()
    });
    a.iter().zip(&b).map(|(a, b)| (a - b).amax()).fold(0.0, f64::max)
}

/// The heads of all tiny models but Llama's and Qwen2's are 8 wide.
fn eights(architecture: &str) -> GgufWriter {
    sized(architecture, &[])
        .whole(&format!("{architecture}.attention.key_length"), 8)
        .whole(&format!("{architecture}.attention.value_length"), 8)
}

fn gemma3() -> GgufWriter {
    // The tiny model's windows stand in every other layer, the real ones' in five of six.
    eights("gemma3")
        .whole("gemma3.attention.sliding_window", 5)
        .whole("gemma3.attention.sliding_window_pattern", 2)
        .float("gemma3.rope.freq_base", 1e6)
}

#[test]
fn the_same_model_as_a_gguf_file_gives_the_same() {
    let gemma2 = eights("gemma2")
        .whole("gemma2.attention.sliding_window", 5)
        .float("gemma2.attn_logit_softcapping", 3.0)
        .float("gemma2.final_logit_softcapping", 30.0);
    let qwen2 = sized("qwen2", &[("attention.head_count_kv", 1)]);
    // Gemma's gains are rounded to float32 behind the 1 that is added.
    for (name, writer, tolerance) in [
        ("llama", llama(), 1e-9),
        ("qwen2", qwen2, 1e-9),
        ("qwen3", eights("qwen3"), 1e-9),
        ("gemma2", gemma2, 2e-5),
        ("gemma3", gemma3(), 2e-5),
    ] {
        let folder: AsRead = Decoder::load(folder(name)).unwrap();
        let file: AsRead = Decoder::read(&files(writer).unwrap()).unwrap();
        let largest = difference(&folder, &file);
        println!("{name}: {largest:.1e}");
        assert!(largest < tolerance, "{name}: {largest:.1e}");
    }
}

#[test]
fn layers_with_windows_are_as_the_real_models_have_them() {
    let windows = |config: Config| {
        (0..config.n_layers)
            .map(|layer| config.window(layer).is_some())
            .collect::<Vec<_>>()
    };
    assert_eq!(windows(config(eights("gemma2"))), [true, false, true]);
    let three = eights("gemma3").whole("gemma3.attention.sliding_window", 5);
    let three = config(three);
    assert_eq!(three.rotary_of(0).unwrap().frequencies[1], 0.1);
    assert_eq!(windows(three), [true, true, true]);
    assert_eq!(windows(config(eights("gemma3"))), [false, false, false]);
    assert_eq!(windows(config(gemma3())), [true, false, true]);
    let capped = config(gemma3().float("gemma3.final_logit_softcapping", 30.0));
    assert!(capped.last_soft_cap.is_some() && config(gemma3()).last_soft_cap.is_none());
    let yarn = gemma3().setting("gemma3.rope.scaling.type", 8, &text("yarn"));
    insta::assert_snapshot!(refused(yarn), @r#"model.gguf: gemma3.rope.scaling.type is "yarn", expected "none" or "linear""#);
}

#[test]
fn settings_of_a_gguf_file_are_read() {
    let rotary = |width, base| Some(Rotary::new(Pairing::Pairs, width, base).unwrap());
    assert_eq!(config(llama()).rotary, rotary(6, 10_000.0));
    let based = llama().float("llama.rope.freq_base", 500.0);
    assert_eq!(config(based).rotary, rotary(6, 500.0));
    let in_part = llama().whole("llama.rope.dimension_count", 4);
    assert_eq!(config(in_part).rotary, rotary(4, 10_000.0));
    // Three heads of 8 fill what four of 6 do.
    let heads = [("attention.head_count", 3), ("attention.head_count_kv", 3)];
    let wide = sized("qwen2", &heads).whole("qwen2.attention.key_length", 8);
    assert_eq!(
        refused(wide),
        "model.gguf: blk.0.attn_k.weight has shape [6, 24], expected [24, 24]"
    );
    let ends = llama()
        .whole("tokenizer.ggml.eos_token_id", 2)
        .whole("tokenizer.ggml.eot_token_id", 5);
    assert_eq!(config(ends).ends, [2, 5]);
    let biases = |name: &str, n: u64| {
        let zeros = vec![0.0; n as usize];
        let Biases { projections, out, feed_forward } =
            config(llama().floats(name, &[n], &zeros)).biases;
        [projections, out, feed_forward]
    };
    assert_eq!(biases("blk.0.attn_q.bias", 24), [true, false, false]);
    assert_eq!(biases("blk.0.attn_output.bias", 24), [false, true, false]);
    assert_eq!(biases("blk.0.ffn_up.bias", 40), [false, false, true]);
}

#[test]
fn a_number_of_each_layer_is_taken_where_all_are_alike() {
    let listed = |each: &[i32]| {
        const KEY: &str = "attention.head_count_kv";
        let other = |name: &str, size| (name != KEY).then_some(size);
        let writer = settings(GgufWriter::default(), "qwen2", other);
        with_tensors(writer.wholes(&format!("qwen2.{KEY}"), each), "qwen2")
    };
    assert_eq!(config(listed(&[1, 1, 1])).sizes.groups.n_kv_heads(), 1);
    insta::assert_snapshot!(refused(listed(&[1, 2, 1])), @"model.gguf: qwen2.attention.head_count_kv is a list of 3, expected the same of 1 or more in each layer");
}

#[test]
fn stretched_positions_are_those_of_llama_cpp() {
    let before = config(llama()).rotary.unwrap().frequencies;
    let after = |writer: GgufWriter| {
        let config = config(writer);
        let rotary = config.rotary.unwrap();
        let ratios =
            rotary.frequencies.iter().zip(&before).map(|(after, before)| after / before);
        (ratios.collect::<Vec<_>>(), rotary.amplitude)
    };
    let kind = |kind: &str| llama().setting("llama.rope.scaling.type", 8, &text(kind));
    let factor = |writer: GgufWriter| writer.float("llama.rope.scaling.factor", 4.0);
    let quarter = (vec![0.25; 3], 1.0);
    assert_eq!(after(llama().float("llama.rope.scale_linear", 4.0)), quarter);
    assert_eq!(after(factor(llama())), quarter);
    assert_eq!(after(factor(kind("linear"))), quarter);
    assert_eq!(after(factor(kind("none"))), (vec![1.0; 3], 1.0));
    // The newer name counts.
    assert_eq!(after(factor(llama().float("llama.rope.scale_linear", 8.0))), quarter);
    let divided = llama().floats("rope_freqs.weight", &[3], &[1.0, 2.0, 4.0]);
    assert_eq!(after(divided), (vec![1.0, 0.5, 0.25], 1.0));
    let longer = llama().float("llama.rope.scaling.attn_factor", 2.0);
    assert_eq!(after(longer), (vec![1.0; 3], 2.0));
    // Pair 0 turns ten times within 64 positions, the others less than once.
    assert!(64.0 * before[0] / TAU > 10.0 && 64.0 * before[1] / TAU < 1.0);
    let (ratios, amplitude) = after(factor(kind("yarn")));
    let end = 6.0 * (64.0 / TAU).ln() / (2.0 * 10_000f64.ln());
    let kept = |p: f64| 1.0 - (p / end.ceil()).min(1.0);
    for (p, ratio) in ratios.iter().enumerate() {
        let kept = kept(p as f64);
        assert!((ratio - (kept + (1.0 - kept) / 4.0)).abs() < 1e-12, "{ratios:?}");
    }
    assert!((amplitude - (1.0 + 0.1 * 4f64.ln())).abs() < 1e-12);
    insta::assert_snapshot!(refused(kind("longrope")), @r#"model.gguf: llama.rope.scaling.type is "longrope", expected "none", "linear" or "yarn""#);
}

#[test]
fn what_changes_nothing_is_told_with_its_reason() {
    let writer = llama()
        .setting("tokenizer.chat_template", 8, &text("{{ messages }}"))
        .setting("llama.rope.scaling.finetuned", 7, &[1])
        .whole("general.file_type", 7)
        .whole("tokenizer.ggml.padding_token_id", 7);
    let file = Gguf::from_bytes("model.gguf", writer.bytes()).unwrap();
    let (_, unused) = super::gguf_config(&file).unwrap();
    let unused: Vec<String> = unused
        .into_iter()
        .map(|unused| format!("{}: {}", unused.name, unused.why))
        .collect();
    insta::assert_snapshot!(unused.join("; "), @"general.file_type: what the model is called, and where it comes from; general.name: what the model is called, and where it comes from; llama.rope.scaling.finetuned: whether it was trained with stretched positions; tokenizer.chat_template: how a conversation becomes a text");
}

/// Of a file with the first key of stretched positions, and of one whose tokens were added.
#[test]
fn files_that_people_have_give_what_pytorch_gives_of_them() {
    let folder = |name: &str| model("cases").join(name);
    let input = folder("gguf-scale_linear").join("input.safetensors");
    let input = Sequence::read(&TensorFile::open(input).unwrap(), 97, 1, true).unwrap();
    let real = |it: &Sequence| {
        let real = it.ids.iter().zip(&it.is_real).filter(|(_, is_real)| **is_real);
        real.map(|(id, _)| *id).collect::<Vec<_>>()
    };
    let input: Vec<_> = input.iter().map(real).collect();
    let added = vec![257, 259, 256, 260];
    for (name, texts) in
        [("gguf-scale_linear", input), ("gguf-user_defined", vec![added.clone()])]
    {
        let model: AsRead = Decoder::load(folder(name).join("model.gguf")).unwrap();
        let file = TensorFile::open(folder(name).join("reference.safetensors")).unwrap();
        for (s, ids) in texts.iter().enumerate() {
            let layers = model.forward(&Sequence::new(ids.clone())).unwrap();
            let logits = model.logits(layers.out()).unwrap();
            let hidden = layers.hidden.iter().enumerate();
            let found = hidden.map(|(i, hidden)| (format!("hidden.{i}"), hidden));
            for (part, found) in found.chain([("logits".to_string(), &logits)]) {
                let expected = &file.matrices(&part).unwrap()[s];
                let apart = (found - expected.rows(0, ids.len())).amax();
                assert!(apart < 2e-5, "{name}, text {s}, {part}: {apart:.1e}");
            }
        }
    }
    #[cfg(feature = "text")]
    {
        let file = Files::open(folder("gguf-user_defined").join("model.gguf")).unwrap();
        let text = file.text().unwrap();
        let pieces = text.pieces("hi<think> a</think>", 64, texts::Long::Refuse);
        assert_eq!(pieces.unwrap().sequence.ids, added);
    }
}

#[test]
fn a_model_in_two_files_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let whole = Gguf::from_bytes("model.gguf", llama().bytes()).unwrap();
    let split = |writer: GgufWriter, part: u32| {
        writer
            .whole("split.no", part)
            .whole("split.count", 2)
            .whole("split.tensors.count", whole.tensors().len() as u32)
    };
    let first = split(GgufWriter::default(), 0);
    let first = settings(first, "llama", |_, size| Some(size));
    let mut parts = [first, split(GgufWriter::default(), 1)];
    for (i, (name, info)) in whole.tensors().iter().enumerate() {
        let numbers: Vec<f64> = whole.numbers(name, &info.shape).unwrap();
        let shape: Vec<u64> = info.shape.iter().map(|&size| size as u64).collect();
        let part = std::mem::take(&mut parts[i % 2]);
        parts[i % 2] = part.floats(name, &shape, &numbers);
    }
    for (i, part) in parts.into_iter().enumerate() {
        let name = format!("tiny-0000{}-of-00002.gguf", i + 1);
        fs::write(folder.path().join(name), part.bytes()).unwrap();
    }
    let joined = Decoder::load(folder.path().join("tiny-00001-of-00002.gguf")).unwrap();
    let expected = Decoder::read(&files(llama()).unwrap()).unwrap();
    assert_eq!(difference(&expected, &joined), 0.0);
}
