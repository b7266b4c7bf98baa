//! What a question says before it is known which things of the ontology its nouns are.

use std::ops::Range;

use crate::engine::agent::english::lexicon::Entry;
use crate::engine::agent::english::time::CompareWith;
use crate::model::ontology::Aggregation;
use crate::model::plan::{Comparator, Condition, Grain, Pattern, Window};

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
    /// How wide the ranges are that its numbers are put in, with their unit.
    pub width: Option<(f64, Option<String>)>,
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
    /// The days from one date to another: their mean where no aggregate was named.
    Days {
        function: Option<Aggregation>,
        from: NounAt,
        to: NounAt,
    },
    /// The part of what is counted for which the conditions hold. Those of `doubtful` may be the whole's as well.
    Part {
        whole: Box<Quantity>,
        conds: Vec<Cond>,
        doubtful: Vec<Cond>,
        said: String,
    },
    /// How many different ones of what is counted there are among the rows of a thing for which the conditions hold:
    /// the towns among the sales of a customer in "bought in at least 3 towns".
    Across {
        counted: NounAt,
        thing: NounAt,
        inner: Vec<Cond>,
        /// What each row is of, where the rows themselves are counted: the books in "borrowed more than 3 books".
        object: Option<NounAt>,
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
    /// There are rows of the thing with other values or at other times than these.
    Others {
        thing: NounAt,
        inner: Vec<Cond>,
        negated: bool,
    },
    /// One field of a row against another one of it.
    Fields {
        left: NounAt,
        op: Comparator,
        right: NounAt,
    },
    /// What the rows of a metric are beside being rows of a dataset.
    Booked(Vec<Condition>),
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

impl Rank {
    /// Without what it is by. No number of rows asks for one of them.
    pub(super) fn new(descending: bool, rows: Option<u32>, skip: u32, text: String) -> Self {
        Self {
            rows: rows.unwrap_or(1),
            skip,
            descending,
            single: rows.is_none(),
            by: None,
            field: None,
            quality: false,
            judged: None,
            frequency: false,
            text,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Display {
    Share,
    Cumulative,
    Change,
    ChangePercent,
    MovingAverage(u32),
}

/// From which time to the next a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stride {
    /// That of the numbers' own groups.
    Any,
    Of(Grain),
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
    /// Things that are counted and were said with "total".
    pub totalled: Vec<NounAt>,
    pub groups: Vec<Group>,
    pub columns: Vec<NounAt>,
    pub subject: Option<NounAt>,
    /// Datasets that were mentioned beside: "… of all flights".
    pub mentions: Vec<NounAt>,
    pub conds: Vec<Cond>,
    pub compare: Option<CompareWith>,
    pub rank: Option<Rank>,
    pub display: Option<Display>,
    /// The change to the time before is shown beside each number.
    pub change_beside: Option<Stride>,
    /// A column to sort by, and whether downwards.
    pub order: Option<(OrderBy, bool)>,
    pub distinct: bool,
    /// Where the words stand that a definition inside the question defines.
    pub definition: Vec<Range<usize>>,
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
    /// Columns that are what a relationship of the subject leads to.
    pub parts: Vec<NounAt>,
    /// Rows that were said to be counted, too, as all are.
    pub included: Vec<NounAt>,
    /// Who does something is asked for: the columns, without the rows that they do it to.
    pub only_columns: bool,
    /// Conditions that were said with "ever" or "never": of all rows that there may be.
    pub ever: Vec<NounAt>,
    /// Things whose rows are others than those of the same dataset that were spoken of before.
    pub apart: Vec<NounAt>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum OrderBy {
    Noun(NounAt),
    Measure,
    Time,
    /// By a number whose better end the ontology tells, with the word that judges: "worst first".
    Judged(String),
}
