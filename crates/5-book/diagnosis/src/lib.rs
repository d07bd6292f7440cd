//! What is wrong with my attention? A layer of somebody else, its numbers, and the mistake
//! that explains them.
//!
//! A layer is a [`recipe`]: one choice for each step, from which axis is which to what is
//! added behind W^O. A [`Mistake`] changes a choice, and is data; [`bank()`] has them all,
//! with the public reports that they are from. [`diagnose`] computes the recipe that was
//! meant and compares what comes out with the [`Record`]; if they differ by more than
//! rounding explains, it computes the recipe with each mistake, and then with every two; what
//! is rare is tried alone. Where some sequences are right, the others are looked at by
//! themselves.
//!
//! The one decision: **nobody is accused by chance.** What rounding explains is not a guess:
//! the layer is computed again in the precision that the numbers show, and the difference is
//! the tolerance; numbers that were pasted with few digits add half of the last one. A mistake that changes less than that is not named. Mistakes that give the
//! same numbers are named together, and [`separate`] makes an input that tells them apart.
//! What nothing explains is unknown, and where it differs most is said.
//!
//! Which precision that is, is read from the bits of the numbers, and not from what fits. What
//! only a coarser way of computing explains is right on that condition, and what rounding
//! explains is right only if it does not move a number of the layer (a scale, a base, a
//! bound, slopes, an eps, the width of a window) as rounding never does. A number that is
//! another is fitted: a [`Number`].
//!
//! Where the record has tensors between input and output, each is made from those before it
//! *as they are*, so that two mistakes at two steps are found one by one.
//!
//! Left out: files, threads and the clock. A page computes this too.
//!
//! ```
//! use attention::{Dims, LayerParameters, Rng, SeedableRng, random_matrix};
//! use diagnosis::{Intent, Record, State, Verdict, computed, diagnose, mistake};
//!
//! let rng = &mut Rng::seed_from_u64(1);
//! let layer = LayerParameters::random(Dims::new(8, 2)?, true, rng).pack();
//! let mut record = Record::of_layer(&layer, vec![random_matrix(5, 8, 1.0, rng)]);
//! let intent = Intent::heads(2);
//! let wrong = mistake("merged-without-transpose").expect("a mistake of the bank");
//! let output = computed(&record, &intent, State::Output, &[wrong]).expect("shapes that fit");
//! record.tensors.insert(State::Output, output);
//!
//! let diagnosis = diagnose(&record, &intent)?;
//! assert_eq!(diagnosis.verdict, Verdict::Mistake);
//! assert_eq!(diagnosis.explanations[0], [wrong]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bank;
mod compare;
mod diagnosis;
mod digits;
mod error;
mod explain;
mod file;
mod intent;
mod level;
mod mistake;
mod number;
mod places;
mod precision;
mod readings;
pub mod recipe;
mod record;
mod report;
mod rows;
mod run;
mod search;
mod separate;
pub mod snippets;
mod step;

pub use bank::{bank, mistake};
pub use diagnosis::{Diagnosis, computed, diagnose, diagnose_with};
pub use error::{Error, Result};
pub use file::{Overrides, Reading, read};
pub use intent::{Corner, EmptyRow, Intent, Positions};
pub use mistake::{Mistake, Mistakes};
pub use number::{Kind, Number};
pub use places::Places;
pub use precision::Precision;
pub use record::{HeadNorm, Masks, NormKind, Record, Weights};
pub use report::{
    Conditional, Distance, Nearest, Progress, StepReport, TensorReport, Verdict,
};
use run::Run;
pub use separate::{Separation, separate, showing};
pub use step::{State, Step};
pub use variants::Pairing;
