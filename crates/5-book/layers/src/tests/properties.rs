//! Simple things that hold for every right layer. Each is a test, and none is enough.

use attention::{Attended, Dims, LayerParameters, Mask, Matrix, max_abs_diff};

use crate::right::RIGHT;
use crate::{Layer, random_layer, random_tokens};
use exercises::inputs::random as inputs;

/// A test, and what it asks.
pub struct Property {
    /// What it asks: `every row of a map sums to 1`.
    pub name: &'static str,
    /// The test.
    pub test: fn(&Layer),
}

/// From nothing to nearly enough.
pub const PROPERTIES: [Property; 12] = [
    Property { name: "nothing is asked", test: |_| {} },
    Property {
        name: "nothing is good enough",
        test: |_| panic!("I believe in no layer"),
    },
    Property { name: "the same as the loops to twelve digits", test: to_twelve_digits },
    Property { name: "shapes, where all sizes are equal", test: shapes_where_equal },
    Property { name: "shapes, where all sizes differ", test: shapes_where_different },
    Property { name: "every row of a map sums to 1", test: rows_add_up },
    Property { name: "a blocked key gets 0, and a row sums to 1 or is 0", test: masks },
    Property {
        name: "keys and values in another order, the same output",
        test: key_order,
    },
    Property {
        name: "queries in another order, outputs in that order",
        test: query_order,
    },
    Property { name: "a head that W^O does not read changes nothing", test: unread_head },
    Property { name: "with one key, the output is its value through W^O", test: one_key },
    Property { name: "the output is what the maps say", test: output_from_maps },
];

fn to_twelve_digits(layer: &Layer) {
    let given = Given::new(SIZES);
    let (found, expected) = (given.to(layer), given.to(&RIGHT[0].layer));
    assert!(found.max_abs_diff(&expected).unwrap() < 1e-12, "not the same numbers");
}

fn shapes_where_equal(layer: &Layer) {
    let w = random_layer(inputs::dims(6, 2, 3, 3), 1);
    let x = random_tokens(4, 6, 2);
    let Attended { out, attn } = layer(&w, &x, &x, &x, &Mask::None);
    assert_eq!((out.shape(), attn.len()), ((4, 6), 2));
    assert!(attn.iter().all(|map| map.shape() == (4, 4)));
}

fn shapes_where_different(layer: &Layer) {
    let given = Given::new(SIZES);
    let Attended { out, attn } = given.to(layer);
    assert_eq!((out.shape(), attn.len()), ((4, 7), 3));
    assert!(attn.iter().all(|map| map.shape() == (4, 6)));
}

fn rows_add_up(layer: &Layer) {
    for map in Given::new(SIZES).to(layer).attn {
        for row in map.row_iter() {
            assert_near(row.sum(), 1.0);
        }
    }
}

fn masks(layer: &Layer) {
    let mut given = Given::new(SIZES);
    given.mask =
        Mask::PerHead(vec![Mask::Causal, Mask::FirstKeys(4), Mask::FirstKeys(0)]);
    for (i, map) in given.to(layer).attn.iter().enumerate() {
        for (query, row) in map.row_iter().enumerate() {
            let open = |key| given.mask.of_head(i).added((query, key), (4, 6)).is_some();
            for key in (0..6).filter(|&key| !open(key)) {
                assert_near(row[key], 0.0);
            }
            assert_near(row.sum(), if (0..6).any(open) { 1.0 } else { 0.0 });
        }
    }
}

fn key_order(layer: &Layer) {
    let mut given = Given::new(SIZES);
    let before = given.to(layer).out;
    (given.key, given.value) = (reversed(&given.key), reversed(&given.value));
    assert_same(&given.to(layer).out, &before);
}

fn query_order(layer: &Layer) {
    let mut given = Given::new(SIZES);
    let before = given.to(layer).out;
    given.query = reversed(&given.query);
    assert_same(&given.to(layer).out, &reversed(&before));
}

fn unread_head(layer: &Layer) {
    let mut given = Given::new(SIZES);
    let (mut heads, mut w_o) = (given.w.heads().to_vec(), given.w.w_o().clone());
    w_o.weight.rows_mut(5, 5).fill(0.0); // W_1^O
    given.w = LayerParameters::new(heads.clone(), w_o.clone()).unwrap();
    let before = given.to(layer).out;
    heads[1].w_v.weight.fill(7.0);
    given.w = LayerParameters::new(heads, w_o).unwrap();
    assert_same(&given.to(layer).out, &before);
}

fn one_key(layer: &Layer) {
    let mut given = Given::new(SIZES);
    (given.key, given.value) = (random_tokens(1, 7, 5), random_tokens(1, 7, 6));
    let certain = vec![Matrix::from_element(4, 1, 1.0); 3];
    assert_same(&given.to(layer).out, &given.output_of(&certain));
}

fn output_from_maps(layer: &Layer) {
    let given = Given::new(SIZES);
    let Attended { out, attn } = given.to(layer);
    assert_same(&out, &given.output_of(&attn));
}

/// d_model, heads, d_k and d_v, all different; there are 4 queries and 6 keys.
const SIZES: [usize; 4] = [7, 3, 4, 5];

/// What a layer is given.
struct Given {
    w: LayerParameters,
    query: Matrix,
    key: Matrix,
    value: Matrix,
    mask: Mask,
}

impl Given {
    fn new([d_model, h, d_k, d_v]: [usize; 4]) -> Self {
        let tokens = |n, seed| random_tokens(n, d_model, seed);
        let dims: Dims = inputs::dims(d_model, h, d_k, d_v);
        let (query, key, value) = (tokens(4, 2), tokens(6, 3), tokens(6, 4));
        Self { w: random_layer(dims, 1), query, key, value, mask: Mask::None }
    }

    fn to(&self, layer: &Layer) -> Attended {
        layer(&self.w, &self.query, &self.key, &self.value, &self.mask)
    }

    /// `Σ_i attn_i V_i W_i^O + b^O`, whatever the maps are.
    fn output_of(&self, attn: &[Matrix]) -> Matrix {
        let mut out = Matrix::zeros(4, 7);
        for (i, head) in self.w.heads().iter().enumerate() {
            out +=
                &attn[i] * head.w_v.forward(&self.value).unwrap() * self.w.w_o_of_head(i);
        }
        let b_o = self.w.w_o().bias.clone().unwrap();
        out.row_iter_mut().for_each(|mut token| token += &b_o);
        out
    }
}

fn reversed(x: &Matrix) -> Matrix {
    Matrix::from_fn(x.nrows(), x.ncols(), |i, c| x[(x.nrows() - 1 - i, c)])
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-5, "{found} and not {expected}");
}

fn assert_same(found: &Matrix, expected: &Matrix) {
    let diff = max_abs_diff(found, expected).unwrap();
    assert!(diff < 1e-5, "{diff} apart");
}

/// A test that passes: on one input that is mean enough, the same numbers as the loops.
pub fn agrees_with_the_loops(layer: &Layer) {
    let w = random_layer(inputs::dims(7, 3, 4, 5), 1);
    let (query, key, value) =
        (random_tokens(4, 7, 2), random_tokens(6, 7, 3), random_tokens(6, 7, 4));
    let mask = Mask::PerHead(vec![Mask::None, Mask::Causal, Mask::FirstKeys(0)]);
    let found = layer(&w, &query, &key, &value, &mask);
    let expected = (RIGHT[0].layer)(&w, &query, &key, &value, &mask);
    assert!(max_abs_diff(&found.out, &expected.out).unwrap_or(1.0) < 1e-5);
    for (found, expected) in found.attn.iter().zip(&expected.attn) {
        assert!(max_abs_diff(found, expected).unwrap_or(1.0) < 1e-5);
    }
}
