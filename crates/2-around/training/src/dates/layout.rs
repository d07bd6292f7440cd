//! Where everything that a converter holds stands in a file.

use super::{DateArchitecture, Dates, N_SOURCE, N_TARGET};

/// Where a list of entries stands in a file. Lists of the same name are stacked there.
pub(super) struct Place {
    pub name: String,
    /// Of this list alone, row by row.
    pub shape: Vec<usize>,
    /// A table has its rows there as it has them here. A projection is `[d_in, d_out]` here
    /// and column by column, which is `[d_out, d_in]` row by row.
    pub is_table: bool,
}

/// The places of a converter's entries, in the order of its [`DateConverter::entries_mut`].
pub(super) fn places(built: DateArchitecture) -> Vec<Place> {
    let DateArchitecture { d_model, d_ff, .. } = built;
    let mut places = Vec::new();
    let mut add = |name: String, shape: &[usize], is_table: bool| {
        places.push(Place { name, shape: shape.to_vec(), is_table });
    };
    let tables = [
        ("source_embedding.weight", Dates::N_READ),
        ("source_positions.weight", N_SOURCE),
        ("target_embedding.weight", Dates::N_WRITTEN + 1),
        ("target_positions.weight", N_TARGET),
    ];
    for (name, n_rows) in tables {
        add(name.to_owned(), &[n_rows, d_model], true);
    }
    let sublayers = [
        ("encoder", vec!["self_attn", "feed-forward"]),
        ("decoder", vec!["self_attn", "multihead_attn", "feed-forward"]),
    ];
    for (side, sublayers) in sublayers {
        let block = format!("transformer.{side}.layers.0");
        for (i, sublayer) in sublayers.into_iter().enumerate() {
            let linears: Vec<(String, usize, usize)> = match sublayer {
                "feed-forward" => vec![
                    (format!("{block}.linear1."), d_ff, d_model),
                    (format!("{block}.linear2."), d_model, d_ff),
                ],
                attention => {
                    let in_proj =
                        (format!("{block}.{attention}.in_proj_"), d_model, d_model);
                    let out =
                        (format!("{block}.{attention}.out_proj."), d_model, d_model);
                    vec![in_proj.clone(), in_proj.clone(), in_proj, out]
                }
            };
            for (name, d_out, d_in) in linears {
                add(format!("{name}weight"), &[d_out, d_in], false);
                add(format!("{name}bias"), &[d_out], false);
            }
            for of_norm in ["weight", "bias"] {
                add(format!("{block}.norm{}.{of_norm}", i + 1), &[d_model], false);
            }
        }
        for of_norm in ["weight", "bias"] {
            add(format!("transformer.{side}.norm.{of_norm}"), &[d_model], false);
        }
    }
    add("generator.weight".to_owned(), &[Dates::N_WRITTEN, d_model], false);
    add("generator.bias".to_owned(), &[Dates::N_WRITTEN], false);
    places
}
