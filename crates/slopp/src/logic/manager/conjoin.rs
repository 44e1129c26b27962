//! The conjunction of two diagrams, with a stack of its own.
//!
//! Two decisions of one vtree node are multiplied: a prime and a sub for each pair of elements whose primes share a
//! world. Three things keep that small: elements whose sub is false need no multiplication, since the product is false
//! too; a prime that lies inside another one shares no world with the rest; and a diagram below the other one's vtree
//! node meets only its primes, or only its subs. Products with equal subs are then made one.

use super::places::Relation;
use super::{Element, Handle, Manager};
use crate::limits::Stopped;

/// A conjunction under way.
pub(super) struct Frame {
    /// The operands, as the memo knows them.
    key: (Handle, Handle),
    vtree: u32,
    work: Work,
    /// The decision whose elements are gone through.
    upper: Handle,
    /// The other operand, unless it is a decision of the same vtree node.
    lower: Handle,
    /// The next element of `upper`, and of `rights`.
    i: u32,
    j: u32,
    /// The prime that a sub is computed for, and whether it uses up the left prime.
    prime: Handle,
    used_up: bool,
    /// Where this frame's parts of the shared stacks begin.
    rights_start: usize,
    products_start: usize,
    /// Products up to here are merged, and the next one to look at.
    merged: usize,
    next: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Primes with primes.
    Primes,
    /// Subs with subs, for the prime just found.
    Subs,
    /// Primes with a formula over left variables.
    Left,
    /// Subs with a formula over right variables.
    Right,
    /// Primes of equal subs.
    Merge,
}

enum Outcome {
    Needs(Handle, Handle),
    Done(Handle),
}

impl Manager {
    /// The conjunction of two formulas.
    ///
    /// Cost: at most one product of elements for each pair of nodes below the two.
    pub fn and(&mut self, a: Handle, b: Handle) -> Result<Handle, Stopped> {
        let found = self.and_within(a, b);
        if found.is_err() {
            self.frames.clear();
            self.rights.clear();
            self.products.clear();
        }
        found
    }

    fn and_within(&mut self, a: Handle, b: Handle) -> Result<Handle, Stopped> {
        if let Some(known) = self.known(a, b)? {
            return Ok(known);
        }
        let base = self.frames.len();
        self.open(a, b)?;
        let mut answer = None;
        loop {
            let mut frame = self.frames.pop().expect("not yet done");
            match self.go_on(&mut frame, answer.take())? {
                Outcome::Needs(x, y) => {
                    self.frames.push(frame);
                    self.open(x, y)?;
                }
                Outcome::Done(result) => {
                    self.memo.insert(frame.key.0, frame.key.1, result);
                    self.rights.truncate(frame.rights_start);
                    self.products.truncate(frame.products_start);
                    if self.frames.len() == base {
                        return Ok(result);
                    }
                    answer = Some(result);
                }
            }
        }
    }

    /// The conjunction, if it needs no products.
    fn known(&mut self, a: Handle, b: Handle) -> Result<Option<Handle>, Stopped> {
        if a == b || b == Handle::TRUE {
            return Ok(Some(a));
        }
        if a == Handle::TRUE {
            return Ok(Some(b));
        }
        if a == !b || a == Handle::FALSE || b == Handle::FALSE {
            return Ok(Some(Handle::FALSE));
        }
        let (first, second) = if a < b { (a, b) } else { (b, a) };
        if let Some(result) = self.memo.result(first, second) {
            return Ok(Some(result));
        }
        let (v, w) = (self.nodes[a.node()].vtree, self.nodes[b.node()].vtree);
        if self.places.relation(v, w) != Relation::Apart {
            return Ok(None);
        }
        self.check_steps()?;
        let (left, right) = if v < w { (a, b) } else { (b, a) };
        let mut elements = [Element { prime: left, sub: right }, Element { prime: !left, sub: Handle::FALSE }];
        self.decision(self.places.lowest_common(v, w), &mut elements).map(Some)
    }

    /// Begins a conjunction that is not known.
    fn open(&mut self, a: Handle, b: Handle) -> Result<(), Stopped> {
        self.check_steps()?;
        let key = if a < b { (a, b) } else { (b, a) };
        let relation = self.places.relation(self.nodes[a.node()].vtree, self.nodes[b.node()].vtree);
        let (upper, lower, work) = match relation {
            Relation::Same => {
                // Going through the shorter one leaves the longer one to be used up.
                let shorter = self.nodes[a.node()].len <= self.nodes[b.node()].len;
                if shorter { (a, b, Work::Primes) } else { (b, a, Work::Primes) }
            }
            Relation::BelowLeft => (a, b, Work::Left),
            Relation::BelowRight => (a, b, Work::Right),
            Relation::AboveLeft => (b, a, Work::Left),
            Relation::AboveRight => (b, a, Work::Right),
            Relation::Apart => unreachable!("known without products"),
        };
        let (rights_start, products_start) = (self.rights.len(), self.products.len());
        match work {
            Work::Primes => {
                let node = self.nodes[lower.node()];
                for e in &self.elements[node.start as usize..(node.start + node.len) as usize] {
                    let e = Element { prime: e.prime, sub: e.sub.negated_if(lower.is_negated()) };
                    let list = if e.sub == Handle::FALSE { &mut self.products } else { &mut self.rights };
                    list.push(e);
                }
            }
            Work::Left => self.products.push(Element { prime: !lower, sub: Handle::FALSE }),
            _ => {}
        }
        self.frames.push(Frame {
            key,
            vtree: self.nodes[upper.node()].vtree,
            work,
            upper,
            lower,
            i: 0,
            j: 0,
            prime: Handle::FALSE,
            used_up: false,
            rights_start,
            products_start,
            merged: products_start,
            next: products_start,
        });
        Ok(())
    }

    /// Goes on until another conjunction is needed first, whose answer is given the next time.
    fn go_on(&mut self, frame: &mut Frame, mut answer: Option<Handle>) -> Result<Outcome, Stopped> {
        let node = self.nodes[frame.upper.node()];
        while frame.work != Work::Merge {
            if frame.i == node.len {
                self.begin_merge(frame);
                break;
            }
            let mut left = self.elements[(node.start + frame.i) as usize];
            left.sub = left.sub.negated_if(frame.upper.is_negated());
            if left.sub == Handle::FALSE {
                self.products.push(left);
                frame.i += 1;
                continue;
            }
            let (x, y) = match frame.work {
                Work::Left => (left.prime, frame.lower),
                Work::Right => (left.sub, frame.lower),
                Work::Primes | Work::Subs => {
                    let Some(right) = self.rights.get(frame.rights_start + frame.j as usize) else {
                        (frame.i, frame.j) = (frame.i + 1, 0);
                        continue;
                    };
                    if frame.work == Work::Primes { (left.prime, right.prime) } else { (left.sub, right.sub) }
                }
                Work::Merge => unreachable!("products are not merged yet"),
            };
            let result = match answer.take() {
                Some(result) => result,
                None => match self.known(x, y)? {
                    Some(result) => result,
                    None => return Ok(Outcome::Needs(x, y)),
                },
            };
            match frame.work {
                Work::Left => {
                    if result != Handle::FALSE {
                        self.products.push(Element { prime: result, sub: left.sub });
                    }
                    frame.i += 1;
                }
                Work::Right => {
                    self.products.push(Element { prime: left.prime, sub: result });
                    frame.i += 1;
                }
                Work::Primes if result == Handle::FALSE => frame.j += 1,
                Work::Primes => {
                    frame.prime = result;
                    frame.used_up = result == left.prime;
                    frame.work = Work::Subs;
                }
                _ => {
                    self.products.push(Element { prime: frame.prime, sub: result });
                    let at = frame.rights_start + frame.j as usize;
                    // A right prime inside the left one meets no other left prime.
                    if frame.prime == self.rights[at].prime {
                        self.rights.swap_remove(at);
                    } else {
                        frame.j += 1;
                    }
                    if frame.used_up {
                        (frame.i, frame.j) = (frame.i + 1, 0);
                    }
                    frame.work = Work::Primes;
                }
            }
        }
        while let Some(&e) = self.products.get(frame.next) {
            if frame.next > frame.merged && self.products[frame.merged].sub == e.sub {
                let last = self.products[frame.merged].prime;
                let result = match answer.take() {
                    Some(result) => result,
                    None => match self.known(!last, !e.prime)? {
                        Some(result) => result,
                        None => return Ok(Outcome::Needs(!last, !e.prime)),
                    },
                };
                self.products[frame.merged].prime = !result;
            } else {
                if frame.next > frame.products_start {
                    frame.merged += 1;
                }
                self.products[frame.merged] = e;
            }
            frame.next += 1;
        }
        let mut products = std::mem::take(&mut self.products);
        let result = self.decision(frame.vtree, &mut products[frame.products_start..=frame.merged]);
        self.products = products;
        Ok(Outcome::Done(result?))
    }

    fn begin_merge(&mut self, frame: &mut Frame) {
        frame.work = Work::Merge;
        self.products[frame.products_start..].sort_unstable_by_key(|e| (e.sub, e.prime));
    }
}
