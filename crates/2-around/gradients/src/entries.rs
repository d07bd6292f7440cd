//! What is learned, as lists of numbers: parameters and their gradients alike.

use attention::{Gradients, Linear, Matrix, Real, RowVector};
use fused_heads::FusedAttention;

/// A thing whose parameters can be read and changed, part by part.
///
/// The gradient of a thing has its parts in the same order, so an optimiser goes through both
/// side by side: [`Optimiser::step_entries`](crate::Optimiser::step_entries). [`entries!`](crate::entries)
/// implements the trait for a struct.
pub trait Entries<T: Real> {
    /// The entries of each part, column by column.
    fn entries(&self) -> Vec<&[T]>;

    /// The same, to be changed in place.
    fn entries_mut(&mut self) -> Vec<&mut [T]>;

    /// How many there are in all.
    fn n_entries(&self) -> usize {
        self.entries().iter().map(|part| part.len()).sum()
    }
}

/// Implements [`Entries`] for a struct whose fields have entries, in the order in which they
/// are named.
///
/// ```
/// use attention::{Linear, Real, Rng, SeedableRng};
/// use gradients::{Entries, entries};
///
/// struct Both<T: Real> {
///     inner: Linear<T>,
///     outer: Option<Linear<T>>,
/// }
/// entries!([T: Real] T, Both<T>: inner, outer);
///
/// let inner = Linear::<f64>::random(3, 4, true, &mut Rng::seed_from_u64(1));
/// let both = Both { inner, outer: None };
/// assert_eq!(both.entries().iter().map(|part| part.len()).collect::<Vec<_>>(), [12, 4]);
/// ```
#[macro_export]
macro_rules! entries {
    ([$($generics:tt)*] $number:ty, $name:ty: $($part:tt),+) => {
        impl<$($generics)*> $crate::Entries<$number> for $name {
            fn entries(&self) -> Vec<&[$number]> {
                let parts = [$($crate::Entries::entries(&self.$part)),+];
                parts.into_iter().flatten().collect()
            }

            fn entries_mut(&mut self) -> Vec<&mut [$number]> {
                let parts = [$($crate::Entries::entries_mut(&mut self.$part)),+];
                parts.into_iter().flatten().collect()
            }
        }
    };
}

entries!([T: Real] T, Gradients<T>: d_w_q, d_w_k, d_w_v, d_w_o);

impl<T: Real> Entries<T> for Matrix<T> {
    fn entries(&self) -> Vec<&[T]> {
        vec![self.as_slice()]
    }

    fn entries_mut(&mut self) -> Vec<&mut [T]> {
        vec![self.as_mut_slice()]
    }
}

impl<T: Real> Entries<T> for RowVector<T> {
    fn entries(&self) -> Vec<&[T]> {
        vec![self.as_slice()]
    }

    fn entries_mut(&mut self) -> Vec<&mut [T]> {
        vec![self.as_mut_slice()]
    }
}

impl<T: Real> Entries<T> for Linear<T> {
    fn entries(&self) -> Vec<&[T]> {
        self.entries()
    }

    fn entries_mut(&mut self) -> Vec<&mut [T]> {
        self.entries_mut()
    }
}

impl<T: Real> Entries<T> for FusedAttention<T> {
    fn entries(&self) -> Vec<&[T]> {
        self.parameters().projections().into_iter().flat_map(Linear::entries).collect()
    }

    fn entries_mut(&mut self) -> Vec<&mut [T]> {
        self.parameters_mut().entries_mut()
    }
}

entries!([A: Entries<T>, B: Entries<T>, T: Real] T, (A, B): 0, 1);
entries!([A: Entries<T>, B: Entries<T>, C: Entries<T>, T: Real] T, (A, B, C): 0, 1, 2);

impl<E: Entries<T>, T: Real, const N: usize> Entries<T> for [E; N] {
    fn entries(&self) -> Vec<&[T]> {
        self.iter().flat_map(E::entries).collect()
    }

    fn entries_mut(&mut self) -> Vec<&mut [T]> {
        self.iter_mut().flat_map(E::entries_mut).collect()
    }
}

impl<E: Entries<T>, T: Real> Entries<T> for Option<E> {
    fn entries(&self) -> Vec<&[T]> {
        self.iter().flat_map(E::entries).collect()
    }

    fn entries_mut(&mut self) -> Vec<&mut [T]> {
        self.iter_mut().flat_map(E::entries_mut).collect()
    }
}

impl<E: Entries<T>, T: Real> Entries<T> for Vec<E> {
    fn entries(&self) -> Vec<&[T]> {
        self.iter().flat_map(E::entries).collect()
    }

    fn entries_mut(&mut self) -> Vec<&mut [T]> {
        self.iter_mut().flat_map(E::entries_mut).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Dims, LayerParameters, Mask, Rng, SeedableRng, random_matrix};

    #[test]
    fn a_layer_and_its_gradients_have_the_same_parts() {
        let rng = &mut Rng::seed_from_u64(1);
        let parameters = LayerParameters::random(Dims::new(6, 2).unwrap(), true, rng);
        let mut layer: FusedAttention = FusedAttention::new(&parameters);
        let x = random_matrix(3, 6, 1.0, rng);
        let pass = crate::LayerPass::self_attend(&layer, &x, &Mask::None).unwrap();
        let d = pass.backward(&x).unwrap();
        let lengths = |parts: Vec<&[f64]>| -> Vec<usize> {
            parts.into_iter().map(<[f64]>::len).collect()
        };
        assert_eq!(lengths(layer.entries()), lengths(Entries::entries(&d)));
        assert_eq!(lengths(layer.entries()), [36, 6, 36, 6, 36, 6, 36, 6]);
        let before = layer.entries().concat();
        assert_eq!(layer.entries_mut().concat(), before);
    }
}
