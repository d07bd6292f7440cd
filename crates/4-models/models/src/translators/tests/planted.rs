//! What the references would show: each mistake, planted, is far above what is allowed.

use variants::Changes;

use super::*;

/// What the references are compared at.
const TOLERANCE: f64 = 2e-5;

fn expect_far(name: &str, what: &str, wrong: &AsRead) {
    let found = apart(&logits(wrong), &plain(name));
    println!("{name}, {what}: {found:.1e}");
    assert!(found > 100.0 * TOLERANCE, "{name}, {what}: {found:e}");
}

fn tiny(name: &str) -> AsRead {
    Translator::load(model(name)).unwrap()
}

#[test]
fn a_planted_mistake_is_seen() {
    let t5 = tiny("t5-1");
    let with = |change: &dyn Fn(Changes) -> Changes| {
        t5.with_attention(|it| it.with_changes(change(it.changes().clone())).unwrap())
    };
    let scaled = with(&|changes| Changes { scale: None, ..changes });
    expect_far("t5-1", "√d_k", &scaled);
    let unplaced = with(&|changes| Changes { relative: None, ..changes });
    expect_far("t5-1", "no relative positions", &unplaced);
    let mut first_alone = t5.clone();
    let later = first_alone.decoder.blocks.iter_mut().skip(1);
    later.for_each(|block| {
        let attention = &block.attention.function;
        let changes = Changes { relative: None, ..attention.changes().clone() };
        block.attention.function = attention.with_changes(changes).unwrap();
    });
    expect_far("t5-1", "a bias in the first layer alone", &first_alone);

    for name in ["marian-1", "bart-1", "t5-1"] {
        let mut exchanged = tiny(name);
        let sides = [&mut exchanged.encoder, &mut exchanged.decoder];
        for block in sides.into_iter().flat_map(|side| &mut side.blocks) {
            let ffn = block.feed_forward.as_mut().unwrap();
            for norms in [&mut block.attention.norms, &mut ffn.norms] {
                std::mem::swap(&mut norms.before, &mut norms.after);
            }
        }
        expect_far(name, "norms before and after exchanged", &exchanged);
    }

    // A table read from its first row on is shifted by two.
    let mut shifted = tiny("bart-1");
    let file = TensorFile::open(model("bart-1").join("model.safetensors")).unwrap();
    let table = file.matrix("model.decoder.embed_positions.weight").unwrap();
    let own = shifted.decoder.positions.as_mut().unwrap();
    assert_eq!(*own, table.rows(2, own.nrows()));
    own.copy_from(&table.rows(0, own.nrows()));
    expect_far("bart-1", "the offset of two forgotten", &shifted);

    let mut interleaved = tiny("marian-1");
    let own = interleaved.encoder.positions.as_mut().unwrap();
    own.copy_from(&block::sinusoidal(own.nrows(), own.ncols()));
    expect_far("marian-1", "sines and cosines in turn", &interleaved);
    let mut unscaled = tiny("marian-1");
    unscaled.source.scale = 1.0;
    expect_far("marian-1", "embeddings without √d", &unscaled);
}

/// Attention to the source that takes its keys from the target.
#[test]
fn keys_of_the_target_in_the_place_of_the_sources_are_seen() {
    for name in ["marian-1", "bart-1", "t5-1"] {
        let model = tiny(name);
        let ids = [1, 8, 33, 71, 20, 4];
        let source = Sequence::new(vec![5, 40, 17, 9, 60, 2]);
        let right = model.read_source(&source).unwrap();
        let wrong = model.read_source(&Sequence::new(ids.to_vec())).unwrap();
        let of = |source| {
            let decoded = model.decode_cached(&ids, source, &mut model.caches()).unwrap();
            model.logits(decoded.out()).unwrap()
        };
        assert!(apart(&of(&right), &plain(name)) < 1e-12, "{name}");
        assert!(apart(&of(&wrong), &plain(name)) > 100.0 * TOLERANCE, "{name}");
    }
}
