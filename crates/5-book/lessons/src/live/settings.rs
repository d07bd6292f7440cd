//! Where the controls stand: a struct of each figure, written once with its controls.

use anyhow::{Result, ensure};

use super::control::Control;

/// Where every control of a live figure stands: what [`live!`] makes.
pub trait Settings: Sized {
    /// What can be changed, in the order that it is shown in.
    fn controls() -> Vec<Control>;

    /// All controls where they stand first.
    fn first() -> Self;

    /// Sets what a key names to what a text says.
    ///
    /// # Errors
    /// A text that the control cannot be set to.
    fn set(&mut self, key: &str, text: &str) -> Result<()>;

    /// What an address writes of each, in the same order.
    fn texts(&self) -> Vec<String>;

    /// The first settings, but for these keys. The texts are those of an address: `0.5`,
    /// `on`, a matrix as `1,0;0,1`, a point as `2,-1`.
    ///
    /// # Errors
    /// A key that there is not; a text that the control cannot be set to.
    fn read<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let pairs: Vec<(&str, &str)> = pairs.into_iter().collect();
        let keys: Vec<&str> = Self::controls().iter().map(|it| it.key).collect();
        for (key, _) in &pairs {
            ensure!(keys.contains(key), "{key} is not among {}", keys.join(", "));
        }
        let mut settings = Self::first();
        for key in keys {
            if let Some((_, text)) = pairs.iter().rev().find(|(given, _)| *given == key) {
                settings.set(key, text)?;
            }
        }
        Ok(settings)
    }

    /// The controls that do not stand where they stand first, with what an address writes.
    fn moved(&self) -> Vec<(Control, String)> {
        let all = Self::controls().into_iter().zip(self.texts());
        all.filter(|(control, text)| *text != control.first).collect()
    }
}

/// A struct of settings and one of facts. A setting is a line: its name and type, what stands
/// next to its control, and its kind, of [`setting`](super::setting).
///
/// ```text
/// live! {
///     struct Set {
///         d_k: usize = "d_k", count([1, 4096], 32);
///         temperature: f64 = "Temperature", number([0.1, 10.0], 0.1, 2.0);
///     }
///
///     struct Facts { shares: Vec<f64> }
/// }
/// ```
macro_rules! live {
    (
        struct $Set:ident {
            $($field:ident: $T:ty = $label:literal, $setting:expr;)+
        }

        $(#[$about:meta])*
        struct $Facts:ident {
            $($(#[$fact_about:meta])* $fact:ident: $F:ty),+ $(,)?
        }
    ) => {
        /// Where the controls stand.
        #[derive(Debug, Clone, PartialEq)]
        pub(crate) struct $Set {
            $(pub(crate) $field: $T,)+
        }

        $(#[$about])*
        #[derive(Debug, PartialEq, serde::Serialize)]
        pub(crate) struct $Facts {
            $($(#[$fact_about])* pub(crate) $fact: $F,)+
        }

        impl $Set {
            $(fn $field() -> $crate::live::Setting<$T> {
                #[allow(unused_imports, reason = "the kinds, where it is one of them")]
                use $crate::live::setting::*;
                $setting
            })+
        }

        impl $crate::live::Settings for $Set {
            fn controls() -> Vec<$crate::live::Control> {
                vec![$(Self::$field().control($crate::live::key(stringify!($field)), $label)),+]
            }

            fn first() -> Self {
                Self { $($field: Self::$field().first()),+ }
            }

            fn set(&mut self, key: &str, text: &str) -> anyhow::Result<()> {
                $(if key == $crate::live::key(stringify!($field)) {
                    self.$field = Self::$field().read($label, text)?;
                })+
                Ok(())
            }

            fn texts(&self) -> Vec<String> {
                vec![$(Self::$field().write(&self.$field)),+]
            }
        }
    };
}

/// The name of a field, without what sets one apart that the language has a word for.
pub(crate) fn key(field: &'static str) -> &'static str {
    field.trim_start_matches("r#")
}

pub(crate) use live;
