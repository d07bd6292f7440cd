//! The rungs of the ladder: the same model, each time with one thing changed.

use attention::Result;

use crate::architecture::{Gradients, check_names};
use crate::{Architecture, blocks, loops, matrices, scalars};

/// One way to compute them.
#[derive(Debug, Clone, Copy)]
pub struct Rung {
    /// What it is called.
    pub name: &'static str,
    /// Whether it takes [`Architecture::SMALL`] alone.
    pub is_small: bool,
    compute: Compute,
}

const N_RUNGS: usize = if cfg!(feature = "fast") { 6 } else { 5 };

/// All of them, the slowest first; the last one, `tiles`, with the feature `fast` alone.
pub const RUNGS: [Rung; N_RUNGS] = [
    small("scalars", |_, parameters, names| Ok(scalars::gradients(parameters, names))),
    small("loops", |_, parameters, names| Ok(loops::gradients(parameters, names))),
    small("matrices", matrices::gradients),
    any("fused", |sizes, parameters, names| {
        blocks::gradients(sizes, parameters, names, 1, None)
    }),
    Rung::BATCH,
    #[cfg(feature = "fast")]
    any("tiles", crate::in_tiles::gradients),
];

type Compute = fn(Architecture, &[f64], &[Vec<usize>]) -> Result<Gradients>;

const fn small(name: &'static str, compute: Compute) -> Rung {
    Rung { name, is_small: true, compute }
}

const fn any(name: &'static str, compute: Compute) -> Rung {
    Rung { name, is_small: false, compute }
}

impl Rung {
    /// The fastest in f64. A program that names it alone has none of the others compiled in.
    pub const BATCH: Self = any("batch", |sizes, parameters, names| {
        blocks::gradients(sizes, parameters, names, names.len(), None)
    });

    /// The mean loss of all letters and ends of some names, and the gradient of each
    /// parameter, in the order of [`Architecture::parts`].
    ///
    /// # Shapes
    /// Each name is a list of ids that begins with an end and has one letter more than there
    /// are positions at most: what [`scalars::ids`] gives.
    ///
    /// # Errors
    /// [`attention::Error`] for parameters or names that do not fit the sizes, for no names,
    /// and for sizes that this rung does not have.
    pub fn gradients(
        &self,
        architecture: Architecture,
        parameters: &[f64],
        names: &[Vec<usize>],
    ) -> Result<Gradients> {
        if self.is_small {
            architecture.check_small()?;
        }
        architecture.check(parameters)?;
        check_names(names, architecture.n_positions)?;
        (self.compute)(architecture, parameters, names)
    }
}
