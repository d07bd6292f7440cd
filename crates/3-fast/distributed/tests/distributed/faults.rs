//! What is refused, and what happens when a rank ends.

use std::time::Duration;

use attention::{Dims, LayerParameters, Mask, Matrix, Rng, SeedableRng, random_matrix};
use distributed::{Chunks, Error, Grid, Group, OnGrid, Plain, Threads};
use insta::assert_snapshot;

fn layer() -> LayerParameters {
    LayerParameters::random(Dims::new(8, 2).unwrap(), true, &mut Rng::seed_from_u64(1))
}

#[test]
fn a_group_that_does_not_fit_is_refused_with_its_numbers() {
    let refused = |size, by_heads| {
        Threads::<f64>::run(size, |group| Grid::new::<f64>(group, by_heads).map(drop))
            .unwrap_err()
    };
    assert_snapshot!(refused(0, 1), @"the number of ranks is 0, and must be at least 1");
    assert_snapshot!(refused(2, 0), @"the number of groups of heads is 0, and must be at least 1");
    assert_snapshot!(refused(4, 3), @"4 ranks cannot form a grid with 3 groups of heads: 4 = 3 × 1 + 1");
    let rows = Chunks::new(5, 2).rows(&Matrix::<f64>::zeros(5, 1), 1, 2).unwrap_err();
    assert_snapshot!(rows, @"there is no rank 2 in a group of 2");
}

#[test]
fn inputs_that_do_not_fit_are_refused_with_their_numbers() {
    let refused = |x: Matrix, mask: Mask| {
        let outs = Threads::run(2, |group| {
            let mut grid = Grid::new(group, 1)?;
            let mut part: OnGrid<f64, Plain> = OnGrid::new(&layer(), &grid)?;
            part.forward(&mut grid, &x, (1, 10), std::slice::from_ref(&mask))
        });
        outs.unwrap_err()
    };
    let x = |n, d| random_matrix(n, d, 1.0, &mut Rng::seed_from_u64(2));
    // 10 tokens in 4 chunks: 3, 3, 2 and 2, of which either rank has a long and a short one.
    assert_snapshot!(refused(x(10, 8), Mask::None), @"x has shape (10, 8), expected (5, 8)");
    assert_snapshot!(refused(x(5, 7), Mask::None), @"x has shape (5, 7), expected (5, 8)");
    assert_snapshot!(refused(x(5, 8), Mask::FirstKeys(11)), @"the mask lets the first 11 keys be seen and there are only 10");
    let added = Mask::All(vec![Mask::Causal, Mask::Additive(Matrix::zeros(10, 10))]);
    assert_snapshot!(refused(x(5, 8), added), @"an additive mask cannot be cut by tokens: what it adds counts relative to the largest entry of its row, which one rank does not have");
}

#[test]
fn a_rank_that_ends_ends_the_others_with_its_reason() {
    let waited = Threads::run(4, |group| {
        if group.rank() == 2 {
            std::thread::sleep(Duration::from_millis(20));
            let error = attention::Error::ZeroSize { what: "d_model" };
            return Err(Error::from(error));
        }
        group.all_reduce(&mut [1.0; 7])
    });
    assert_snapshot!(waited.unwrap_err(), @"d_model is 0, and must be at least 1");

    let others = Threads::run(3, |group| match group.rank() {
        1 => panic!("planted"),
        _ => group.all_reduce(&mut [1.0; 7]),
    });
    assert_snapshot!(others.unwrap_err(), @"rank 1 of 3 ended: it panicked");

    // In a ring of a grid it has another number; the reason has that of the whole group.
    let in_a_ring = Threads::run(4, |group| {
        let mut grid = Grid::new(group, 2)?;
        let [sum, mut room] = [[1.0], [0.0]];
        match group.rank() {
            3 => Err(Error::AdditiveMask),
            // Of the other ring.
            0 | 1 => Ok(()),
            _ => {
                let gone = grid.ring().exchange(1, &sum, 1, &mut room);
                match gone {
                    Err(Error::Gone { rank: 3, size: 4, .. }) | Ok(()) => Ok(()),
                    Err(other) => panic!("{other}"),
                }
            }
        }
    });
    let why = in_a_ring.unwrap_err();
    assert_eq!(why, Error::AdditiveMask, "{why}");
}

#[test]
fn a_message_of_another_length_is_refused() {
    let lengths = Threads::run(2, |group| {
        let mut room = vec![0.0; 3 + group.rank()];
        let (other, send) = (1 - group.rank(), vec![0.0; 3]);
        group.exchange(other, &send, other, &mut room)
    });
    assert_snapshot!(lengths.unwrap_err(), @"rank 0 sent 3 entries to rank 1, which expected 4");
}
