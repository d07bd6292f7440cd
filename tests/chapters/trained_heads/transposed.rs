//! Square matrices that were not transposed on the way in.

use attention::{max_abs_diff, thousands};
use lessons::trained::{at, maps, passes};
use lessons::trained_heads::claims::best_head;
use lessons::trained_heads::others::transposed;
use model_files::{TrainedLayer, minilm};

use crate::quote::{assert_quote, share, values};
use crate::trained::TOLERANCE;

#[test]
fn square_matrices_not_transposed_give_maps_that_look_right() {
    let TrainedLayer { parameters, sentences } = minilm().unwrap();
    let wrong = transposed(&parameters).unwrap();
    let animal = sentences.iter().find(|s| s.name == "animal_tired").unwrap();
    let (mut largest, mut rows) = (0f64, 0f64);
    for sentence in &sentences {
        let maps = maps(&wrong, &sentence.input).unwrap();
        for (map, reference) in maps.iter().zip(&sentence.attn) {
            largest = largest.max(max_abs_diff(map, reference).unwrap());
            rows = map.row_iter().map(|row| (row.sum() - 1.0).abs()).fold(rows, f64::max);
        }
    }
    assert!(rows < 1e-12, "rows sum to 1 within {rows}");
    assert_eq!(wrong.count(), parameters.count());
    let right = passes(&parameters, &animal.input).unwrap();
    let wrong_maps = maps(&wrong, &animal.input).unwrap();
    let (head, best) = best_head(
        &wrong_maps,
        &[at(animal, "it").unwrap()],
        at(animal, "animal").unwrap(),
    );
    let dims = parameters.dims();
    // Transposed once, as the loader does, they are the maps of the file.
    let of_file = sentences.iter().flat_map(|sentence| {
        let maps = maps(&parameters, &sentence.input).unwrap();
        maps.into_iter().zip(&sentence.attn).map(|(a, b)| max_abs_diff(&a, b).unwrap())
    });
    let off = of_file.fold(0.0, f64::max);
    assert!(off <= TOLERANCE, "{off:e}");
    let quoted = [
        ("d_model", dims.d_model().to_string()),
        ("n_heads", dims.n_heads().to_string()),
        ("d_k", dims.d_k().to_string()),
        ("parameters", thousands(parameters.count().total())),
        ("map_difference", share(largest)),
        ("it_animal_wrong", share(best)),
        ("it_animal_wrong_head", head.to_string()),
        ("map_shape", format!("{:?}", right[0].attn.shape())),
        ("reference_tolerance", TOLERANCE.to_string()),
    ];
    assert_quote!("trained_heads_transposed", values(&quoted));
}
