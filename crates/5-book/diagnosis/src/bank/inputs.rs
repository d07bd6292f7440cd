//! Axes, and which input is which.

use super::projections::Role;
use crate::recipe::Recipe;

choice! {
    /// Which axis of the input the sequences lie along.
    axes: Axes at Inputs {
        Meant;
        Exchanged = "batch-axis", [Batch]; // tokens attend to those at their place in others
    }
}

fn inputs(r: &mut Recipe, of_key: Role, of_value: Role) {
    (r.projections[1].input, r.projections[2].input) = (of_key, of_value);
}

mistakes! {
    Inputs, "keys-from-query", [Cross], |r| inputs(r, Role::Query, Role::Query);
    Inputs, "only-keys-from-query", [Cross], |r| r.projections[1].input = Role::Query;
    Inputs, "values-from-query", [Cross], |r| r.projections[2].input = Role::Query;
    Inputs, "key-and-value-inputs", [Cross], |r| inputs(r, Role::Value, Role::Key);
    Inputs, "values-from-keys", [Cross], |r| r.projections[2].input = Role::Key;
    Inputs, "queries-from-keys", [Cross], |r| r.projections[0].input = Role::Key;
}
