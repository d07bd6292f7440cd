//! Inputs as named arrays: what a function is given, for those who call it from elsewhere.

use attention::{HeadParameters, LayerParameters, Linear, Matrix};

/// An array of numbers with a name, row by row. A single number has no axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// What it is called: `q`, `w_q.weight`.
    pub name: String,
    /// The length of each axis.
    pub shape: Vec<usize>,
    /// Its entries. A flag is 0 or 1.
    pub values: Vec<f64>,
    /// What they are in other languages.
    pub kind: Kind,
}

/// What entries are in languages that tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Floats.
    Number,
    /// Whole numbers that count, or are indices.
    Whole,
    /// True or false.
    Flag,
    /// There is no such array: a projection without a bias.
    Nothing,
}

/// Something that is arrays.
pub trait Arrays {
    /// The arrays, under this name.
    fn arrays(&self, name: &str) -> Vec<Array>;

    /// Itself, if it is one thing that can be changed.
    fn as_changeable(&mut self) -> Option<Changeable<'_>> {
        None
    }

    /// Those of its fields that can be changed each alone, with their names.
    fn changeable(&mut self) -> Vec<(&'static str, Changeable<'_>)> {
        Vec::new()
    }
}

/// A part of an input that can be changed, to see what an answer makes of it.
pub enum Changeable<'a> {
    /// A matrix.
    Matrix(&'a mut Matrix),
    /// A row of numbers.
    Row(&'a mut [f64]),
    /// A number.
    Number(&'a mut f64),
    /// A count.
    Whole(&'a mut usize),
}

fn array(name: &str, shape: &[usize], values: Vec<f64>, kind: Kind) -> Vec<Array> {
    vec![Array { name: name.to_owned(), shape: shape.to_vec(), values, kind }]
}

/// The same arrays, of another kind.
fn as_kind(mut arrays: Vec<Array>, kind: Kind) -> Vec<Array> {
    arrays.iter_mut().for_each(|array| array.kind = kind);
    arrays
}

fn bit(is: bool) -> f64 {
    f64::from(u8::from(is))
}

impl Arrays for Matrix {
    fn arrays(&self, name: &str) -> Vec<Array> {
        let rows = self.transpose().as_slice().to_vec();
        array(name, &[self.nrows(), self.ncols()], rows, Kind::Number)
    }

    fn as_changeable(&mut self) -> Option<Changeable<'_>> {
        Some(Changeable::Matrix(self))
    }
}

impl Arrays for Matrix<bool> {
    fn arrays(&self, name: &str) -> Vec<Array> {
        as_kind(self.map(bit).arrays(name), Kind::Flag)
    }
}

impl Arrays for f64 {
    fn arrays(&self, name: &str) -> Vec<Array> {
        array(name, &[], vec![*self], Kind::Number)
    }

    fn as_changeable(&mut self) -> Option<Changeable<'_>> {
        Some(Changeable::Number(self))
    }
}

impl Arrays for usize {
    fn arrays(&self, name: &str) -> Vec<Array> {
        array(name, &[], vec![*self as f64], Kind::Whole)
    }

    fn as_changeable(&mut self) -> Option<Changeable<'_>> {
        Some(Changeable::Whole(self))
    }
}

impl Arrays for bool {
    fn arrays(&self, name: &str) -> Vec<Array> {
        array(name, &[], vec![bit(*self)], Kind::Flag)
    }
}

impl Arrays for [f64] {
    fn arrays(&self, name: &str) -> Vec<Array> {
        array(name, &[self.len()], self.to_vec(), Kind::Number)
    }
}

impl Arrays for [usize] {
    fn arrays(&self, name: &str) -> Vec<Array> {
        let whole = self.iter().map(|&n| n as f64).collect();
        array(name, &[self.len()], whole, Kind::Whole)
    }
}

impl Arrays for Vec<f64> {
    fn arrays(&self, name: &str) -> Vec<Array> {
        self.as_slice().arrays(name)
    }

    fn as_changeable(&mut self) -> Option<Changeable<'_>> {
        Some(Changeable::Row(self))
    }
}

impl Arrays for Vec<usize> {
    fn arrays(&self, name: &str) -> Vec<Array> {
        self.as_slice().arrays(name)
    }
}

/// Several of a kind: `heads.0`, `heads.1`.
impl<A: Arrays> Arrays for Vec<A>
where
    A: Several,
{
    fn arrays(&self, name: &str) -> Vec<Array> {
        let each = self.iter().enumerate();
        each.flat_map(|(at, it)| it.arrays(&format!("{name}.{at}"))).collect()
    }
}

/// What comes in lists, each with a place of its own.
pub trait Several {}

impl Several for Matrix {}
impl Several for HeadParameters {}

impl Arrays for Linear {
    fn arrays(&self, name: &str) -> Vec<Array> {
        let mut arrays = self.weight.arrays(&format!("{name}.weight"));
        let bias = format!("{name}.bias");
        arrays.extend(match &self.bias {
            Some(entries) => entries.as_slice().arrays(&bias),
            None => array(&bias, &[], Vec::new(), Kind::Nothing),
        });
        arrays
    }

    fn as_changeable(&mut self) -> Option<Changeable<'_>> {
        Some(Changeable::Matrix(&mut self.weight))
    }
}

impl Arrays for HeadParameters {
    fn arrays(&self, name: &str) -> Vec<Array> {
        let projections = [("w_q", &self.w_q), ("w_k", &self.w_k), ("w_v", &self.w_v)];
        let each = projections.into_iter();
        each.flat_map(|(part, w)| w.arrays(&format!("{name}.{part}"))).collect()
    }
}

impl Arrays for LayerParameters {
    fn arrays(&self, name: &str) -> Vec<Array> {
        let heads = self.heads().iter().enumerate();
        let heads = heads.flat_map(|(at, it)| it.arrays(&format!("{name}.heads.{at}")));
        heads.chain(self.w_o().arrays(&format!("{name}.w_o"))).collect()
    }
}

/// Says of a type which of its fields are the arrays that an answer is given, in the order of
/// the function's arguments: `arrays!(Input: q, k, d_model);`.
#[macro_export]
macro_rules! arrays {
    ($type:ty: $($field:ident),+ $(,)?) => {
        impl $crate::Arrays for $type {
            fn arrays(&self, _: &str) -> Vec<$crate::Array> {
                [$($crate::Arrays::arrays(&self.$field, stringify!($field))),+].concat()
            }

            fn changeable(&mut self) -> Vec<(&'static str, $crate::Changeable<'_>)> {
                let all = [$(
                    $crate::Arrays::as_changeable(&mut self.$field)
                        .map(|it| (stringify!($field), it))
                ),+];
                all.into_iter().flatten().collect()
            }
        }
    };
}
