//! A product configurator: options, rules, and customers with wishes.

use crate::names::Names;
use crate::random::Random;
use crate::var::Var;
use std::fmt;

/// A rule of all possible configurations, over positions of variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Exactly one of these is true.
    ExactlyOne(Vec<usize>),
    /// If the first is true, so is at least one of the others.
    Requires(usize, Vec<usize>),
    /// Not both are true.
    Excludes(usize, usize),
}

impl Rule {
    /// The rule in words.
    pub(super) fn text<'a>(&'a self, names: &'a Names) -> impl fmt::Display + 'a {
        let name = |i: usize| names.of(Var(i as u32));
        fmt::from_fn(move |f| match self {
            Rule::ExactlyOne(group) => {
                let list: Vec<&str> = group.iter().map(|&i| name(i)).collect();
                write!(f, "exactly one of {}", list.join(", "))
            }
            Rule::Requires(a, any) => {
                let list: Vec<&str> = any.iter().map(|&i| name(i)).collect();
                write!(f, "{} requires {}", name(*a), list.join(" or "))
            }
            Rule::Excludes(a, b) => write!(f, "{} excludes {}", name(*a), name(*b)),
        })
    }

    fn allows(&self, world: u32) -> bool {
        let has = |i: &usize| world >> i & 1 == 1;
        match self {
            Rule::ExactlyOne(group) => group.iter().filter(|i| has(i)).count() == 1,
            Rule::Requires(a, any) => !has(a) || any.iter().any(has),
            Rule::Excludes(a, b) => !(has(a) && has(b)),
        }
    }
}

/// The options of a product, the wishes of customers, and the rules.
#[derive(Clone, Debug)]
pub(super) struct Configurator {
    pub(super) names: Vec<String>,
    /// Each group of exclusive options, as first and one past the last; then single options.
    groups: Vec<(usize, usize)>,
    pub(super) rules: Vec<Rule>,
    /// The share of each kind of customer, and its wish for each option, group by group and then one by one.
    customers: Vec<(f64, Vec<f64>)>,
    /// The number of configurations that keep the rules, and the probability that a wish does.
    pub(super) count: u64,
    pub(super) total: f64,
}

impl Configurator {
    pub(super) fn cars() -> Configurator {
        const GROUPS: [(&str, &[&str]); 5] = [
            ("engine", &["petrol", "diesel", "hybrid", "electric"]),
            ("gearbox", &["manual", "automatic"]),
            ("body", &["city", "estate", "suv"]),
            ("drive", &["front", "all_wheel"]),
            ("trim", &["basic", "comfort", "luxury"]),
        ];
        const OPTIONS: [&str; 10] = [
            "tow_bar",
            "roof_rack",
            "panoramic_roof",
            "sport_suspension",
            "fast_charging",
            "heat_pump",
            "navigation",
            "heated_seats",
            "parking_sensors",
            "rear_camera",
        ];
        const REQUIRES: [(&str, &[&str]); 9] = [
            ("engine_electric", &["gearbox_automatic"]),
            ("engine_hybrid", &["gearbox_automatic"]),
            ("fast_charging", &["engine_electric", "engine_hybrid"]),
            ("heat_pump", &["engine_electric"]),
            ("rear_camera", &["parking_sensors"]),
            ("trim_luxury", &["navigation"]),
            ("trim_luxury", &["heated_seats"]),
            ("body_suv", &["parking_sensors", "trim_basic"]),
            ("sport_suspension", &["trim_comfort", "trim_luxury"]),
        ];
        const EXCLUDES: [(&str, &str); 8] = [
            ("body_city", "tow_bar"),
            ("body_city", "drive_all_wheel"),
            ("body_city", "engine_diesel"),
            ("roof_rack", "panoramic_roof"),
            ("trim_basic", "panoramic_roof"),
            ("trim_basic", "navigation"),
            ("sport_suspension", "tow_bar"),
            ("sport_suspension", "roof_rack"),
        ];
        // Commuters, families, adventurers, managers: their wishes, in the order of the names.
        #[rustfmt::skip]
        const CUSTOMERS: [(f64, [f64; 24]); 4] = [
            (0.35, [0.5, 0.05, 0.2, 0.25,  0.6, 0.4,  0.8, 0.15, 0.05,  0.97, 0.03,  0.6, 0.35, 0.05,
                    0.02, 0.05, 0.05, 0.05, 0.6, 0.4, 0.3, 0.2, 0.4, 0.2]),
            (0.3,  [0.35, 0.25, 0.25, 0.15,  0.4, 0.6,  0.05, 0.65, 0.3,  0.85, 0.15,  0.25, 0.65, 0.1,
                    0.3, 0.5, 0.2, 0.03, 0.5, 0.5, 0.6, 0.5, 0.8, 0.7]),
            (0.2,  [0.2, 0.55, 0.15, 0.1,  0.6, 0.4,  0.02, 0.28, 0.7,  0.15, 0.85,  0.4, 0.5, 0.1,
                    0.7, 0.6, 0.05, 0.1, 0.4, 0.5, 0.5, 0.5, 0.6, 0.4]),
            (0.15, [0.2, 0.15, 0.25, 0.4,  0.1, 0.9,  0.05, 0.45, 0.5,  0.6, 0.4,  0.02, 0.28, 0.7,
                    0.1, 0.05, 0.6, 0.5, 0.9, 0.8, 0.95, 0.9, 0.95, 0.85]),
        ];
        let mut names = Vec::new();
        let mut groups = Vec::new();
        for (group, choices) in GROUPS {
            groups.push((names.len(), names.len() + choices.len()));
            names.extend(choices.iter().map(|choice| format!("{group}_{choice}")));
        }
        names.extend(OPTIONS.map(str::to_owned));
        let place = |name: &str| names.iter().position(|n| n == name).expect("rules name options");
        let mut rules: Vec<Rule> =
            groups.iter().map(|&(start, end)| Rule::ExactlyOne((start..end).collect())).collect();
        rules.extend(REQUIRES.map(|(a, any)| Rule::Requires(place(a), any.iter().map(|b| place(b)).collect())));
        rules.extend(EXCLUDES.map(|(a, b)| Rule::Excludes(place(a), place(b))));
        let customers = CUSTOMERS.map(|(share, wishes)| (share, wishes.to_vec())).to_vec();
        let mut cars = Configurator { names, groups, rules, customers, count: 0, total: 0.0 };
        for bits in cars.candidates().into_iter().filter(|&bits| cars.is_possible(bits)).collect::<Vec<_>>() {
            cars.count += 1;
            cars.total += cars.weight(bits);
        }
        cars
    }

    /// All worlds with one choice per group, ignoring other rules.
    fn candidates(&self) -> Vec<u32> {
        let mut worlds = vec![0u32];
        for &(start, end) in &self.groups {
            worlds = worlds.iter().flat_map(|world| (start..end).map(move |i| world | 1 << i)).collect();
        }
        for i in self.single_options() {
            worlds = worlds.iter().flat_map(|&world| [world, world | 1 << i]).collect();
        }
        worlds
    }

    fn single_options(&self) -> std::ops::Range<usize> {
        self.groups.last().map_or(0, |&(_, end)| end)..self.names.len()
    }

    pub(super) fn is_possible(&self, world: u32) -> bool {
        self.rules.iter().all(|rule| rule.allows(world))
    }

    /// The probability that some customer wishes for this world, ignoring rules.
    pub(super) fn weight(&self, world: u32) -> f64 {
        let has = |i: usize| world >> i & 1 == 1;
        let wish = |(share, wishes): &(f64, Vec<f64>)| -> f64 {
            let of_group =
                |&(start, end): &(usize, usize)| -> f64 { (start..end).filter(|&i| has(i)).map(|i| wishes[i]).sum() };
            let groups: f64 = self.groups.iter().map(of_group).product();
            let single: f64 = self.single_options().map(|i| if has(i) { wishes[i] } else { 1.0 - wishes[i] }).product();
            share * groups * single
        };
        self.customers.iter().map(wish).sum()
    }

    /// Wishes of random customers until one can be built.
    pub(super) fn sample(&self, random: &mut Random) -> u32 {
        let shares: Vec<f64> = self.customers.iter().map(|(share, _)| *share).collect();
        loop {
            let wishes = &self.customers[random.choose(&shares).expect("shares are positive")].1;
            let mut world = 0;
            for &(start, end) in &self.groups {
                world |= 1 << (start + random.choose(&wishes[start..end]).expect("wishes are positive"));
            }
            for i in self.single_options() {
                world |= u32::from(random.unit() < wishes[i]) << i;
            }
            if self.is_possible(world) {
                return world;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_aloud_and_each_one_matters() {
        let cars = Configurator::cars();
        let names = Names::new(cars.names.clone()).unwrap();
        let text: Vec<String> = cars.rules.iter().map(|rule| rule.text(&names).to_string()).collect();
        assert!(text.contains(&"engine_electric requires gearbox_automatic".to_owned()), "{text:?}");
        assert!(text.contains(&"fast_charging requires engine_electric or engine_hybrid".to_owned()));
        for (i, rule) in cars.rules.iter().enumerate() {
            let mut fewer = cars.clone();
            fewer.rules.remove(i);
            if !matches!(rule, Rule::ExactlyOne(_)) {
                let count = fewer.candidates().into_iter().filter(|&bits| fewer.is_possible(bits)).count() as u64;
                assert!(count > cars.count, "{}", text[i]);
            }
        }
    }
}
