//! Axes, which input is which, which columns of a packed W are whose, and q, k and v with
//! their biases.

choice! {
    /// Which axis of the input the sequences lie along.
    axes: Axes at Inputs {
        Meant;
        Exchanged = "batch-axis", [Batch]; // tokens of one place attend to each other
    }
}

choice! {
    /// How the columns of a packed W are given to q, k and v.
    #[derive(Default)]
    packing: Packing at Packing {
        Meant; // as the layer's maker packed it
        #[default]
        Blocks = "packed-in-blocks", [PackedByHeads]; // `(3, h, d_k)`: all of q, of k, of v
        HeadByHead = "packed-head-by-head", [PackedInBlocks]; // `(h, 3, d_k)`
        Features = "packed-by-features", [Packed]; // `(h, d_k, 3)`
        KeyFirst = "packed-k-v-q", [Packed];
        ValueFirst = "packed-v-q-k", [Packed];
        ValueSecond = "packed-q-v-k", [Packed];
        KeyThenQuery = "packed-k-q-v", [Packed];
    }
}

/// A projection's weight, or what goes into it.
#[allow(missing_docs)] // their names say all
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    Query,
    Key,
    Value,
}

impl Role {
    mistakes! { at Inputs:
        "keys-from-query", [Cross], |r| r.inputs(Role::Query, Role::Query);
        "only-keys-from-query", [Cross], |r| r.projections[1].input = Role::Query;
        "values-from-query", [Cross], |r| r.projections[2].input = Role::Query;
        "key-and-value-inputs", [Cross], |r| r.inputs(Role::Value, Role::Key);
        "values-from-keys", [Cross], |r| r.projections[2].input = Role::Key;
        "queries-from-keys", [Cross], |r| r.projections[0].input = Role::Key;
    }
}

/// How q, k or v is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Projection {
    /// Which input is projected.
    pub input: Role,
    /// By which weight and bias.
    pub weight: Role,
    /// How the weight is multiplied.
    pub product: Product,
    /// How often the bias is added.
    pub bias: u8,
}

impl Projection {
    /// Those of q, k and v as they were meant.
    pub const RIGHT: [Self; 3] =
        [Self::of(Role::Query), Self::of(Role::Key), Self::of(Role::Value)];

    const fn of(role: Role) -> Self {
        Self { input: role, weight: role, product: Product::Meant, bias: 1 }
    }
}

/// How a weight is multiplied: W^Q, W^K or W^V with an input, or W^O with the merged heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Product {
    /// `x W`.
    Meant,
    /// `x Wᵀ`.
    Transposed,
    /// Not at all, its bias left out with it: x stays as it is.
    None,
    /// Each head reads only the slice of x that is as wide as it.
    Slices,
    /// Twice, with its bias.
    Twice,
    /// Every merged head by the rows of W^O that are the first's.
    FirstBlock,
}

mistakes! { at Projections:
    "no-weight-transposed", [Output], |r| {
        r.all_products(Product::Transposed);
        r.mixing.product = Product::Transposed;
    };
    "qkv-not-transposed", [], |r| r.all_products(Product::Transposed);
    "q-not-transposed", [], |r| r.projections[0].product = Product::Transposed;
    "k-not-transposed", [], |r| r.projections[1].product = Product::Transposed;
    "v-not-transposed", [], |r| r.projections[2].product = Product::Transposed;
    "biases-left-out", [Bias, OutputBias], |r| {
        r.all_biases(0);
        r.mixing.bias = 0;
    };
    "qkv-biases-left-out", [Bias], |r| r.all_biases(0);
    "q-bias-left-out", [Bias], |r| r.projections[0].bias = 0;
    "k-bias-left-out", [Bias], |r| r.projections[1].bias = 0;
    "v-bias-left-out", [Bias], |r| r.projections[2].bias = 0;
    "biases-twice", [Bias], |r| r.all_biases(2);
    "q-k-exchanged", [], |r| r.weights([(0, Role::Key), (1, Role::Query)]);
    "k-v-exchanged", [], |r| r.weights([(1, Role::Value), (2, Role::Key)]);
    "q-v-exchanged", [], |r| r.weights([(0, Role::Value), (2, Role::Query)]);
    "one-weight-for-all", [], |r| r.weights([(0, Role::Key), (2, Role::Key)]);
    "q-used-for-all", [], |r| r.weights([(1, Role::Query), (2, Role::Query)]);
    "k-used-for-v", [], |r| r.projections[2].weight = Role::Key;
    "q-used-for-k", [], |r| r.projections[1].weight = Role::Query;
    "v-used-for-k", [], |r| r.projections[1].weight = Role::Value;
    "k-used-for-q", [], |r| r.projections[0].weight = Role::Key;
    "v-used-for-q", [] alone, |r| r.projections[0].weight = Role::Value;
    "q-used-for-v", [] alone, |r| r.projections[2].weight = Role::Query;
    "q-not-projected", [] alone, |r| r.projections[0].product = Product::None;
    "v-not-projected", [], |r| r.projections[2].product = Product::None;
    "nothing-projected", [], |r| r.all_products(Product::None);
    "input-sliced", [Heads], |r| r.all_products(Product::Slices);
    "projected-twice", [], |r| r.all_products(Product::Twice);
    "relu-on-projections", [], |r| r.relu = true;
    "relu-on-all", [], |r| (r.relu, r.relu_on_output) = (true, true);
}
