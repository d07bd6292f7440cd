//! A folder of files, as NASA packs them.

use std::fs;
use std::path::Path;

use super::{Engine, parse_engines, parse_lives, write_engines};
use crate::{Error, Result};

/// Engines to learn from and engines to be judged by.
///
/// ```no_run
/// let readings = sensors::Readings::open("CMAPSSData", "FD001")?;
/// println!("{} engines to learn from", readings.train.len());
/// # Ok::<(), sensors::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Readings {
    /// Engines that ran until they failed.
    pub train: Vec<Engine>,
    /// Engines of which the last readings are missing.
    pub test: Vec<Engine>,
    /// How many cycles each test engine ran on.
    pub lives: Vec<usize>,
}

impl Readings {
    /// Reads `train_SET.txt`, `test_SET.txt` and `RUL_SET.txt`, where SET is `FD001`.
    ///
    /// # Errors
    /// [`Error::NoFolder`]; [`Error::Read`] for a file that is not there; as
    /// [`parse_engines`] and [`parse_lives`]; [`Error::Lives`] if not every test engine has
    /// one.
    pub fn open(folder: impl AsRef<Path>, set: &str) -> Result<Self> {
        let folder = folder.as_ref();
        if !folder.is_dir() {
            return Err(Error::NoFolder { path: folder.into() });
        }
        let [train, test, lives] = names(set);
        let read = |name: &str| -> Result<(String, String)> {
            let path = folder.join(name);
            match fs::read_to_string(&path) {
                Ok(text) => Ok((path.display().to_string(), text)),
                Err(source) => Err(Error::Read { path, source }),
            }
        };
        let engines = |name: &str| {
            let (file, text) = read(name)?;
            parse_engines(&file, &text)
        };
        let (train, test) = (engines(&train)?, engines(&test)?);
        let (file, text) = read(&lives)?;
        let lives = parse_lives(&file, &text)?;
        if lives.len() != test.len() {
            let (n_engines, n_lives) = (test.len(), lives.len());
            return Err(Error::Lives { file, n_engines, n_lives });
        }
        Ok(Self { train, test, lives })
    }

    /// Writes the three files into a folder that is there.
    ///
    /// # Errors
    /// [`Error::NoFolder`], [`Error::Write`].
    pub fn save(&self, folder: impl AsRef<Path>, set: &str) -> Result<()> {
        let folder = folder.as_ref();
        if !folder.is_dir() {
            return Err(Error::NoFolder { path: folder.into() });
        }
        let lives: String = self.lives.iter().map(|life| format!("{life}\n")).collect();
        let texts = [write_engines(&self.train), write_engines(&self.test), lives];
        for (name, text) in names(set).iter().zip(texts) {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|source| Error::Write { path, source })?;
        }
        Ok(())
    }
}

fn names(set: &str) -> [String; 3] {
    ["train", "test", "RUL"].map(|what| format!("{what}_{set}.txt"))
}
