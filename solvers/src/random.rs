//! Random numbers that are the same on every machine.

use rand_core::RngCore;

/// A seed for what has a name, out of a common seed: the same whatever else is seeded, and in whichever order.
pub fn seed_of(name: &str, common: u64) -> u64 {
    name.bytes().fold(common, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)))
}

/// Steele, Lea & Flood's SplitMix64 (OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of that seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// From 0 to 2⁶⁴ − 1, evenly.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to and without 1, evenly.
    pub fn part(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// For argmin's solvers, which take any generator of this kind.
impl RngCore for Random {
    fn next_u32(&mut self) -> u32 {
        (self.bits() >> 32) as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.bits()
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        rand_core::impls::fill_bytes_via_next(self, bytes);
    }
}
