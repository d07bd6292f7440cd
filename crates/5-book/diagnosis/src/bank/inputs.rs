//! Axes, and which input is which.

use super::projections::Role;

choice! {
    /// Which axis of the input the sequences lie along.
    axes: Axes at Inputs {
        Meant;
        Exchanged = "batch-axis", [Batch]; // tokens of one place attend to each other
    }
}

mistakes! { at Inputs:
    "keys-from-query", [Cross], |r| r.inputs(Role::Query, Role::Query);
    "only-keys-from-query", [Cross], |r| r.projections[1].input = Role::Query;
    "values-from-query", [Cross], |r| r.projections[2].input = Role::Query;
    "key-and-value-inputs", [Cross], |r| r.inputs(Role::Value, Role::Key);
    "values-from-keys", [Cross], |r| r.projections[2].input = Role::Key;
    "queries-from-keys", [Cross], |r| r.projections[0].input = Role::Key;
}
