//! What it takes to see a mistake.

use crate::bank::whole_layer::{maps, outputs, projections};

/// Inputs and properties, and the mistakes that they show: every mistake once.
pub const SHOWN_BY: [(&str, &[&str]); 8] = [
    (
        "three different sequences, sizes that all differ, and the shape of all that comes out",
        &[
            projections::SELF_ATTENTION.name,
            projections::KEYS_AS_VALUES.name,
            outputs::NO_W_O.name,
            outputs::TURNED_W_O.name,
        ],
    ),
    ("the sum of every row of every map", &[maps::DOWN_THE_COLUMNS.name]),
    (
        "a mask, and then both the shares of the keys that it blocks and those of the keys \
         that it does not",
        &[
            maps::NO_MASK.name,
            maps::MASK_AFTER_SOFTMAX.name,
            maps::BLOCKED_IS_ZERO.name,
            maps::TURNED_MASK.name,
        ],
    ),
    (
        "a mask of its own for each head",
        &[maps::MASK_OF_HEAD_0.name, maps::MASKS_REVERSED.name],
    ),
    ("a query that may attend to nothing", &[maps::FINITE_FILL.name]),
    (
        "the shares themselves: a map of your own for each head, from whole tokens and that \
         head's parameters, and not only its sums",
        &[
            maps::NO_SCALE.name,
            maps::ROOT_OF_D_MODEL.name,
            maps::NO_ROOT.name,
            projections::QUERIES_WITH_VALUES.name,
            projections::HEAD_0.name,
            projections::SLICES.name,
            projections::VIEW.name,
        ],
    ),
    (
        "an output of your own: values from value, every head through its own rows of W^O, \
         then added up",
        &[
            outputs::REVERSED.name,
            outputs::INTERLEAVED.name,
            outputs::VIEW.name,
            outputs::MEAN.name,
            outputs::ONE_BLOCK.name,
            projections::VALUES_FROM_KEY.name,
        ],
    ),
    (
        "a layer with biases, and an output of your own in which each of them is added once",
        &[
            projections::NO_VALUE_BIAS.name,
            projections::NO_HEAD_BIASES.name,
            outputs::NO_OUTPUT_BIAS.name,
            outputs::BIAS_PER_HEAD.name,
            outputs::NO_BIASES.name,
        ],
    ),
];
