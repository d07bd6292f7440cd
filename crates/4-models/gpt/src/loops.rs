//! Loops over numbers, and every gradient by hand.
//!
//! The tape is gone. It remembered, for each number, what a gradient is multiplied by in the
//! backward pass. Written out once per step of the model, the same products are loops, and what
//! they need is kept by name. Only GELU and its slope are taken from `block`.

use block::Activation::GeluTanh;

use crate::Architecture;
use crate::scalars::{D_K, D_MODEL, N_HEADS, N_LETTERS};

/// What the backward pass needs of one letter of a name.
struct Letter {
    id: usize,
    norm_1: Normed,
    q: Vec<f64>,
    k: Vec<f64>,
    v: Vec<f64>,
    /// For each head, the weights on the letters up to this one.
    attn: Vec<Vec<f64>>,
    heads: Vec<f64>,
    norm_2: Normed,
    hidden: Vec<f64>,
    activated: Vec<f64>,
    last_norm: Normed,
    /// Of each letter, the chance that it comes next.
    chances: Vec<f64>,
}

/// What came out of a norm, before its gain and bias and behind them.
struct Normed {
    plain: Vec<f64>,
    scale: f64,
    out: Vec<f64>,
}

/// The loss of some names, and the gradient of each parameter.
pub(crate) fn gradients(parameters: &[f64], names: &[Vec<usize>]) -> (f64, Vec<f64>) {
    let n_letters = names.iter().map(|name| name.len() - 1).sum::<usize>() as f64;
    let mut gradients = vec![0.0; parameters.len()];
    let mut loss = 0.0;
    for name in names {
        let letters = forward(parameters, &name[..name.len() - 1]);
        for (letter, &target) in letters.iter().zip(&name[1..]) {
            loss -= letter.chances[target].ln();
        }
        backward(parameters, &letters, &name[1..], 1.0 / n_letters, &mut gradients);
    }
    (loss / n_letters, gradients)
}

fn forward(parameters: &[f64], ids: &[usize]) -> Vec<Letter> {
    let ([letters, positions], pairs) = pairs(Architecture::SMALL.cut(parameters));
    let [norm_1, w_q, w_k, w_v, w_o, norm_2, w_1, w_2, last_norm] = pairs;
    let mut passed: Vec<Letter> = Vec::new();
    for (position, &id) in ids.iter().enumerate() {
        let x = sum(row(letters, id), row(positions, position));
        let norm_1 = norm(&x, norm_1);
        let [q, k, v] = [w_q, w_k, w_v].map(|w| linear(&norm_1.out, w));
        let read = passed.iter().map(|it| [&it.k[..], &it.v]).chain([[&k[..], &v]]);
        let (attn, heads) = attend(&q, &read.collect::<Vec<_>>());
        let x = sum(&x, &linear(&heads, w_o));

        let norm_2 = norm(&x, norm_2);
        let hidden = linear(&norm_2.out, w_1);
        let activated: Vec<f64> = hidden.iter().map(|&x| GeluTanh.of(x)).collect();
        let x = sum(&x, &linear(&activated, w_2));

        let last_norm = norm(&x, last_norm);
        let logit = |letter: usize| dot(&last_norm.out, row(letters, letter));
        let chances = softmax(&(0..N_LETTERS).map(logit).collect::<Vec<_>>());
        passed.push(Letter {
            id,
            norm_1,
            q,
            k,
            v,
            attn,
            heads,
            norm_2,
            hidden,
            activated,
            last_norm,
            chances,
        });
    }
    passed
}

/// The weights of each head on the keys so far, and the heads' outputs side by side.
fn attend(q: &[f64], read: &[[&[f64]; 2]]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut heads = vec![0.0; D_MODEL];
    let attn = (0..N_HEADS).map(|i| {
        let own = i * D_K..(i + 1) * D_K;
        let score = |[k, _]: &[&[f64]; 2]| dot(&q[own.clone()], &k[own.clone()]);
        let scores = read.iter().map(|pair| score(pair) / (D_K as f64).sqrt());
        let attn = softmax(&scores.collect::<Vec<_>>());
        for (weight, [_, v]) in attn.iter().zip(read) {
            add_times(&mut heads[own.clone()], &v[own.clone()], *weight);
        }
        attn
    });
    (attn.collect(), heads)
}

/// Adds the gradients of one name, from the last letter to the first: a key and a value are
/// used by later letters too, so theirs are whole when their own letter's turn comes.
fn backward(
    parameters: &[f64],
    passed: &[Letter],
    targets: &[usize],
    per_letter: f64,
    gradients: &mut [f64],
) {
    let ([letters, _], pairs) = pairs(Architecture::SMALL.cut(parameters));
    let [norm_1, w_q, w_k, w_v, w_o, norm_2, w_1, w_2, last_norm] = pairs;
    let ([d_letters, d_positions], mut d) =
        self::pairs(Architecture::SMALL.cut_mut(gradients));
    let [d_norm_1, d_w_q, d_w_k, d_w_v, d_w_o, d_norm_2, d_w_1, d_w_2, d_last] = &mut d;
    let mut d_k = vec![vec![0.0; D_MODEL]; passed.len()];
    let mut d_v = d_k.clone();
    for (position, letter) in passed.iter().enumerate().rev() {
        let mut d_out = vec![0.0; D_MODEL];
        for (id, chance) in letter.chances.iter().enumerate() {
            let came = f64::from(u8::from(id == targets[position]));
            let d_logit = (chance - came) * per_letter;
            add_times(&mut d_out, row(letters, id), d_logit);
            add_times(row_mut(d_letters, id), &letter.last_norm.out, d_logit);
        }
        let mut d_x = norm_backward(&letter.last_norm, last_norm, &d_out, d_last);

        let d_activated = linear_backward(&letter.activated, w_2, &d_x, d_w_2);
        let slopes = letter.hidden.iter().map(|&x| GeluTanh.slope(x));
        let d_hidden: Vec<f64> =
            d_activated.iter().zip(slopes).map(|(d, s)| d * s).collect();
        let d_normed = linear_backward(&letter.norm_2.out, w_1, &d_hidden, d_w_1);
        let d_norm = norm_backward(&letter.norm_2, norm_2, &d_normed, d_norm_2);
        add_times(&mut d_x, &d_norm, 1.0);

        let d_heads = linear_backward(&letter.heads, w_o, &d_x, d_w_o);
        let d_q =
            attend_backward(letter, &passed[..=position], &d_heads, [&mut d_k, &mut d_v]);
        let normed = &letter.norm_1.out;
        let mut d_normed = linear_backward(normed, w_q, &d_q, d_w_q);
        let of_k = linear_backward(normed, w_k, &d_k[position], d_w_k);
        let of_v = linear_backward(normed, w_v, &d_v[position], d_w_v);
        add_times(&mut d_normed, &sum(&of_k, &of_v), 1.0);
        let d_norm = norm_backward(&letter.norm_1, norm_1, &d_normed, d_norm_1);
        add_times(&mut d_x, &d_norm, 1.0);

        add_times(row_mut(d_letters, letter.id), &d_x, 1.0);
        add_times(row_mut(d_positions, position), &d_x, 1.0);
    }
}

/// The gradient of a letter's query; those of the keys and values that it read are added.
fn attend_backward(
    letter: &Letter,
    read: &[Letter],
    d_heads: &[f64],
    [d_k, d_v]: [&mut Vec<Vec<f64>>; 2],
) -> Vec<f64> {
    let mut d_q = vec![0.0; D_MODEL];
    for (i, attn) in letter.attn.iter().enumerate() {
        let own = i * D_K..(i + 1) * D_K;
        let d_head = &d_heads[own.clone()];
        let d_attn: Vec<f64> =
            read.iter().map(|it| dot(d_head, &it.v[own.clone()])).collect();
        let mean = dot(attn, &d_attn);
        for (s, it) in read.iter().enumerate() {
            let d_score = attn[s] * (d_attn[s] - mean) / (D_K as f64).sqrt();
            add_times(&mut d_v[s][own.clone()], d_head, attn[s]);
            add_times(&mut d_q[own.clone()], &it.k[own.clone()], d_score);
            add_times(&mut d_k[s][own.clone()], &letter.q[own.clone()], d_score);
        }
    }
    d_q
}

/// What comes in pairs, behind the two embeddings: a weight or a gain, and a bias.
fn pairs<T>(parts: Vec<T>) -> ([T; 2], [[T; 2]; 9]) {
    let mut parts = parts.into_iter();
    let mut pair = || [(); 2].map(|()| parts.next().expect("twenty parts"));
    (pair(), [(); 9].map(|()| pair()))
}

/// `x · W + b`.
fn linear(x: &[f64], [w, b]: [&[f64]; 2]) -> Vec<f64> {
    let mut y = b.to_vec();
    for (x, row) in x.iter().zip(w.chunks(b.len())) {
        add_times(&mut y, row, *x);
    }
    y
}

/// The gradient of x; those of W and b are added.
fn linear_backward(
    x: &[f64],
    [w, _]: [&[f64]; 2],
    d_y: &[f64],
    [d_w, d_b]: &mut [&mut [f64]; 2],
) -> Vec<f64> {
    add_times(d_b, d_y, 1.0);
    for (x, d_row) in x.iter().zip(d_w.chunks_mut(d_y.len())) {
        add_times(d_row, d_y, *x);
    }
    w.chunks(d_y.len()).map(|row| dot(row, d_y)).collect()
}

fn norm(x: &[f64], [gain, bias]: [&[f64]; 2]) -> Normed {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    let scale = 1.0 / (variance + 1e-5).sqrt();
    let plain: Vec<f64> = x.iter().map(|x| (x - mean) * scale).collect();
    let out = plain.iter().zip(gain).zip(bias).map(|((x, gain), bias)| x * gain + bias);
    Normed { out: out.collect(), plain, scale }
}

/// The gradient of what was normed: what would change its mean or its scale is taken off.
fn norm_backward(
    normed: &Normed,
    [gain, _]: [&[f64]; 2],
    d_out: &[f64],
    [d_gain, d_bias]: &mut [&mut [f64]; 2],
) -> Vec<f64> {
    let n = gain.len() as f64;
    let d_plain: Vec<f64> = d_out.iter().zip(gain).map(|(d, gain)| d * gain).collect();
    let (mean, along) =
        (d_plain.iter().sum::<f64>() / n, dot(&d_plain, &normed.plain) / n);
    for (j, d) in d_out.iter().enumerate() {
        d_gain[j] += d * normed.plain[j];
        d_bias[j] += d;
    }
    let d_x = d_plain.iter().zip(&normed.plain);
    d_x.map(|(d, x)| (d - mean - x * along) * normed.scale).collect()
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

fn row(table: &[f64], i: usize) -> &[f64] {
    &table[i * D_MODEL..(i + 1) * D_MODEL]
}

fn row_mut(table: &mut [f64], i: usize) -> &mut [f64] {
    &mut table[i * D_MODEL..(i + 1) * D_MODEL]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// `a += factor · b`.
fn add_times(a: &mut [f64], b: &[f64], factor: f64) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}
