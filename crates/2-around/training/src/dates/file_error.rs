//! What can be wrong with a file of a converter.

/// Why a file holds no converter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Not a safetensors file.
    #[error("no safetensors file of {n_bytes} bytes can be read: {why}")]
    Format {
        /// Its length.
        n_bytes: usize,
        /// What is wrong with it.
        why: String,
    },

    /// Without a size.
    #[error("the file's header does not say {key}")]
    NoSize {
        /// Which.
        key: &'static str,
    },

    /// With a size that is none.
    #[error("the file's header says {key}: {found:?}, which is no number")]
    Size {
        /// Which.
        key: &'static str,
        /// What it says.
        found: String,
    },

    /// A tensor that is needed and not there.
    #[error("the file has no tensor {name}")]
    Missing {
        /// Its name.
        name: String,
    },

    /// A tensor that a converter does not have.
    #[error("the file has a tensor {name}, and a converter of these sizes has none")]
    Unknown {
        /// Its name.
        name: String,
    },

    /// A tensor of another shape.
    #[error("{name} has shape {found:?}, expected {expected:?}")]
    Shape {
        /// Its name.
        name: String,
        /// The shape that it has.
        found: Vec<usize>,
        /// The shape that it must have.
        expected: Vec<usize>,
    },

    /// A tensor of other numbers than `f32`.
    #[error("{name} holds {found}, expected F32")]
    Numbers {
        /// Its name.
        name: String,
        /// What it holds.
        found: String,
    },
}
