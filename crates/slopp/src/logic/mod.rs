//! The logical side: formulas as SDDs.
