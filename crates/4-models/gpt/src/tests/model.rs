//! What is refused, read, written, saved and counted.

use super::*;

/// transformers' logits of a name: those of one block in f64 to 1e-9, and those of two, which
/// `save_pretrained` wrote in f32, to 1e-5. What is saved is what is read, to the precision of
/// f32: of two blocks the very tensors that transformers wrote, by the same names.
#[test]
fn a_model_gives_the_logits_of_transformers_and_is_saved_as_theirs() {
    for (name, sizes, bound) in
        [("gpt2.safetensors", SMALL, 1e-9), ("two-blocks.safetensors", OTHER, 1e-5)]
    {
        let file = vectors(name);
        let parameters = gpt2::read(sizes, &file, "transformer.").unwrap();
        let ids = scalars::ids(file.text("names").unwrap().split(' ').next().unwrap());
        let read =
            Model::new(sizes, &parameters).unwrap().read(&ids[..ids.len() - 1]).unwrap();
        let logits = file.tensor("logits").unwrap().numbers().unwrap();
        let furthest = apart(read.logits.transpose().as_slice(), &logits);
        println!("{name}: {furthest:.1e}");
        assert!(furthest < bound, "{name}: {furthest:e}");

        let folder = tempfile::tempdir().unwrap();
        gpt2::write(folder.path(), sizes, &parameters).unwrap();
        let written = TensorFile::open(folder.path().join("model.safetensors")).unwrap();
        let kept: Vec<f64> = parameters.iter().map(|&p| f64::from(p as f32)).collect();
        assert_eq!(gpt2::read(sizes, &written, "transformer.").unwrap(), kept);
        if sizes == OTHER {
            for name in &written.names() {
                let [ours, theirs] =
                    [&written, &file].map(|file| file.tensor(name).unwrap());
                ours.expect_shape(theirs.shape()).unwrap();
                assert_eq!(ours.numbers().unwrap(), theirs.numbers().unwrap(), "{name}");
            }
            assert_eq!(written.names().len(), file.names().len() - 1);
        }
    }
}

/// A list of a reader's own must not bring anything down: a model refuses what a rung does.
#[test]
fn names_and_sizes_that_do_not_fit_are_refused_with_their_numbers() {
    let parameters = SMALL.parameters(&mut Rng::seed_from_u64(1));
    let model = Model::new(SMALL, &parameters).unwrap();
    for rung in RUNGS {
        let refused = |names: &[_]| {
            let error = rung.gradients(SMALL, &parameters, names).unwrap_err();
            assert_eq!(model.loss(names).unwrap_err(), error);
            error
        };
        insta::allow_duplicates! {
            insta::assert_snapshot!(refused(&[]), @"the number of names is 0, and must be at least 1");
            for name in [vec![0], vec![]] {
                insta::assert_snapshot!(refused(&[name]), @"the number of letters and ends to be guessed is 0, and must be at least 1");
            }
            insta::assert_snapshot!(refused(&[vec![0, 27, 0]]), @"token 1 has id 27, and the vocabulary has 27 entries, from 0");
            insta::assert_snapshot!(refused(&["bo", "maximilianalexander"].map(scalars::ids)), @"the text has 20 tokens, and the model has 16 positions");
            let refused = rung.gradients(SMALL, &parameters[1..], &[vec![0, 0]]).unwrap_err();
            insta::assert_snapshot!(refused, @"the list of parameters has 3999 entries, expected 4000");
        }
        let longest = [scalars::ids("aaaaaaaaaaaaaaa")];
        assert!(rung.gradients(SMALL, &parameters, &longest).is_ok());
        let parameters = OTHER.parameters(&mut Rng::seed_from_u64(1));
        assert_eq!(
            rung.is_small,
            rung.gradients(OTHER, &parameters, &[vec![0, 0]]).is_err()
        );
    }
    let refused = |sizes| Model::new(sizes, &parameters).unwrap_err();
    insta::assert_snapshot!(refused(OTHER), @"the list of parameters has 4000 entries, expected 2072");
    insta::assert_snapshot!(refused(Architecture { n_heads: 3, ..SMALL }), @"d_model 16 cannot be divided among 3 heads: 16 = 3 × 5 + 1");
    let other = Architecture { n_heads: 2, ..SMALL };
    let refused = RUNGS[0].gradients(other, &parameters, &[vec![0, 0]]).unwrap_err();
    insta::assert_snapshot!(refused, @"the list of a block's heads has 2 entries, expected 4");
    let schedule = Schedule { clip: Some(f64::NAN), ..Schedule::small(1) };
    let refused = Training::from(RUNGS[0], SMALL, schedule, &parameters).unwrap_err();
    insta::assert_snapshot!(refused, @"the norm to be clipped to is NaN, and must be a number above 0");
}

/// What it reads is what the loss is of, and it writes as the scalars do.
#[test]
fn a_model_reads_and_writes_as_the_scalars_do() {
    let start = SMALL.parameters(&mut Rng::seed_from_u64(9));
    let [_, parameters] = train(RUNGS[4], &start, 60, 9);
    let model = Model::new(SMALL, &parameters).unwrap();
    let name = scalars::ids("christopher");
    let read = model.read(&name[..name.len() - 1]).unwrap();
    let loss = gradients::cross_entropy(&read.logits, &name[1..]).unwrap().value;
    let (expected, _) = scalars::gradients(&parameters, std::slice::from_ref(&name));
    assert!((loss - expected).abs() < 1e-12);
    for n in [1, 5, 12] {
        let row = read.logits.row(n - 1).transpose();
        assert!(apart(&model.next(&name[..n]).unwrap(), row.as_slice()) < 1e-12, "{n}");
    }
    let [ours, expected] = [&mut Rng::seed_from_u64(10), &mut Rng::seed_from_u64(10)];
    for _ in 0..20 {
        let name = scalars::write(&parameters, 0.8, expected);
        assert_eq!(model.write(0.8, ours).unwrap(), name);
    }
    assert!(model.write(0.0, ours).is_err());
    assert!(model.read(&[0; 17]).is_err() && model.next(&[]).is_err());
}

/// Without a head, a model is one whose rows of W^O for this head are zeros, and nothing before
/// it has changed.
#[test]
fn a_model_without_a_head_has_zeros_for_it() {
    let parameters = OTHER.parameters(&mut Rng::seed_from_u64(11));
    let model = Model::new(OTHER, &parameters).unwrap();
    let mut zeroed = parameters;
    let of_w_o = OTHER.first_of(0) + 8;
    OTHER.cut_mut(&mut zeroed)[of_w_o][4 * 8..].fill(0.0);
    let without = model.without(0, 1).unwrap();
    assert_eq!(without, Model::new(OTHER, &zeroed).unwrap());
    let ids = &scalars::ids("maria")[..6];
    let [whole, less] = [&model, &without].map(|model| model.read(ids).unwrap());
    assert_eq!(less.maps[0], whole.maps[0]);
    assert_ne!(less.maps[1], whole.maps[1]);
    insta::assert_snapshot!(model.without(2, 0).unwrap_err(), @"there are 2 blocks, 0 to 1: block 2 does not exist");
    insta::assert_snapshot!(model.without(1, 2).unwrap_err(), @"there are 2 heads, 0 to 1: head 2 does not exist");
}

/// The rate rises, stays or falls as the schedule says, and a long gradient is cut.
#[test]
fn schedules_warm_up_decay_and_clip() {
    let schedule = Schedule { warm_up: 3, decay: true, ..Schedule::small(7) };
    let rates: Vec<f64> = (0..8).map(|step| 100.0 * schedule.rate_at(step)).collect();
    assert!(
        apart(&rates, &[0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.25, 0.0]) < 1e-12,
        "{rates:?}"
    );
    assert!((0..8).all(|step| Schedule::small(7).rate_at(step) == 0.01));

    // Before Adam's first step a gradient's length is all that clipping changes, and Adam is
    // blind to it; the second step remembers.
    let after = |clip| {
        let schedule = Schedule { clip, ..Schedule::small(2) };
        let rng = &mut Rng::seed_from_u64(12);
        let mut training = Training::new(RUNGS[4], SMALL, schedule, rng).unwrap();
        training.run(&names(), rng).unwrap();
        training.parameters().to_vec()
    };
    assert_eq!(after(Some(1e3)), after(None));
    assert!(apart(&after(Some(0.5)), &after(None)) > 1e-4);
}

/// Counts of what was learned from, on names of which all is known.
#[test]
fn counts_give_the_chances_that_they_should() {
    let names = ["ab", "ab", "b"].map(scalars::ids).to_vec();
    let same = Split { learned: names.clone(), test: names };
    // After the start came two a and a b, after an a two b, after b three ends; of all eight
    // letters two were a, three b. Each: how often, of how many, of how many kinds, and how
    // often after anything.
    let expect = |loss: f64, chance: &dyn Fn([f64; 4]) -> f64| {
        let came = [[2.0, 3.0, 2.0, 2.0], [2.0, 2.0, 1.0, 3.0], [3.0, 3.0, 1.0, 3.0]];
        let [a, b, end] = came.map(|it| -chance(it).ln());
        let expected = 2.0 * (a + b) + 3.0 * end - chance([1.0, 3.0, 2.0, 3.0]).ln();
        assert!((loss - expected / 8.0).abs() < 1e-12, "{loss} {expected}");
    };
    expect(same.counted_loss(1), &|[n, of, ..]| (n + 0.1) / (of + 2.7));
    expect(same.blended_loss(1), &|[n, of, kinds, all]| {
        (n + kinds * (all + 3.0 / 27.0) / 11.0) / (of + kinds)
    });
    let split = Split::of(NAMES.lines());
    assert_eq!([split.learned.len(), split.test.len()], [4647, 516]);
    let losses = [0, 1, 2].map(|n| split.counted_loss(n));
    insta::assert_snapshot!(losses.map(|loss| format!("{loss:.3}")).join(" "), @"2.816 2.336 2.074");
    let written = ["aaron", "abram", "zzz"].map(str::to_owned);
    assert_eq!(split.count(&written), [1, 1, 1]);
}
