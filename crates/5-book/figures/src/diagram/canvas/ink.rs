//! How parts of a drawing stand out.

use crate::palette;

/// How a part stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::diagram) enum Ink {
    Plain,
    /// Not what the diagram is about.
    Muted,
    /// What lies behind all else.
    Faint,
    /// What it is about.
    Lit,
    /// In the colour of the `nth` head.
    Head(usize),
    /// The same where others may be wrong.
    Hue(usize),
    /// Not where it should be.
    Wrong,
    /// Not seen, but a pointer finds it.
    Nothing,
}

impl Ink {
    /// Lit parts among muted ones; all plain where nothing is lit.
    pub(in crate::diagram) fn of(is_lit: bool, something_is_lit: bool) -> Self {
        match (is_lit, something_is_lit) {
            (_, false) => Self::Plain,
            (true, _) => Self::Lit,
            (false, _) => Self::Muted,
        }
    }

    pub(super) fn colour(self) -> &'static str {
        match self {
            Self::Plain | Self::Muted | Self::Faint => "currentColor",
            Self::Lit => palette::head(0),
            Self::Head(nth) => palette::head(nth),
            Self::Hue(nth) => palette::beside_wrong(nth),
            Self::Wrong => palette::wrong(),
            Self::Nothing => "transparent",
        }
    }

    /// The page's own colour for what is lit comes by way of the class.
    pub(super) fn stroke(self) -> String {
        let colour = self.colour();
        match self {
            Self::Plain => format!("stroke=\"{colour}\" stroke-opacity=\".75\""),
            Self::Muted => format!("stroke=\"{colour}\" stroke-opacity=\".35\""),
            Self::Faint => format!("stroke=\"{colour}\" stroke-opacity=\".15\""),
            Self::Lit => format!("class=\"lit\" stroke=\"{colour}\" stroke-width=\"2\""),
            _ => format!("stroke=\"{colour}\" stroke-width=\"1.5\""),
        }
    }

    pub(super) fn fill(self) -> String {
        let colour = self.colour();
        match self {
            Self::Plain | Self::Muted | Self::Faint => "fill=\"none\"".to_owned(),
            Self::Lit => format!("fill=\"{colour}\" fill-opacity=\".16\""),
            Self::Wrong => format!("fill=\"{colour}\" fill-opacity=\".5\""),
            _ => format!("fill=\"{colour}\" fill-opacity=\".22\""),
        }
    }
}
