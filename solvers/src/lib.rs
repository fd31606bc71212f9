//! Fitting keyfit tracks: problems, solvers, refusals.
