//! Objects that are made by setting one field after the other.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// Fields that were set, in no order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object(Map<String, Value>);

impl Object {
    /// Sets a field. Texts, numbers and lists of them are values always.
    pub(crate) fn set(&mut self, key: &str, value: impl Serialize) {
        let value = serde_json::to_value(value).unwrap_or_default();
        self.0.insert(key.to_owned(), value);
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// A type with a setter for each field: what it takes, and what plotly.js calls it.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($setter:ident: $type:ty => $key:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default)]
        pub struct $name($crate::object::Object);

        impl $name {
            /// With nothing set.
            pub fn new() -> Self {
                Self::default()
            }

            $(
                #[doc = concat!("Sets `", $key, "`.")]
                #[must_use]
                pub fn $setter(mut self, value: $type) -> Self {
                    self.0.set($key, value);
                    self
                }
            )*
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(
                &self,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }
    };
}

/// The choices for a field, and what plotly.js calls each.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($choice:ident => $value:expr,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $(
                #[doc = concat!("`", stringify!($value), "`.")]
                $choice,
            )*
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(
                &self,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$choice => $value.serialize(serializer),)*
                }
            }
        }
    };
}
