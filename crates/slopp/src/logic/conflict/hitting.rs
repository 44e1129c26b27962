//! Smallest hitting sets.

/// The most members of sets visited, over all searches.
const WORK: u64 = 100_000_000;

/// The outcome of a search.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hit {
    /// A smallest hitting set.
    Fewest(Vec<usize>),
    /// Every hitting set has at least `below` members.
    NoneBelow,
    /// The work limit was reached.
    Unknown,
}

/// Sets to hit.
pub(super) struct Sets {
    sets: Vec<Vec<usize>>,
    is_chosen: Vec<bool>,
    /// Members tried before the current choices.
    is_tried: Vec<bool>,
    /// By member: the last search that counted a set with it.
    counted: Vec<u64>,
    question: u64,
    work: u64,
}

/// A set whose members are chosen in turn.
struct Choice {
    set: usize,
    next: usize,
    /// The members tried here.
    tried: Vec<usize>,
}

/// The state of the sets not hit yet.
enum Open {
    /// All sets are met.
    Nothing,
    /// At least this many more members are needed; this set has the fewest left.
    AtLeast(usize, usize),
    /// A set has no member left.
    Dead,
}

impl Sets {
    /// For members below `things`.
    pub(super) fn new(len: usize) -> Sets {
        let (is_chosen, is_tried, counted) = (vec![false; len], vec![false; len], vec![0; len]);
        Sets { sets: Vec::new(), is_chosen, is_tried, counted, question: 0, work: WORK }
    }

    pub(super) fn push(&mut self, set: Vec<usize>) {
        // Small sets come first: they leave few choices.
        let place = self.sets.partition_point(|other| other.len() <= set.len());
        self.sets.insert(place, set);
    }

    /// A smallest hitting set, if it has fewer than `below` members: branch and bound.
    pub(super) fn fewest(&mut self, below: usize) -> Hit {
        self.is_chosen.fill(false);
        self.is_tried.fill(false);
        let mut members: Vec<usize> = Vec::new();
        let (mut best, mut bound) = (None, below);
        let mut choices: Vec<Choice> = Vec::new();
        let mut is_new = true;
        loop {
            if is_new && members.len() < bound {
                if self.work == 0 {
                    return Hit::Unknown;
                }
                match self.open() {
                    Open::Nothing => {
                        bound = members.len();
                        best = Some(members.clone());
                    }
                    Open::AtLeast(more, set) if members.len() + more < bound => {
                        choices.push(Choice { set, next: 0, tried: Vec::new() });
                    }
                    Open::AtLeast(..) | Open::Dead => {}
                }
            }
            let Some(choice) = choices.last_mut() else { break };
            // A choice with another member continues with it.
            if !choice.tried.is_empty() {
                let last = members.pop().expect("it was chosen");
                self.is_chosen[last] = false;
                self.is_tried[last] = true;
            }
            let set = &self.sets[choice.set];
            while set.get(choice.next).is_some_and(|&thing| self.is_tried[thing]) {
                choice.next += 1;
            }
            match set.get(choice.next) {
                Some(&thing) => {
                    choice.next += 1;
                    choice.tried.push(thing);
                    self.is_chosen[thing] = true;
                    members.push(thing);
                    is_new = true;
                }
                None => {
                    choice.tried.iter().for_each(|&thing| self.is_tried[thing] = false);
                    choices.pop();
                    is_new = false;
                }
            }
        }
        best.map_or(Hit::NoneBelow, Hit::Fewest)
    }

    /// Sets without a common member need one each.
    fn open(&mut self) -> Open {
        self.question += 1;
        let (mut least, mut fewest) = (0, None);
        self.work = self.work.saturating_sub(1);
        for (i, set) in self.sets.iter().enumerate() {
            self.work = self.work.saturating_sub(set.len() as u64);
            if set.iter().any(|&thing| self.is_chosen[thing]) {
                continue;
            }
            let left = set.iter().filter(|&&thing| !self.is_tried[thing]);
            let number = left.clone().count();
            if number == 0 {
                return Open::Dead;
            }
            if fewest.is_none_or(|(fewest, _)| number < fewest) {
                fewest = Some((number, i));
            }
            if left.clone().all(|&thing| self.counted[thing] != self.question) {
                left.for_each(|&thing| self.counted[thing] = self.question);
                least += 1;
            }
        }
        fewest.map_or(Open::Nothing, |(_, set)| Open::AtLeast(least, set))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_fewest_are_those_of_enumeration() {
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let len = 1 + random.below(9);
            let mut sets = Sets::new(len);
            for _ in 0..random.below(12) {
                let mut set: Vec<usize> = (0..1 + random.below(4)).map(|_| random.below(len)).collect();
                set.sort_unstable();
                set.dedup();
                sets.push(set);
            }
            let all = sets.sets.clone();
            let meets = |chosen: &dyn Fn(usize) -> bool| all.iter().all(|set| set.iter().any(|&thing| chosen(thing)));
            let least = (0..1u32 << len).filter(|w| meets(&|i| w >> i & 1 == 1)).map(u32::count_ones).min().unwrap();
            match sets.fewest(len + 1) {
                Hit::Fewest(found) => {
                    assert!(meets(&|i| found.contains(&i)), "seed {seed}");
                    assert_eq!(found.len() as u32, least, "seed {seed}");
                }
                other => panic!("seed {seed}: {other:?}"),
            }
            assert_eq!(sets.fewest(least as usize), Hit::NoneBelow, "seed {seed}");
        }
    }
}
