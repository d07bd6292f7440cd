//! Square matrices that were not transposed on the way in.

use attention::max_abs_diff;
use lessons::trained::{maps, transposed};
use model_files::{TrainedLayer, minilm};

use crate::quote::{assert_quote, share, values};
use stages::cases::TRAINED;

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
    // Transposed once, as the loader does, they are the maps of the file.
    let of_file = sentences.iter().flat_map(|sentence| {
        let maps = maps(&parameters, &sentence.input).unwrap();
        maps.into_iter().zip(&sentence.attn).map(|(a, b)| max_abs_diff(&a, b).unwrap())
    });
    let off = of_file.fold(0.0, f64::max);
    assert!(off <= TRAINED, "{off:e}");
    let [rows, columns] = [animal.tokens.len(); 2];
    assert_eq!(maps(&wrong, &animal.input).unwrap()[0].shape(), (rows, columns));
    let quoted = [
        ("map_difference", share(largest)),
        ("map_shape", format!("{:?}", (rows, columns))),
    ];
    assert_quote!("one_matrix_many_heads_transposed", values(&quoted));
}
