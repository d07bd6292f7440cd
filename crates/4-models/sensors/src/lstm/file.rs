//! An LSTM from a file with the names of PyTorch's state dict.

use attention::{Linear, Matrix, Real, RowVector};
use tensors::TensorFile;

use super::{Direction, Layer, Lstm};
use crate::Result;

/// What a name ends in for each direction.
const DIRECTIONS: [&str; 2] = ["", "_reverse"];

impl<T: Real> Lstm<T> {
    /// The LSTM whose tensors have this prefix: `weight_ih_l0`, `weight_hh_l0`,
    /// `bias_ih_l0`, `bias_hh_l0` for each layer, with `_reverse` for the backward
    /// direction. Sizes are those of the tensors.
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File), with the tensor that is missing or of another
    /// shape, or for a projected LSTM (`proj_size`), which is not computed here.
    pub fn from_file(file: &TensorFile, prefix: &str) -> Result<Self> {
        let names = Names::of(file, prefix)?;
        refuse_others(file, prefix)?;
        let mut layers: Vec<Layer<T>> = Vec::new();
        for l in 0..names.n_layers {
            let below = layers
                .last()
                .map(|layer| layer.forward.hidden.d_in() * layer.directions().count());
            let direction = |d: &str| names.direction(&format!("l{l}{d}"), below);
            let [forward, backward] = DIRECTIONS;
            let backward = names.both_ways.then(|| direction(backward)).transpose()?;
            layers.push(Layer { forward: direction(forward)?, backward });
        }
        Ok(Self::new(layers)?)
    }
}

/// Which tensors there must be, from the names that there are.
struct Names<'a> {
    file: &'a TensorFile,
    prefix: &'a str,
    n_layers: usize,
    both_ways: bool,
    bias: bool,
}

impl<'a> Names<'a> {
    fn of(file: &'a TensorFile, prefix: &'a str) -> Result<Self> {
        let names = file.names();
        let ours: Vec<&str> =
            names.iter().filter_map(|name| name.strip_prefix(prefix)).collect();
        if let Some(found) = ours.iter().find(|name| name.starts_with("weight_hr_l")) {
            let (file, found) = (file.name().to_string(), format!("{prefix}{found}"));
            let why = "made with proj_size, this LSTM projects its hidden state, which is \
                       not computed here";
            return Err(model_files::Error::Unsupported { file, found, why }.into());
        }
        let parts = ours.iter().filter_map(|name| {
            let number = PARTS.iter().find_map(|part| name.strip_prefix(part))?;
            number.trim_end_matches(DIRECTIONS[1]).parse::<usize>().ok()
        });
        let last = parts.filter(|&l| l < MOST_LAYERS).max().unwrap_or(0);
        let any = |is: &dyn Fn(&str) -> bool| ours.iter().any(|name| is(name));
        Ok(Self {
            file,
            prefix,
            n_layers: last + 1,
            both_ways: any(&|name| {
                name.ends_with(DIRECTIONS[1]) && PARTS.iter().any(|p| name.starts_with(p))
            }),
            bias: any(&|name| PARTS[2..].iter().any(|part| name.starts_with(part))),
        })
    }

    /// One direction of one layer; `d_in` is what the layer below makes.
    fn direction<T: Real>(&self, end: &str, d_in: Option<usize>) -> Result<Direction<T>> {
        let name = |part: &str| format!("{}{part}_{end}", self.prefix);
        let hidden = self.columns(&name("weight_hh"))?;
        let d_in = d_in.map_or_else(|| self.columns(&name("weight_ih")), Ok)?;
        let linear = |part: &str, d_in: usize| -> Result<Linear<T>> {
            let numbers =
                self.numbers(&name(&format!("weight_{part}")), &[4 * hidden, d_in])?;
            // `[out, in]` row after row is `[in, out]` column after column.
            let weight = Matrix::from_vec(d_in, 4 * hidden, numbers);
            let bias = || self.numbers(&name(&format!("bias_{part}")), &[4 * hidden]);
            let bias = self.bias.then(bias).transpose()?;
            Ok(Linear::new(weight, bias.map(RowVector::from))?)
        };
        Ok(Direction::new(linear("ih", d_in)?, linear("hh", hidden)?)?)
    }

    fn columns(&self, name: &str) -> Result<usize> {
        let tensor = self.file.tensor(name)?;
        match *tensor.shape() {
            [_, columns] => Ok(columns),
            _ => Err(tensor.shape_error("two dimensions").into()),
        }
    }

    fn numbers<T: Real>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        let tensor = self.file.tensor(name)?;
        tensor.expect_shape(shape)?;
        Ok(tensor.numbers_as()?)
    }
}

/// Whether this is the name of a parameter, without what stands before it.
pub(super) fn is_parameter(name: &str) -> bool {
    let number = PARTS.iter().find_map(|part| name.strip_prefix(part));
    let number = number.map(|text| text.strip_suffix(DIRECTIONS[1]).unwrap_or(text));
    number.and_then(|text| text.parse::<usize>().ok()).is_some_and(|l| l < MOST_LAYERS)
}

/// What stands before the names of each LSTM in a file: nothing, or as in `lstm.` and
/// `_orig_mod.encoder.lstm.`.
pub(super) fn prefixes(file: &TensorFile) -> Vec<String> {
    let first = format!("{}0", PARTS[0]);
    let names = file.names();
    let prefixes = names.iter().filter_map(|name| name.strip_suffix(&first));
    prefixes.filter(|p| p.is_empty() || p.ends_with('.')).map(str::to_owned).collect()
}

/// The prefix that is asked for (its last dot may be left out), or that of the one LSTM in a
/// file.
pub(super) fn prefix_in(file: &TensorFile, asked: Option<&str>) -> Result<String> {
    let mut prefixes = prefixes(file);
    let same = |a: &str, b: &str| a.trim_end_matches('.') == b.trim_end_matches('.');
    let several = |prefixes: Vec<String>| {
        let named = |prefix: String| match prefix.is_empty() {
            true => "\"\" (none)".to_string(),
            false => prefix,
        };
        let prefixes = prefixes.into_iter().map(named).collect();
        let file = file.name().to_string();
        Err(model_files::Error::SeveralLayers { file, prefixes }.into())
    };
    match (asked, prefixes.len()) {
        (Some(asked), _) => match prefixes.iter().find(|prefix| same(prefix, asked)) {
            Some(prefix) => Ok(prefix.clone()),
            None => {
                let (file, prefix) = (file.name().to_string(), asked.to_string());
                Err(model_files::Error::UnknownPrefix { file, prefix, prefixes }.into())
            }
        },
        (None, 0) => Ok(String::new()),
        (None, 1) => Ok(prefixes.remove(0)),
        (None, _) => several(prefixes),
    }
}

/// Refuses what has an LSTM's names, or nearly, and is another network.
fn refuse_others(file: &TensorFile, prefix: &str) -> Result<()> {
    let cell = format!("{prefix}weight_hh");
    if file.contains(&cell) {
        let file = file.name().to_string();
        let why = "a cell (LSTMCell, GRUCell or RNNCell), which makes one step: an LSTM's \
                   names end in its layer, as weight_hh_l0, so rename those of an LSTMCell";
        return Err(model_files::Error::Unsupported { file, found: cell, why }.into());
    }
    let name = format!("{prefix}{}0", PARTS[1]);
    if !file.contains(&name) {
        return Ok(());
    }
    let tensor = file.tensor(&name)?;
    let kind = match *tensor.shape() {
        [rows, hidden] if rows == 3 * hidden => {
            format!("three gates of {hidden}: this is a GRU")
        }
        [rows, hidden] if rows == hidden => {
            format!("no gates, a state of {hidden}: this is an RNN")
        }
        [rows, hidden] if rows == 4 * hidden || rows % 4 != 0 || hidden == 0 => {
            return Ok(());
        }
        [rows, hidden] => format!("four gates of {}, projected to {hidden}", rows / 4),
        _ => return Ok(()),
    };
    let hidden = tensor.shape()[1];
    let expected = format!("({}, {hidden}) of an LSTM's four gates: {kind}", 4 * hidden);
    Err(tensor.shape_error(&expected).into())
}

/// Far more than anyone has, and few enough to ask for one by one.
const MOST_LAYERS: usize = 1000;

const PARTS: [&str; 4] = ["weight_ih_l", "weight_hh_l", "bias_ih_l", "bias_hh_l"];
