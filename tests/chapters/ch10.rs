//! What chapter 10 quotes.

use std::fmt::Write;
use std::sync::LazyLock;

use attention::{
    HeadParameters, LayerParameters, Linear, Mask, Matrix, Rng, SeedableRng,
    max_abs_diff, random_matrix, thousands,
};
use pretrained::{Sentence, TrainedLayer};
use single_head::{HeadPass, attend};

use crate::cases::{assert_close, every_stage_and_batched};

/// A link that a source claims: its source, the sentence, who looks, at whom.
const CLAIMS: [(&str, &str, &[&str], &str); 9] = [
    ("000", "pilot", &["flew"], "pilot"),
    ("000", "pilot", &["flew"], "plane"),
    ("000", "pilot", &["flew"], "paris"),
    ("000", "river_banks", &["over", "##flow", "##ed"], "banks"),
    ("000", "river_banks", &["banks"], "river"),
    ("001", "bank_loan", &["bank"], "loan"),
    ("002", "animal_tired", &["it"], "animal"),
    ("002", "animal_tired", &["tired"], "cross"),
    ("002", "animal_tired", &["the"], "animal"),
];

/// How many layers of random numbers each claim is held against.
const RANDOM_LAYERS: u64 = 50;

/// How many layers have the trained numbers in another order.
const SHUFFLED_LAYERS: u64 = 5;

fn trained() -> TrainedLayer {
    pretrained::minilm().unwrap()
}

/// What a layer does with the four sentences: for each its maps, head 0 first.
type Maps = Vec<Vec<Matrix>>;

fn maps_of_all(layer: &LayerParameters, sentences: &[Sentence]) -> Maps {
    sentences.iter().map(|sentence| maps(layer, &sentence.input)).collect()
}

/// The maps of layers of random numbers, made once for all tests here.
static RANDOM: LazyLock<Vec<Maps>> = LazyLock::new(|| {
    let TrainedLayer { parameters, sentences } = trained();
    let layer = |seed| {
        LayerParameters::random(parameters.dims(), true, &mut Rng::seed_from_u64(seed))
    };
    (0..RANDOM_LAYERS).map(|seed| maps_of_all(&layer(seed), &sentences)).collect()
});

/// The maps of a layer, head 0 first.
fn maps(layer: &LayerParameters, x: &Matrix) -> Vec<Matrix> {
    passes(layer, x).into_iter().map(|pass| pass.attn).collect()
}

fn passes(layer: &LayerParameters, x: &Matrix) -> Vec<HeadPass> {
    let heads = layer.heads().iter();
    heads.map(|head| attend(head, x, x, x, &Mask::None).unwrap()).collect()
}

/// Where a word stands; of a word that stands twice, the first.
fn at(sentence: &Sentence, word: &str) -> usize {
    sentence.tokens.iter().position(|token| token == word).unwrap()
}

fn all_at(sentence: &Sentence, words: &[&str]) -> Vec<usize> {
    words.iter().map(|word| at(sentence, word)).collect()
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '#')
}

fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, n) = numbers.into_iter().fold((0.0, 0.0), |(sum, n), x| (sum + x, n + 1.0));
    sum / n
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() % 2 {
        0 => (numbers[middle - 1] + numbers[middle]) / 2.0,
        _ => numbers[middle],
    }
}

/// The part of the numbers that reach `least`.
fn reaching(numbers: &[f64], least: f64) -> f64 {
    mean(numbers.iter().map(|&number| f64::from(number >= least)))
}

/// A share as the figures print it: `.572`.
fn share(share: f64) -> String {
    format!("{share:.3}").trim_start_matches('0').to_string()
}

fn percent(part: f64) -> String {
    match 100.0 * part {
        small if small > 0.0 && small < 1.0 => format!("{small:.1} %"),
        whole => format!("{whole:.0} %"),
    }
}

/// The head that gives `key` the most from these queries (pieces of one word count by
/// their mean), and what it gives.
// ANCHOR: best_head
fn best_head(maps: &[Matrix], queries: &[usize], key: usize) -> (usize, f64) {
    let given = |map: &Matrix| mean(queries.iter().map(|&query| map[(query, key)]));
    let of_heads = maps.iter().map(given).enumerate();
    of_heads.max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap()
}
// ANCHOR_END: best_head

/// The best head's share for every ordered pair of two different word pieces.
// ANCHOR: all_pairs
fn all_pairs(of_sentences: &Maps, sentences: &[Sentence]) -> Vec<f64> {
    let mut best = Vec::new();
    for (maps, Sentence { tokens, .. }) in of_sentences.iter().zip(sentences) {
        let is_word = |&at: &usize| is_word(&tokens[at]);
        let words: Vec<usize> = (0..tokens.len()).filter(is_word).collect();
        for &query in &words {
            for &key in words.iter().filter(|&&key| key != query) {
                best.push(best_head(maps, &[query], key).1);
            }
        }
    }
    best
}
// ANCHOR_END: all_pairs

/// The trained layer with the numbers of each matrix and bias in another order.
fn shuffled_layer(layer: &LayerParameters, seed: u64) -> LayerParameters {
    let rng = &mut Rng::seed_from_u64(seed);
    let mut order = |n: usize| {
        let keys: Matrix = random_matrix(n, 1, 1.0, rng);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
        order
    };
    let mut shuffled = |linear: &Linear| {
        let mut new = linear.clone();
        for (to, from) in order(linear.weight.len()).into_iter().enumerate() {
            new.weight[to] = linear.weight[from];
        }
        if let (Some(new), Some(bias)) = (&mut new.bias, &linear.bias) {
            for (to, from) in order(bias.len()).into_iter().enumerate() {
                new[to] = bias[from];
            }
        }
        new
    };
    let heads = layer.heads().iter().map(|head| HeadParameters {
        w_q: shuffled(&head.w_q),
        w_k: shuffled(&head.w_k),
        w_v: shuffled(&head.w_v),
    });
    LayerParameters::new(heads.collect(), layer.w_o().clone()).unwrap()
}

/// A claim, measured, with its three controls.
struct Measured {
    link: String,
    source: &'static str,
    head: usize,
    share: f64,
    /// The part of all word pairs whose best head gives as much.
    pairs: f64,
    /// The part of random layers whose best head gives as much on this very link.
    random: f64,
    /// The median over random layers of what the best head gives on this link.
    random_median: f64,
    /// The mean share that the other tokens give the key, in the same head.
    others: f64,
    /// The same without what the key gives itself, as chapter 4 has it.
    others_but_key: f64,
}

impl Measured {
    /// Rare among word pairs, rare among random layers, and twice what others give.
    fn passed(&self) -> usize {
        let passed =
            [self.pairs <= 0.05, self.random <= 0.05, self.share >= 2.0 * self.others];
        passed.into_iter().filter(|&it| it).count()
    }
}

fn measured() -> Vec<Measured> {
    let TrainedLayer { parameters, sentences } = trained();
    let all_maps = maps_of_all(&parameters, &sentences);
    let pairs = all_pairs(&all_maps, &sentences);
    let one = |&(source, name, queries, key): &(&'static str, &str, &[&str], &str)| {
        let nth = sentences.iter().position(|sentence| sentence.name == name).unwrap();
        let (sentence, maps) = (&sentences[nth], &all_maps[nth]);
        let (rows, column) = (all_at(sentence, queries), at(sentence, key));
        let (head, share) = best_head(maps, &rows, column);
        let in_random = RANDOM.iter().map(|maps| best_head(&maps[nth], &rows, column).1);
        let in_random: Vec<f64> = in_random.collect();
        let others = (0..sentence.tokens.len()).filter(|row| !rows.contains(row));
        let given = |row: usize| maps[head][(row, column)];
        Measured {
            link: format!("{} → {key}", queries.join(" ").replace(" ##", "")),
            source,
            head,
            share,
            pairs: reaching(&pairs, share),
            random: reaching(&in_random, share),
            random_median: median(in_random),
            others: mean(others.clone().map(given)),
            others_but_key: mean(others.filter(|&row| row != column).map(given)),
        }
    };
    CLAIMS.iter().map(one).collect()
}

#[test]
fn each_claimed_link_beside_its_controls() {
    let claims = measured();
    let mut table = format!(
        "{:<18} {:>6} {:>5} {:>6} {:>11} {:>11} {:>7} {:>7}\n",
        "link", "source", "head", "share", "word pairs", "random", "others", "passed"
    );
    let mut values = String::new();
    for claim in &claims {
        let twice = |others: f64| claim.share >= 2.0 * others;
        assert_eq!(twice(claim.others), twice(claim.others_but_key), "{}", claim.link);
        writeln!(
            table,
            "{:<18} {:>6} {:>5} {:>6} {:>11} {:>11} {:>7} {:>7}",
            claim.link,
            claim.source,
            claim.head,
            share(claim.share),
            percent(claim.pairs),
            percent(claim.random),
            share(claim.others),
            format!("{} of 3", claim.passed())
        )
        .unwrap();
        let name = claim.link.replace(" → ", "_").to_lowercase();
        writeln!(values, "{name}: {}", share(claim.share)).unwrap();
        writeln!(values, "{name}_head: {}", claim.head).unwrap();
        writeln!(values, "{name}_pairs: {}", percent(claim.pairs)).unwrap();
        writeln!(values, "{name}_random: {}", percent(claim.random)).unwrap();
        writeln!(values, "{name}_random_median: {}", share(claim.random_median)).unwrap();
        writeln!(values, "{name}_others: {}", share(claim.others)).unwrap();
    }
    for n in 0..=3 {
        let count = claims.iter().filter(|claim| claim.passed() == n);
        writeln!(values, "passed_{n}: {}", count.count()).unwrap();
    }
    writeln!(values, "claims: {}", claims.len()).unwrap();
    writeln!(values, "random_layers: {RANDOM_LAYERS}").unwrap();
    insta::assert_snapshot!("ch10_claims", table);
    insta::assert_snapshot!("ch10_claims_values", values);
}

#[test]
fn the_figure_of_the_claims_has_the_numbers_of_the_table() {
    let figure = lessons::draw("claimed-links", &Default::default()).unwrap();
    let rows = &figure.tables()[0].rows;
    for (row, claim) in rows.iter().zip(measured()) {
        let expected = [claim.share, claim.others].map(share);
        assert_eq!(
            [row[0].as_str(), &row[1], &row[2]],
            [&claim.link, &expected[0], &expected[1]]
        );
    }
    assert_eq!(rows.len(), CLAIMS.len());
}

#[test]
fn the_best_of_twelve_over_all_word_pairs() {
    let TrainedLayer { parameters, sentences } = trained();
    let pairs = all_pairs(&maps_of_all(&parameters, &sentences), &sentences);
    let of = |layers: &[Maps]| -> Vec<f64> {
        layers.iter().flat_map(|maps| all_pairs(maps, &sentences)).collect()
    };
    let shuffled = (0..SHUFFLED_LAYERS).map(|seed| shuffled_layer(&parameters, seed));
    let shuffled: Vec<Maps> =
        shuffled.map(|layer| maps_of_all(&layer, &sentences)).collect();
    let (random, shuffled) = (of(&RANDOM), of(&shuffled));
    let mut text = String::new();
    writeln!(text, "pairs: {}", pairs.len()).unwrap();
    writeln!(text, "shuffled_layers: {SHUFFLED_LAYERS}").unwrap();
    for (name, best) in
        [("trained", &pairs), ("random", &random), ("shuffled", &shuffled)]
    {
        writeln!(text, "{name}_median: {}", share(median(best.clone()))).unwrap();
        writeln!(text, "{name}_third: {}", percent(reaching(best, 1.0 / 3.0))).unwrap();
        writeln!(text, "{name}_half: {}", percent(reaching(best, 0.5))).unwrap();
    }
    writeln!(text, "largest: {}", share(pairs.iter().copied().fold(0.0, f64::max)))
        .unwrap();
    insta::assert_snapshot!("ch10_pairs", text);
}

#[test]
fn head_11_gives_animal_to_nearly_every_token() {
    let TrainedLayer { parameters, sentences } = trained();
    let mut text = String::new();
    for sentence in &sentences {
        let map = maps(&parameters, &sentence.input).swap_remove(11);
        let words: Vec<usize> =
            (0..map.ncols()).filter(|&key| is_word(&sentence.tokens[key])).collect();
        let column = |key: usize| mean(map.column(key).iter().copied());
        let most = |keys: &[usize], of: &dyn Fn(usize) -> f64| {
            keys.iter().copied().max_by(|&a, &b| of(a).total_cmp(&of(b))).unwrap()
        };
        let top = most(&words, &column);
        let led = (0..map.nrows())
            .filter(|&row| most(&words, &|key| map[(row, key)]) == top)
            .count();
        let name = sentence.name;
        writeln!(text, "{name}_word: {}", sentence.tokens[top]).unwrap();
        writeln!(text, "{name}_mean: {}", share(column(top))).unwrap();
        writeln!(text, "{name}_led: {led}").unwrap();
        writeln!(text, "{name}_tokens: {}", map.nrows()).unwrap();
    }
    let animal = trained();
    let animal = animal.sentence("animal_tired").unwrap();
    let map = &maps(&parameters, &animal.input)[11];
    for (name, query) in
        [("cls", "[CLS]"), ("the", "the"), ("was", "was"), ("itself", "animal")]
    {
        writeln!(text, "{name}_to_animal: {}", share(map[(at(animal, query), 2)]))
            .unwrap();
    }
    let rivers = trained();
    let rivers = rivers.sentence("river_banks").unwrap();
    let pieces = all_at(rivers, &["over", "##flow", "##ed"]);
    let sums = maps(&parameters, &rivers.input);
    let to_verb = |head: usize, row: usize| -> f64 {
        pieces.iter().map(|&piece| sums[head][(row, piece)]).sum()
    };
    let banks = at(rivers, "banks");
    let head =
        (0..sums.len()).max_by(|&a, &b| to_verb(a, banks).total_cmp(&to_verb(b, banks)));
    let head = head.unwrap();
    let others = (0..rivers.tokens.len()).filter(|&row| row != banks);
    let others = mean(others.map(|row| to_verb(head, row)));
    writeln!(text, "banks_overflowed: {}", share(to_verb(head, banks))).unwrap();
    writeln!(text, "banks_overflowed_head: {head}").unwrap();
    writeln!(text, "banks_overflowed_others: {}", share(others)).unwrap();
    let it = at(animal, "it");
    writeln!(text, "it_to_street: {}", share(map[(it, at(animal, "street"))])).unwrap();
    writeln!(text, "it_to_cls: {}", share(map[(it, 0)])).unwrap();
    insta::assert_snapshot!("ch10_topic", text);
}

/// What each token gets over all heads and queries, `[attention, written]`: the mean share,
/// and the mean part of the length of what is written, |share · v_j W_i^O|.
fn got(layer: &LayerParameters, x: &Matrix) -> [Vec<f64>; 2] {
    let n = x.nrows();
    let mut got = [vec![0.0; n], vec![0.0; n]];
    let passes = passes(layer, x);
    for (i, pass) in passes.iter().enumerate() {
        let lengths = lengths(layer, i, pass);
        let weight = 1.0 / (passes.len() * n) as f64;
        for row in pass.attn.row_iter() {
            let written: Vec<f64> =
                row.iter().zip(&lengths).map(|(a, l)| a * l).collect();
            let total: f64 = written.iter().sum();
            for j in 0..n {
                got[0][j] += weight * row[j];
                got[1][j] += weight * written[j] / total;
            }
        }
    }
    got
}

/// How long each token's value is once W_i^O has written it into the output.
fn lengths(layer: &LayerParameters, head: usize, pass: &HeadPass) -> Vec<f64> {
    let written = &pass.v * layer.w_o_of_head(head); // [n_tokens, d_model]
    written.row_iter().map(|row| row.norm()).collect()
}

#[test]
fn no_token_gets_more_attention_than_cls_and_none_has_a_shorter_value() {
    let TrainedLayer { parameters, sentences } = trained();
    let mut table = format!(
        "{:<22} {:>7} {:>7} {:>12} {:>6}   {:>10} {:>13}\n",
        "sentence",
        "[CLS]",
        "[SEP]",
        "punctuation",
        "words",
        "even share",
        "random [CLS]"
    );
    let (mut values, mut cls, mut written) = (String::new(), vec![], vec![]);
    for (nth, sentence) in sentences.iter().enumerate() {
        let tokens = &sentence.tokens;
        let [attention, length] = got(&parameters, &sentence.input);
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
        writeln!(
            table,
            "{:<22} {c:>7} {s:>7} {p:>12} {w:>6}   {:>10} {:>13}",
            sentence.name,
            share(1.0 / tokens.len() as f64),
            share(of_random)
        )
        .unwrap();
        let [c, s, p, w] = by_kind(&length).map(share);
        writeln!(table, "{:<22} {c:>7} {s:>7} {p:>12} {w:>6}", "  … of what is written")
            .unwrap();
        cls.push(attention[0]);
        written.push(length[0]);
    }
    let ends = |of: &[f64]| {
        let least = of.iter().copied().fold(f64::INFINITY, f64::min);
        [least, of.iter().copied().fold(0.0, f64::max)].map(percent)
    };
    let ([from, to], [w_from, w_to]) = (ends(&cls), ends(&written));
    writeln!(values, "cls_from: {from}\ncls_to: {to}").unwrap();
    writeln!(values, "cls_written_from: {w_from}\ncls_written_to: {w_to}").unwrap();
    let (mut of_cls, mut of_words) = (vec![], vec![]);
    let (mut cls_first, mut n_maps) = (0, 0);
    for sentence in &sentences {
        let mut of_tokens = vec![0.0; sentence.tokens.len()];
        for (i, pass) in passes(&parameters, &sentence.input).iter().enumerate() {
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
    writeln!(values, "cls_first: {cls_first}\nmaps: {n_maps}").unwrap();
    writeln!(values, "length_cls: {:.2}", mean(of_cls)).unwrap();
    writeln!(values, "length_words: {:.2}", mean(of_words)).unwrap();
    insta::assert_snapshot!("ch10_sinks", table);
    insta::assert_snapshot!("ch10_sinks_values", values);
}

#[test]
fn what_each_head_does_over_the_four_sentences() {
    let TrainedLayer { parameters, sentences } = trained();
    let mut rows: Vec<[f64; 6]> = vec![[0.0; 6]; parameters.heads().len()];
    for sentence in &sentences {
        let n = sentence.tokens.len();
        for (i, pass) in passes(&parameters, &sentence.input).iter().enumerate() {
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
    let mut table = format!(
        "{:<7} {:>7} {:>7} {:>13} {:>11} {:>9} {:>7}\n",
        "", "[CLS]", "itself", "token before", "token after", "evenness", "writes"
    );
    for (i, [cls, own, before, after, even, writes]) in rows.iter().enumerate() {
        let [cls, own, before, after] = [cls, own, before, after].map(|&it| share(it));
        writeln!(
            table,
            "head {i:>2} {cls:>7} {own:>7} {before:>13} {after:>11} {even:>9.2} {writes:>7.2}"
        )
        .unwrap();
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
    let mut values = format!("even_share: {}\n", share(even_share));
    for (name, column) in [("before", 2), ("after", 3)] {
        let (head, most) = most(column);
        writeln!(values, "most_{name}: {}\nmost_{name}_head: {head}", share(most))
            .unwrap();
    }
    for (name, column) in [("even", 4), ("writes", 5)] {
        let (head, most) = most(column);
        writeln!(values, "most_{name}: {most:.2}\nmost_{name}_head: {head}").unwrap();
    }
    insta::assert_snapshot!("ch10_heads", table);
    insta::assert_snapshot!("ch10_heads_values", values);
}

#[test]
fn no_stage_knows_the_order_of_the_tokens() {
    let TrainedLayer { parameters, sentences } = trained();
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

/// W^Q, W^K and W^V taken as if the file stored them `[in, out]`.
fn turned_wrongly(layer: &LayerParameters) -> LayerParameters {
    let fused = layer.pack();
    let d_k = layer.dims().d_k();
    let block = |wide: &Linear, i: usize| {
        let weight = wide.weight.transpose().columns(i * d_k, d_k).into_owned();
        let bias = wide.bias.as_ref().map(|bias| bias.columns(i * d_k, d_k).into_owned());
        Linear::new(weight, bias).unwrap()
    };
    let heads = (0..layer.heads().len()).map(|i| HeadParameters {
        w_q: block(fused.w_q(), i),
        w_k: block(fused.w_k(), i),
        w_v: block(fused.w_v(), i),
    });
    LayerParameters::new(heads.collect(), layer.w_o().clone()).unwrap()
}

#[test]
fn square_matrices_the_wrong_way_round_give_maps_that_look_right() {
    let TrainedLayer { parameters, sentences } = trained();
    let wrong = turned_wrongly(&parameters);
    let animal = sentences.iter().find(|s| s.name == "animal_tired").unwrap();
    let (mut largest, mut rows) = (0f64, 0f64);
    for sentence in &sentences {
        let maps = maps(&wrong, &sentence.input);
        for (map, reference) in maps.iter().zip(&sentence.attn) {
            largest = largest.max(max_abs_diff(map, reference).unwrap());
            rows = map.row_iter().map(|row| (row.sum() - 1.0).abs()).fold(rows, f64::max);
        }
    }
    assert!(rows < 1e-12, "rows sum to 1 within {rows}");
    assert_eq!(wrong.count(), parameters.count());
    let right = passes(&parameters, &animal.input);
    let maps = maps(&wrong, &animal.input);
    let (head, best) = best_head(&maps, &[at(animal, "it")], at(animal, "animal"));
    let dims = parameters.dims();
    let text = [
        format!("d_model: {}", dims.d_model()),
        format!("n_heads: {}", dims.n_heads()),
        format!("d_k: {}", dims.d_k()),
        format!("parameters: {}", thousands(parameters.count().total())),
        format!("map_difference: {}", share(largest)),
        format!("it_animal_wrong: {}", share(best)),
        format!("it_animal_wrong_head: {head}"),
        format!("map_shape: {:?}", right[0].attn.shape()),
        "reference_tolerance: 0.000005".to_string(),
    ];
    insta::assert_snapshot!("ch10_turned", text.join("\n"));
}
