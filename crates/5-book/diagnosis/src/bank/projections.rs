//! q, k and v, and their biases.

use crate::Mistake;
use crate::mistake::Need;
use crate::recipe::{Activation, MixingProduct, Product, Recipe, Role};
use crate::step::Step;

const fn all_products(r: &mut Recipe, product: Product) {
    r.projections[0].product = product;
    r.projections[1].product = product;
    r.projections[2].product = product;
}

const fn no_bias(r: &mut Recipe) {
    r.projections[0].bias = 0;
    r.projections[1].bias = 0;
    r.projections[2].bias = 0;
}

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake::new("no-weight-transposed", Step::Projections, |r| {
        all_products(r, Product::Transposed);
        r.mixing.product = MixingProduct::Transposed;
    })
    .needs(&[Need::Output]),
    Mistake::new("qkv-not-transposed", Step::Projections, |r| {
        all_products(r, Product::Transposed);
    }),
    Mistake::new("q-not-transposed", Step::Projections, |r| {
        r.projections[0].product = Product::Transposed;
    }),
    Mistake::new("k-not-transposed", Step::Projections, |r| {
        r.projections[1].product = Product::Transposed;
    }),
    Mistake::new("v-not-transposed", Step::Projections, |r| {
        r.projections[2].product = Product::Transposed;
    }),
    Mistake::new("biases-left-out", Step::Projections, |r| {
        no_bias(r);
        r.mixing.bias = 0;
    })
    .needs(&[Need::Bias, Need::OutputBias]),
    Mistake::new("qkv-biases-left-out", Step::Projections, no_bias).needs(&[Need::Bias]),
    Mistake::new("q-bias-left-out", Step::Projections, |r| {
        r.projections[0].bias = 0;
    })
    .needs(&[Need::Bias]),
    Mistake::new("k-bias-left-out", Step::Projections, |r| {
        r.projections[1].bias = 0;
    })
    .needs(&[Need::Bias]),
    Mistake::new("v-bias-left-out", Step::Projections, |r| {
        r.projections[2].bias = 0;
    })
    .needs(&[Need::Bias]),
    Mistake::new("biases-twice", Step::Projections, |r| {
        r.projections[0].bias = 2;
        r.projections[1].bias = 2;
        r.projections[2].bias = 2;
    })
    .needs(&[Need::Bias]),
    Mistake::new("q-k-exchanged", Step::Projections, |r| {
        r.projections[0].weight = Role::Key;
        r.projections[1].weight = Role::Query;
    }),
    Mistake::new("k-v-exchanged", Step::Projections, |r| {
        r.projections[1].weight = Role::Value;
        r.projections[2].weight = Role::Key;
    }),
    Mistake::new("q-v-exchanged", Step::Projections, |r| {
        r.projections[0].weight = Role::Value;
        r.projections[2].weight = Role::Query;
    }),
    Mistake::new("one-weight-for-all", Step::Projections, |r| {
        r.projections[0].weight = Role::Key;
        r.projections[2].weight = Role::Key;
    }),
    Mistake::new("q-used-for-all", Step::Projections, |r| {
        r.projections[1].weight = Role::Query;
        r.projections[2].weight = Role::Query;
    }),
    Mistake::new("k-used-for-v", Step::Projections, |r| {
        r.projections[2].weight = Role::Key;
    }),
    Mistake::new("q-used-for-k", Step::Projections, |r| {
        r.projections[1].weight = Role::Query;
    }),
    Mistake::new("v-used-for-k", Step::Projections, |r| {
        r.projections[1].weight = Role::Value
    }),
    Mistake::new("k-used-for-q", Step::Projections, |r| {
        r.projections[0].weight = Role::Key
    }),
    Mistake::new("v-used-for-q", Step::Projections, |r| {
        r.projections[0].weight = Role::Value
    })
    .alone(),
    Mistake::new("q-used-for-v", Step::Projections, |r| {
        r.projections[2].weight = Role::Query
    })
    .alone(),
    Mistake::new("q-not-projected", Step::Projections, |r| {
        r.projections[0].product = Product::None
    })
    .alone(),
    Mistake::new("v-not-projected", Step::Projections, |r| {
        r.projections[2].product = Product::None;
    }),
    Mistake::new("nothing-projected", Step::Projections, |r| {
        all_products(r, Product::None);
    }),
    Mistake::new("input-sliced", Step::Projections, |r| {
        all_products(r, Product::Slices);
    })
    .needs(&[Need::Heads]),
    Mistake::new("projected-twice", Step::Projections, |r| {
        all_products(r, Product::Twice);
    }),
    Mistake::new("relu-on-projections", Step::Projections, |r| {
        r.activation = Activation::Projections;
    }),
    Mistake::new("relu-on-all", Step::Projections, |r| {
        r.activation = Activation::All;
    }),
];
