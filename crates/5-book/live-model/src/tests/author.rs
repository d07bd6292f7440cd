//! A model that writes: its tokens, chances and looks are those of the readable decoder.

use model_files::{Gguf, Sequence};
use models::decoders::{AsRead, Decoder, Files, Reader};
use models::{Head, Predict, ablate};

use super::*;

mod names;

const NAME: &str = "tiny.gguf";
const PROMPT: &str = "The bank of the river, and the banks of";

fn author() -> Model {
    let bytes = tiny::gguf("llama");
    let mut reading = Reading::begin_gguf(NAME, bytes.len() as u64).unwrap();
    bytes.chunks(1000).for_each(|part| reading.part(part).unwrap());
    reading.finish().unwrap()
}

fn asked(prompt: &str, temperature: f64, off: &[(usize, usize)]) -> Request {
    let off = off.iter().map(|&head| Head::from(head).to_string()).collect();
    let prompt = prompt.to_owned();
    Request { prompt, temperature, top_p: 1.0, seed: 3, n_tokens: 9, off }
}

/// The readable model, with zeros in the stead of these heads.
fn readable(off: &[(usize, usize)]) -> AsRead {
    let file = Gguf::from_bytes(NAME, tiny::gguf("llama")).unwrap();
    let files = Files::of_gguf(NAME.into(), file).unwrap();
    let mut model: AsRead = Decoder::read(&files).unwrap();
    let off: Vec<_> = off.iter().copied().map(Head::from).collect();
    ablate(&mut model, &off, |_| None).unwrap();
    model
}

#[test]
fn it_writes_what_the_readable_model_writes_with_all_heads_and_without_some() {
    let mut author = author();
    let mut texts = Vec::new();
    for (temperature, top_p, off) in [
        (0.0, 1.0, &[][..]),
        (1.5, 1.0, &[]),
        (1.5, 0.1, &[]),
        (0.0, 1.0, &[(0, 1), (1, 2)]),
    ] {
        let model = readable(off);
        let mut reader = Reader::new(&model);
        let (sampling, mut choice) = chosen_by(temperature, top_p);
        let mut unread: Vec<usize> = PROMPT.bytes().map(usize::from).collect();
        let mut n_tokens = 0;
        let asked = Request { top_p, ..asked(PROMPT, temperature, off) };
        let (told, steps) = written(&mut author, &asked);
        assert_eq!(told["tokens"].as_array().unwrap().len(), PROMPT.len());
        // The prompt is longer than what is read at once.
        let n_reading = steps.iter().take_while(|step| step.looks.is_empty()).count();
        assert_eq!((n_reading, steps.len()), (2, 11));
        assert_eq!(steps[1].told["n_read"], 32);
        for Step { told, looks, .. } in &steps[n_reading..] {
            let logits = reader.predict(&unread).unwrap();
            n_tokens += unread.len();
            assert_eq!(told["at"], n_tokens - 1);
            // Tokens are rounded to 16 bits, and sums are in f32 and in another order.
            let apart_by = chances_apart(told, &logits, sampling);
            assert!(apart_by < 3e-4, "{apart_by:e} {told}");
            let id = choice.of(&logits).unwrap();
            assert_eq!(told["next"]["id"], id);
            let maps = &reader.last().unwrap().attn;
            let expected = row(maps, unread.len() - 1, n_tokens);
            let apart_by = apart(&looks[0].shares(), &expected);
            assert!(apart_by < 3e-4, "{apart_by:e} {told}");
            unread = vec![id];
        }
        texts.push(ids(&steps));
    }
    assert_ne!(texts[0], texts[1]);
    assert_ne!(texts[0], texts[2], "the heads that are off change the text");
}

/// Two texts by turns: each has its own heads and its own cache.
#[test]
fn texts_do_not_change_each_other() {
    let mut author = author();
    let each = [asked("the banks", 0.0, &[]), asked("the bank of", 0.0, &[(1, 0)])];
    let alone = [0, 1].map(|nth| written(&mut author, &each[nth]).1);
    let mut both = each.map(|asked| author.begin(&asked).unwrap().0);
    for nth in 0..9 {
        for (writing, alone) in both.iter_mut().zip(&alone) {
            assert_eq!(author.step(writing).unwrap().told, alone[nth].told);
        }
    }
}

/// A folder's files, and a tokenizer that puts tokens around a text.
#[test]
fn a_folder_writes_too() {
    let mut author = model("llama-1");
    let (told, steps) = written(&mut author, &asked("the bank", 0.0, &[]));
    let tokens = told["tokens"].as_array().unwrap();
    let given: Vec<_> =
        tokens.iter().map(|token| token["id"].as_u64().unwrap()).collect();
    assert_eq!(given, [2, 4, 5, 3]);
    let model: AsRead = Decoder::load(models().join("llama-1")).unwrap();
    let layers = model.forward(&Sequence::new(vec![2, 4, 5, 3])).unwrap();
    let logits = model.logits(layers.out()).unwrap();
    let last: Vec<f64> = logits.row(3).iter().copied().collect();
    assert_eq!(ids(&steps)[0], Choice::greedy().of(&last).unwrap());
}

/// What it would write third is an end by `generation_config.json`, beside another.
#[test]
fn it_ends_where_the_file_of_generation_says() {
    let written = |more: &[(&str, Value)]| {
        let folder = selected::folder(&models(), "llama-1", more);
        let mut author = selected::read(folder.path()).unwrap();
        let (_, steps) = written(&mut author, &asked("the bank", 0.0, &[]));
        (ids(&steps), steps.last().unwrap().told["is_end"] == true)
    };
    let (free, is_end) = written(&[]);
    assert_eq!((free.len(), is_end), (9, false));
    let end = free[2];
    let unseen = (0..97).find(|id| !free.contains(id));
    let says = serde_json::json!({"eos_token_id": [unseen, end]});
    let (ended, is_end) = written(&[("generation_config.json", says)]);
    let n = free.iter().position(|id| *id == end).unwrap() + 1;
    assert_eq!((ended.as_slice(), is_end), (&free[..n], true));
}

#[test]
fn what_is_asked_too_much_is_refused_with_its_numbers() {
    let mut author = author();
    let mut refused = |asked: &Request| author.begin(asked).unwrap_err().to_string();
    let long = "a".repeat(60);
    insta::assert_snapshot!(refused(&asked(&long, 0.0, &[])), @"the text has 60 tokens, and 9 more are to be written: the model has 64 positions");
    insta::assert_snapshot!(refused(&asked(&long.repeat(2), 0.0, &[])), @"the text has 120 tokens, [CLS] and [SEP] or the like among them, and the model has 64 positions");
    insta::assert_snapshot!(refused(&asked("", 0.0, &[])), @"the text is empty: no token is left of it");
    insta::assert_snapshot!(refused(&asked("a", -1.0, &[])), @"the temperature is -1, expected a number above 0");
    insta::assert_snapshot!(refused(&asked("a", 0.0, &[(2, 0)])), @"there are 2 layers, 0 to 1: layer 2 does not exist");
    insta::assert_snapshot!(refused(&asked("a", 0.0, &[(1, 4)])), @"there are 4 heads, 0 to 3: head 4 does not exist");
}

#[test]
fn files_that_are_no_model_that_writes_are_named() {
    let refused = |bytes: &[u8]| {
        let mut reading = Reading::begin_gguf(NAME, bytes.len() as u64).unwrap();
        reading.part(bytes).unwrap_err().to_string()
    };
    let bytes = tiny::gguf("llama");
    insta::assert_snapshot!(refused(&bytes[..bytes.len() - 1]), @"tiny.gguf: cut short: the numbers of output_norm.weight needs 128 bytes, and 127 are left");
    insta::assert_snapshot!(refused(&bytes[..100]), @"tiny.gguf: cut short: the list of tensors needs 480 bytes, and 84 are left");
    let large = Reading::begin_gguf(NAME, u64::MAX).unwrap_err();
    insta::assert_snapshot!(large, @"tiny.gguf: the page cannot have memory for its 18446744073709551615 bytes");
    let chosen = |names: &[&'static str]| SelectedFiles::of(names.iter().copied());
    assert_eq!(chosen(&["README.md", "A.GGUF"]).unwrap(), SelectedFiles::Gguf("A.GGUF"));
    insta::assert_snapshot!(chosen(&["a.gguf", "b.gguf"]).unwrap_err(), @"a.gguf, b.gguf: no model that this page reads: that is one GGUF file, NAME.gguf, or config.json, tokenizer.json and model.safetensors of a folder");
    insta::assert_snapshot!(chosen(&["pytorch_model.bin"]).unwrap_err(), @"pytorch_model.bin: no model that this page reads: that is one GGUF file, NAME.gguf, or config.json, tokenizer.json and model.safetensors of a folder");
}

/// Of files of 3 GB the header is here, and nothing of it is waited for.
#[test]
fn a_file_of_another_kind_is_refused_by_its_header() {
    let refused = |parts: &[u8], n_first: usize| {
        let mut reading = Reading::begin_gguf(NAME, 3_000_000_000).unwrap();
        let mut parts = parts.chunks(n_first);
        let error = parts.find_map(|part| reading.part(part).err());
        (error.expect("a file that is refused").to_string(), parts.len())
    };
    let mamba = tiny::gguf("mamba");
    let said = refused(&mamba, mamba.len()).0;
    insta::assert_snapshot!(said, @r#"tiny.gguf: general.architecture is "mamba", expected "llama", "qwen2", "qwen3", "gemma2" or "gemma3""#);
    let (later, n_left) = refused(&mamba, 1000);
    assert_eq!(later, said);
    assert!(n_left > 10, "{n_left} of {}", mamba.len().div_ceil(1000));
    insta::assert_snapshot!(refused(b"PK\x03\x04 and so on, a pickled file", 24).0, @r"tiny.gguf: no GGUF file: it begins with PK\x03\x04, expected GGUF. Of a model in safetensors, give the folder");
    let bytes = tiny::gguf("llama");
    let mut reading = Reading::begin_gguf(NAME, bytes.len() as u64 - 1).unwrap();
    insta::assert_snapshot!(reading.part(&bytes[..bytes.len() / 2]).unwrap_err(), @"tiny.gguf: cut short: the numbers of output_norm.weight needs 128 bytes, and 127 are left");
    let odd = tiny::gguf_of_kind("llama", 10);
    let mut reading = Reading::begin_gguf(NAME, odd.len() as u64).unwrap();
    insta::assert_snapshot!(reading.part(&odd[..odd.len() / 2]).unwrap_err(), @"tiny.gguf: token_embd.weight holds Q2_K; F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K and Q6_K are read");
}

#[test]
fn as_many_others_of_the_same_layers_are_drawn() {
    let author = author();
    let given = owned(&["0.1", "1.0", "1.2"]);
    for seed in 0..9 {
        let others = author.others(&given, seed).unwrap();
        assert_eq!(others.iter().filter(|head| head.starts_with("0.")).count(), 1);
        assert_eq!(others.iter().filter(|head| head.starts_with("1.")).count(), 2);
        assert!(others.iter().all(|head| !given.contains(head)));
    }
    assert!(author.others(&owned(&["0.0", "0.1", "0.2", "0.3"]), 0).unwrap().is_empty());
    insta::assert_snapshot!(author.others(&owned(&["cross 0.0"]), 0).unwrap_err(), @r#""cross 0.0" is no head: a head is its layer and its number, both from 0, as in 5.7"#);
    insta::assert_snapshot!(author.look("the bank").unwrap_err(), @"no model of sentences was read");
}
