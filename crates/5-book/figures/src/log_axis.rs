//! How numbers are written beside axes on which each step is a factor.

/// The number itself, without the rounding of a power.
pub fn ten_to(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(1.0)
}

/// `0.1`, and with an exponent where zeros would have to be counted.
pub fn power_of_ten(power: i32) -> String {
    match power {
        -2..=3 => ten_to(power).to_string(),
        _ => format!("10<sup>{}</sup>", power.to_string().replace('-', "−")),
    }
}

/// A power of ten of milliseconds: `10 µs`, `1 s`.
pub fn time_of_ten(power: i32) -> String {
    in_units(power + 3, [("µs", 0), ("ms", 3), ("s", 6)])
}

/// A power of ten of bytes: `10 kB`, `1 GB`.
pub fn bytes_of_ten(power: i32) -> String {
    in_units(power, [("kB", 3), ("MB", 6), ("GB", 9)])
}

fn in_units(power: i32, units: [(&str, i32); 3]) -> String {
    let fits = units.iter().rev().find(|(_, of_unit)| power >= *of_unit);
    let (unit, of_unit) = fits.unwrap_or(&units[0]);
    format!("{} {unit}", ten_to(power - of_unit))
}

/// Milliseconds with three digits that count: `44.1 µs`, `18.1 ms`, `1.27 s`.
pub fn time(ms: f64) -> String {
    match ms {
        ms if ms < 0.9995 => format!("{} µs", three(ms * 1e3)),
        ms if ms < 999.5 => format!("{} ms", three(ms)),
        ms => format!("{} s", three(ms / 1e3)),
    }
}

/// Bytes with three digits that count: `16.4 kB`, `1.07 GB`.
pub fn bytes(bytes: f64) -> String {
    match bytes {
        bytes if bytes < 999.5e3 => format!("{} kB", three(bytes / 1e3)),
        bytes if bytes < 999.5e6 => format!("{} MB", three(bytes / 1e6)),
        bytes => format!("{} GB", three(bytes / 1e9)),
    }
}

/// Three digits that count.
fn three(number: f64) -> String {
    match number {
        n if n < 9.995 => format!("{n:.2}"),
        n if n < 99.95 => format!("{n:.1}"),
        n => format!("{n:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_their_unit() {
        let times = [0.0441, 0.9996, 18.1, 999.6, 61_234.0].map(time);
        assert_eq!(times, ["44.1 µs", "1.00 ms", "18.1 ms", "1.00 s", "61.2 s"]);
        let sizes = [512.0, 16_384.0, 1e6, 1.0737e9].map(bytes);
        assert_eq!(sizes, ["0.51 kB", "16.4 kB", "1.00 MB", "1.07 GB"]);
    }

    #[test]
    fn lines_have_round_names() {
        let times = [-2, 0, 2, 3, 4].map(time_of_ten);
        assert_eq!(times, ["10 µs", "1 ms", "100 ms", "1 s", "10 s"]);
        assert_eq!([4, 6, 9, 10].map(bytes_of_ten), ["10 kB", "1 MB", "1 GB", "10 GB"]);
        assert_eq!(
            [-3, 0, 4].map(power_of_ten),
            ["10<sup>−3</sup>", "1", "10<sup>4</sup>"]
        );
    }
}
