//! A layer of the answer: its columns over what the statement has so far.

use super::block::Block;
use super::calc::together;
use super::layout::{clause, list};
use super::names::Names;
use super::words::words;
use super::work::Work;
use crate::model::source::quoted;

/// The columns of the layer that is the newest part of the statement, as SQL.
pub(super) struct Layer {
    pub from: String,
    pub dims: Vec<String>,
    /// The measure, and the same at the comparison's time.
    pub numbers: Vec<(String, Option<String>)>,
    /// Which of them are sums, so that nothing is 0 of them.
    pub sums: Vec<bool>,
    /// Whether a group may have no row of a number.
    pub gaps: bool,
    pub ties: Vec<String>,
}

impl Layer {
    #[expect(clippy::indexing_slicing, reason = "a plan that means a dimension which is not there has been refused")]
    pub(super) fn dim(&self, at: usize) -> &str {
        &self.dims[at]
    }

    #[expect(clippy::indexing_slicing, reason = "a plan that means a measure which is not there has been refused")]
    pub(super) fn number(&self, at: usize) -> &(String, Option<String>) {
        &self.numbers[at]
    }

    /// Whether a measure is a sum.
    pub(super) fn is_sum(&self, at: usize) -> bool {
        self.sums.get(at).is_some_and(|sum| *sum)
    }

    /// Whether a group without a row of a measure is ordered and bounded as 0.
    pub(super) fn is_filled(&self, at: usize) -> bool {
        self.gaps && self.is_sum(at)
    }

    /// A measure as it is ordered and bounded.
    pub(super) fn filled(&self, at: usize) -> String {
        let number = &self.number(at).0;
        if self.is_filled(at) { format!("COALESCE({number}, 0)") } else { number.clone() }
    }

    /// A measure less the same at the comparison's time.
    pub(super) fn difference(&self, at: usize) -> String {
        match self.number(at) {
            (now, Some(other)) if self.is_sum(at) => together(&[now.clone(), other.clone()], " - "),
            (now, other) => format!("({now} - {})", other.as_deref().unwrap_or("NULL")),
        }
    }

    /// The difference as a part of what was.
    pub(super) fn change(&self, work: &Work<'_>, at: usize) -> String {
        work.dialect.quotient(&self.difference(at), self.number(at).1.as_deref().unwrap_or("NULL"))
    }
}

/// Makes the columns of a layer a part of the statement, so that they have names; with more columns, of which the names
/// are given too, and conditions.
pub(super) fn named(
    work: &mut Work<'_>,
    block: &Block,
    layer: Layer,
    wanted: &str,
    more: Vec<String>,
    conditions: &[String],
) -> (Layer, Vec<String>) {
    let mut names = Names::default();
    let mut select = Vec::new();
    let mut column = |sql: &str, wanted: &str| {
        let name = names.fresh(wanted);
        select.push(format!("{sql} AS {}", quoted(&name)));
        name
    };
    let dims: Vec<String> = layer.dims.iter().zip(&block.names).map(|(sql, name)| column(sql, name)).collect();
    let plan = work.plan;
    let mut numbers = Vec::new();
    for ((sql, other), measure) in layer.numbers.iter().zip(&plan.measures) {
        let words = words(work, measure);
        let now = column(sql, &words);
        numbers.push((now, other.as_ref().map(|other| column(other, &format!("{words} before")))));
    }
    let ties: Vec<String> = layer.ties.iter().map(|sql| column(sql, "key")).collect();
    let more: Vec<String> = more.iter().map(|sql| column(sql, "of_all")).collect();
    let body = format!("SELECT\n{}\nFROM {}{}", list(&select), layer.from, clause(conditions));
    let part = work.part(wanted, body);
    let of = |name: String| format!("{}.{}", quoted(&part), quoted(&name));
    let layer = Layer {
        from: quoted(&part),
        dims: dims.into_iter().map(of).collect(),
        numbers: numbers.into_iter().map(|(now, other)| (of(now), other.map(of))).collect(),
        sums: layer.sums,
        gaps: layer.gaps,
        ties: ties.into_iter().map(of).collect(),
    };
    (layer, more.into_iter().map(of).collect())
}
