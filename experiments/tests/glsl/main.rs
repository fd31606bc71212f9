//! Tracks as GLSL: how it looks, that a compiler of GLSL accepts it, and that it computes what the sampler does.

mod looks;
mod runs;
mod valid;
