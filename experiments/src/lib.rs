//! keyfit: solve for the numbers that put an animation track where it must be.
