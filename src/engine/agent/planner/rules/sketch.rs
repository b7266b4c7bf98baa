//! What a question says before it is known which things of the ontology its nouns are.

use std::ops::Range;

use crate::engine::agent::lexicon::Entry;
use crate::engine::agent::time::CompareWith;
use crate::model::ontology::Aggregation;
use crate::model::plan::{Comparator, Grain, Pattern, Window};

pub(super) type NounAt = usize;

/// What a noun has to be where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// A metric, or a number to aggregate.
    Measure,
    /// A field to be aggregated in a way that the question names.
    Aggregated,
    /// What can be grouped by: a field or a dataset.
    Group,
    /// A column of a list: a field or a dataset.
    Column,
    /// A dataset.
    Thing,
    /// What is counted: a dataset or a field.
    Counted,
    /// A field that a number or text is held against.
    Bound,
    /// A metric or a field that is a number, held against a number.
    Number,
    /// A field of time.
    Time,
    /// A value of a field.
    Value,
    /// A named condition or a field of yes and no.
    Flag,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Noun {
    pub text: String,
    pub norm: String,
    pub items: Range<usize>,
    pub entries: Vec<Entry>,
    pub want: Want,
    /// The dataset or field that it is said to belong to.
    pub of: Option<NounAt>,
    /// Positions of relationships whose roles stand beside it.
    pub roles: Vec<usize>,
    /// The preposition before it.
    pub before: String,
    /// Nouns that an adjective speaks of; then the text is the adjective.
    pub hints: &'static [&'static str],
    /// A number's unit beside it.
    pub unit: Option<String>,
    /// The dataset that a condition is inside of: an `Exists` by its noun.
    pub inside: Option<NounAt>,
    /// The thing whose rows a condition with this noun is about: customers in "revenue from customers with claims".
    pub holder: Option<NounAt>,
    pub corrected: Option<String>,
    /// The dataset that stands right before a value.
    pub near: Option<NounAt>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Quantity {
    Count(NounAt),
    Distinct(NounAt),
    Aggregate(Aggregation, NounAt),
    Plain(NounAt),
    Ratio(Box<Quantity>, Box<Quantity>),
    Sum(Vec<Quantity>),
    Difference(Box<Quantity>, Box<Quantity>),
    Over(Aggregation, Box<Quantity>, Vec<Group>),
    /// The part of what is counted for which the conditions hold. Those of `doubtful` may be the whole's as well.
    Part {
        whole: Box<Quantity>,
        conds: Vec<Cond>,
        doubtful: Vec<Cond>,
        said: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub noun: Option<NounAt>,
    pub grain: Option<Grain>,
    /// Said with "each", "every" or "per": what a ranking is repeated for.
    pub each: bool,
    /// Said with "per": for each, or on average.
    pub per: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bound {
    Number(f64, Option<String>),
    Text(String),
    Average,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cond {
    /// Any of some values.
    Values {
        nouns: Vec<NounAt>,
        negated: bool,
    },
    Compare {
        field: NounAt,
        op: Comparator,
        value: Bound,
    },
    Like {
        field: NounAt,
        pattern: Pattern,
        text: String,
        negated: bool,
    },
    Null {
        field: NounAt,
        negated: bool,
    },
    Flag {
        noun: NounAt,
        negated: bool,
    },
    /// Any of some stretches of time.
    Window {
        field: Option<NounAt>,
        windows: Vec<Window>,
        negated: bool,
        /// Whether several were joined with "or".
        either: bool,
    },
    /// On some days of the week, from 1 for Monday.
    Days {
        field: Option<NounAt>,
        days: Vec<u8>,
        negated: bool,
    },
    /// At some hours of the day: from one up to but not with another.
    Hours {
        field: Option<NounAt>,
        from: u8,
        to: u8,
        negated: bool,
    },
    Exists {
        thing: NounAt,
        inner: Vec<Cond>,
        negated: bool,
    },
    Measured {
        quantity: Quantity,
        op: Comparator,
        value: Bound,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rank {
    pub rows: u32,
    pub skip: u32,
    pub descending: bool,
    /// One thing is asked for, without a number.
    pub single: bool,
    pub by: Option<Quantity>,
    /// A field of the thing itself.
    pub field: Option<NounAt>,
    /// "best", "top" without saying by what.
    pub quality: bool,
    /// Said with "best" (true) or "worst": the metric tells whether that is the most or the least of it.
    pub judged: Option<bool>,
    /// By how often it occurs: "the busiest".
    pub frequency: bool,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Display {
    Share,
    Cumulative,
    Change,
    ChangePercent,
    MovingAverage(u32),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ask {
    #[default]
    Open,
    List,
    /// "which", "what" before a noun.
    Which,
    Who,
    /// "is there", "do we have".
    Whether,
    When,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sketch {
    pub ask: Ask,
    pub nouns: Vec<Noun>,
    pub measures: Vec<Quantity>,
    pub groups: Vec<Group>,
    pub columns: Vec<NounAt>,
    pub subject: Option<NounAt>,
    /// Datasets that were mentioned beside: "… of all flights".
    pub mentions: Vec<NounAt>,
    pub conds: Vec<Cond>,
    pub compare: Option<CompareWith>,
    pub rank: Option<Rank>,
    pub display: Option<Display>,
    /// A column to sort by, and whether downwards.
    pub order: Option<(OrderBy, bool)>,
    pub distinct: bool,
    /// What a definition inside the question says, and the words that it defines.
    pub definition: Option<(String, Quantity)>,
    /// Values that are not there: the field's noun and the text.
    pub absent: Vec<(NounAt, String)>,
    /// Words that mean nothing here.
    pub unknown: Vec<String>,
    /// Why what was said cannot be read in one way: there is no answer then.
    pub refused: Option<String>,
    /// The unit that a number is asked for in.
    pub unit: Option<String>,
    /// "compare …" was said.
    pub comparing: bool,
    /// First values of lists that were joined by "and", and of those of which each was said to be meant ("both").
    pub joint: Vec<NounAt>,
    /// Things that were said with "with": they may be those of the rows that numbers are of.
    pub beside: Vec<NounAt>,
    pub each: Vec<NounAt>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum OrderBy {
    Noun(NounAt),
    Measure,
    Time,
}
