//! Axes, and which input is which.

use crate::recipe::{Axes, Role};

mistakes! {
    Inputs, "batch-axis", [Batch], |r| r.axes = Axes::Exchanged;
    Inputs, "keys-from-query", [Cross], |r| {
        r.projections[1].input = Role::Query;
        r.projections[2].input = Role::Query;
    };
    Inputs, "only-keys-from-query", [Cross], |r| r.projections[1].input = Role::Query;
    Inputs, "values-from-query", [Cross], |r| r.projections[2].input = Role::Query;
    Inputs, "key-and-value-inputs", [Cross], |r| {
        r.projections[1].input = Role::Value;
        r.projections[2].input = Role::Key;
    };
    Inputs, "values-from-keys", [Cross], |r| r.projections[2].input = Role::Key;
    Inputs, "queries-from-keys", [Cross], |r| r.projections[0].input = Role::Key;
}
