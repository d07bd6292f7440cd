//! The frequencies of rotary positions, for texts longer than those in training.
//!
//! A head of even width d has d/2 pairs, and pair p rotates by f_p = base^(−2p / d) per
//! position. A model trained on `n_trained` positions is to read `factor` times as many.
//! Return its new frequencies, f_0 to f_(d/2 − 1), by one of three rules:
//! - `Stretch::Interpolated`: f_p / factor. All positions move closer together.
//! - `Stretch::NtkAware`: the frequencies of another base, base · factor^(d / (d − 2)),
//!   which keeps the frequency of pair 0 and divides that of the last pair by factor.
//! - `Stretch::Yarn`: by the number of rotations that pair p made in training,
//!   r = n_trained · f_p / 2π. If r is at least `fast`, the pair keeps f_p; if r is at
//!   most `slow`, the pair gets f_p / factor; between these, it gets a blend of the two
//!   with a weight that is linear in r.
//!
//! What must be true of the answer:
//! - with a factor of 1, nothing changes, whatever the rule;
//! - with YaRN, every frequency is between f_p / factor and f_p.
//!
//! d is at least 4, `factor` is at least 1, and `fast` is larger than `slow`. (YaRN also
//! sharpens attention a little, but on another line, so leave that out here.)

use std::process::ExitCode;

use exercises::stretched_rotary::{self, Stretch};

/// The frequencies of d/2 pairs.
// ANCHOR: answer
pub fn frequencies(d: usize, base: f64, factor: f64, stretch: Stretch) -> Vec<f64> {
    // YOURS: one frequency per pair, by the rule.
    let width = d as f64;
    let of = |base: f64, p: usize| base.powf(-2.0 * p as f64 / width);
    let stretched = |p: usize| {
        let f = of(base, p);
        match stretch {
            Stretch::Interpolated => f / factor,
            Stretch::NtkAware => of(base * factor.powf(width / (width - 2.0)), p),
            Stretch::Yarn { n_trained, slow, fast } => {
                let turns = n_trained * f / std::f64::consts::TAU;
                let kept = ((turns - slow) / (fast - slow)).clamp(0.0, 1.0);
                kept * f + (1.0 - kept) * f / factor
            }
        }
    };
    (0..d / 2).map(stretched).collect()
}
// ANCHOR_END: answer

fn main() -> ExitCode {
    stretched_rotary::check(frequencies)
}
