//! Rewriting of keyfit tracks by equality saturation.
