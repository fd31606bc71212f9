//! Exact derivatives and arbitrary precision for keyfit tracks.
