//! Boxes in steps: from left to right on a wide page, from top to bottom on a phone.

use super::canvas::{Canvas, Rect};

/// A box's place: which step, and from which lane to which.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) step: usize,
    pub(super) lanes: [usize; 2],
}

/// A grid of steps and lanes.
pub(super) struct Flow {
    pub(super) is_wide: bool,
    /// How many steps and lanes there are.
    pub(super) n: [usize; 2],
    /// A box of one lane, along the flow and across it.
    pub(super) cell: [f64; 2],
    /// Between two steps, and between two lanes.
    pub(super) gaps: [f64; 2],
}

/// Room for lines at the edge.
const EDGE: f64 = 2.0;

impl Flow {
    pub(super) fn canvas(&self) -> Canvas {
        let along = |axis: usize| {
            let n = self.n[axis] as f64;
            n * self.cell[axis] + (n - 1.0) * self.gaps[axis] + 2.0 * EDGE
        };
        match self.is_wide {
            true => Canvas::new(along(0), along(1)),
            false => Canvas::new(along(1), along(0)),
        }
    }

    fn start(&self, axis: usize, nth: usize) -> f64 {
        EDGE + nth as f64 * (self.cell[axis] + self.gaps[axis])
    }

    pub(super) fn rect(&self, place: Place) -> Rect {
        let [first, last] = place.lanes;
        let (along, across) = (self.start(0, place.step), self.start(1, first));
        let breadth = self.start(1, last) + self.cell[1] - across;
        match self.is_wide {
            true => Rect { x: along, y: across, w: self.cell[0], h: breadth },
            false => Rect { x: across, y: along, w: breadth, h: self.cell[0] },
        }
    }

    /// Where an arrow begins and ends, in the middle of a lane, moved aside by so many
    /// pixels.
    pub(super) fn ends(
        &self,
        [from, to]: [Place; 2],
        [lane, aside]: [f64; 2],
    ) -> [[f64; 2]; 2] {
        const APART: f64 = 2.5;
        let start = self.start(0, from.step) + self.cell[0] + APART;
        let end = self.start(0, to.step) - APART;
        let (pitch, half) = (self.cell[1] + self.gaps[1], self.cell[1] / 2.0);
        let across = EDGE + lane * pitch + half + aside;
        [start, end].map(|along| match self.is_wide {
            true => [along, across],
            false => [across, along],
        })
    }
}
