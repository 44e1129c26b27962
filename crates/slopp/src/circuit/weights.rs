//! One number per parameter of a circuit.

/// One number for every parameter of a circuit: two per ⊤ node, one per element.
///
/// The same shape holds log-parameters, counts of records and expected flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    /// For each ⊤ node, the numbers of *false* and of *true*.
    pub tops: Vec<[f64; 2]>,
    /// For each element of each sum, its number.
    pub elements: Vec<f64>,
}

impl Weights {
    /// Zeros of the given shape.
    pub fn zeros(tops: usize, elements: usize) -> Weights {
        Weights { tops: vec![[0.0; 2]; tops], elements: vec![0.0; elements] }
    }

    /// Whether both have numbers for the same circuit.
    pub fn same_shape(&self, other: &Weights) -> bool {
        self.tops.len() == other.tops.len() && self.elements.len() == other.elements.len()
    }

    /// Adds `other` number by number.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn add(&mut self, other: &Weights) {
        assert!(self.same_shape(other), "weights of different circuits");
        for (a, b) in self.tops.iter_mut().zip(&other.tops) {
            a[0] += b[0];
            a[1] += b[1];
        }
        for (a, b) in self.elements.iter_mut().zip(&other.elements) {
            *a += b;
        }
    }
}
