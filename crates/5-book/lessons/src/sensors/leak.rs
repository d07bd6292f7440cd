//! What a score is worth if the engines of the test were in the training.

use anyhow::Result;
use attention::{Matrix, Rng, SeedableRng};
use sensors::{At, Engine, Fleet, Scale, Windows, rmse, split};

/// Windows that are asked.
const N_ASKED: usize = 500;

/// Windows as their mean readings, and what is right for each.
struct Known {
    /// `[n_windows, n_sensors]`.
    means: Matrix,
    targets: Vec<f64>,
}

/// The error of a memoriser, which gives the answer of the window whose mean reading is
/// nearest: with whole engines kept back, and with single windows of every engine kept back.
pub struct Leak {
    /// RMSE on engines that it has never seen.
    pub by_engine: f64,
    /// RMSE on windows whose neighbours it knows by heart.
    pub by_window: f64,
}

/// Measures it on the engines of the book, on the scale of all of them for both.
///
/// # Errors
/// None for this fleet.
pub fn leak() -> Result<Leak> {
    let engines = Fleet::default().readings(0).0.train;
    let scale = Scale::of(&engines)?;
    let windows =
        |engines: &[Engine]| Windows::of(engines, &vec![0; engines.len()], &scale);

    let (train, kept) = split(&engines, &mut Rng::seed_from_u64(0))?;
    let (train, kept) = (windows(&train)?, windows(&kept)?);
    let by_engine =
        memorised(&Known::new(&train, &train.at)?, &Known::new(&kept, &kept.at)?);

    // Every fifth window of every engine is kept back: as many, and no engine is new.
    let all = windows(&engines)?;
    let is_kept = |(i, _): &(usize, &At)| i % 5 == 2;
    let every = || all.at.iter().enumerate();
    let kept: Vec<At> = every().filter(is_kept).map(|(_, at)| *at).collect();
    let train: Vec<At> = every().filter(|it| !is_kept(it)).map(|(_, at)| *at).collect();
    let by_window = memorised(&Known::new(&all, &train)?, &Known::new(&all, &kept)?);
    Ok(Leak { by_engine, by_window })
}

impl Known {
    fn new(windows: &Windows, at: &[At]) -> Result<Self> {
        let mean = |at: &At| Ok(windows.readings(at)?.row_mean());
        let means: Vec<_> = at.iter().map(mean).collect::<Result<_>>()?;
        Ok(Self {
            means: Matrix::from_rows(&means),
            targets: at.iter().map(At::target).collect(),
        })
    }
}

/// The RMSE of the nearest window's answer, over some of the windows that were kept back.
fn memorised(train: &Known, kept: &Known) -> f64 {
    let every = (kept.targets.len() / N_ASKED).max(1);
    let asked: Vec<usize> = (0..kept.targets.len()).step_by(every).collect();
    // |a − b|² = |a|² − 2 a bᵀ + |b|², and |b|² is the same for all a.
    let products = &train.means * kept.means.select_rows(&asked).transpose();
    let sizes: Vec<f64> = train.means.row_iter().map(|row| row.norm_squared()).collect();
    let nearest = |products: &[f64]| {
        let distances =
            products.iter().zip(&sizes).map(|(product, size)| size - 2.0 * product);
        let least = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        least.map_or(f64::NAN, |(i, _)| train.targets[i])
    };
    let said: Vec<f64> =
        products.column_iter().map(|column| nearest(column.as_slice())).collect();
    let right: Vec<f64> = asked.iter().map(|&i| kept.targets[i]).collect();
    rmse(&said, &right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_asked_what_it_knows_is_right() {
        let known = || Known {
            means: Matrix::from_row_slice(3, 2, &[0.0, 1.0, 5.0, 5.0, -2.0, 0.5]),
            targets: vec![7.0, 80.0, 33.0],
        };
        assert_eq!(memorised(&known(), &known()), 0.0);
        let other = Known {
            means: Matrix::from_row_slice(1, 2, &[4.0, 4.5]),
            targets: vec![83.0],
        };
        assert_eq!(memorised(&known(), &other), 3.0);
    }

    /// What the two ways to keep windows back are compared for: who knows a window's
    /// neighbours answers by heart, and who knows strangers alone is as wrong as two answers
    /// are apart.
    #[test]
    fn neighbours_leak_and_strangers_do_not() {
        use attention::random_matrix;
        let (n, rng) = (300, &mut Rng::seed_from_u64(1));
        let mut drawn = || {
            let answers: Matrix = random_matrix(n, 1, 1.0, rng);
            let targets = answers.iter().map(|x| 60.0 + 10.0 * x).collect();
            Known { means: random_matrix(n, 8, 1.0, rng), targets }
        };
        let (train, strangers) = (drawn(), drawn());
        let neighbours = Known {
            means: train.means.map(|x| 0.99 * x),
            targets: train.targets.iter().map(|answer| answer + 1.0).collect(),
        };
        assert!((memorised(&train, &neighbours) - 1.0).abs() < 1e-9);
        let apart = memorised(&train, &strangers);
        assert!((12.0..17.0).contains(&apart), "{apart}, and √2 · 10 = 14.1");
    }
}
