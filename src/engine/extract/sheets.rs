//! Workbooks (XLSX, XLSM, XLSB, XLS, ODS): each sheet that shows is a table. Its first full row names the columns, if it is
//! of texts, and the cells of a column decide about its type.

use std::io::Cursor;

use calamine::{Data, Ods, Range, Reader as _, SheetType, SheetVisible, Sheets, Xls, Xlsb, Xlsx};
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::drawings;
use super::package::{Package, protected};
use super::write::{Text, squeezed};
use super::xml::Xml;
use super::{Extracted, broken, held};
use crate::model::document::Facts;
use crate::model::error::{Error, Result};

/// Rows that are looked at for the one that names the columns.
const HEADER_ROWS: usize = 20;
/// Whole numbers that a cell, which is a float, tells apart.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// A sheet that holds something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sheet {
    pub name: String,
    /// Its place in the workbook, from 0.
    pub index: u32,
}

/// The type of a column, and of the database's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Boolean,
    Integer,
    Number,
    Date,
    Timestamp,
    Time,
    Text,
}

impl Kind {
    /// As SQL writes it.
    pub fn sql(self) -> &'static str {
        match self {
            Kind::Boolean => "BOOLEAN",
            Kind::Integer => "BIGINT",
            Kind::Number => "DOUBLE",
            Kind::Date => "DATE",
            Kind::Timestamp => "TIMESTAMP",
            Kind::Time => "TIME",
            Kind::Text => "VARCHAR",
        }
    }
}

/// A sheet as a table.
pub struct Table {
    pub columns: Vec<(String, Kind)>,
    range: Range<Data>,
    /// The row that names the columns, where the others begin, and the columns that hold something.
    top: Option<usize>,
    first: usize,
    kept: Vec<usize>,
}

pub struct Workbook(Sheets<Cursor<Vec<u8>>>);

impl Workbook {
    /// # Errors
    /// `invalid_argument` for what is no workbook or is protected; `limit_exceeded` for one that unpacks to too much.
    pub fn open(bytes: Vec<u8>, budget: &Budget) -> Result<Self> {
        let (mut is_binary, mut is_open) = (false, false);
        let is_zip = bytes.starts_with(b"PK");
        if is_zip {
            let mut package = Package::open(&bytes, budget)?;
            package.within_budget()?;
            (is_binary, is_open) = (package.has("xl/workbook.bin"), package.has("content.xml"));
        }
        if is_open {
            whole(&bytes)?;
        }
        let bytes = Cursor::new(bytes);
        let opened = held(|| match (is_zip, is_binary, is_open) {
            (false, ..) => Xls::new(bytes).map(Sheets::Xls).map_err(calamine::Error::from),
            (_, true, _) => Xlsb::new(bytes).map(Sheets::Xlsb).map_err(calamine::Error::from),
            (_, _, true) => Ods::new(bytes).map(Sheets::Ods).map_err(calamine::Error::from),
            _ => Xlsx::new(bytes).map(Sheets::Xlsx).map_err(calamine::Error::from),
        })?;
        opened.map(Self).map_err(|cause| unreadable("the workbook", &cause))
    }

    /// The sheets that show; of a workbook that shows none, all.
    pub fn sheets(&self) -> Vec<Sheet> {
        let all = self.0.sheets_metadata().iter().enumerate().filter(|(_, sheet)| sheet.typ == SheetType::WorkSheet);
        let of = |shown: bool| {
            let kept = all.clone().filter(move |(_, sheet)| !shown || sheet.visible == SheetVisible::Visible);
            let sheets = kept.filter_map(|(index, sheet)| {
                Some(Sheet { name: sheet.name.clone(), index: u32::try_from(index).ok()? })
            });
            sheets.collect::<Vec<_>>()
        };
        let shown = of(true);
        if shown.is_empty() { of(false) } else { shown }
    }

    /// A sheet as a table; `None` when it is empty.
    ///
    /// # Errors
    /// `invalid_argument` for a sheet that cannot be read.
    pub fn table(&mut self, sheet: &Sheet) -> Result<Option<Table>> {
        let range = held(|| self.0.worksheet_range(&sheet.name))?;
        let range = range.map_err(|cause| unreadable(&format!("the sheet {:?}", sheet.name), &cause))?;
        Ok(Table::of(range))
    }
}

/// Whether the content of an OpenDocument workbook has its end: the reader of workbooks looks for that of a table for ever.
fn whole(bytes: &[u8]) -> Result<()> {
    let budget = Budget::new(bytes.len() as u64);
    let mut package = Package::again(bytes, &budget)?;
    package.unlocked()?;
    let content = package.need("content.xml")?;
    // As bytes of ASCII, as that reader takes them, whatever encoding they begin with.
    let content = String::from_utf8_lossy(&content);
    let mut xml = Xml::new(&content, "content.xml");
    while xml.next()?.is_some() {}
    Ok(())
}

fn unreadable(what: &str, cause: &dyn std::fmt::Display) -> Error {
    let cause = cause.to_string();
    if cause.to_lowercase().contains("password") { protected() } else { broken(format!("{what}: {cause}")) }
}

/// Every sheet as a table of one text, and behind them what is drawn on sheets.
pub(super) fn read(bytes: &[u8], name: &str, budget: &Budget) -> Result<Extracted> {
    let mut workbook = Workbook::open(bytes.to_vec(), budget)?;
    let mut text = Text::new(budget);
    for (index, sheet) in workbook.sheets().iter().enumerate() {
        if index > 0 {
            text.page()?;
        }
        let Some(table) = workbook.table(sheet)? else { continue };
        text.heading(1, &sheet.name)?;
        text.paragraph(&table.above().collect::<Vec<_>>().join("\n"))?;
        let header = table.columns.iter().map(|(name, _)| name.clone()).collect();
        let rows = table.rows().map(|row| row.into_iter().map(Option::unwrap_or_default).collect());
        text.table(&std::iter::once(header).chain(rows).collect::<Vec<_>>())?;
    }
    if bytes.starts_with(b"PK") {
        drawings::of_sheets(&mut Package::again(bytes, budget)?, &mut text)?;
    }
    Ok(Extracted::new(name, None, text, Facts::new()))
}

impl Table {
    fn of(range: Range<Data>) -> Option<Self> {
        let is_filled =
            |cell: &Data| !matches!(cell, Data::Empty) && !matches!(cell, Data::String(text) if text.trim().is_empty());
        let rows: Vec<&[Data]> = range.rows().collect();
        let width = rows.iter().map(|row| row.iter().filter(|cell| is_filled(cell)).count()).max()?;
        if width == 0 {
            return None;
        }
        let filled = |row: &[Data]| row.iter().filter(|cell| is_filled(cell)).count();
        let is_of_texts = |row: &[Data]| row.iter().all(|cell| !is_filled(cell) || matches!(cell, Data::String(_)));
        // Above it may be a title and remarks, but no row of values.
        let full = rows.iter().take(HEADER_ROWS).position(|row| filled(row) * 2 > width && is_of_texts(row));
        let top = full.filter(|at| {
            let names = rows.get(*at).map_or(0, |row| filled(row));
            !rows.iter().take(*at).any(|row| !is_of_texts(row) && filled(row) >= names)
        });
        // A text alone, or nothing but texts, may be values as well; the first row is then taken to name them.
        let first = top.map_or(0, |at| at + 1);
        let body = || rows.iter().skip(first);
        let kept: Vec<usize> = (0..range.width())
            .filter(|at| {
                let named = top.and_then(|top| rows.get(top)?.get(*at)).is_some_and(is_filled);
                named || body().any(|row| row.get(*at).is_some_and(is_filled))
            })
            .collect();
        let columns = kept.iter().enumerate().map(|(place, at)| {
            let name = top.and_then(|top| rows.get(top)?.get(*at)).map(|cell| squeezed(&cell.to_string()));
            let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("column_{}", place + 1));
            (name, kind(body().filter_map(|row| row.get(*at))))
        });
        let columns = unique(columns.collect());
        Some(Self { columns, top, first, kept, range })
    }

    /// What stands above the names of the columns, a line for each row that holds something.
    fn above(&self) -> impl Iterator<Item = String> + '_ {
        let rows = self.range.rows().take(self.top.unwrap_or_default());
        let lines = rows.map(|row| {
            let cells = row.iter().filter_map(|cell| value(cell, kind_of(cell)?));
            cells.collect::<Vec<_>>().join(" | ")
        });
        lines.filter(|line| !line.is_empty())
    }

    /// The values of each row that holds any, as the types of the columns read them.
    pub fn rows(&self) -> impl Iterator<Item = Vec<Option<String>>> + '_ {
        let rows = self.range.rows().skip(self.first).map(|row| {
            let cells = self.kept.iter().zip(&self.columns).map(|(at, (_, kind))| value(row.get(*at)?, *kind));
            cells.collect::<Vec<_>>()
        });
        rows.filter(|row| row.iter().any(Option::is_some))
    }
}

/// Names that differ, whatever their capitals.
fn unique(columns: Vec<(String, Kind)>) -> Vec<(String, Kind)> {
    let mut taken = std::collections::HashSet::new();
    let named = columns.into_iter().map(|(name, kind)| {
        let mut unique = name.clone();
        let mut number = 2;
        while !taken.insert(unique.to_lowercase()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        (unique, kind)
    });
    named.collect()
}

/// The narrowest type that holds all cells; of none, text.
fn kind<'c>(cells: impl Iterator<Item = &'c Data>) -> Kind {
    let mut found: Option<Kind> = None;
    for cell in cells {
        let Some(own) = kind_of(cell) else { continue };
        found = Some(match (found, own) {
            (None, own) => own,
            (Some(one), other) if one == other => one,
            (Some(Kind::Integer | Kind::Number), Kind::Integer | Kind::Number) => Kind::Number,
            (Some(Kind::Date | Kind::Timestamp), Kind::Date | Kind::Timestamp) => Kind::Timestamp,
            _ => return Kind::Text,
        });
    }
    found.unwrap_or(Kind::Text)
}

fn kind_of(cell: &Data) -> Option<Kind> {
    match cell {
        Data::Empty | Data::Error(_) => None,
        Data::String(text) if text.trim().is_empty() => None,
        Data::String(_) => Some(Kind::Text),
        Data::Bool(_) => Some(Kind::Boolean),
        Data::Int(_) => Some(Kind::Integer),
        Data::Float(number) if number.fract() == 0.0 && number.abs() < WHOLE => Some(Kind::Integer),
        Data::Float(_) => Some(Kind::Number),
        Data::DateTime(moment) if moment.is_duration() => Some(Kind::Text),
        Data::DateTime(moment) if (0.0..1.0).contains(&moment.as_f64()) => Some(Kind::Time),
        Data::DateTime(moment) if moment.as_f64().fract() == 0.0 => Some(Kind::Date),
        Data::DateTime(_) => Some(Kind::Timestamp),
        Data::DateTimeIso(text) => Some(if text.contains('T') { Kind::Timestamp } else { Kind::Date }),
        Data::DurationIso(_) => Some(Kind::Text),
    }
}

fn value(cell: &Data, kind: Kind) -> Option<String> {
    kind_of(cell)?;
    Some(match cell {
        Data::String(text) => text.trim().to_owned(),
        Data::Bool(value) => value.to_string(),
        Data::Int(number) => number.to_string(),
        Data::Float(number) => number.to_string(),
        Data::DateTime(moment) if moment.is_duration() => {
            let seconds = (moment.as_f64() * 86_400.0).round();
            let (hours, rest) = ((seconds / 3_600.0).trunc(), seconds % 3_600.0);
            format!("{hours}:{:02}:{:02}", (rest / 60.0).trunc().abs(), (rest % 60.0).abs())
        }
        Data::DateTime(moment) => {
            let (year, month, day, hour, minute, second, milli) = moment.to_ymd_hms_milli();
            let (date, time) = (format!("{year:04}-{month:02}-{day:02}"), format!("{hour:02}:{minute:02}:{second:02}"));
            let time = if milli == 0 { time } else { format!("{time}.{milli:03}") };
            match (kind, kind_of(cell)?) {
                (Kind::Date, _) | (Kind::Text, Kind::Date) => date,
                (Kind::Time, _) | (Kind::Text, Kind::Time) => time,
                _ => format!("{date} {time}"),
            }
        }
        Data::DateTimeIso(text) => text.replace('T', " "),
        Data::DurationIso(text) => text.clone(),
        Data::Error(_) | Data::Empty => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::extract::tests::zipped;

    fn table(rows: &[&[Data]]) -> Table {
        let cells = rows.iter().enumerate().flat_map(|(y, row)| {
            row.iter().enumerate().map(move |(x, cell)| calamine::Cell::new((y as u32, x as u32), cell.clone()))
        });
        Table::of(Range::from_sparse(cells.filter(|cell| *cell.get_value() != Data::Empty).collect())).unwrap()
    }

    fn text(text: &str) -> Data {
        Data::String(text.into())
    }

    #[test]
    fn the_first_full_row_of_texts_names_the_columns_and_cells_their_types() {
        let (one, half) = (Data::Float(1.0), Data::Float(1.5));
        let made = table(&[
            &[text("Sales of 2024")],
            &[],
            &[text("Town"), text("Sum"), text("Count"), text("town"), Data::Empty, text("Open")],
            &[text("Ghent"), half.clone(), one.clone(), one.clone(), Data::Empty, Data::Bool(true)],
            &[],
            &[text("Bruges"), one, Data::Empty, text("x"), half, Data::Bool(false)],
        ]);
        let columns: Vec<(&str, &str)> = made.columns.iter().map(|(name, kind)| (name.as_str(), kind.sql())).collect();
        let expected = [
            ("Town", "VARCHAR"),
            ("Sum", "DOUBLE"),
            ("Count", "BIGINT"),
            ("town_2", "VARCHAR"),
            ("column_5", "DOUBLE"),
            ("Open", "BOOLEAN"),
        ];
        assert_eq!(columns, expected);
        let rows: Vec<Vec<String>> =
            made.rows().map(|row| row.into_iter().map(|cell| cell.unwrap_or("-".into())).collect()).collect();
        assert_eq!(rows, [["Ghent", "1.5", "1", "1", "-", "true"], ["Bruges", "1", "-", "x", "1.5", "false"]]);
    }

    #[test]
    fn a_title_stands_above_the_names_and_values_never_do() {
        let one = Data::Float(1.0);
        let titled = table(&[
            &[text("Sales"), Data::Empty, Data::Empty, Data::Empty],
            &[text("Until"), one.clone()],
            &[text("a"), text("b"), text("c"), text("d")],
            &[one.clone(), one.clone(), one.clone(), one.clone()],
        ]);
        assert_eq!(titled.above().collect::<Vec<_>>(), ["Sales", "Until | 1"]);
        assert_eq!((titled.columns[3].0.as_str(), titled.rows().count()), ("d", 1));
        let values = table(&[&[text("Whole"), one.clone(), one], &[text("Words"), text("x"), text("y")]]);
        assert_eq!((values.above().count(), values.rows().count()), (0, 2));
        assert_eq!(values.columns[1].0, "column_2");
        let dated = table(&[
            &[text("As of"), Data::Float(2024.0)],
            &[text("Name"), text("Number"), text("Price")],
            &[text("x"), Data::Float(1.0), Data::Float(2.0)],
        ]);
        assert_eq!((dated.columns[2].0.as_str(), dated.rows().count()), ("Price", 1));
    }

    #[test]
    fn a_protected_workbook_is_told_from_a_damaged_one() {
        let manifest = b"<manifest:manifest><manifest:file-entry><manifest:encryption-data></manifest:encryption-data>\
                         </manifest:file-entry></manifest:manifest>";
        let kind: (&str, &[u8]) = ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet");
        let members = [kind, ("content.xml", b"\x01\x02"), ("META-INF/manifest.xml", manifest)];
        let open = |members| Workbook::open(zipped(members), &Budget::new(0)).err().unwrap().message;
        assert!(open(&members).contains("password"), "{}", open(&members));
        assert!(open(members.get(..2).unwrap()).contains("damaged"));
    }

    #[test]
    fn a_workbook_that_ends_in_its_midst_is_damaged() {
        let kind: (&str, &[u8]) = ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet");
        let content = b"<office:spreadsheet><table:table table:name=\"a\"><table:table-row></table:table-row>";
        let members = [kind, ("content.xml", content), ("META-INF/manifest.xml", b"<manifest:manifest/>")];
        let refused = Workbook::open(zipped(&members), &Budget::new(0)).err().unwrap();
        assert!(refused.message.contains("content.xml") && refused.message.contains("ends in its midst"), "{refused}");
        // Behind the mark of another encoding its reader finds the same table.
        let content = [b"\xfe\xff", &content[..]].concat();
        let members = [kind, ("content.xml", &content[..]), ("META-INF/manifest.xml", b"<manifest:manifest/>")];
        assert!(Workbook::open(zipped(&members), &Budget::new(0)).is_err());
    }

    #[test]
    fn values_without_names_get_some() {
        let made = table(&[&[Data::Float(1.0), text("a")], &[Data::Float(2.0), text("b")]]);
        assert_eq!(made.columns, [("column_1".to_owned(), Kind::Integer), ("column_2".to_owned(), Kind::Text)]);
        assert_eq!(made.rows().count(), 2);
    }
}
