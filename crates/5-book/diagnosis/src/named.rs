//! Things that stand in an order, each with its name.

/// An enum, and beside each variant what it is called.
macro_rules! named {
    ($(#[$of_all:meta])* $all:ident { $($(#[$of_one:meta])* $one:ident = $name:literal,)* }) => {
        $(#[$of_all])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $all {
            $($(#[$of_one])* $one,)*
        }

        impl $all {
            /// All of them, in order.
            pub const ALL: &[Self] = &[$(Self::$one),*];

            /// What it is called.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$one => $name,)*
                }
            }
        }
    };
}

pub(crate) use named;
