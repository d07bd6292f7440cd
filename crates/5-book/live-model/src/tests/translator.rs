//! A model that reads one text and writes another: its tokens, chances and maps are those of
//! the readable model, of the same folder.

use model_files::Sequence;
use models::translators::{AsRead, Files, Translator as Readable};
use models::{Head, Part, Predict, ablate};
use serde_json::json;
use tempfile::TempDir;
use texts::{Long, Text};

use super::*;

const FAMILIES: [&str; 4] = ["marian-1", "bart-1", "mbart-1", "t5-1"];
const SOURCE: &str = "The bank of the river.";
const MOST: usize = 12;

fn folder(name: &str, more: &[(&str, Value)]) -> TempDir {
    selected::folder(&models(), name, more)
}

fn read(folder: &TempDir) -> Result<Model, Box<Error>> {
    selected::read(folder.path())
}

fn asked(temperature: f64, off: &[Head]) -> Request {
    let (prompt, off) = (SOURCE.to_owned(), off.iter().map(Head::to_string).collect());
    Request { prompt, temperature, top_p: 1.0, seed: 3, n_tokens: MOST, off }
}

/// The readable model of a folder, and the source as it reads it.
fn readable(folder: &TempDir) -> (AsRead, Sequence) {
    let files = Files::open(folder.path()).unwrap();
    let text = Text::open(folder.path(), files.config.n_vocabulary).unwrap();
    let pieces = text.pieces(SOURCE, 64, Long::Refuse).unwrap();
    (Readable::read(&files).unwrap(), pieces.sequence)
}

/// Every step against whole passes over the text that was written; the largest difference.
fn farthest(model: &AsRead, source: &Sequence, steps: &[Step], temperature: f64) -> f64 {
    let encoded = model.encode(source).unwrap();
    let start = model.config.writing.start(model.config.n_target_vocabulary).unwrap();
    let target: Vec<usize> = std::iter::once(start).chain(ids(steps)).collect();
    let target = Sequence::new(target[..steps.len() - 1].to_vec());
    let decoded = model.decode(&target, encoded.out(), source).unwrap();
    let logits = model.logits(decoded.out()).unwrap();
    let n = source.n_tokens();
    // Of each map all rows, one after the other.
    let maps = encoded.attn.iter().flatten().flat_map(|map| map.row_iter());
    let maps: Vec<f64> =
        maps.flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
    assert!(steps[0].looks.is_empty() && steps[0].told["is_source"] == true);
    let mut largest = apart(&steps[0].shares(), &maps);
    for (at, step) in steps[1..].iter().enumerate() {
        assert_eq!(step.told["at"], at);
        let (own, cross) = (&decoded.attn, &decoded.cross);
        let expected = [row(own, at, at + 1), row(cross, at, n)].concat();
        largest = largest.max(apart(&step.shares(), &expected));
        let mut logits: Vec<f64> = logits.row(at).iter().copied().collect();
        model.config.writing.forbid(&mut logits, at == 0);
        let (sampling, _) = chosen_by(temperature, 1.0);
        largest = largest.max(chances_apart(&step.told, &logits, sampling));
    }
    largest
}

#[test]
fn it_writes_what_the_readable_model_writes_with_all_heads_and_without_some() {
    let head = |part, layer, head| Head { part: Some(part), layer, head };
    let each =
        [head(Part::Source, 1, 1), head(Part::Written, 0, 2), head(Part::Cross, 2, 1)];
    for name in FAMILIES {
        let folder = folder(name, &[]);
        let mut translator = read(&folder).unwrap();
        let (mut model, sequence) = readable(&folder);
        let mut first = None;
        for off in [&[][..], &each[..1], &each[1..2], &each[2..], &each, &[]] {
            let whole = ablate(&mut model, off, |_| None).unwrap();
            let source = model.read_source(&sequence).unwrap();
            let expected = model.write(&source, MOST).unwrap();
            let (told, steps) = written(&mut translator, &asked(0.0, off));
            assert_eq!(told["source"].as_array().unwrap().len(), sequence.n_tokens());
            assert_eq!(told["tokens"][0]["id"], expected.ids()[0]);
            assert_eq!(ids(&steps), *expected.written(), "{name}, {off:?}");
            let last = &steps.last().unwrap().told;
            assert_eq!(last["is_end"], expected.has_ended());
            let largest = farthest(&model, &sequence, &steps, 0.0);
            println!("{name}, {} heads off: {largest:.1e}", off.len());
            assert!(largest < 2e-5, "{name}, {off:?}: {largest:e}");
            let told = steps.iter().map(|step| (step.shares(), step.told.clone()));
            let told: Vec<_> = told.collect();
            let first = first.get_or_insert_with(|| told.clone());
            // With all heads on again it is as it was.
            assert_eq!(*first == told, off.is_empty(), "{name}, {off:?}");
            whole.put_back(&mut model);
        }
    }
}

#[test]
fn by_chance_it_takes_the_tokens_that_the_seed_takes() {
    for name in FAMILIES {
        let folder = folder(name, &[]);
        let mut translator = read(&folder).unwrap();
        let (model, sequence) = readable(&folder);
        let (_, steps) = written(&mut translator, &asked(1.5, &[]));
        let largest = farthest(&model, &sequence, &steps, 1.5);
        println!("{name}, at 1.5: {largest:.1e}");
        assert!(largest < 2e-5, "{largest:e}");
        let source = model.read_source(&sequence).unwrap();
        let (mut reader, (_, mut choice)) = (model.reader(&source), chosen_by(1.5, 1.0));
        let writing = &model.config.writing;
        let mut unread = writing.start(model.config.n_target_vocabulary).unwrap();
        for (at, found) in ids(&steps).into_iter().enumerate() {
            let mut logits = reader.predict(&[unread]).unwrap();
            writing.forbid(&mut logits, at == 0);
            unread = choice.of(&logits).unwrap();
            assert_eq!(found, unread, "{name}, token {at}");
        }
        assert_ne!(ids(&steps), ids(&written(&mut translator, &asked(0.0, &[])).1));
    }
}

/// What a folder's other files say counts in a page too.
#[test]
fn files_beside_the_three_say_what_they_say_natively() {
    let generation = json!({
        "forced_bos_token_id": 9, "bad_words_ids": [[11]], "eos_token_id": [6, 2],
        "num_beams": 4,
    });
    let plain = folder("bart-1", &[]);
    let with = folder("bart-1", &[("generation_config.json", generation)]);
    let texts = [&plain, &with].map(|folder| {
        let (model, sequence) = readable(folder);
        let source = model.read_source(&sequence).unwrap();
        let expected = model.write(&source, MOST).unwrap();
        let mut translator = read(folder).unwrap();
        let (_, steps) = written(&mut translator, &asked(0.0, &[]));
        assert_eq!(ids(&steps), *expected.written());
        assert!(farthest(&model, &sequence, &steps, 0.0) < 2e-5);
        assert_eq!(translator.about()["left_out"], json!(model.config.writing.left_out));
        ids(&steps)
    });
    assert_ne!(texts[0], texts[1]);
    assert_eq!(texts[1][0], 9, "the token that is forced first");
    // Without the file that says how the tokenizer is to be read, it is one of another kind.
    fs::remove_file(plain.path().join("tokenizer_config.json")).unwrap();
    let native = Text::open(plain.path(), 97).unwrap_err().to_string();
    let refused = read(&plain).unwrap_err().to_string();
    assert_eq!(refused, native.replace(&format!("{}/", plain.path().display()), ""));
    insta::assert_snapshot!(refused, @r#"config.json contradicts tokenizer.json: RobertaTokenizer needs a BPE model, and it is WordPiece; with "tokenizer_class": "PreTrainedTokenizerFast" in tokenizer_config.json it is read as it is"#);
}

#[test]
fn what_cannot_be_read_or_written_is_refused_with_its_numbers() {
    let mut translator = read(&folder("bart-1", &[])).unwrap();
    let mut refused = |prompt: &str, temperature: f64, off: &[Head]| {
        let asked = Request { prompt: prompt.to_owned(), ..asked(temperature, off) };
        translator.begin(&asked).unwrap_err().to_string()
    };
    let head = |part, layer, head| [Head { part: Some(part), layer, head }];
    insta::assert_snapshot!(refused(" ", 0.0, &[]), @"the text is empty: no token is left of it");
    insta::assert_snapshot!(refused(&"the ".repeat(63), 0.0, &[]), @"the text has 65 tokens, [CLS] and [SEP] or the like among them, and the model has 64 positions");
    insta::assert_snapshot!(refused("the", -1.0, &[]), @"the temperature is -1, expected a number above 0");
    insta::assert_snapshot!(refused("the", 0.0, &head(Part::Cross, 3, 0)), @"there are 3 layers, 0 to 2: layer 3 does not exist");
    insta::assert_snapshot!(refused("the", 0.0, &head(Part::Source, 0, 4)), @"there are 4 heads, 0 to 3: head 4 does not exist");
    let mut long = read(&folder("t5-1", &[])).unwrap();
    let asked = Request { prompt: "the ".repeat(199), ..asked(0.0, &[]) };
    insta::assert_snapshot!(long.begin(&asked).unwrap_err(), @"the text has 201 tokens, and a page draws the maps of up to 200");
    let json = fs::read(folder("marian-1", &[]).path().join("config.json")).unwrap();
    let mut config: Value = serde_json::from_slice(&json).unwrap();
    config["share_encoder_decoder_embeddings"] = false.into();
    config["decoder_vocab_size"] = 90.into();
    let apart = folder("marian-1", &[("config.json", config)]);
    insta::assert_snapshot!(read(&apart).unwrap_err(), @"config.json: source and target have vocabularies of their own, 97 and 90 tokens, and tokenizer.json has one: `cargo learn model` reads ids");
    let adapter = folder("bart-1", &[("adapter_config.json", json!({}))]);
    insta::assert_snapshot!(read(&adapter).unwrap_err(), @"what was chosen: adapter_config.json: an adapter is added to the weights, which is not done here: merge it into them (merge_and_unload) and save the model");
    let other = folder("bart-1", &[("config.json", json!({ "model_type": "mt5" }))]);
    insta::assert_snapshot!(read(&other).unwrap_err(), @r#"config.json: model_type is "mt5"; the known ones are bert, roberta, xlm-roberta, camembert, electra, distilbert, gpt2, gpt_neox, llama, mistral, qwen2, qwen3, gemma2, gemma3_text, marian, bart, mbart, t5"#);
}

/// Names of heads, and the control, through what a page calls.
#[test]
fn heads_of_all_parts_have_names() {
    let mut translator = read(&folder("bart-1", &[])).unwrap();
    let heads = owned(&["source 0.1", "written 2.0", "written 2.1", "cross 1.2"]);
    for seed in 0..9 {
        let others = translator.others(&heads, seed).unwrap();
        let places = |heads: &[String]| -> Vec<_> {
            let heads = heads.iter().map(|head| head.parse::<Head>().unwrap());
            heads.map(|head| (head.part, head.layer)).collect()
        };
        // Of the second there is one other.
        let expected = [&heads[..2], &heads[3..]].concat();
        assert_eq!(places(&others), places(&expected));
        assert!(others.iter().all(|head| !heads.contains(head)));
    }
    let mut begin = |off: &str| {
        let off = vec![off.to_owned()];
        translator.begin(&Request { off, ..asked(0.0, &[]) }).map(|_| ())
    };
    begin("cross 1.2").unwrap();
    insta::assert_snapshot!(begin("1.2").unwrap_err(), @r#""1.2" is no head: a head is its part (source, written or cross), its layer and its number, as in cross 5.7"#);
    insta::assert_snapshot!(model("bert-1").begin(&asked(0.0, &[])).unwrap_err(), @"no model that writes was read");
}
