//! Bit matrices and bit sets: lines of 64-bit words.

/// A matrix of bits, each line padded with zeros to whole words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BitMatrix {
    lines: usize,
    width: usize,
    words: usize,
    data: Vec<u64>,
}

impl BitMatrix {
    /// Zeros: `lines` lines of `width` bits.
    pub(crate) fn zeros(lines: usize, width: usize) -> BitMatrix {
        let words = width.div_ceil(64);
        BitMatrix { lines, width, words, data: vec![0; lines * words] }
    }

    /// The number of lines.
    pub(crate) fn lines(&self) -> usize {
        self.lines
    }

    /// The number of bits of a line.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The words of a line; bits beyond the width are zero.
    pub(crate) fn line(&self, line: usize) -> &[u64] {
        &self.data[line * self.words..(line + 1) * self.words]
    }

    /// The words of a line, mutable; keep the bits beyond the width zero.
    pub(crate) fn line_mut(&mut self, line: usize) -> &mut [u64] {
        &mut self.data[line * self.words..(line + 1) * self.words]
    }

    /// One bit.
    pub(crate) fn bit(&self, line: usize, bit: usize) -> bool {
        bit_of(self.line(line), bit)
    }

    /// Sets one bit.
    pub(crate) fn set(&mut self, line: usize, bit: usize) {
        self.data[line * self.words + bit / 64] |= 1 << (bit % 64);
    }

    /// Rows become columns, 64 × 64 bits at a time.
    pub(crate) fn transposed(&self) -> BitMatrix {
        let mut result = BitMatrix::zeros(self.width, self.lines);
        for block_line in 0..self.lines.div_ceil(64) {
            let lines = 64.min(self.lines - 64 * block_line);
            for word in 0..self.words {
                let mut block = [0u64; 64];
                for (i, slot) in block[..lines].iter_mut().enumerate() {
                    *slot = self.data[(64 * block_line + i) * self.words + word];
                }
                transpose_block(&mut block);
                for (i, &bits) in block.iter().enumerate().take(self.width - 64 * word) {
                    result.data[(64 * word + i) * result.words + block_line] = bits;
                }
            }
        }
        result
    }

    /// Bytes of memory the bits take.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.data.len()
    }
}

/// One bit of a line of words.
pub(crate) fn bit_of(words: &[u64], bit: usize) -> bool {
    words[bit / 64] >> (bit % 64) & 1 == 1
}

/// The positions of the bits that are one, ascending.
pub(crate) fn ones(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(i, &word)| {
        std::iter::successors((word != 0).then_some(word), |w| Some(w & (w - 1)).filter(|&w| w != 0))
            .map(move |w| 64 * i + w.trailing_zeros() as usize)
    })
}

/// Transposes a 64 × 64 block in place by swapping ever smaller quarters.
fn transpose_block(block: &mut [u64; 64]) {
    let mut size = 32;
    let mut mask = u64::MAX >> 32;
    while size > 0 {
        for i in (0..64).filter(|i| i & size == 0) {
            let swapped = (block[i] >> size ^ block[i + size]) & mask;
            block[i] ^= swapped << size;
            block[i + size] ^= swapped;
        }
        size /= 2;
        mask ^= mask << size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn transposing_moves_every_bit() {
        let mut random = Random::new(1);
        for (lines, width) in [(1, 1), (64, 64), (3, 130), (200, 65), (0, 5), (70, 0)] {
            let mut matrix = BitMatrix::zeros(lines, width);
            for (i, j) in (0..lines).flat_map(|i| (0..width).map(move |j| (i, j))) {
                if random.unit() < 0.4 {
                    matrix.set(i, j);
                }
            }
            let turned = matrix.transposed();
            assert_eq!((turned.lines(), turned.width()), (width, lines));
            for (i, j) in (0..lines).flat_map(|i| (0..width).map(move |j| (i, j))) {
                assert_eq!(matrix.bit(i, j), turned.bit(j, i));
            }
            assert_eq!(turned.transposed(), matrix);
        }
    }

    #[test]
    fn ones_are_found() {
        assert_eq!(ones(&[0b1010, 0, 1]).collect::<Vec<_>>(), [1, 3, 128]);
    }
}
