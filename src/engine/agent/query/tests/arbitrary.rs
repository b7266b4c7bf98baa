//! Plans of all kinds, made at random: written and read again they are the same.

use super::{now, shop};
use crate::engine::agent::plan::relative::window_at;
use crate::engine::agent::plan::window::Span;
use crate::engine::agent::query::{read, write};
use crate::model::ontology::{Aggregation, Calendar};
use crate::model::plan::f64bits::F64;
use crate::model::plan::{
    Anchor, Bound, By, Comparator, Comparison, Condition, Dimension, FieldRef, Grain, Having, Limit, Literal, Measure,
    Moment, Order, Pattern, Plan, Relative, Shown, Step, TimeFilter, TimeUnit, Value, Window,
};

const CASES: u64 = 3_000;

const TEXTS: [(&str, &str); 7] = [
    ("customer", "name"),
    ("customer", "city"),
    ("customer", "Odd \"name\""),
    ("order", "status"),
    ("order", "by"),
    ("product", "name"),
    ("address", "country"),
];
const NUMBERS: [(&str, &str); 5] = [
    ("order", "total"),
    ("order line", "quantity"),
    ("order", "FY2014"),
    ("customer", "score"),
    ("product", "list_price"),
];
const TIMES: [(&str, &str); 3] = [("order", "placed"), ("order", "shipped"), ("customer", "joined")];
const FLAGS: [(&str, &str); 2] = [("customer", "active"), ("order", "gift")];
const DATASETS: [&str; 5] = ["customer", "order", "order line", "product", "address"];
const WAYS: [&str; 5] = ["placed_by", "line_of", "line_product", "bills", "ships"];
const METRICS: [&str; 4] = ["revenue", "Net revenue", "average basket", "orders"];
const SEGMENTS: [&str; 2] = ["late", "big orders"];
const LABELS: [&str; 8] = ["Average", "revenue", "#1", "it's \"so\"", "desc", "customer.city", "2", ""];
const WORDS: [&str; 10] =
    ["JFK", "it's", "50%", "a_b", "", "and", "2013-07-04", "\"x\"", "Ünï ✓", "line\nbreak ); drop table"];
const FUNCTIONS: [Aggregation; 8] = [
    Aggregation::Sum,
    Aggregation::Avg,
    Aggregation::Median,
    Aggregation::Min,
    Aggregation::Max,
    Aggregation::Count,
    Aggregation::CountDistinct,
    Aggregation::Stddev,
];
const GRAINS: [Grain; 13] = [
    Grain::Hour,
    Grain::Day,
    Grain::Week,
    Grain::Month,
    Grain::Quarter,
    Grain::Year,
    Grain::FiscalQuarter,
    Grain::FiscalYear,
    Grain::HourOfDay,
    Grain::DayOfWeek,
    Grain::DayOfMonth,
    Grain::MonthOfYear,
    Grain::QuarterOfYear,
];
const UNITS: [TimeUnit; 10] = [
    TimeUnit::Hour,
    TimeUnit::Day,
    TimeUnit::Week,
    TimeUnit::Month,
    TimeUnit::Quarter,
    TimeUnit::Half,
    TimeUnit::Year,
    TimeUnit::FiscalQuarter,
    TimeUnit::FiscalHalf,
    TimeUnit::FiscalYear,
];
const OPS: [Comparator; 6] = [
    Comparator::Equal,
    Comparator::NotEqual,
    Comparator::Less,
    Comparator::AtMost,
    Comparator::Greater,
    Comparator::AtLeast,
];

/// Numbers that look like chance and are the same in every run (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn many<T>(&mut self, least: usize, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = least + self.below(most - least + 1);
        (0..count).map(|_| make(self)).collect()
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.one_in(2).then(|| make(self))
    }

    fn field(&mut self, from: &[(&str, &str)]) -> FieldRef {
        let (dataset, field) = self.pick(from);
        let via = if self.one_in(3) { self.many(1, 2, |it| it.pick(&WAYS).to_owned()) } else { Vec::new() };
        FieldRef { via, ..FieldRef::new(dataset, field) }
    }

    fn any_field(&mut self) -> FieldRef {
        let kinds: [&[(&str, &str)]; 4] = [&TEXTS, &NUMBERS, &TIMES, &FLAGS];
        let kind = self.pick(&kinds);
        self.field(kind)
    }

    fn number(&mut self) -> F64 {
        let number = match self.below(6) {
            0 => self.below(100) as f64,
            1 => -(self.below(1_000) as f64) / 8.0,
            2 => f64::from_bits(self.next()),
            3 => 2013.0,
            4 => 1e300,
            _ => self.below(1_000_000) as f64 / 1_000.0,
        };
        F64::new(number).unwrap_or(F64::from(7))
    }

    fn word(&mut self) -> String {
        self.pick(&WORDS).to_owned()
    }

    fn label(&mut self) -> Option<String> {
        self.one_in(3).then(|| self.pick(&LABELS).to_owned())
    }

    fn dimension(&mut self) -> Dimension {
        let mut dimension = Dimension::of(self.any_field());
        match self.below(4) {
            0 => dimension = Dimension { grain: Some(self.pick(&GRAINS)), ..Dimension::of(self.field(&TIMES)) },
            1 => dimension = Dimension { bucket: Some(self.number()), ..Dimension::of(self.field(&NUMBERS)) },
            _ => {}
        }
        dimension.label = self.label();
        dimension
    }

    fn measure(&mut self, depth: usize, dimensions: usize) -> Measure {
        let filters = if depth > 0 && self.one_in(3) {
            self.many(1, 2, |it| it.condition(depth - 1, dimensions))
        } else {
            Vec::new()
        };
        let shown_as = self.one_in(4).then(|| match self.below(5) {
            0 if dimensions > 0 => Shown::Share { within: self.many(0, 2, |it| it.below(dimensions)) },
            0 => Shown::Share { within: Vec::new() },
            1 => Shown::Cumulative,
            2 => Shown::Change,
            3 => Shown::ChangePercent,
            _ => Shown::MovingAverage { rows: self.below(90) as u32 },
        });
        Measure { value: self.value(depth, dimensions), filters, shown_as, label: self.label() }
    }

    fn value(&mut self, depth: usize, dimensions: usize) -> Value {
        let inner = |it: &mut Self| it.measure(depth.saturating_sub(1), dimensions);
        match self.below(if depth == 0 { 5 } else { 9 }) {
            0 => Value::Metric(self.pick(&METRICS).to_owned()),
            1 => Value::Count(self.pick(&DATASETS).to_owned()),
            2 => Value::Aggregate { function: self.pick(&FUNCTIONS), field: self.any_field() },
            3 => Value::Days { function: self.pick(&FUNCTIONS), from: self.field(&TIMES), to: self.field(&TIMES) },
            4 => Value::Number(self.number()),
            5 => Value::Ratio { numerator: Box::new(inner(self)), denominator: Box::new(inner(self)) },
            6 => Value::Sum(self.many(0, 3, inner)),
            7 => Value::Difference(Box::new(inner(self)), Box::new(inner(self))),
            _ => {
                let (function, measure) = (self.pick(&FUNCTIONS), Box::new(inner(self)));
                Value::Over { function, measure, by: self.many(1, 2, Self::dimension) }
            }
        }
    }

    fn literal(&mut self) -> Literal {
        match self.below(3) {
            0 => Literal::Bool(self.one_in(2)),
            1 => Literal::Number(self.number()),
            _ => Literal::Text(self.word()),
        }
    }

    /// A field and a value that may be held against it.
    fn compared(&mut self) -> (FieldRef, Literal) {
        match self.below(4) {
            0 => (self.field(&TIMES), Literal::Text(self.pick(&["2013-07-04", "2013-07-04T10:00:00"]).to_owned())),
            1 => (self.field(&NUMBERS), self.literal()),
            2 => (self.field(&FLAGS), Literal::Bool(self.one_in(2))),
            _ => (self.field(&TEXTS), self.literal()),
        }
    }

    fn condition(&mut self, depth: usize, dimensions: usize) -> Condition {
        let negated = self.one_in(2);
        let op = self.pick(&OPS);
        match self.below(if depth == 0 { 10 } else { 15 }) {
            0 => {
                let (field, value) = self.compared();
                Condition::Compare { field, op, value }
            }
            1 => Condition::CompareFields { left: self.any_field(), op, right: self.any_field() },
            2 => {
                let (field, value) = self.compared();
                let values = self.many(0, 2, |_| value.clone());
                Condition::In { field, values, negated }
            }
            3 => {
                let pattern = self.pick(&[Pattern::Contains, Pattern::StartsWith, Pattern::EndsWith]);
                Condition::Like { field: self.field(&TEXTS), pattern, text: self.word(), negated }
            }
            4 => Condition::IsNull { field: self.any_field(), negated },
            5 => Condition::Within { field: self.field(&TIMES), window: self.window(), negated },
            6 => Condition::OnDays {
                field: self.field(&TIMES),
                days: self.many(0, 3, |it| 1 + it.below(7) as u8),
                negated,
            },
            7 => {
                let (from, to) = (self.below(24) as u8, 1 + self.below(24) as u8);
                Condition::AtHours { field: self.field(&TIMES), from, to, negated }
            }
            8 => Condition::Segment { name: self.pick(&SEGMENTS).to_owned(), negated },
            9 => Condition::AgainstOverall { field: self.any_field(), op, function: self.pick(&FUNCTIONS) },
            10 => Condition::Exists {
                of: self.pick(&DATASETS).to_owned(),
                dataset: self.pick(&DATASETS).to_owned(),
                via: self.many(0, 2, |it| it.pick(&WAYS).to_owned()),
                filters: self.many(0, 2, |it| it.condition(depth - 1, dimensions)),
                negated,
            },
            11 => Condition::Measured {
                of: self.pick(&DATASETS).to_owned(),
                measure: Box::new(self.measure(depth - 1, dimensions)),
                op,
                value: self.literal(),
            },
            12 => Condition::Any(self.many(0, 3, |it| it.condition(depth - 1, dimensions))),
            13 => Condition::All(self.many(0, 3, |it| it.condition(depth - 1, dimensions))),
            _ => Condition::Not(Box::new(self.condition(depth - 1, dimensions))),
        }
    }

    fn time(&mut self) -> String {
        self.pick(&["2012-01-01", "2012-02-29", "2013-07-04T10:00:00", "2013-07-04T10:00:30.25"]).to_owned()
    }

    fn later(&mut self) -> String {
        self.pick(&["2014-01-01", "2013-08-01", "2020-12-31T23:59:59", "2013-07-05T00:00:00"]).to_owned()
    }

    fn phrase(&mut self) -> Option<String> {
        const PHRASES: [&str; 8] = [
            "July 2013", "it's Easter", "last 3 months", "the last 3 months", "2013", "previous period", "last year",
            "this quarter so far",
        ];
        self.maybe(|it| it.pick(&PHRASES).to_owned())
    }

    fn window(&mut self) -> Window {
        let phrase = self.phrase();
        let still =
            |start: &str, end: &str| Window { start: Some(start.into()), end: Some(end.into()), ..Window::default() };
        let window = match self.below(10) {
            0 => Window::default(),
            1 => Window { start: Some(self.time()), ..Window::default() },
            2 => Window { end: Some(self.time()), ..Window::default() },
            3 => still("2013-01-01", "2014-01-01"),
            4 => still("2013-07-01", "2013-10-01"),
            5 => still("2013-02-01", "2013-03-01"),
            6 => still("2013-02-01", "2013-02-02"),
            7 => {
                let (start, end) = (self.time(), self.later());
                still(&start, &end)
            }
            _ => return self.moving(),
        };
        Window { phrase, ..window }
    }

    fn moment(&mut self) -> Moment {
        let ahead = self.below(7) as i64 - 3;
        let from = match self.below(5) {
            0 => Anchor::Monday { ahead },
            1 => Anchor::Day { month: 1 + self.below(12) as i8, day: 1 + self.below(28) as i8 },
            2 => Anchor::Week(1 + self.below(52) as i8),
            _ => Anchor::Unit { unit: self.pick(&UNITS), ahead },
        };
        let then = self.many(0, 2, |it| Step { count: it.below(40) as i64 - 20, unit: it.pick(&UNITS) });
        Moment { from, then: if self.one_in(2) { then } else { Vec::new() } }
    }

    /// A window that moves, as it is now.
    fn moving(&mut self) -> Window {
        loop {
            let plain = |unit, ahead| Some(Moment { from: Anchor::Unit { unit, ahead }, then: Vec::new() });
            let unit = self.pick(&UNITS);
            let (start, end) = match self.below(7) {
                0 => (Some(self.moment()), Some(self.moment())),
                1 => (Some(self.moment()), None),
                2 => (None, Some(self.moment())),
                3 => (Some(Moment { from: Anchor::At("2013-01-01".into()), then: Vec::new() }), Some(self.moment())),
                4 => (plain(unit, 0), plain(TimeUnit::Day, 1)),
                _ => {
                    let from = self.below(7) as i64 - 4;
                    (plain(unit, from), plain(unit, from + 1 + self.below(3) as i64))
                }
            };
            let is_whole = start.is_some() && end.is_some();
            let window = window_at(&Relative { start, end }, now(), &Calendar::default(), self.phrase());
            if let Some(window) = window.filter(|window| !is_whole || Span::read(window).is_some()) {
                return window;
            }
        }
    }

    fn plan(&mut self) -> Plan {
        let is_list = self.one_in(4);
        let dimensions = self.many(usize::from(is_list), 3, Self::dimension);
        let count = dimensions.len();
        let measures = if is_list { Vec::new() } else { self.many(1, 3, |it| it.measure(3, count)) };
        let (columns, comparison) =
            (measures.len(), self.maybe(|it| Comparison { with: it.window(), align: it.maybe(|it| it.pick(&GRAINS)) }));
        let of_one = dimensions.windows(2).all(|pair| pair[0].field.dataset == pair[1].field.dataset);
        let subject = (is_list && !of_one || self.one_in(3)).then(|| self.pick(&DATASETS).to_owned());
        let order = self.many(0, 3, |it| {
            let by = match it.below(4) {
                0 if count > 0 => By::Dimension(it.below(count)),
                1 if columns > 0 && comparison.is_some() => By::Difference(it.below(columns)),
                2 if columns > 0 && comparison.is_some() => By::Change(it.below(columns)),
                _ if columns > 0 => By::Measure(it.below(columns)),
                _ => By::Dimension(it.below(count)),
            };
            Order { by, descending: it.one_in(2) }
        });
        let having = if is_list { Vec::new() } else { self.many(0, 2, |it| it.having(columns)) };
        let limit = self.maybe(|it| Limit {
            rows: it.below(1_000) as u32,
            per: if count > 0 { it.many(0, 2, |it| it.below(count)) } else { Vec::new() },
            with_ties: it.one_in(3),
            skip: if it.one_in(3) { it.below(50) as u32 } else { 0 },
        });
        let filters = self.many(0, 3, |it| it.condition(3, count));
        let time = self.maybe(|it| TimeFilter { field: it.maybe(|it| it.field(&TIMES)), window: it.window() });
        Plan {
            subject,
            dimensions,
            measures,
            filters,
            time,
            comparison,
            having,
            order,
            limit,
            distinct: self.one_in(4),
        }
    }

    fn having(&mut self, columns: usize) -> Having {
        let value = if self.one_in(2) { Bound::Number(self.number()) } else { Bound::Overall(self.pick(&FUNCTIONS)) };
        Having { measure: self.below(columns), op: self.pick(&OPS), value }
    }
}

#[test]
fn every_plan_is_read_again_from_how_it_is_written() {
    let ontology = shop();
    for seed in 0..CASES {
        let plan = Chance(seed).plan();
        let query = write(&plan, &ontology);
        let shown = || serde_json::to_string_pretty(&query).unwrap();
        match read(&query, &ontology, now()) {
            Ok(again) => assert_eq!(again, plan, "seed {seed}: {}", shown()),
            Err(problems) => panic!("seed {seed}: {problems:#?}\n{}", shown()),
        }
    }
}

#[test]
fn what_is_written_is_written_the_same_again() {
    let ontology = shop();
    for seed in 0..CASES / 10 {
        let query = write(&Chance(seed).plan(), &ontology);
        let Ok(plan) = read(&query, &ontology, now()) else { panic!("seed {seed}") };
        assert_eq!(write(&plan, &ontology), query, "seed {seed}");
    }
}

#[test]
fn no_text_stops_the_reader() {
    let pieces = [
        "(", ")", "count(", "not ", "order", ".", "'", "\"", "[", "]", "`", "and ", "or ", "per ", "filter (where ",
        "1", "-", "2013-", "Q", "/", "#", "last ", "since ", "to ", "as ", "by ", "ü", "\u{0}", ",", "%", "has ",
        "in ", "between ", "start of ", "=", "case when ",
    ];
    let ontology = shop();
    for seed in 0..4_000 {
        let mut chance = Chance(seed);
        let mut text = || chance.many(1, 30, |it| it.pick(&pieces)).concat();
        let query = crate::model::query::Query {
            measures: vec![text()],
            dimensions: vec![text()],
            filters: vec![text()],
            time: Some(text()),
            compare_to: Some(text()),
            having: vec![text()],
            order: vec![text()],
            ..Default::default()
        };
        if let Err(problems) = read(&query, &ontology, now()) {
            let told = crate::engine::agent::query::refusal(&problems, &query);
            assert!(!told.message.is_empty() && problems.iter().all(|problem| !problem.message.is_empty()));
        }
    }
}
