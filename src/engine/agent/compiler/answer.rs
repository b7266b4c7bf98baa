//! The answer made from groups: what is shown, conditions on finished numbers, order, limit, headings.

use crate::model::ontology::{Additivity, Aggregation};
use crate::model::plan::{Bound, By, Dimension, Grain, Measure, Order, Shown, Value};

use super::block::Block;
use super::checks::{Check, CheckKind};
use super::columns::{columns, of_dimension};
use super::condition::symbol;
use super::error::CompileError;
use super::literal::number_text;
use super::measure::{aggregate, quotient, words};
use super::names::{Names, indented, quote};
use super::rows::list;
use super::work::Work;
use super::{Compiled, MAX_BYTES};

/// The columns of the layer that is the newest part of the statement, as SQL.
pub struct Layer {
    from: String,
    pub dims: Vec<String>,
    /// The measure, and the same at the comparison's time.
    pub numbers: Vec<(String, Option<String>)>,
    ties: Vec<String>,
}

pub fn finish(mut work: Work<'_>, block: Block, rows: u32) -> Result<Compiled, CompileError> {
    let plan = work.plan;
    let mut layer = Layer {
        from: block.from.clone(),
        dims: block.dims.clone(),
        numbers: block.values.iter().map(|value| (value.sql.clone(), value.other.clone())).collect(),
        ties: block.ties.clone(),
    };
    validate(&work, &layer)?;
    let is_shown = plan.measures.iter().any(|measure| measure.shown_as.is_some());
    let ranks = plan.limit.as_ref().is_some_and(|limit| !limit.per.is_empty() || limit.with_ties);
    if is_shown || ranks || !plan.having.is_empty() || plan.comparison.is_some() {
        layer = named(&mut work, &block, layer, "answer", Vec::new(), &[]).0;
    }
    if is_shown {
        let shown = shown(&mut work, &block, &layer)?;
        layer = named(&mut work, &block, Layer { numbers: shown, ..layer }, "shown", Vec::new(), &[]).0;
    }
    if !plan.having.is_empty() {
        layer = having(&mut work, &block, layer)?;
    }
    let order = order(&work, &layer)?;
    let mut tail = format!("\nORDER BY {}", order.iter().map(|key| key.sql()).collect::<Vec<_>>().join(", "));
    let most = rows.saturating_add(1);
    match &plan.limit {
        Some(limit) if ranks => {
            layer = ranked(&mut work, &block, layer, limit, &order)?;
            let per: Vec<usize> = limit.per.clone();
            let mut keys: Vec<Key> = per.iter().map(|at| Key::up(layer.dims[*at].clone())).collect();
            keys.extend(self::order(&work, &layer)?);
            let mut seen = std::collections::BTreeSet::new();
            keys.retain(|key| seen.insert(key.column.clone()));
            tail =
                format!("\nORDER BY {}\nLIMIT {most}", keys.iter().map(|key| key.sql()).collect::<Vec<_>>().join(", "));
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
    let parts: Vec<String> =
        work.parts.iter().map(|(name, body)| format!("{} AS (\n{}\n)", quote(name), indented(body, 2))).collect();
    let with = if parts.is_empty() { String::new() } else { format!("WITH {}\n", parts.join(", ")) };
    let sql = format!("{with}{body}");
    let count_sql = plan.limit.is_none().then(|| format!("{with}SELECT COUNT(*) AS \"rows\"\nFROM {}", layer.from));
    if sql.len() > MAX_BYTES {
        return Err(CompileError::TooLarge { bytes: sql.len() });
    }
    checks(&mut work, &block);
    let grain = grain(&work);
    let checks_sql = work.checks.sql(&work.parts)?.filter(|sql| sql.len() <= MAX_BYTES);
    Ok(Compiled {
        sql,
        count_sql,
        columns,
        joins: work.joins,
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

/// Makes the columns of a layer a part of the statement, so that they have names; with more columns, of which the names
/// are given too, and conditions.
fn named(
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
        select.push(format!("{sql} AS {}", quote(&name)));
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
    let body = format!("SELECT\n{}\nFROM {}{}", list(&select), layer.from, super::rows::clause(conditions));
    let part = work.part(wanted, body);
    let of = |name: String| format!("{}.{}", quote(&part), quote(&name));
    let layer = Layer {
        from: quote(&part),
        dims: dims.into_iter().map(of).collect(),
        numbers: numbers.into_iter().map(|(now, other)| (of(now), other.map(of))).collect(),
        ties: ties.into_iter().map(of).collect(),
    };
    (layer, more.into_iter().map(of).collect())
}

/// What is shown instead of the numbers.
fn shown(work: &mut Work<'_>, block: &Block, layer: &Layer) -> Result<Vec<(String, Option<String>)>, CompileError> {
    let plan = work.plan;
    let mut written = Vec::new();
    for (at, (measure, (now, other))) in plan.measures.iter().zip(&layer.numbers).enumerate() {
        let Some(shown) = &measure.shown_as else {
            written.push((now.clone(), other.clone()));
            continue;
        };
        let sums = matches!(shown, Shown::Share { .. } | Shown::Cumulative);
        if sums && !(block.values[at].adds_up || is_additive(work, measure)) {
            return Err(CompileError::Unsupported(format!(
                "{} does not add up, so that it has no shares and no running total: ask for a sum or a number of rows",
                words(work, measure)
            )));
        }
        let one = |sql: &str| shown_as(work, layer, shown, sql);
        written.push((one(now)?, other.as_deref().map(one).transpose()?));
    }
    Ok(written)
}

/// Whether the ontology says that it adds up.
fn is_additive(work: &Work<'_>, measure: &Measure) -> bool {
    match &measure.value {
        Value::Metric(name) => {
            work.ontology.metric(name).is_some_and(|metric| metric.additivity == Additivity::Additive)
        }
        _ => false,
    }
}

fn shown_as(work: &Work<'_>, layer: &Layer, shown: &Shown, sql: &str) -> Result<String, CompileError> {
    if let Shown::Share { within } = shown {
        let by: Vec<&str> = within.iter().map(|at| layer.dims[*at].as_str()).collect();
        let by = if by.is_empty() { String::new() } else { format!("PARTITION BY {}", by.join(", ")) };
        return Ok(quotient(work.dialect, sql, &format!("SUM({sql}) OVER ({by})")));
    }
    let Some(time) = time_dimension(work) else {
        return Err(CompileError::Unsupported("a course over time needs a time to group by".into()));
    };
    let others: Vec<&str> =
        layer.dims.iter().enumerate().filter(|(at, _)| *at != time).map(|(_, sql)| sql.as_str()).collect();
    let by = if others.is_empty() { String::new() } else { format!("PARTITION BY {} ", others.join(", ")) };
    let along = format!("{by}ORDER BY {}", layer.dims[time]);
    Ok(match shown {
        Shown::Cumulative => format!("SUM({sql}) OVER ({along} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"),
        Shown::Change => format!("({sql} - LAG({sql}) OVER ({along}))"),
        Shown::ChangePercent => {
            let before = format!("LAG({sql}) OVER ({along})");
            quotient(work.dialect, &format!("({sql} - {before})"), &before)
        }
        Shown::MovingAverage { rows } => {
            let before = rows.saturating_sub(1);
            format!("AVG({sql}) OVER ({along} ROWS BETWEEN {before} PRECEDING AND CURRENT ROW)")
        }
        Shown::Share { .. } => sql.to_owned(),
    })
}

/// The first dimension that is a time; a stretch of time comes before a cycle.
fn time_dimension(work: &Work<'_>) -> Option<usize> {
    let dimensions = &work.plan.dimensions;
    let is_time = |dimension: &Dimension| {
        let field = work.ontology.field(&dimension.field.dataset, &dimension.field.field);
        field.is_some_and(|field| field.datatype.is_calendar()) && !dimension.grain.is_some_and(Grain::is_cycle)
    };
    dimensions.iter().position(is_time).or_else(|| dimensions.iter().position(|dimension| dimension.grain.is_some()))
}

/// Keeps the rows that meet the conditions on their numbers.
fn having(work: &mut Work<'_>, block: &Block, layer: Layer) -> Result<Layer, CompileError> {
    let plan = work.plan;
    let mut more = Vec::new();
    for having in &plan.having {
        if let Bound::Overall(function) = &having.value {
            more.push(match function {
                Aggregation::Sum | Aggregation::Avg | Aggregation::Min | Aggregation::Max | Aggregation::Count => {
                    let column = &layer.numbers[having.measure].0;
                    format!("{} OVER ()", aggregate(work.dialect, *function, column))
                }
                // No window of every engine has these.
                Aggregation::Median | Aggregation::CountDistinct | Aggregation::Stddev => {
                    let column = &layer.numbers[having.measure].0;
                    format!("(SELECT {} FROM {})", aggregate(work.dialect, *function, column), layer.from)
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
        conditions.push(format!("{} {} {bound}", layer.numbers[having.measure].0, symbol(having.op)));
    }
    Ok(named(work, block, layer, "kept", Vec::new(), &conditions).0)
}

/// A column to order by.
struct Key {
    column: String,
    descending: bool,
}

impl Key {
    fn up(column: String) -> Self {
        Self { column, descending: false }
    }

    fn sql(&self) -> String {
        format!("{}{} NULLS LAST", self.column, if self.descending { " DESC" } else { "" })
    }
}

/// The plan's order, and then every column that tells rows apart, so that equal questions have equal answers.
fn order(work: &Work<'_>, layer: &Layer) -> Result<Vec<Key>, CompileError> {
    let mut keys: Vec<Key> = Vec::new();
    for order in &work.plan.order {
        keys.push(Key { column: ordered(work, layer, order), descending: order.descending });
    }
    keys.extend(layer.dims.iter().chain(&layer.ties).cloned().map(Key::up));
    if keys.is_empty() {
        keys.extend(layer.numbers.first().map(|(number, _)| Key::up(number.clone())));
    }
    let mut seen = std::collections::BTreeSet::new();
    keys.retain(|key| seen.insert(key.column.clone()));
    Ok(keys)
}

fn ordered(work: &Work<'_>, layer: &Layer, order: &Order) -> String {
    match order.by {
        By::Dimension(at) => layer.dims[at].clone(),
        By::Measure(at) => layer.numbers[at].0.clone(),
        By::Difference(at) => difference(&layer.numbers[at]),
        By::Change(at) => change(work, &layer.numbers[at]),
    }
}

pub fn difference((now, other): &(String, Option<String>)) -> String {
    format!("({now} - {})", other.as_deref().unwrap_or("NULL"))
}

pub fn change(work: &Work<'_>, number: &(String, Option<String>)) -> String {
    quotient(work.dialect, &difference(number), number.1.as_deref().unwrap_or("NULL"))
}

/// Keeps the first rows of each group, or all that are equal to the last of them.
fn ranked(
    work: &mut Work<'_>,
    block: &Block,
    layer: Layer,
    limit: &crate::model::plan::Limit,
    order: &[Key],
) -> Result<Layer, CompileError> {
    let by: Vec<&str> = limit.per.iter().map(|at| layer.dims[*at].as_str()).collect();
    let by = if by.is_empty() { String::new() } else { format!("PARTITION BY {} ", by.join(", ")) };
    // Ties are rows that are equal in what was asked for, not in what makes the order total.
    let asked = if limit.with_ties { &order[..order.len().min(1)] } else { order };
    let keys: Vec<String> = asked.iter().map(Key::sql).collect();
    let rank = if limit.with_ties { "RANK()" } else { "ROW_NUMBER()" };
    let place = format!("{rank} OVER ({by}ORDER BY {})", keys.join(", "));
    let (layer, places) = named(work, block, layer, "ranked", vec![place], &[]);
    let place = places.first().cloned().unwrap_or_default();
    let mut conditions = vec![format!("{place} <= {}", u64::from(limit.rows) + u64::from(limit.skip))];
    if limit.skip > 0 {
        conditions.push(format!("{place} > {}", limit.skip));
    }
    Ok(named(work, block, layer, "first_rows", Vec::new(), &conditions).0)
}

/// Checks of the whole answer.
fn checks(work: &mut Work<'_>, block: &Block) {
    let plan = work.plan;
    let complete = plan.having.is_empty() && plan.limit.is_none() && plan.comparison.is_none() && block.ties.is_empty();
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
    let dims: Vec<String> = plan
        .dimensions
        .iter()
        .enumerate()
        .map(|(at, dimension)| of_dimension(work, dimension, at).0.to_lowercase())
        .collect();
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
