//! With nothing changed, the layer that can be changed is the fused layer, to the last bit.

use attention::{LayerParameters, MultiHeadAttention, Real};
use fused_heads::FusedAttention;
use variants::{Changes, Sizes, VariantAttention};

use crate::cases::{Case, any_case, check};

#[test]
fn nothing_changed_is_the_fused_layer_to_the_last_bit() {
    agree::<f64>("variants_in_f64");
    agree::<f32>("variants_in_f32");
}

fn agree<T: Real>(name: &'static str) {
    check(name, 200, &any_case(), |case: Case| {
        let [query, key, value] = case.inputs::<T>();
        let parameters: LayerParameters<T> = case.parameters();
        let fused = FusedAttention::new(&parameters);
        let changed =
            VariantAttention::from_packed(parameters.pack(), Changes::default()).unwrap();
        let of = |layer: &dyn MultiHeadAttention<T>| {
            layer.forward(&query, &key, &value, &case.mask).unwrap()
        };
        assert_eq!(of(&fused), of(&changed));
        assert_eq!(fused.parameter_count(), changed.parameter_count());
        Ok(())
    });
}

/// Eight query heads with keys and values of their own, or shared by two, four or all.
#[test]
fn shared_keys_and_values_in_the_ledgers() {
    let dims = attention::Dims::new(256, 8).unwrap();
    let lines = [8, 4, 2, 1].map(|n_kv_heads| {
        let sizes = Sizes::new(dims, n_kv_heads).unwrap();
        let rng = &mut attention::SeedableRng::seed_from_u64(1);
        let layer: VariantAttention =
            VariantAttention::random(sizes, true, Changes::default(), rng).unwrap();
        let mut cache = layer.cache();
        let x = attention::random_matrix(30, 256, 1.0, rng);
        layer.forward_cached(&x, &mut cache).unwrap();
        let work = sizes.multiply_adds(30, 30).unwrap().total();
        let fused = attention::MultiplyAdds::count(dims, 30, 30).unwrap().total();
        assert_eq!(work == fused, n_kv_heads == 8);
        format!(
            "8 heads on {n_kv_heads} of keys and values: {} parameters, {} multiply-adds, {} \
             bytes of cache",
            attention::thousands(layer.parameter_count().total()),
            attention::thousands(work),
            attention::thousands(cache.bytes()),
        )
    });
    insta::assert_snapshot!(lines.join("\n"));
}
