//! Tables as the draft looks at them: columns with their words, what their values can be compared with, and which of
//! them tell rows apart.

use crate::engine::ontology::draft::marks::Marks;
use crate::engine::ontology::draft::names::common_prefix;
use crate::engine::ontology::draft::vocabulary::Vocabulary;
use crate::engine::ontology::draft::{DraftTable, KeyCandidate};
use crate::engine::ontology::read::datatype_of;
use crate::model::dataset::ColumnInfo;
use crate::model::ontology::DataType;
use crate::model::profile::{ColumnProfile, Figure};

/// Values of two columns can be equal only when they are of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Whole,
    Uuid,
    Day,
    Other,
}

/// A column.
pub(super) struct Column<'a> {
    pub info: &'a ColumnInfo,
    pub at: usize,
    /// Without the prefix that all columns of its table have.
    pub words: Vec<String>,
    pub kind: Kind,
    pub figures: Option<&'a ColumnProfile>,
    /// Least and greatest of whole numbers.
    pub range: Option<(f64, f64)>,
    /// As a key of its table.
    pub marks: Marks,
    /// Characters of the shortest and of the longest of its samples.
    pub lengths: Option<(usize, usize)>,
}

/// A table.
pub(super) struct Seen<'a> {
    pub table: &'a DraftTable,
    /// Among the tables.
    pub at: usize,
    pub words: Vec<String>,
    pub marks: Marks,
    pub columns: Vec<Column<'a>>,
}

pub(super) fn seen<'a>(tables: &'a [DraftTable], vocabulary: &Vocabulary) -> Vec<Seen<'a>> {
    tables.iter().enumerate().map(|(at, table)| look(at, table, vocabulary)).collect()
}

fn look<'a>(at: usize, table: &'a DraftTable, vocabulary: &Vocabulary) -> Seen<'a> {
    let words = vocabulary.table(&table.name);
    let all: Vec<Vec<String>> = table.columns.iter().map(|column| vocabulary.column(column)).collect();
    // "l_orderkey", and not "customer_id" of a table whose columns all say so.
    let initial = all.first().and_then(|words| words.first()).is_some_and(|first| first.len() <= 2);
    let skip = if initial { common_prefix(&words, &all) } else { 0 };
    let column = |((at, info), words): ((usize, &'a ColumnInfo), Vec<String>)| {
        Column::of(info, at, table.figures(&info.name), words.into_iter().skip(skip).collect())
    };
    let columns = table.columns.iter().enumerate().zip(all).map(column).collect();
    let marks = Marks::of(&words);
    Seen { table, at, words, marks, columns }
}

fn lengths(column: &ColumnInfo) -> Option<(usize, usize)> {
    let all = || column.sample_values.iter().map(|value| value.chars().count());
    all().min().zip(all().max())
}

/// Whether its values and its empty rows were counted, and not estimated.
fn is_counted(figures: &ColumnProfile) -> bool {
    let mut open = figures.approximate.iter().chain(&figures.not_computed);
    !open.any(|figure| matches!(figure, Figure::Distinct | Figure::Nulls))
}

/// Whether no two rows agree in a column and none is empty, as far as its figures say.
pub(super) fn is_unique(figures: &ColumnProfile, rows: i64) -> Option<bool> {
    if figures.nulls > 0 || rows == 0 {
        return Some(false);
    }
    // An estimate that is far away is enough to say no. One of a key is a tenth too low now and then.
    let far = figures.distinct < rows / 4 * 3;
    (is_counted(figures) || far).then_some(figures.distinct == rows)
}

fn range(figures: &ColumnProfile) -> Option<(f64, f64)> {
    let number = |text: &Option<String>| text.as_ref()?.parse::<f64>().ok();
    number(&figures.min).zip(number(&figures.max))
}

fn kind(column: &ColumnInfo, range: Option<(f64, f64)>) -> Kind {
    match datatype_of(&column.r#type) {
        DataType::String if column.r#type.eq_ignore_ascii_case("uuid") => Kind::Uuid,
        DataType::String => Kind::Text,
        DataType::Integer => Kind::Whole,
        // Whole numbers are read as others where a tool wrote them with a point, because some are missing.
        DataType::Decimal | DataType::Float => {
            let whole = |text: &String| text.parse::<f64>().is_ok_and(|number| number.fract() == 0.0);
            let bounds = range.is_none_or(|(least, most)| least.fract() == 0.0 && most.fract() == 0.0);
            let samples = !column.sample_values.is_empty() && column.sample_values.iter().all(whole);
            let decimal = datatype_of(&column.r#type) == DataType::Decimal && range.is_none();
            if bounds && samples || decimal { Kind::Whole } else { Kind::Other }
        }
        DataType::Date => Kind::Day,
        _ => Kind::Other,
    }
}

/// Whether values are drawn at random from so many that two columns hardly have one in common by chance: UUIDs.
pub(super) fn is_random(column: &ColumnInfo) -> bool {
    const DIGITS: usize = 24;
    let random = |value: &String| {
        let digits = value.chars().filter(|&c| c != '-').all(|c| c.is_ascii_hexdigit());
        let counted = value.chars().any(|c| c.is_ascii_digit()) && value.chars().any(|c| c.is_ascii_alphabetic());
        digits && counted && value.len() >= DIGITS
    };
    let samples = &column.sample_values;
    match kind(column, None) {
        Kind::Uuid => true,
        Kind::Text => !samples.is_empty() && samples.iter().all(random),
        Kind::Whole | Kind::Day | Kind::Other => false,
    }
}

/// Whether whole numbers lie close together and far from 0, as those do that somebody counted on from a first one. Years are
/// none of them.
pub(super) fn is_run(least: f64, most: f64) -> bool {
    least >= 1_000.0 && most <= least * 1.25 && !are_years(least, most)
}

fn are_years(least: f64, most: f64) -> bool {
    least >= 1_500.0 && most <= 2_100.0
}

impl Seen<'_> {
    pub(super) fn column(&self, name: &str) -> Option<&Column<'_>> {
        self.columns.iter().find(|column| column.info.name == name)
    }

    pub(super) fn is(&self, other: &Seen<'_>) -> bool {
        std::ptr::eq(self.table, other.table)
    }

    /// Columns that may be asked for as a key of it.
    pub(super) fn candidate(&self, columns: &[String]) -> KeyCandidate {
        KeyCandidate { table: self.table.name.clone(), columns: columns.to_vec() }
    }
}

impl<'a> Column<'a> {
    /// A column by the words of its name.
    pub(super) fn of(info: &'a ColumnInfo, at: usize, figures: Option<&'a ColumnProfile>, words: Vec<String>) -> Self {
        let range = figures.and_then(range);
        let marks = Marks::telling(&words);
        Self { info, at, words, kind: kind(info, range), figures, range, marks, lengths: lengths(info) }
    }
}

impl Column<'_> {
    /// How many different values there are; `None` where nobody counted.
    pub(super) fn distinct(&self) -> Option<i64> {
        self.figures.map(|figures| figures.distinct)
    }

    /// Whether no two rows agree in it and none is empty, as far as the profile says.
    pub(super) fn is_unique(&self, rows: i64) -> Option<bool> {
        is_unique(self.figures?, rows)
    }

    /// Whether some rows are known to be empty in it.
    pub(super) fn has_nulls(&self) -> bool {
        self.figures.is_some_and(|figures| figures.nulls > 0)
    }

    /// Whether it tells those rows apart in which it is not empty: the number of a player, among people of whom some only
    /// coached. So many different values that it is no chance.
    pub(super) fn tells_some_apart(&self, rows: i64) -> bool {
        const NO_CHANCE: i64 = 50;
        let Some(figures) = self.figures.filter(|figures| is_counted(figures)) else { return false };
        figures.nulls > 0 && figures.distinct >= NO_CHANCE && figures.distinct == rows - figures.nulls
    }

    /// As [`is_random`].
    pub(super) fn is_random(&self) -> bool {
        is_random(self.info)
    }

    /// How many of the whole numbers between the least and the greatest there are, 0 to 1.
    pub(super) fn density(&self) -> Option<f64> {
        let ((least, most), distinct) = self.range.zip(self.distinct())?;
        #[expect(clippy::cast_precision_loss, reason = "only the ratio matters")]
        let distinct = distinct as f64;
        (self.kind == Kind::Whole).then(|| (distinct / (most - least + 1.0)).clamp(0.0, 1.0))
    }

    /// How likely a number that is no key of it would be one all the same, 0 to 1: of numbers that begin far from 0, nearly
    /// all others are none.
    pub(super) fn chance(&self) -> Option<f64> {
        let density = self.density()?;
        match (self.range, self.distinct()) {
            #[expect(clippy::cast_precision_loss, reason = "only the ratio matters")]
            (Some((least, most)), Some(distinct)) if least >= 100.0 && !are_years(least, most) => {
                Some(density.min(distinct as f64 / most))
            }
            _ => Some(density),
        }
    }

    /// Whether its values may be among the other's, as far as bounds and kinds say.
    pub(super) fn may_be_in(&self, key: &Self) -> bool {
        let alike = self.kind == key.kind && self.kind != Kind::Other;
        let within = match (self.range, key.range) {
            // A few may be missing there, and 0 or -1 may stand for none.
            (Some((least, most)), Some((first, last))) if self.kind == Kind::Whole => {
                let room = (last - first) * 0.1;
                least.max(1.0) >= first.min(1.0) - room && most <= last + room
            }
            _ => true,
        };
        alike && within
    }
}
