//! Fields and tables as SQL.

use crate::engine::ontology::expression::Scalar;

use super::error::CompileError;
use super::work::{Work, table_name};
use crate::model::source::quoted;

impl Work<'_> {
    /// A dataset in FROM. Rows that its policy does not allow are not there, whoever reads it.
    pub(super) fn table(&mut self, dataset: usize, alias: &str) -> Result<String, CompileError> {
        let entity = self.entity(dataset);
        self.reads.datasets.insert(entity.name.clone());
        let (table, alias_sql) = (quoted(table_name(entity)), quoted(alias));
        let Some(policy) = &entity.row_policy else { return Ok(format!("{table} AS {alias_sql}")) };
        let scalar =
            Scalar::parse(policy).map_err(|problem| broken(&format!("row policy of {}", entity.name), &problem))?;
        let scalar = scalar.settled_in(self.ontology, entity, None);
        let condition = scalar.write(self.dialect, &mut |owner, name| {
            if owner.is_some_and(|owner| !owner.eq_ignore_ascii_case(&entity.name)) {
                return Err(CompileError::Unsupported(format!(
                    "the row policy of {} reads another dataset: a policy is about its own rows",
                    entity.name
                )));
            }
            self.named(dataset, alias, name, &mut Vec::new())
        })?;
        Ok(format!("(SELECT * FROM {table} AS {alias_sql} WHERE {condition}) AS {alias_sql}"))
    }

    /// A field of a dataset that is read under an alias; a name that is no field is a column.
    pub(super) fn named(
        &self,
        dataset: usize,
        alias: &str,
        name: &str,
        inside: &mut Vec<String>,
    ) -> Result<String, CompileError> {
        let entity = self.entity(dataset);
        let lower = name.to_lowercase();
        let column = || format!("{}.{}", quoted(alias), quoted(name));
        let Some(field) = entity.field(name) else { return Ok(column()) };
        // A field that is made from a column of its own name means the column.
        if inside.last() == Some(&lower) {
            return Ok(column());
        }
        if inside.contains(&lower) {
            return Err(CompileError::Unsupported(format!(
                "the field {}.{name} is made from itself: {}",
                entity.name,
                inside.join(" from ")
            )));
        }
        let expression = field.expression.trim();
        if expression.is_empty() {
            return Ok(column());
        }
        if is_plain(expression) && (expression.eq_ignore_ascii_case(name) || entity.field(expression).is_none()) {
            return Ok(format!("{}.{}", quoted(alias), quoted(expression)));
        }
        let what = || format!("field {}.{}", entity.name, field.name);
        let scalar = Scalar::parse(expression).map_err(|problem| broken(&what(), &problem))?;
        let scalar = scalar.settled_in(self.ontology, entity, Some(&lower));
        inside.push(lower);
        let written = scalar.write(self.dialect, &mut |owner, part| {
            if owner.is_some_and(|owner| {
                !owner.eq_ignore_ascii_case(&entity.name) && !owner.eq_ignore_ascii_case(table_name(entity))
            }) {
                return Err(CompileError::Unsupported(format!(
                    "the {} reads another dataset: say it as a metric",
                    what()
                )));
            }
            self.named(dataset, alias, part, inside)
        })?;
        inside.pop();
        Ok(if scalar.as_name().is_some() { written } else { format!("({written})") })
    }
}

/// Whether it is a name that needs no parser.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && !matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "null")
}

/// An ontology that was not checked.
pub(super) fn broken(what: &str, problem: &crate::engine::ontology::expression::Problem) -> CompileError {
    CompileError::Unsupported(format!("the {what} of the ontology cannot be used: {problem}"))
}
