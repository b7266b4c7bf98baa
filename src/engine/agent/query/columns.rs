//! What is said of the columns of the answer: its order, the groups of its limit, conditions on its numbers. A column is
//! named by its heading, by what it was asked with, or by its number from 1: `#2`.

use super::cursor::{Read, Reader};
use super::lexer::Kind;
use super::names::aggregation;
use super::problem::Wrong;
use super::words::COMPARATORS;
use crate::model::ontology::Aggregation;
use crate::model::plan::f64bits::F64;
use crate::model::plan::{Bound, By, Comparator, Dimension, Having, Measure, Order};

impl Reader<'_> {
    /// `revenue desc`, `-revenue`; several with commas.
    pub(super) fn orders(&mut self) -> Read<Vec<Order>> {
        let mut found = Vec::new();
        loop {
            let is_turned = self.eat_sign("-");
            let by = self.column()?;
            self.eat_sign(":");
            let is_descending = self.eat(&["desc", "descending"]);
            if !is_descending {
                self.eat(&["asc", "ascending"]);
            }
            self.eat(&["nulls last", "nulls first"]);
            found.push(Order { by, descending: is_descending || is_turned });
            if !self.eat_sign(",") {
                return Ok(found);
            }
        }
    }

    /// `revenue > 1000 and revenue > avg(revenue)`.
    pub(super) fn havings(&mut self) -> Read<Vec<Having>> {
        let mut found = self.having()?;
        while self.eat(&["and"]) {
            found.extend(self.having()?);
        }
        if self.is(0, &["or"]) {
            return Err(self.wrong_here("conditions on finished numbers all hold: there is no `or` between them"));
        }
        Ok(found)
    }

    fn having(&mut self) -> Read<Vec<Having>> {
        if let Some((number, length)) = self.number_at(0)
            && let Some(turned) = self.sign_at(length)
        {
            self.skip(length + 1);
            let op = match turned {
                Comparator::Less => Comparator::Greater,
                Comparator::AtMost => Comparator::AtLeast,
                Comparator::Greater => Comparator::Less,
                Comparator::AtLeast => Comparator::AtMost,
                same => same,
            };
            return Ok(vec![Having { measure: self.measure_column()?, op, value: Bound::Number(number) }]);
        }
        let measure = self.measure_column()?;
        if self.eat(&["between"]) {
            let low = self.bound(measure)?;
            self.need("and", "in `between … and …`")?;
            let high = self.bound(measure)?;
            let having = |op, value| Having { measure, op, value };
            return Ok(vec![having(Comparator::AtLeast, low), having(Comparator::AtMost, high)]);
        }
        let op = self.comparator().ok_or_else(|| self.wrong_here("a comparison is missing, such as `> 1000`"))?;
        Ok(vec![Having { measure, op, value: self.bound(measure)? }])
    }

    fn number_at(&self, ahead: usize) -> Option<(F64, usize)> {
        let is_negative = self.is_sign(ahead, "-");
        let ahead = ahead + usize::from(is_negative);
        match self.kind(ahead) {
            Some(Kind::Number(number)) => {
                Some((F64::new(if is_negative { -number } else { *number })?, 1 + usize::from(is_negative)))
            }
            _ => None,
        }
    }

    fn sign_at(&self, ahead: usize) -> Option<Comparator> {
        COMPARATORS.iter().find(|(_, sign)| self.is_sign(ahead, sign)).map(|(op, _)| *op)
    }

    /// What a finished number is held against: a number, or an aggregate of its own column.
    fn bound(&mut self, measure: usize) -> Read<Bound> {
        if let Some((number, length)) = self.number_at(0) {
            self.skip(length);
            return Ok(Bound::Number(number));
        }
        let at = self.here();
        let Some(function) = self.word(0).filter(|_| self.is_sign(1, "(")).and_then(|word| aggregation(&word)) else {
            return Err(self.wrong_here("a number is missing, or an aggregate of the column such as `avg(revenue)`"));
        };
        self.skip(2);
        let is_distinct = self.eat(&["distinct"]);
        let of = self.measure_column()?;
        self.need_sign(")", "after the column")?;
        if of != measure {
            return Err(Wrong::at(at, "a column is held against a number or an aggregate of itself"));
        }
        Ok(Bound::Overall(if is_distinct { Aggregation::CountDistinct } else { function }))
    }

    /// `#2`, counted over dimensions and then measures.
    fn numbered(&mut self) -> Read<Option<usize>> {
        let is_numbered = self.eat_sign("#");
        let Some(Kind::Number(number)) = self.kind(0) else {
            return if is_numbered {
                Err(self.wrong_here("the number of a column is missing after `#`"))
            } else {
                Ok(None)
            };
        };
        let all = self.around.dimensions.len() + self.around.measures.len();
        if number.fract() != 0.0 || *number < 1.0 || *number > all as f64 {
            return Err(self.wrong_here(format!("there is no column {number}: the query has {all}, counted from 1")));
        }
        let number = *number as usize - 1;
        self.skip(1);
        Ok(Some(number))
    }

    /// What may be a heading here.
    fn heading(&self) -> Option<String> {
        match self.kind(0) {
            Some(Kind::Word(_)) if self.is_sign(1, "(") => None,
            Some(Kind::Word(name) | Kind::Name(name) | Kind::Text(name)) if !self.is_sign(1, ".") => {
                Some(name.to_lowercase())
            }
            _ => None,
        }
    }

    /// A column by a heading that only it has.
    fn by_heading(&self) -> Option<usize> {
        let name = self.heading()?;
        let dimensions = self.around.dimensions.iter().map(|dimension| dimension.label.as_deref());
        let all = dimensions.chain(self.around.measures.iter().map(|measure| measure.label.as_deref()));
        let is = |(_, label): &(usize, Option<&str>)| label.is_some_and(|label| label.to_lowercase() == name);
        let mut found = all.enumerate().filter(is);
        found.next().filter(|_| found.next().is_none()).map(|(at, _)| at)
    }

    /// Any column.
    fn column(&mut self) -> Read<By> {
        let at = self.here();
        let first = self.around.dimensions.len();
        let by = |column: usize| if column < first { By::Dimension(column) } else { By::Measure(column - first) };
        if let Some(column) = self.numbered()? {
            return Ok(by(column));
        }
        if let Some(column) = self.by_heading() {
            self.skip(1);
            return Ok(by(column));
        }
        let place = self.place();
        if let Some(column) = self.quietly(Self::dimension_by_text) {
            return Ok(By::Dimension(column));
        }
        self.back_to(place);
        if let Some(column) = self.quietly(Self::measure_by_text) {
            return Ok(By::Measure(column));
        }
        self.back_to(place);
        let is_change = self.is(0, &["change", "change_percent", "percent_change", "pct_change"]);
        if (is_change || self.is(0, &["difference", "delta"])) && self.is_sign(1, "(") {
            if !self.around.compares {
                return Err(Wrong::at(
                    at,
                    "there is nothing that this is compared with: say it with `compare_to`, or add the measure",
                ));
            }
            self.skip(2);
            let measure = self.measure_column()?;
            self.need_sign(")", "after the measure")?;
            return Ok(if is_change { By::Change(measure) } else { By::Difference(measure) });
        }
        if let Some(column) = self.beside_others() {
            return Ok(By::Dimension(column));
        }
        Err(self.no_column(at, "dimensions and measures"))
    }

    /// A field of the rows that are shown, which then is a column after the other dimensions.
    fn beside_others(&mut self) -> Option<usize> {
        let rows = self.around.rows.clone()?;
        let place = self.place();
        let named = self.quietly(|reader| reader.dimension().map(Some));
        let Some(named) = named.filter(|it| it.field.dataset == rows && it.field.via.is_empty()) else {
            self.back_to(place);
            return None;
        };
        let all = || self.around.beside.iter().chain(&self.beside);
        let column = all().position(|it| *it == named).unwrap_or_else(|| all().count());
        if column == all().count() {
            self.beside.push(named);
        }
        Some(self.around.dimensions.len() + column)
    }

    /// A measure of the query, by its position among them.
    fn measure_column(&mut self) -> Read<usize> {
        let at = self.here();
        let first = self.around.dimensions.len();
        let place = self.place();
        let is_number = self.is_sign(0, "#");
        let found = match if is_number { self.numbered()? } else { self.by_heading().inspect(|_| self.skip(1)) } {
            Some(column) => column.checked_sub(first),
            None => self.quietly(Self::measure_by_text),
        };
        found.ok_or_else(|| {
            self.back_to(place);
            self.no_column(at, "measures")
        })
    }

    /// A dimension of the query, by its position among them.
    pub(super) fn dimension_column(&mut self) -> Read<usize> {
        let at = self.here();
        let place = self.place();
        let found = match self.numbered()? {
            Some(column) => Some(column),
            None => match self.by_heading() {
                Some(column) => {
                    self.skip(1);
                    Some(column)
                }
                None => self.quietly(Self::dimension_by_text),
            },
        };
        found.filter(|column| *column < self.around.dimensions.len()).ok_or_else(|| {
            self.back_to(place);
            self.no_column(at, "dimensions")
        })
    }

    pub(super) fn dimension_columns(&mut self) -> Read<Vec<usize>> {
        let mut found = vec![self.dimension_column()?];
        while self.eat_sign(",") {
            found.push(self.dimension_column()?);
        }
        Ok(found)
    }

    fn no_column(&self, at: usize, what: &str) -> Wrong {
        let rows = self.around.rows.as_ref().filter(|_| what == "dimensions and measures");
        let field = rows.map(|rows| format!(", or a field of {rows}")).unwrap_or_default();
        let message =
            format!("{} is none of the query's {what}: add it there, or name one of them{field}", self.what());
        let (dimensions, measures) = (&self.around.texts.0, &self.around.texts.1);
        let near = match what {
            "dimensions" => dimensions.clone(),
            "measures" => measures.clone(),
            _ => measures.iter().chain(dimensions).cloned().collect(),
        };
        Wrong::at(at, message).near(near.into_iter().take(6).collect())
    }

    /// What can be read here without anything wrong.
    fn quietly<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<Option<T>>) -> Option<T> {
        let noted = self.wrong.len();
        let found = read(self).ok().flatten().filter(|_| self.wrong.len() == noted);
        self.wrong.truncate(noted);
        found
    }

    fn dimension_by_text(&mut self) -> Read<Option<usize>> {
        let named = Dimension { label: None, ..self.dimension()? };
        let all = &self.around.dimensions;
        let whole = |dimension: &Dimension| Dimension { label: None, ..dimension.clone() } == named;
        let is_bare = named.grain.is_none() && named.bucket.is_none();
        let by_field = |dimension: &Dimension| is_bare && dimension.field == named.field;
        Ok(only(all, whole).or_else(|| only(all, by_field).filter(|_| !all.iter().any(whole))))
    }

    fn measure_by_text(&mut self) -> Read<Option<usize>> {
        let named = self.sum()?;
        let named = Measure { label: None, ..named };
        let all = &self.around.measures;
        Ok(only(all, |measure: &Measure| Measure { label: None, ..measure.clone() } == named))
    }
}

/// The only one of its kind.
fn only<T>(all: &[T], is: impl Fn(&T) -> bool) -> Option<usize> {
    let mut found = all.iter().enumerate().filter(|(_, it)| is(it));
    found.next().filter(|_| found.next().is_none()).map(|(at, _)| at)
}
