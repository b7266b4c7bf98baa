//! A sheet of a workbook becomes a table.

use std::path::Path;

use duckdb::{Connection, appender_params_from_iter};

use super::documents;
use super::instance::internal;
use super::problem;
use crate::engine::extract::Budget;
use crate::engine::extract::sheets::Workbook;
use crate::model::error::{Error, Result};
use crate::model::source::quoted;

/// Reads the sheet at a place, or the first that holds something, into `made.main.data`.
pub(super) fn load(connection: &Connection, source: &Path, index: Option<u32>) -> Result<()> {
    let bytes = documents::bytes(source)?;
    let budget = Budget::new(bytes.len() as u64);
    let mut workbook = Workbook::open(bytes, &budget)?;
    let mut found = None;
    for sheet in workbook.sheets().into_iter().filter(|sheet| index.is_none_or(|index| sheet.index == index)) {
        found = workbook.table(&sheet)?;
        if found.is_some() {
            break;
        }
    }
    let table = found.ok_or_else(|| Error::invalid("file", "The file cannot be imported: the sheet is empty."))?;
    let columns: Vec<String> =
        table.columns.iter().map(|(name, kind)| format!("{} {}", quoted(name), kind.sql())).collect();
    connection
        .execute_batch(&format!("CREATE TABLE made.main.data ({})", columns.join(", ")))
        .map_err(|cause| problem::of_import(&cause))?;
    let mut appender =
        connection.appender_to_catalog_and_db("data", "made", "main").map_err(|cause| internal(&cause))?;
    for row in table.rows() {
        appender.append_row(appender_params_from_iter(row)).map_err(|cause| problem::of_import(&cause))?;
    }
    appender.flush().map_err(|cause| problem::of_import(&cause))
}
