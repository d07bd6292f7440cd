//! The weights with which a training begins: the same for a seed on every platform.

use attention::{Rng, SeedableRng};
use candle_core::{DType, Device, Result, Tensor};
use candle_nn::VarMap;
use rand::RngExt;
use sensors::{Architecture, Slot};

/// All tensors of an architecture, uniform as PyTorch begins: ±1 / √hidden for an LSTM,
/// ±√(6 / (in + out)) for the projections of attention, ±1 / √in for a linear map; norms
/// begin at 1 and 0.
pub fn weights(architecture: Architecture, d_in: usize, seed: u64) -> Result<VarMap> {
    let (rng, map) = (&mut Rng::seed_from_u64(seed), VarMap::new());
    for slot in architecture.slots(d_in) {
        let n: usize = slot.shape.iter().product();
        let half = half_width(&slot, architecture.width());
        let entry = |rng: &mut Rng| match half {
            Some(half) => (half * (2.0 * rng.random::<f64>() - 1.0)) as f32,
            None => f32::from(u8::from(slot.name == "norm.weight")),
        };
        let all: Vec<f32> = (0..n).map(|_| entry(rng)).collect();
        let start = Tensor::from_vec(all, slot.shape.clone(), &Device::Cpu)?;
        let zeros = candle_nn::Init::Const(0.0);
        map.get(slot.shape.clone(), slot.name, zeros, DType::F32, &Device::Cpu)?;
        map.data()
            .lock()
            .expect("one thread")
            .get(slot.name)
            .expect("just put")
            .set(&start)?;
    }
    Ok(map)
}

/// None for what begins at a constant.
fn half_width(slot: &Slot, width: usize) -> Option<f64> {
    let root = |n: usize| 1.0 / (n as f64).sqrt();
    match (slot.name, slot.part) {
        (_, "norm") | ("attention.in_proj_bias" | "attention.out_proj.bias", _) => None,
        (_, "LSTM, forward" | "LSTM, backward") => Some(root(width / 2)),
        ("attention.in_proj_weight", _) => Some((6.0 / (4 * width) as f64).sqrt()),
        (_, "linear") => Some(root(*slot.shape.get(1).unwrap_or(&14))),
        _ => Some(root(width)),
    }
}
