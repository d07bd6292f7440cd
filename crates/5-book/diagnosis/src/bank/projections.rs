//! Which columns of a packed W are whose, and q, k and v with their biases.

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

mistakes! {
    Projections, "no-weight-transposed", [Output], |r| {
        r.all_products(Product::Transposed);
        r.mixing.product = Product::Transposed;
    };
    Projections, "qkv-not-transposed", [], |r| r.all_products(Product::Transposed);
    Projections, "q-not-transposed", [],
        |r| r.projections[0].product = Product::Transposed;
    Projections, "k-not-transposed", [],
        |r| r.projections[1].product = Product::Transposed;
    Projections, "v-not-transposed", [],
        |r| r.projections[2].product = Product::Transposed;
    Projections, "biases-left-out", [Bias, OutputBias], |r| {
        r.all_biases(0);
        r.mixing.bias = 0;
    };
    Projections, "qkv-biases-left-out", [Bias], |r| r.all_biases(0);
    Projections, "q-bias-left-out", [Bias], |r| r.projections[0].bias = 0;
    Projections, "k-bias-left-out", [Bias], |r| r.projections[1].bias = 0;
    Projections, "v-bias-left-out", [Bias], |r| r.projections[2].bias = 0;
    Projections, "biases-twice", [Bias], |r| r.all_biases(2);
    Projections, "q-k-exchanged", [], |r| r.weights([(0, Role::Key), (1, Role::Query)]);
    Projections, "k-v-exchanged", [], |r| r.weights([(1, Role::Value), (2, Role::Key)]);
    Projections, "q-v-exchanged", [], |r| r.weights([(0, Role::Value), (2, Role::Query)]);
    Projections, "one-weight-for-all", [],
        |r| r.weights([(0, Role::Key), (2, Role::Key)]);
    Projections, "q-used-for-all", [],
        |r| r.weights([(1, Role::Query), (2, Role::Query)]);
    Projections, "k-used-for-v", [], |r| r.projections[2].weight = Role::Key;
    Projections, "q-used-for-k", [], |r| r.projections[1].weight = Role::Query;
    Projections, "v-used-for-k", [], |r| r.projections[1].weight = Role::Value;
    Projections, "k-used-for-q", [], |r| r.projections[0].weight = Role::Key;
    Projections, "v-used-for-q", [] alone, |r| r.projections[0].weight = Role::Value;
    Projections, "q-used-for-v", [] alone, |r| r.projections[2].weight = Role::Query;
    Projections, "q-not-projected", [] alone,
        |r| r.projections[0].product = Product::None;
    Projections, "v-not-projected", [], |r| r.projections[2].product = Product::None;
    Projections, "nothing-projected", [], |r| r.all_products(Product::None);
    Projections, "input-sliced", [Heads], |r| r.all_products(Product::Slices);
    Projections, "projected-twice", [], |r| r.all_products(Product::Twice);
    Projections, "relu-on-projections", [], |r| r.relu = true;
    Projections, "relu-on-all", [], |r| (r.relu, r.relu_on_output) = (true, true);
}
