//! Animation tracks as data: operations, evaluation, text.
