//! Which columns of a packed W are whose.

use crate::recipe::Packing;

mistakes! {
    Packing, "packed-head-by-head", [PackedInBlocks], |r| r.packing = Packing::HeadByHead;
    Packing, "packed-in-blocks", [PackedByHeads], |r| r.packing = Packing::Blocks;
    Packing, "packed-by-features", [Packed], |r| r.packing = Packing::Features;
    Packing, "packed-k-v-q", [Packed], |r| r.packing = Packing::KeyFirst;
    Packing, "packed-v-q-k", [Packed], |r| r.packing = Packing::ValueFirst;
    Packing, "packed-q-v-k", [Packed], |r| r.packing = Packing::ValueSecond;
    Packing, "packed-k-q-v", [Packed], |r| r.packing = Packing::KeyThenQuery;
}
