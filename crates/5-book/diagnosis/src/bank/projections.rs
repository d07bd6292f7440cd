//! q, k and v, and their biases.

use crate::recipe::{Activation, MixingProduct, Product, Recipe, Role};

const fn all_products(r: &mut Recipe, product: Product) {
    r.projections[0].product = product;
    r.projections[1].product = product;
    r.projections[2].product = product;
}

const fn all_biases(r: &mut Recipe, times: u8) {
    r.projections[0].bias = times;
    r.projections[1].bias = times;
    r.projections[2].bias = times;
}

mistakes! {
    Projections, "no-weight-transposed", [Output], |r| {
        all_products(r, Product::Transposed);
        r.mixing.product = MixingProduct::Transposed;
    };
    Projections, "qkv-not-transposed", [], |r| all_products(r, Product::Transposed);
    Projections, "q-not-transposed", [],
        |r| r.projections[0].product = Product::Transposed;
    Projections, "k-not-transposed", [],
        |r| r.projections[1].product = Product::Transposed;
    Projections, "v-not-transposed", [],
        |r| r.projections[2].product = Product::Transposed;
    Projections, "biases-left-out", [Bias, OutputBias], |r| {
        all_biases(r, 0);
        r.mixing.bias = 0;
    };
    Projections, "qkv-biases-left-out", [Bias], |r| all_biases(r, 0);
    Projections, "q-bias-left-out", [Bias], |r| r.projections[0].bias = 0;
    Projections, "k-bias-left-out", [Bias], |r| r.projections[1].bias = 0;
    Projections, "v-bias-left-out", [Bias], |r| r.projections[2].bias = 0;
    Projections, "biases-twice", [Bias], |r| all_biases(r, 2);
    Projections, "q-k-exchanged", [], |r| {
        r.projections[0].weight = Role::Key;
        r.projections[1].weight = Role::Query;
    };
    Projections, "k-v-exchanged", [], |r| {
        r.projections[1].weight = Role::Value;
        r.projections[2].weight = Role::Key;
    };
    Projections, "q-v-exchanged", [], |r| {
        r.projections[0].weight = Role::Value;
        r.projections[2].weight = Role::Query;
    };
    Projections, "one-weight-for-all", [], |r| {
        r.projections[0].weight = Role::Key;
        r.projections[2].weight = Role::Key;
    };
    Projections, "q-used-for-all", [], |r| {
        r.projections[1].weight = Role::Query;
        r.projections[2].weight = Role::Query;
    };
    Projections, "k-used-for-v", [], |r| r.projections[2].weight = Role::Key;
    Projections, "q-used-for-k", [], |r| r.projections[1].weight = Role::Query;
    Projections, "v-used-for-k", [], |r| r.projections[1].weight = Role::Value;
    Projections, "k-used-for-q", [], |r| r.projections[0].weight = Role::Key;
    Projections, "v-used-for-q", [] alone, |r| r.projections[0].weight = Role::Value;
    Projections, "q-used-for-v", [] alone, |r| r.projections[2].weight = Role::Query;
    Projections, "q-not-projected", [] alone,
        |r| r.projections[0].product = Product::None;
    Projections, "v-not-projected", [], |r| r.projections[2].product = Product::None;
    Projections, "nothing-projected", [], |r| all_products(r, Product::None);
    Projections, "input-sliced", [Heads], |r| all_products(r, Product::Slices);
    Projections, "projected-twice", [], |r| all_products(r, Product::Twice);
    Projections, "relu-on-projections", [], |r| r.activation = Activation::Projections;
    Projections, "relu-on-all", [], |r| r.activation = Activation::All;
}
