//! What heads do with all tokens: sinks, habits, and the order of tokens.

use attention::{Mask, Matrix, max_abs_diff, thousands};
use lessons::ch12::claims::best_head;
use lessons::ch12::others::turned_wrongly;
use lessons::ch12::sinks::{Got, lengths};
use lessons::numbers::{ends, mean};
use lessons::trained::{at, is_word, maps, passes};
use pretrained::{TrainedLayer, minilm};

use super::claims::RANDOM;
use crate::cases::{assert_close, every_stage_and_batched};
use crate::quote::{Table, assert_quote, percent, share, values};
use crate::trained::TOLERANCE;

#[test]
fn no_token_gets_more_attention_than_cls_and_none_has_a_shorter_value() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let mut table = Table::new([
        ("sentence", -22),
        ("[CLS]", 8),
        ("[SEP]", 8),
        ("punctuation", 13),
        ("words", 7),
        ("even share", 13),
        ("random [CLS]", 14),
    ]);
    let (mut cls, mut written) = (vec![], vec![]);
    for (nth, sentence) in sentences.iter().enumerate() {
        let tokens = &sentence.tokens;
        let Got { attention, written: length } =
            Got::new(&parameters, &sentence.input).unwrap();
        let sum = |of: &[f64], which: &dyn Fn(&str) -> bool| -> f64 {
            tokens.iter().zip(of).filter(|(token, _)| which(token)).map(|(_, x)| x).sum()
        };
        let by_kind = |of: &[f64]| {
            [
                sum(of, &|t| t == "[CLS]"),
                sum(of, &|t| t == "[SEP]"),
                sum(of, &|t| !is_word(t) && !t.starts_with('[')),
                sum(of, &is_word),
            ]
        };
        assert!((1..tokens.len()).all(|j| attention[j] < attention[0]), "{attention:?}");
        let [c, s, p, w] = by_kind(&attention).map(share);
        let of_random = RANDOM.iter().flat_map(|maps| &maps[nth]);
        let of_random = mean(of_random.map(|map| mean(map.column(0).iter().copied())));
        let (even, of_random) = (share(1.0 / tokens.len() as f64), share(of_random));
        table.row([sentence.name, &c, &s, &p, &w, &even, &of_random]);
        let [c, s, p, w] = by_kind(&length).map(share);
        table.row(["  … of what is written", &c, &s, &p, &w, "", ""]);
        cls.push(attention[0]);
        written.push(length[0]);
    }
    let [[from, _, to], [w_from, _, w_to]] =
        [cls, written].map(|of| ends(of).map(percent));
    let (mut of_cls, mut of_words) = (vec![], vec![]);
    let (mut cls_first, mut n_maps) = (0, 0);
    for sentence in &sentences {
        let mut of_tokens = vec![0.0; sentence.tokens.len()];
        for (i, pass) in passes(&parameters, &sentence.input).unwrap().iter().enumerate()
        {
            let lengths = lengths(&parameters, i, pass);
            of_tokens.iter_mut().zip(&lengths).for_each(|(sum, length)| *sum += length);
            of_cls.push(lengths[0]);
            let column = |key: usize| pass.attn.column(key).sum();
            cls_first +=
                usize::from((1..pass.attn.ncols()).all(|key| column(key) < column(0)));
            n_maps += 1;
            let words = sentence.tokens.iter().zip(lengths).filter(|(t, _)| is_word(t));
            of_words.extend(words.map(|(_, length)| length));
        }
        assert!(
            of_tokens[1..].iter().all(|&length| length > of_tokens[0]),
            "{of_tokens:?}"
        );
    }
    let said = [
        ("cls_from", from),
        ("cls_to", to),
        ("cls_written_from", w_from),
        ("cls_written_to", w_to),
        ("cls_first", cls_first.to_string()),
        ("maps", n_maps.to_string()),
        ("length_cls", format!("{:.2}", mean(of_cls))),
        ("length_words", format!("{:.2}", mean(of_words))),
    ];
    assert_quote!("ch12_sinks", table.text());
    assert_quote!("ch12_sinks_values", values(&said));
}

#[test]
fn what_each_head_does_over_the_four_sentences() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let mut rows: Vec<[f64; 6]> = vec![[0.0; 6]; parameters.heads().len()];
    for sentence in &sentences {
        let n = sentence.tokens.len();
        for (i, pass) in passes(&parameters, &sentence.input).unwrap().iter().enumerate()
        {
            let map = &pass.attn;
            let bits =
                |row: usize| map.row(row).iter().map(|a| -a * a.log2()).sum::<f64>();
            let inner = 1..n - 1; // neither [CLS] nor [SEP]
            let written = &pass.out * parameters.w_o_of_head(i);
            let measured = [
                mean(map.column(0).iter().copied()),
                mean(inner.clone().map(|j| map[(j, j)])),
                mean(inner.clone().skip(1).map(|j| map[(j, j - 1)])),
                mean(inner.clone().take(n - 3).map(|j| map[(j, j + 1)])),
                mean((0..n).map(|row| bits(row) / (n as f64).log2())),
                mean(written.row_iter().map(|row| row.norm())),
            ];
            for (sum, one) in rows[i].iter_mut().zip(measured) {
                *sum += one / sentences.len() as f64;
            }
        }
    }
    let mut table = Table::new([
        ("", -7),
        ("[CLS]", 8),
        ("itself", 8),
        ("token before", 14),
        ("token after", 12),
        ("evenness", 10),
        ("writes", 8),
    ]);
    for (i, [cls, own, before, after, even, writes]) in rows.iter().enumerate() {
        let [cls, own, before, after] = [cls, own, before, after].map(|&it| share(it));
        let [even, writes] = [even, writes].map(|it| format!("{it:.2}"));
        table.row([format!("head {i:>2}"), cls, own, before, after, even, writes]);
    }
    let most = |column: usize| {
        let of = |row: &[f64; 6]| row[column];
        let (head, row) = rows
            .iter()
            .enumerate()
            .max_by(|(_, a), (_, b)| of(a).total_cmp(&of(b)))
            .unwrap();
        (head, of(row))
    };
    let even_share = mean(sentences.iter().map(|s| 1.0 / s.tokens.len() as f64));
    let mut said = vec![("even_share".to_owned(), share(even_share))];
    for (name, column) in [("before", 2), ("after", 3), ("even", 4), ("writes", 5)] {
        let (head, most) = most(column);
        let most = if column < 4 { share(most) } else { format!("{most:.2}") };
        said.push((format!("most_{name}"), most));
        said.push((format!("most_{name}_head"), head.to_string()));
    }
    assert_quote!("ch12_heads", table.text());
    assert_quote!("ch12_heads_values", values(&said));
}

#[test]
fn no_stage_knows_the_order_of_the_tokens() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    for sentence in &sentences {
        let n = sentence.tokens.len();
        let turned = |m: &Matrix| Matrix::from_fn(n, m.ncols(), |i, j| m[(n - 1 - i, j)]);
        for stage in every_stage_and_batched(&parameters) {
            let out = |x: &Matrix| stage.self_attend(x, &Mask::None).unwrap().out;
            let seen = out(&turned(&sentence.input));
            let diff = max_abs_diff(&turned(&out(&sentence.input)), &seen).unwrap();
            assert_close(format!("{} on {}", stage.name(), sentence.name), diff, 1e-12);
        }
    }
}

#[test]
fn square_matrices_the_wrong_way_round_give_maps_that_look_right() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let wrong = turned_wrongly(&parameters).unwrap();
    let animal = sentences.iter().find(|s| s.name == "animal_tired").unwrap();
    let (mut largest, mut rows) = (0f64, 0f64);
    for sentence in &sentences {
        let maps = maps(&wrong, &sentence.input).unwrap();
        for (map, reference) in maps.iter().zip(&sentence.attn) {
            largest = largest.max(max_abs_diff(map, reference).unwrap());
            rows = map.row_iter().map(|row| (row.sum() - 1.0).abs()).fold(rows, f64::max);
        }
    }
    assert!(rows < 1e-12, "rows sum to 1 within {rows}");
    assert_eq!(wrong.count(), parameters.count());
    let right = passes(&parameters, &animal.input).unwrap();
    let wrong_maps = maps(&wrong, &animal.input).unwrap();
    let (head, best) = best_head(
        &wrong_maps,
        &[at(animal, "it").unwrap()],
        at(animal, "animal").unwrap(),
    );
    let dims = parameters.dims();
    // The right way round, they are the maps of the file.
    let of_file = sentences.iter().flat_map(|sentence| {
        let maps = maps(&parameters, &sentence.input).unwrap();
        maps.into_iter().zip(&sentence.attn).map(|(a, b)| max_abs_diff(&a, b).unwrap())
    });
    let off = of_file.fold(0.0, f64::max);
    assert!(off <= TOLERANCE, "{off:e}");
    let said = [
        ("d_model", dims.d_model().to_string()),
        ("n_heads", dims.n_heads().to_string()),
        ("d_k", dims.d_k().to_string()),
        ("parameters", thousands(parameters.count().total())),
        ("map_difference", share(largest)),
        ("it_animal_wrong", share(best)),
        ("it_animal_wrong_head", head.to_string()),
        ("map_shape", format!("{:?}", right[0].attn.shape())),
        ("reference_tolerance", TOLERANCE.to_string()),
    ];
    assert_quote!("ch12_turned", values(&said));
}
