//! Which variable a search decides next.

/// Variables by how often they were part of conflicts lately: a heap.
#[derive(Default)]
pub(super) struct Order {
    heap: Vec<u32>,
    /// Where each variable is in the heap, if it is.
    place: Vec<Option<u32>>,
    activity: Vec<f64>,
    step: f64,
}

impl Order {
    pub(super) fn push(&mut self, var: usize) {
        self.step = 1.0;
        self.place.push(None);
        self.activity.push(0.0);
        self.insert(var);
    }

    pub(super) fn insert(&mut self, var: usize) {
        if self.place[var].is_none() {
            self.place[var] = Some(self.heap.len() as u32);
            self.heap.push(var as u32);
            self.up(self.heap.len() - 1);
        }
    }

    pub(super) fn pop(&mut self) -> Option<usize> {
        let var = *self.heap.first()? as usize;
        let last = self.heap.pop().expect("there is one") as usize;
        self.place[var] = None;
        if last != var {
            self.heap[0] = last as u32;
            self.place[last] = Some(0);
            self.down(0);
        }
        Some(var)
    }

    pub(super) fn bump(&mut self, var: usize) {
        self.activity[var] += self.step;
        if self.activity[var] > 1e100 {
            self.activity.iter_mut().for_each(|activity| *activity *= 1e-100);
            self.step *= 1e-100;
        }
        if let Some(place) = self.place[var] {
            self.up(place as usize);
        }
    }

    pub(super) fn decay(&mut self) {
        self.step /= 0.95;
    }

    /// Whether one place of the heap belongs above another; ties by number.
    fn above(&self, a: usize, b: usize) -> bool {
        let [a, b] = [self.heap[a] as usize, self.heap[b] as usize];
        self.activity[a] > self.activity[b] || (self.activity[a] == self.activity[b] && a < b)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        [a, b].into_iter().for_each(|i| self.place[self.heap[i] as usize] = Some(i as u32));
    }

    fn up(&mut self, mut i: usize) {
        while i > 0 && self.above(i, (i - 1) / 2) {
            self.swap(i, (i - 1) / 2);
            i = (i - 1) / 2;
        }
    }

    fn down(&mut self, mut i: usize) {
        loop {
            let below = [2 * i + 1, 2 * i + 2].into_iter().filter(|&j| j < self.heap.len());
            let Some(best) = below.reduce(|a, b| if self.above(b, a) { b } else { a }) else { return };
            if !self.above(best, i) {
                return;
            }
            self.swap(i, best);
            i = best;
        }
    }
}
