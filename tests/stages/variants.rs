//! With nothing changed, the layer that can be changed is the fused layer, to the last bit.

use attention::{
    Batch, Dims, LayerParameters, Mask, MultiHeadAttention, Real, Rng, SeedableRng,
    random_matrix,
};
use fused_heads::FusedAttention;
use gradients::LayerPass;
use variants::{Changes, Sizes, VariantAttention, VariantPass};

use stages::cases::{Case, any_case, check};

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

#[test]
fn with_nothing_changed_it_is_the_backward_pass_of_the_fused_layer() {
    let rng = &mut Rng::seed_from_u64(1);
    let dims = Dims::new(8, 2).unwrap();
    let parameters: LayerParameters = LayerParameters::random(dims, true, rng);
    let fused = FusedAttention::new(&parameters);
    let changed =
        VariantAttention::from_packed(parameters.pack(), Changes::default()).unwrap();
    let x = Batch::new(2, random_matrix(2 * 4, 8, 1.0, rng)).unwrap();
    let d_out = random_matrix(2 * 4, 8, 1.0, rng);
    let expected = LayerPass::self_attend_batch(&fused, &x, &[Mask::Causal]).unwrap();
    let expected = expected.backward(&d_out).unwrap();
    let found = VariantPass::forward(&changed, &x, &x, &Mask::Causal).unwrap();
    let found = found.backward(&d_out).unwrap();
    assert_eq!(found.d_projections[1], expected.d_w_k);
    assert_eq!(found.d_projections[3], expected.d_w_o);
    let d_x = found.d_query + found.d_key;
    assert!((d_x - expected.d_x().unwrap()).amax() < 1e-14);
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
