//! Names of an ontology as SQL.

use crate::engine::ontology::expression::{Aggregate, Call, Scalar};
use crate::engine::ontology::graph::{Graph, Steps, column};
use crate::model::dataset::{Dataset, Kind};
use crate::model::ontology::{Entity, Metric, Ontology};
use crate::model::source::Dialect;
use crate::model::source::quoted;

/// Characters of a piece of SQL: what is nested further cannot grow without end.
const MAX_CHARS: usize = 4_096;

/// What names stand for.
pub(super) struct Names<'a> {
    pub ontology: &'a Ontology,
    pub tables: &'a [Dataset],
    pub graph: Graph,
}

impl<'a> Names<'a> {
    /// The rows of a dataset, as what a FROM reads, and what its engine speaks: those that its policy lets everybody
    /// read.
    pub(super) fn table(&self, entity: &Entity) -> Result<(String, Dialect), String> {
        let source = if entity.source.is_empty() { &entity.name } else { entity.table() };
        let mut tables = self.tables.iter().filter(|table| table.kind == Kind::Table);
        let table = tables.find(|table| table.name.eq_ignore_ascii_case(source));
        let found = table.and_then(|table| Some((quoted(&table.name), table.dialect()?)));
        let (table, dialect) = found.ok_or_else(|| format!("There is no table `{source}` that may be read."))?;
        let Some(policy) = &entity.row_policy else { return Ok((table, dialect)) };
        let policy = Scalar::parse(policy).map_err(|problem| format!("The row policy cannot be read: {problem}."))?;
        let holds = policy.write(dialect, &mut |_, part| self.field(entity, part, dialect))?;
        Ok((format!("(SELECT * FROM {table} AS {} WHERE {holds})", quoted(&entity.name)), dialect))
    }

    /// What the engine of its tables speaks: an ontology is of one.
    pub(super) fn dialect(&self) -> Dialect {
        let mut known = self.ontology.datasets.iter().filter_map(|entity| self.table(entity).ok());
        known.next().map_or(Dialect::DuckDb, |(_, dialect)| dialect)
    }

    /// A column, by its own name or that of a field which is nothing else.
    pub(super) fn column(entity: &Entity, name: &str) -> String {
        format!("{}.{}", quoted(&entity.name), quoted(column(entity, name)))
    }

    /// A field or column as an expression over the dataset's rows, which are read under its name.
    pub(super) fn field(&self, entity: &Entity, name: &str, dialect: Dialect) -> Result<String, String> {
        self.nested(entity, name, dialect, &mut Vec::new())
    }

    fn nested(
        &self,
        entity: &Entity,
        name: &str,
        dialect: Dialect,
        inside: &mut Vec<String>,
    ) -> Result<String, String> {
        let bare = |name: &str| format!("{}.{}", quoted(&entity.name), quoted(name));
        let lower = name.to_lowercase();
        let Some(field) = entity.field(name).filter(|_| inside.last() != Some(&lower)) else { return Ok(bare(name)) };
        if inside.contains(&lower) {
            return Err(format!("`{}.{name}` is made from itself.", entity.name));
        }
        let own = column(entity, name);
        if entity.field(own).is_none_or(|other| other.name.eq_ignore_ascii_case(name)) && own == field.expression.trim()
        {
            return Ok(bare(own));
        }
        let scalar = Scalar::parse(&field.expression).map_err(|problem| format!("{problem}."))?;
        let scalar = scalar.in_zone(&self.ontology.calendar.timezone, &|_, part| {
            entity.field(part).filter(|field| !field.name.eq_ignore_ascii_case(&lower)).map(|field| field.datatype)
        });
        inside.push(lower);
        let written = scalar.write(dialect, &mut |_, part| self.nested(entity, part, dialect, inside))?;
        inside.pop();
        limited(if scalar.as_name().is_some() { written } else { format!("({written})") })
    }

    /// A metric as one expression without a FROM: each of its aggregates is a sub-query.
    pub(super) fn metric(&self, metric: &Metric, inside: &mut Vec<String>) -> Result<String, String> {
        let lower = metric.name.to_lowercase();
        if inside.contains(&lower) {
            return Err(format!("`{}` is made from itself.", metric.name));
        }
        inside.push(lower);
        let aggregate = Aggregate::parse(&metric.expression).map_err(|problem| format!("{problem}."))?;
        let calls = aggregate.calls();
        let mut used = Vec::new();
        for name in aggregate.metrics() {
            let of = self.ontology.metric(name).ok_or_else(|| format!("There is no metric `{name}`."))?;
            used.push((name.clone(), self.metric(of, inside)?));
        }
        inside.pop();
        let mut call = |at: usize| match calls.get(at) {
            Some(call) => self.call(metric, call),
            None => Err("An aggregate is missing.".to_owned()),
        };
        let mut known = |name: &str| {
            let written = used.iter().find(|(known, _)| known == name).map(|(_, sql)| format!("({sql})"));
            written.ok_or_else(|| format!("There is no metric `{name}`."))
        };
        limited(aggregate.write(self.dialect(), &mut call, &mut known)?)
    }

    /// One aggregate as a sub-query over the dataset whose rows it counts, with those that each row meets once.
    fn call(&self, metric: &Metric, call: &Call) -> Result<String, String> {
        let mut filters = Vec::new();
        for filter in &metric.filters {
            filters.push(Scalar::parse(filter).map_err(|problem| format!("{problem}."))?);
        }
        let mut datasets: Vec<usize> = Vec::new();
        for reference in call.refs().iter().chain(filters.iter().flat_map(Scalar::refs)) {
            let name = reference.dataset.as_deref().unwrap_or_default();
            let dataset = self.graph.dataset(name).ok_or_else(|| format!("`{}` has no dataset.", reference.name))?;
            if !datasets.contains(&dataset) {
                datasets.push(dataset);
            }
        }
        let way = |home: usize, other: usize| self.graph.way(home, other, &[], Steps::ToOne);
        let reaches = |home: &usize| datasets.iter().all(|&other| way(*home, other).is_ok());
        let home = datasets.iter().copied().find(reaches).ok_or("No dataset meets all others once.")?;
        let entity = self.entity(home)?;
        let (table, dialect) = self.table(entity)?;
        let mut from = format!("{table} AS {}", quoted(&entity.name));
        let mut joined = vec![home];
        for &other in &datasets {
            for step in way(home, other).map_err(|_| "No dataset meets all others once.")? {
                if joined.contains(&step.to) {
                    continue;
                }
                joined.push(step.to);
                from.push_str(&self.join(step.relationship, step.from, step.to, step.forward)?);
            }
        }
        let mut name = |dataset: Option<&str>, name: &str| {
            let entity = dataset.and_then(|dataset| self.ontology.entity(dataset));
            self.field(entity.ok_or_else(|| format!("`{name}` has no dataset."))?, name, dialect)
        };
        let written = call.write(dialect, &mut name)?;
        let mut conditions = Vec::new();
        for filter in &filters {
            conditions.push(format!("({})", filter.write(dialect, &mut name)?));
        }
        let condition =
            if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
        limited(format!("(SELECT {written} FROM {from}{condition})"))
    }

    fn join(&self, relationship: usize, from: usize, to: usize, forward: bool) -> Result<String, String> {
        let relationship = self.ontology.relationships.get(relationship).ok_or("A relationship is missing.")?;
        let (mut left, mut right) = (&relationship.from_columns, &relationship.to_columns);
        if !forward {
            std::mem::swap(&mut left, &mut right);
        }
        let (from, to) = (self.entity(from)?, self.entity(to)?);
        let pairs: Vec<String> = left
            .iter()
            .zip(right)
            .map(|(left, right)| format!("{} = {}", Self::column(from, left), Self::column(to, right)))
            .collect();
        Ok(format!(" LEFT JOIN {} AS {} ON {}", self.table(to)?.0, quoted(&to.name), pairs.join(" AND ")))
    }

    fn entity(&self, at: usize) -> Result<&'a Entity, String> {
        self.ontology.datasets.get(at).ok_or_else(|| "A dataset is missing.".to_owned())
    }
}

fn limited(sql: String) -> Result<String, String> {
    if sql.len() > MAX_CHARS {
        return Err(format!("It is longer than {MAX_CHARS} characters when everything that it uses is written out."));
    }
    Ok(sql)
}
