//! Random numbers of one thing among many.

/// The seed of the thing with this number, counted from 0, of something with a seed: of a run of a campaign, of a test case of a
/// suite. It depends on nothing else, so that any of them can be made by itself, and by any thread. The first one has the seed as it was given.
pub fn seed_of(seed: u64, number: u64) -> u64 {
    if number == 0 {
        return seed;
    }
    // SplitMix64's finisher [Steele et al. 2014].
    let mut z = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
