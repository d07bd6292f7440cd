use std::path::Path;

use attention::{Matrix, Rng, SeedableRng, max_abs_diff, random_matrix};
use tensors::{NewTensor, TensorFile, to_bytes};

use super::*;

/// Two layers, both ways, in plain loops over entries: c and h as the paper writes them.
fn by_definition(lstm: &Lstm, x: &Matrix) -> (Matrix, Matrix, Matrix) {
    let (width, n) = (lstm.hidden(), x.nrows());
    let (mut tokens, mut h_n, mut c_n) = (x.clone(), vec![], vec![]);
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    for layer in lstm.layers() {
        let mut output = Matrix::zeros(n, 2 * width);
        for (d, direction) in layer.directions().enumerate() {
            let (mut h, mut c) = (vec![0.0; width], vec![0.0; width]);
            for step in 0..n {
                let t = if d == 0 { step } else { n - 1 - step };
                let before = h.clone();
                for j in 0..width {
                    let gate = |g: usize| {
                        let column = g * width + j;
                        let (w_x, w_h) = (&direction.input, &direction.hidden);
                        let of_x: f64 = (0..tokens.ncols())
                            .map(|k| tokens[(t, k)] * w_x.weight[(k, column)])
                            .sum();
                        let of_h: f64 =
                            (0..width).map(|k| before[k] * w_h.weight[(k, column)]).sum();
                        let bias = |b: &Option<RowVector>| b.as_ref().unwrap()[column];
                        of_x + of_h + bias(&w_x.bias) + bias(&w_h.bias)
                    };
                    let [i, f, g, o] = [0, 1, 2, 3].map(gate);
                    c[j] = sigmoid(f) * c[j] + sigmoid(i) * g.tanh();
                    h[j] = sigmoid(o) * c[j].tanh();
                    output[(t, d * width + j)] = h[j];
                }
            }
            h_n.extend(h);
            c_n.extend(c);
        }
        tokens = output;
    }
    let rows = |all: Vec<f64>| Matrix::from_row_slice(all.len() / width, width, &all);
    (tokens, rows(h_n), rows(c_n))
}

fn two_layers(rng: &mut Rng) -> Lstm {
    let mut layer = |d_in| Lstm::random(d_in, 3, true, rng).layers.remove(0);
    Lstm::new(vec![layer(5), layer(6)]).unwrap()
}

#[test]
fn two_layers_both_ways_are_the_definition() {
    let rng = &mut Rng::seed_from_u64(1);
    let lstm = two_layers(rng);
    let x = random_matrix(7, 5, 1.0, rng);
    let read = lstm.forward(&x, None).unwrap();
    let (output, h_n, c_n) = by_definition(&lstm, &x);
    for (expected, found) in [(output, read.output), (h_n, read.h_n), (c_n, read.c_n)] {
        assert!(max_abs_diff(&expected, &found).unwrap() < 1e-14);
    }
}

#[test]
fn a_sequence_can_be_read_in_two_pieces() {
    let rng = &mut Rng::seed_from_u64(2);
    let lstm = Lstm::random(5, 4, false, rng);
    let x: Matrix = random_matrix(9, 5, 1.0, rng);
    let whole = lstm.forward(&x, None).unwrap();
    let first = lstm.forward(&x.rows(0, 4).into_owned(), None).unwrap();
    let start = State { h: first.h_n, c: first.c_n };
    let rest = lstm.forward(&x.rows(4, 5).into_owned(), Some(&start)).unwrap();
    assert!((rest.output - whole.output.rows(4, 5)).amax() < 1e-15);
    assert_eq!(rest.c_n, whole.c_n);
}

#[test]
fn each_direction_sees_one_side() {
    let rng = &mut Rng::seed_from_u64(3);
    let lstm = Lstm::random(5, 4, true, rng);
    let x: Matrix = random_matrix(9, 5, 1.0, rng);
    let mut changed = x.clone();
    changed[(4, 0)] += 1.0;
    let [a, b] = [&x, &changed].map(|x| lstm.forward(x, None).unwrap().output);
    for t in 0..9 {
        let moved = |first| (a.row(t) - b.row(t)).columns(first, 4).amax() > 0.0;
        assert_eq!((moved(0), moved(4)), (t >= 4, t <= 4), "token {t}");
    }
}

/// Tensors of zeros and ones with these names and shapes, as a file.
fn file(tensors: &[(&str, &[usize])]) -> TensorFile {
    let tensor = |(name, shape): &(&str, &[usize])| {
        let all = Matrix::<f64>::from_element(shape.iter().product(), 1, 0.5);
        NewTensor::new(*name, shape, [&all]).unwrap()
    };
    let bytes = to_bytes(&tensors.iter().map(tensor).collect::<Vec<_>>()).unwrap();
    TensorFile::from_bytes("case", bytes).unwrap()
}

/// The outputs' shapes, or the error.
fn outcome(tensors: &[(&str, &[usize])]) -> String {
    match Case::<f64>::read(&file(tensors), None).and_then(|case| case.outputs()) {
        Ok(outputs) => outputs.map(|tensor| tensor.shape_text()).join(" "),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_kind_of_case_is_read() {
    let one_way: [(&str, &[usize]); 3] =
        [("weight_ih_l0", &[8, 5]), ("weight_hh_l0", &[8, 2]), ("input", &[3, 4, 5])];
    let with =
        |more: &[(&'static str, &'static [usize])]| outcome(&[&one_way, more].concat());
    insta::assert_snapshot!(with(&[]), @"(3, 4, 2) (1, 3, 2) (1, 3, 2)");
    let biases: [(&str, &[usize]); 2] = [("bias_ih_l0", &[8]), ("bias_hh_l0", &[8])];
    insta::assert_snapshot!(with(&biases), @"(3, 4, 2) (1, 3, 2) (1, 3, 2)");
    let states: [(&str, &[usize]); 2] = [("h_0", &[1, 3, 2]), ("c_0", &[1, 3, 2])];
    insta::assert_snapshot!(with(&states), @"(3, 4, 2) (1, 3, 2) (1, 3, 2)");
    let second: [(&str, &[usize]); 2] =
        [("weight_ih_l1", &[8, 2]), ("weight_hh_l1", &[8, 2])];
    insta::assert_snapshot!(with(&second), @"(3, 4, 2) (2, 3, 2) (2, 3, 2)");
    let back: [(&str, &[usize]); 2] =
        [("weight_ih_l0_reverse", &[8, 5]), ("weight_hh_l0_reverse", &[8, 2])];
    insta::assert_snapshot!(with(&back), @"(3, 4, 4) (2, 3, 2) (2, 3, 2)");
    let one: [(&str, &[usize]); 3] =
        [("weight_ih_l0", &[8, 5]), ("weight_hh_l0", &[8, 2]), ("input", &[4, 5])];
    insta::assert_snapshot!(outcome(&one), @"(4, 2) (1, 2) (1, 2)");
}

#[test]
fn a_tensor_that_is_missing_or_misshapen_is_named() {
    let one_way: [(&str, &[usize]); 3] =
        [("weight_ih_l0", &[8, 5]), ("weight_hh_l0", &[8, 2]), ("input", &[3, 4, 5])];
    let with =
        |more: &[(&'static str, &'static [usize])]| outcome(&[&one_way, more].concat());
    let instead = |i: usize, shape: &'static [usize]| {
        let mut all = one_way;
        all[i].1 = shape;
        outcome(&all)
    };
    insta::assert_snapshot!(outcome(&one_way[1..]), @"case: no tensor weight_ih_l0; there is input, weight_hh_l0");
    insta::assert_snapshot!(outcome(&one_way[..2]), @"case: no tensor input; there is weight_hh_l0, weight_ih_l0");
    insta::assert_snapshot!(instead(0, &[6, 5]), @"case: weight_ih_l0 has shape (6, 5), expected (8, 5)");
    insta::assert_snapshot!(instead(1, &[8, 2, 1]), @"case: weight_hh_l0 has shape (8, 2, 1), expected two dimensions");
    insta::assert_snapshot!(instead(2, &[3, 4, 6]), @"case: input has shape (3, 4, 6), expected (batch, n, 5)");
    insta::assert_snapshot!(with(&[("bias_ih_l0", &[8])]), @"case: no tensor bias_hh_l0; there is bias_ih_l0, input, weight_hh_l0, weight_ih_l0");
    insta::assert_snapshot!(with(&[("weight_ih_l2", &[8, 2])]), @"case: no tensor weight_hh_l1; there is input, weight_hh_l0, weight_ih_l0, weight_ih_l2");
    insta::assert_snapshot!(with(&[("weight_hh_l0_reverse", &[8, 2])]), @"case: no tensor weight_ih_l0_reverse; there is input, weight_hh_l0, weight_hh_l0_reverse, weight_ih_l0");
    insta::assert_snapshot!(with(&[("weight_hr_l0", &[1, 2])]), @"case: weight_hr_l0: made with proj_size, this LSTM projects its hidden state, which is not computed here");
    insta::assert_snapshot!(with(&[("h_0", &[1, 3, 2])]), @"case: no tensor c_0; there is h_0, input, weight_hh_l0, weight_ih_l0");
    insta::assert_snapshot!(with(&[("h_0", &[1, 3, 2]), ("c_0", &[2, 3, 2])]), @"case: c_0 has shape (2, 3, 2), expected (1, 3, 2)");
}

#[test]
fn each_sequence_is_read_to_its_own_end() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../tests/data/models/cases/lstm-lengths");
    let open = |name: &str| TensorFile::open(folder.join(name)).unwrap();
    let case = Case::<f64>::read(&open("case.safetensors"), None).unwrap();
    let outputs = to_bytes(&case.outputs().unwrap()).unwrap();
    let found = TensorFile::from_bytes("found", outputs).unwrap();
    let expected = open("reference.safetensors");
    for name in ["output", "h_n", "c_n"] {
        let [found, expected] =
            [&found, &expected].map(|file| file.tensor(name).unwrap().numbers().unwrap());
        let pairs = found.iter().zip(&expected);
        let largest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(found.len() == expected.len() && largest < 1e-12, "{name}: {largest}");
    }
}

#[test]
fn what_stands_before_the_names_is_taken_off() {
    let tensors: [(&str, &[usize]); 4] = [
        ("_orig_mod.lstm.weight_ih_l0", &[8, 5]),
        ("_orig_mod.lstm.weight_hh_l0", &[8, 2]),
        ("_orig_mod.head.weight", &[1, 2]),
        ("input", &[3, 4, 5]),
    ];
    insta::assert_snapshot!(outcome(&tensors), @"(3, 4, 2) (1, 3, 2) (1, 3, 2)");
    let two = [&tensors[..], &[("other.weight_ih_l0", &[8, 5])]].concat();
    insta::assert_snapshot!(outcome(&two), @"case: 2 layers: say which by its prefix, one of _orig_mod.lstm., other.");
}

#[test]
fn what_may_change_the_result_is_refused() {
    let with = |name: &'static str, shape: &'static [usize]| {
        outcome(&[
            ("weight_ih_l0", &[8, 5]),
            ("weight_hh_l0", &[8, 2]),
            ("input", &[3, 4, 5]),
            (name, shape),
        ])
    };
    insta::assert_snapshot!(with("mask", &[3, 4]), @"case: mask: a mask, which no LSTM has: say how long each sequence is as lengths, (batch)");
    insta::assert_snapshot!(with("batch_sizes", &[4]), @"case: batch_sizes: part of a PackedSequence: give input (batch, n, d_in) and lengths, (batch)");
    insta::assert_snapshot!(with("lengths", &[2]), @"case: lengths has shape (2), expected (3)");
    insta::assert_snapshot!(with("surprise", &[2]), @"case: surprise is not known to an LSTM's case, and may change the result: take it out of the file if it does not");
    insta::assert_snapshot!(with("weight_ih_l1000", &[8, 2]), @"case: weight_ih_l1000 is not known to an LSTM's case, and may change the result: take it out of the file if it does not");
    insta::assert_snapshot!(with("output", &[3, 4, 2]), @"(3, 4, 2) (1, 3, 2) (1, 3, 2)");
}

#[test]
fn a_network_of_another_kind_is_called_by_its_name() {
    let of = |gates: usize| {
        let (ih, hh) = ([gates * 2, 5], [gates * 2, 2]);
        outcome(&[("weight_ih_l0", &ih), ("weight_hh_l0", &hh), ("input", &[3, 4, 5])])
    };
    insta::assert_snapshot!(of(3), @"case: weight_hh_l0 has shape (6, 2), expected (8, 2) of an LSTM's four gates: three gates of 2: this is a GRU");
    insta::assert_snapshot!(of(1), @"case: weight_hh_l0 has shape (2, 2), expected (8, 2) of an LSTM's four gates: no gates, a state of 2: this is an RNN");
    let cell: [(&str, &[usize]); 3] =
        [("weight_ih", &[8, 5]), ("weight_hh", &[8, 2]), ("input", &[3, 4, 5])];
    insta::assert_snapshot!(outcome(&cell), @"case: weight_hh: a cell (LSTMCell, GRUCell or RNNCell), which makes one step: an LSTM's names end in its layer, as weight_hh_l0, so rename those of an LSTMCell");
}

#[test]
fn a_weight_that_is_kept_elsewhere_is_refused() {
    let beside = |name: &'static str| {
        outcome(&[
            ("rnns.0.module.weight_ih_l0", &[8, 5]),
            ("rnns.0.module.weight_hh_l0", &[8, 2]),
            ("input", &[3, 4, 5]),
            (name, &[8, 2]),
        ])
    };
    insta::assert_snapshot!(beside("rnns.0.weight_hh_l0_raw"), @"case: rnns.0.weight_hh_l0_raw: weight dropout (AWD-LSTM): this is the weight that was trained, and the one without _raw is what dropout made of it: save this under that name");
    insta::assert_snapshot!(beside("scale.weight_ih_l0_scale"), @"case: scale.weight_ih_l0_scale: a part of an LSTM's weight or something added to it (a norm, pruning, an adapter, a scale), beside the LSTM: save each weight as one tensor");
    insta::assert_snapshot!(beside("base_model.rnns.0.module.lora_A"), @"case: base_model.rnns.0.module.lora_A: a part of an LSTM's weight or something added to it (a norm, pruning, an adapter, a scale), beside the LSTM: save each weight as one tensor");
    insta::assert_snapshot!(beside("expected_lengths"), @"case: expected_lengths is not known to an LSTM's case, and may change the result: take it out of the file if it does not");
    insta::assert_snapshot!(beside("batch.lengths"), @"case: batch.lengths: an input's name behind a module's: what is read is input, h_0, c_0 and lengths alone");
    insta::assert_snapshot!(beside("decoder.weight"), @"(3, 4, 2) (1, 3, 2) (1, 3, 2)");
}

#[test]
fn one_of_several_is_read_by_its_prefix() {
    let tensors: [(&str, &[usize]); 5] = [
        ("a.weight_ih_l0", &[8, 5]),
        ("a.weight_hh_l0", &[8, 2]),
        ("b.weight_ih_l0", &[4, 5]),
        ("b.weight_hh_l0", &[4, 1]),
        ("input", &[3, 4, 5]),
    ];
    let hidden = |prefix| {
        let case = Case::<f64>::read(&file(&tensors), Some(prefix));
        case.map_or_else(|error| error.to_string(), |case| case.lstm.hidden().to_string())
    };
    assert_eq!([hidden("a."), hidden("b")], ["2", "1"]);
    let bare = [&tensors[..], &[("weight_ih_l0", &[8, 5]), ("weight_hh_l0", &[8, 2])]];
    insta::assert_snapshot!(outcome(&bare.concat()), @r#"case: 3 layers: say which by its prefix, one of a., b., "" (none)"#);
    insta::assert_snapshot!(hidden("c"), @r#"case: no layer has the prefix "c"; there is a., b."#);
}

#[test]
fn what_is_not_finite_is_refused_where_it_begins() {
    let of = |input: Vec<f64>, texts: &[(&str, &str)], lengths: Vec<f64>| {
        let mut tensors: Vec<(&str, &[usize], Vec<f64>)> = vec![
            ("weight_ih_l0", &[4, 1], vec![0.5; 4]),
            ("weight_hh_l0", &[4, 1], vec![0.5; 4]),
            ("input", &[2, 3, 1], input),
        ];
        if !lengths.is_empty() {
            tensors.push(("h_0", &[1, 2, 1], lengths));
            tensors.push(("c_0", &[1, 2, 1], vec![0.0; 2]));
        }
        let file = model_files::testing::number_file(&tensors, texts);
        Case::<f64>::read(&file, None).map_or_else(|it| it.to_string(), |_| String::new())
    };
    let (numbers, nan) = (vec![0.5; 6], vec![0.5, 0.5, 0.5, 0.5, f64::NAN, f64::NAN]);
    assert_eq!(of(numbers.clone(), &[], vec![]), "");
    insta::assert_snapshot!(of(nan, &[], vec![]), @"some.file: NaN or infinity in input of sequence 1, row 1, counted from 0: an LSTM makes NaN of every token behind it");
    insta::assert_snapshot!(of(numbers.clone(), &[], vec![0.0, f64::INFINITY]), @"some.file: NaN or infinity in h_0 of sequence 1, row 0, counted from 0: an LSTM makes NaN of every token behind it");

    let said = |key, text| of(numbers.clone(), &[(key, text)], vec![]);
    for (key, text) in [
        ("bidirectional", "False"),
        ("num_layers", "1"),
        ("hidden_size", "1"),
        ("batch_first", "True"),
        ("gate_order", "i, f, g, o"),
        ("padding_side", "right"),
        ("class", "torch.nn.LSTM"),
        ("window", "30"),
        ("mode", "LSTM"),
    ] {
        assert_eq!(said(key, text), "", "{key}");
    }
    insta::assert_snapshot!(said("bidirectional", "True"), @"some.file: its metadata has bidirectional: True, and the directions here are others");
    insta::assert_snapshot!(said("gate_order", "iofc"), @"some.file: its metadata has gate_order: iofc, and there are no such gates here");
    insta::assert_snapshot!(said("num_layers", "2"), @"some.file: its metadata has num_layers: 2, and the number of layers here is another");
    insta::assert_snapshot!(said("padding_side", "left"), @"some.file: its metadata has padding_side: left, and what is padding is said by tensors here");
    insta::assert_snapshot!(said("class", "GRU"), @"some.file: its metadata has class: GRU, and another one is computed here");
    insta::assert_snapshot!(said("proj_size", "3"), @"some.file: its metadata has proj_size: 3, and a hidden state is not projected here");
}

#[test]
fn layers_that_do_not_fit_are_refused() {
    let rng = &mut Rng::seed_from_u64(4);
    let mut layer = |d_in, both| Lstm::<f64>::random(d_in, 3, both, rng).layers.remove(0);
    let refused = |layers| Lstm::new(layers).unwrap_err();
    insta::assert_snapshot!(refused(vec![]), @"the number of layers of an LSTM is 0, and must be at least 1");
    insta::assert_snapshot!(refused(vec![layer(5, true), layer(3, true)]), @"the input weight of layer 1 has shape (3, 12), expected (6, 12)");
    insta::assert_snapshot!(refused(vec![layer(5, false), layer(3, true)]), @"the list of directions of layer 1 has 2 entries, expected 1");
    let lstm = Lstm::new(vec![layer(5, false)]).unwrap();
    let refused = |n, width| lstm.forward(&Matrix::zeros(n, width), None).unwrap_err();
    insta::assert_snapshot!(refused(0, 5), @"the input of an LSTM has shape (0, 5): it holds no tokens");
    insta::assert_snapshot!(refused(4, 6), @"the input of an LSTM has shape (4, 6), expected (4, 5)");
}
