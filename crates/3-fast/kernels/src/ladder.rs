//! The rungs, one file each, in the order in which they are climbed.

mod one_product;
mod packed;
mod plain;
mod threads;
mod tiles;
mod vector_exp;

use attention::LayerParameters;

use crate::{Packed, Rung};

pub use self::tiles::Tiles;
pub use one_product::OneProduct;
pub use plain::Plain;
pub use threads::Threads;
pub use vector_exp::VectorExp;

/// Every rung with these parameters, the slowest first.
pub fn ladder(parameters: &LayerParameters<f32>) -> Vec<Box<dyn Rung>> {
    vec![
        Box::new(Plain::new(parameters)),
        Box::new(OneProduct::new(parameters)),
        Box::new(Tiles::new(parameters)),
        Box::new(VectorExp::new(parameters)),
        Box::new(Threads::new(parameters)),
        Box::new(Packed::new(parameters)),
    ]
}
