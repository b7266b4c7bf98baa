//! The answer made from groups: what is shown, conditions on finished numbers, order, limit, headings.

use std::collections::BTreeSet;

use crate::model::ontology::Aggregation;
use crate::model::plan::{Bound, By, Measure, Shown};

use super::block::{Block, Number};
use super::check::{Check, CheckKind};
use super::columns::columns;
use super::comparison::symbol;
use super::compiled::{Compiled, NoteKind};
use super::error::{CompileError, MAX_BYTES};
use super::headings::headings;
use super::layer::{Layer, named};
use super::layout::{list, with};
use super::literal::number_text;
use super::order::{Key, order, ranked};
use super::shown::{is_zero, shown};
use super::words::words;
use super::work::Work;

/// How a sum is held against others and against bounds where a group has no row of it.
const FILLED: &str = "A sum without a row counts as 0 in the order and for bounds.";

/// What is not there, or comes last, where the lowest are asked for.
const LOWEST: &str = "Only what has a value is compared, and can be the lowest.";

/// Why a quotient may be empty, also where there are rows.
const UNDIVIDED: &str = "A ratio has no value where what it is divided by is 0, or one of its numbers has no row.";

pub(super) fn finish(mut work: Work<'_>, block: Block, rows: u32) -> Result<Compiled, CompileError> {
    let plan = work.plan;
    let mut layer = Layer {
        from: block.from.clone(),
        dims: block.dims.clone(),
        numbers: block.values.iter().map(|value| (value.sql.clone(), value.other.clone())).collect(),
        sums: plan.measures.iter().zip(&block.values).map(|(measure, value)| is_sum(&work, measure, value)).collect(),
        gaps: block.gaps,
        ties: block.ties.clone(),
    };
    validate(&work, &layer)?;
    gaps(&mut work, &block, &layer);
    let is_shown = plan.measures.iter().any(|measure| measure.shown_as.is_some());
    let ranks = plan.limit.as_ref().is_some_and(|limit| !limit.per.is_empty() || limit.with_ties);
    if is_shown || ranks || !plan.having.is_empty() || plan.comparison.is_some() {
        layer = named(&mut work, &block, layer, "answer", Vec::new(), &[]).0;
    }
    if is_shown {
        let shown = shown(&mut work, &block, &layer)?;
        layer = named(&mut work, &block, Layer { numbers: shown, ..layer }, "shown", Vec::new(), &[]).0;
    }
    if let Some(since) = &block.since {
        let begun = format!("{} >= {}", layer.dim(since.dimension), since.start);
        layer = named(&mut work, &block, layer, "in_time", Vec::new(), &[begun]).0;
    }
    if !plan.having.is_empty() {
        layer = having(&mut work, &block, layer);
    }
    let order = order(&work, &layer);
    let mut tail = format!("\nORDER BY {}", order.iter().map(Key::sql).collect::<Vec<_>>().join(", "));
    let most = rows.saturating_add(1);
    match &plan.limit {
        Some(limit) if ranks => {
            layer = ranked(&mut work, &block, layer, limit, &order);
            let per: Vec<usize> = limit.per.clone();
            let mut keys: Vec<Key> = per.iter().map(|at| Key::up(layer.dim(*at).to_owned())).collect();
            keys.extend(self::order(&work, &layer));
            let mut seen = BTreeSet::new();
            keys.retain(|key| seen.insert(key.column.clone()));
            tail = format!("\nORDER BY {}\nLIMIT {most}", keys.iter().map(Key::sql).collect::<Vec<_>>().join(", "));
        }
        Some(limit) => {
            tail.push_str(&format!("\nLIMIT {}", limit.rows.min(most)));
            if limit.skip > 0 {
                tail.push_str(&format!(" OFFSET {}", limit.skip));
            }
        }
        None => tail.push_str(&format!("\nLIMIT {most}")),
    }
    let (columns, select) = columns(&work, &block, &layer);
    let body = format!("SELECT\n{}\nFROM {}{tail}", list(&select), layer.from);
    let with = with(&work.parts);
    let ending = work.dialect.ending();
    let sql = format!("{with}{body}{ending}");
    let count_sql =
        plan.limit.is_none().then(|| format!("{with}SELECT COUNT(*) AS \"rows\"\nFROM {}{ending}", layer.from));
    if sql.len() > MAX_BYTES {
        return Err(CompileError::TooLarge { bytes: sql.len() });
    }
    checks(&mut work, &block);
    let grain = grain(&work);
    let checks_sql = work.checks.sql(&work.parts)?.map(|sql| sql + ending).filter(|sql| sql.len() <= MAX_BYTES);
    Ok(Compiled {
        sql,
        count_sql,
        columns,
        reads: work.reads,
        notes: work.notes,
        grain,
        checks: work.checks.list,
        checks_sql,
    })
}

/// The positions that the plan uses are there.
fn validate(work: &Work<'_>, layer: &Layer) -> Result<(), CompileError> {
    let plan = work.plan;
    let (dims, numbers) = (layer.dims.len(), layer.numbers.len());
    let wrong = |what: &str, at: usize, of: usize| {
        Err(CompileError::Unsupported(format!("the plan means {what} {at}, and there are {of} (counted from 0)")))
    };
    for having in &plan.having {
        if having.measure >= numbers {
            return wrong("measure", having.measure, numbers);
        }
    }
    for order in &plan.order {
        match order.by {
            By::Dimension(at) if at >= dims => return wrong("dimension", at, dims),
            By::Measure(at) | By::Difference(at) | By::Change(at) if at >= numbers => {
                return wrong("measure", at, numbers);
            }
            By::Difference(_) | By::Change(_) if plan.comparison.is_none() => {
                return Err(CompileError::Unsupported("an order by change needs a comparison".into()));
            }
            _ => {}
        }
    }
    let per = plan.limit.iter().flat_map(|limit| &limit.per);
    let within = plan.measures.iter().filter_map(|measure| match &measure.shown_as {
        Some(Shown::Share { within }) => Some(within),
        _ => None,
    });
    for &at in per.chain(within.flatten()) {
        if at >= dims {
            return wrong("dimension", at, dims);
        }
    }
    if let Some(limit) = &plan.limit
        && limit.rows == 0
    {
        return Err(CompileError::Unsupported("a limit of 0 rows shows nothing".into()));
    }
    Ok(())
}

/// Whether nothing is 0 of it; a number of rows is 0 then already.
fn is_sum(work: &Work<'_>, measure: &Measure, value: &Number) -> bool {
    measure.shown_as.is_none() && !value.counts && is_zero(work, measure, value)
}

/// Says what becomes of groups without a row where that decides which rows there are, and why a ratio may be empty.
fn gaps(work: &mut Work<'_>, block: &Block, layer: &Layer) {
    let plan = work.plan;
    let lacks = |at: &usize| block.values.get(*at).is_some_and(|value| value.may_lack);
    let bounded: Vec<usize> = plan.having.iter().map(|having| having.measure).filter(lacks).collect();
    let ordered = plan.order.iter().filter(|_| plan.limit.is_some());
    let lowest = ordered.clone().filter(|order| !order.descending).filter_map(|order| match order.by {
        By::Measure(at) => Some(at),
        By::Dimension(_) | By::Difference(_) | By::Change(_) => None,
    });
    let (filled, others): (Vec<usize>, Vec<usize>) = lowest.filter(lacks).partition(|at| layer.is_filled(*at));
    if !filled.is_empty() || bounded.iter().any(|at| layer.is_filled(*at)) {
        work.note(FILLED);
    }
    if !others.is_empty() {
        work.note(LOWEST);
    }
    let mut empty = ordered.filter_map(|order| match order.by {
        By::Measure(at) if layer.is_filled(at) => None,
        By::Difference(at) if layer.is_sum(at) => None,
        By::Measure(at) | By::Difference(at) | By::Change(at) => Some(at),
        By::Dimension(_) => None,
    });
    if empty.any(|at| lacks(&at)) || bounded.iter().any(|at| !layer.is_filled(*at)) {
        work.gaps_decide();
    }
    // As the dialect and the ontology's expressions write a quotient.
    if block.values.iter().any(|value| value.sql.contains(" / NULLIF(")) {
        work.note_of(NoteKind::Empty, UNDIVIDED);
    }
}

/// Keeps the rows that meet the conditions on their numbers.
fn having(work: &mut Work<'_>, block: &Block, layer: Layer) -> Layer {
    let plan = work.plan;
    let mut more = Vec::new();
    for having in &plan.having {
        if let Bound::Overall(function) = &having.value {
            more.push(match function {
                Aggregation::Sum | Aggregation::Avg | Aggregation::Min | Aggregation::Max | Aggregation::Count => {
                    let (column, _) = layer.number(having.measure);
                    format!("{} OVER ()", work.dialect.aggregate(*function, column))
                }
                // No window of every engine has these.
                Aggregation::Median | Aggregation::CountDistinct | Aggregation::Stddev => {
                    let (column, _) = layer.number(having.measure);
                    format!("(SELECT {} FROM {})", work.dialect.aggregate(*function, column), layer.from)
                }
            });
        }
    }
    let (layer, bounds) =
        if more.is_empty() { (layer, Vec::new()) } else { named(work, block, layer, "measured", more, &[]) };
    let mut bounds = bounds.into_iter();
    let mut conditions = Vec::new();
    for having in &plan.having {
        let bound = match &having.value {
            Bound::Number(number) => number_text(number.get()),
            Bound::Overall(_) => bounds.next().unwrap_or_else(|| "NULL".to_owned()),
        };
        conditions.push(format!("{} {} {bound}", layer.filled(having.measure), symbol(having.op)));
    }
    named(work, block, layer, "kept", Vec::new(), &conditions).0
}

/// Checks of the whole answer.
fn checks(work: &mut Work<'_>, block: &Block) {
    let plan = work.plan;
    let all = plan.having.is_empty() && plan.limit.is_none() && block.since.is_none();
    let complete = all && plan.comparison.is_none() && block.ties.is_empty();
    for (at, (value, measure)) in block.values.iter().zip(&plan.measures).enumerate() {
        if let (Some(total), true, None) = (value.total, complete, &measure.shown_as) {
            let words = words(work, measure);
            work.checks.list.push(Check {
                name: format!("total:{at}"),
                kind: CheckKind::Total { measure: at, total: total.column, shared: total.shared },
                says: if total.shared {
                    format!("no part of {words} is more than its total without groups")
                } else {
                    format!("the parts of {words} add up to its total without groups")
                },
            });
        }
    }
    if !plan.is_listing() && block.ties.is_empty() {
        work.checks.list.push(Check {
            name: "grain".into(),
            kind: CheckKind::Grain,
            says: "each group is there once".into(),
        });
    }
}

/// What one row of the answer is.
fn grain(work: &Work<'_>) -> String {
    let plan = work.plan;
    let dims: Vec<String> = headings(work).dimensions.iter().map(|heading| heading.to_lowercase()).collect();
    match (plan.is_listing(), plan.subject.as_deref().and_then(|subject| work.ontology.entity(subject))) {
        (true, subject) => match subject {
            Some(entity) => format!("one row for each {}", entity.noun()),
            None => format!("one row for each {}", dims.join(", ")),
        },
        (false, Some(entity)) => format!("one row for each {}", entity.noun()),
        (false, None) if dims.is_empty() => "one row for all".to_owned(),
        (false, None) => format!("one row for each {}", dims.join(", ")),
    }
}
