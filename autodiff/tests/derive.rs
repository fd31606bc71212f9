//! Symbolic derivatives (`keyfit-rewrite`) against dual numbers.
