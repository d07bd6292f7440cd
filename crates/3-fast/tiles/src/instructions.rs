//! Which vector instructions to use, chosen when the program runs.

use std::fmt;

use pulp::{Scalar, Simd, WithSimd};

#[cfg(target_arch = "aarch64")]
use pulp::aarch64::Neon;
#[cfg(target_arch = "wasm32")]
use pulp::wasm::Simd128;
#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};

use crate::pairs::{In, WithPairs};

/// A set of vector instructions that this processor has.
///
/// A value of this type is proof that it has them. A program is compiled for every set,
/// and runs with the best one that it finds; nothing need be said to the compiler.
#[derive(Debug, Clone, Copy)]
pub struct Instructions(Set);

#[derive(Debug, Clone, Copy)]
enum Set {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2(V3),
    #[cfg(target_arch = "x86_64")]
    Avx512(V4),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    #[cfg(target_arch = "wasm32")]
    Simd128(Simd128),
}

impl Instructions {
    /// The widest that this processor has.
    pub fn best() -> Self {
        Self::available()[0]
    }

    /// All that this processor has, the widest first. The last is always scalar: one
    /// number at a time, on any processor.
    pub fn available() -> Vec<Self> {
        let mut all = Vec::new();
        // Miri interprets programs and knows few vector instructions.
        if !cfg!(miri) {
            #[cfg(target_arch = "x86_64")]
            all.extend(V4::try_new().map(|simd| Self(Set::Avx512(simd))));
            #[cfg(target_arch = "x86_64")]
            all.extend(V3::try_new().map(|simd| Self(Set::Avx2(simd))));
            #[cfg(target_arch = "aarch64")]
            all.extend(Neon::try_new().map(|simd| Self(Set::Neon(simd))));
            // A page's module cannot ask what there is: it is compiled with them or without.
            #[cfg(target_arch = "wasm32")]
            all.extend(Simd128::try_new().map(|simd| Self(Set::Simd128(simd))));
        }
        all.push(Self(Set::Scalar));
        all
    }

    /// The set with this name, if this processor has it.
    pub fn named(name: &str) -> Option<Self> {
        Self::available().into_iter().find(|set| set.name().eq_ignore_ascii_case(name))
    }

    /// Its usual name: `AVX-512`, `AVX2`, `NEON`, `SIMD128` or `scalar`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(_) => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(_) => "AVX-512",
            #[cfg(target_arch = "aarch64")]
            Set::Neon(_) => "NEON",
            #[cfg(target_arch = "wasm32")]
            Set::Simd128(_) => "SIMD128",
        }
    }

    /// Runs an operation compiled for these instructions.
    pub fn run<Op: WithSimd>(self, op: Op) -> Op::Output {
        match self.0 {
            Set::Scalar => Scalar.vectorize(op),
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(simd) => Simd::vectorize(simd, op),
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(simd) => Simd::vectorize(simd, op),
            #[cfg(target_arch = "aarch64")]
            Set::Neon(simd) => Simd::vectorize(simd, op),
            #[cfg(target_arch = "wasm32")]
            Set::Simd128(simd) => Simd::vectorize(simd, op),
        }
    }

    /// The same with at most 8 numbers in a vector: where all wait for memory, that is
    /// enough, and a panel of a weight has rows of 8.
    pub fn run_in_eights<Op: WithSimd>(self, op: Op) -> Op::Output {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(simd) => Simd::vectorize(*simd, op),
            _ => self.run(op),
        }
    }

    /// The same in vectors whose lanes multiply their halves.
    pub fn run_in_pairs<Op: WithPairs>(self, op: Op) -> Op::Output {
        match self.0 {
            Set::Scalar => Scalar.vectorize(In(Scalar, op)),
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(simd) => Simd::vectorize(simd, In(simd, op)),
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(simd) => Simd::vectorize(*simd, In(*simd, op)),
            #[cfg(target_arch = "aarch64")]
            Set::Neon(simd) => Simd::vectorize(simd, In(simd, op)),
            #[cfg(target_arch = "wasm32")]
            Set::Simd128(simd) => Simd::vectorize(simd, In(simd, op)),
        }
    }
}

impl PartialEq for Instructions {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_has_the_last_and_is_found_by_name() {
        let all = Instructions::available();
        assert_eq!(all.last().map(|set| set.name()), Some("scalar"));
        for set in &all {
            assert_eq!(Instructions::named(&set.name().to_lowercase()), Some(*set));
        }
        assert_eq!(Instructions::named("MMX"), None);
    }
}
