//! Places of boxes.

/// A box's place: left, top, width, height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::diagram) struct Rect {
    pub(in crate::diagram) x: f64,
    pub(in crate::diagram) y: f64,
    pub(in crate::diagram) w: f64,
    pub(in crate::diagram) h: f64,
}

impl Rect {
    pub(in crate::diagram) fn middle(&self) -> [f64; 2] {
        [self.x + self.w / 2.0, self.y + self.h / 2.0]
    }

    pub(in crate::diagram) fn right(&self) -> f64 {
        self.x + self.w
    }

    pub(in crate::diagram) fn corners(&self) -> [[f64; 2]; 4] {
        let [left, right] = [self.x, self.right()];
        let [top, bottom] = [self.y, self.bottom()];
        [[left, top], [right, top], [right, bottom], [left, bottom]]
    }

    pub(in crate::diagram) fn bottom(&self) -> f64 {
        self.y + self.h
    }

    /// One of `n` columns of the box.
    pub(in crate::diagram) fn column(&self, nth: usize, n: usize) -> Self {
        let w = self.w / n as f64;
        Self { x: self.x + nth as f64 * w, w, ..*self }
    }

    /// One of `n` rows of the box.
    pub(in crate::diagram) fn row(&self, nth: usize, n: usize) -> Self {
        let h = self.h / n as f64;
        Self { y: self.y + nth as f64 * h, h, ..*self }
    }
}
