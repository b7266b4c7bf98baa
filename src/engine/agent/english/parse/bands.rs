//! Numbers put in ranges: "by length in bands of 30 minutes", "by price range of 10", "by decade of founding".

use crate::engine::agent::english::lexicon::{Entry, Sense, words};

use super::super::items::Kind;
use super::super::sketch::{Group, NounAt, Want};
use super::super::vocabulary;
use super::Parser;

/// What ranges of one width are called.
const BANDS: &[&str] =
    &["band", "range", "step", "group", "bucket", "interval", "bin", "increment", "bracket", "class", "tier", "chunk"];

/// Years of a decade.
const DECADE: f64 = 10.0;

/// How wide ranges are, and in which unit.
type Width = (f64, Option<String>);

impl Parser<'_> {
    /// A group of ranges of a number; takes nothing where the words say no width.
    pub(super) fn banded(&mut self, each: bool) -> Option<Group> {
        let (start, nouns) = (self.at, self.sketch.nouns.len());
        let group = self.decades(each).or_else(|| self.bands(each));
        if group.is_none() {
            self.at = start;
            self.drop_nouns(nouns);
        }
        group
    }

    /// "length in bands of 30 minutes", "30-minute bands of length", "5 miles of distance" after "per".
    fn bands(&mut self, each: bool) -> Option<Group> {
        self.articles();
        if let Some((width, called)) = self.width_first() {
            if !(called || each) || !self.eat_any(&["of", "in", "by"]) {
                return None;
            }
            let noun = self.banded_noun()?;
            return Some(self.in_bands(noun, width, each));
        }
        // "per bracket of 100 seats"
        if is_band(self.word(0)) && self.word(1) == "of" {
            self.at += 2;
            let width = self.width()?;
            self.eat("of");
            let noun = self.banded_noun()?;
            return Some(self.in_bands(noun, width, each));
        }
        let noun = self.banded_noun()?;
        let width = self.width_after()?;
        Some(self.in_bands(noun, width, each))
    }

    fn in_bands(&mut self, noun: NounAt, width: Width, each: bool) -> Group {
        self.sketch.nouns[noun].width = Some(width);
        Group { noun: Some(noun), grain: None, each, per: false }
    }

    /// A noun that may be a field with numbers.
    fn banded_noun(&mut self) -> Option<NounAt> {
        self.articles();
        let noun = self.noun(Want::Group)?;
        let may_be = self.sketch.nouns[noun].entries.iter().any(|entry| matches!(entry.sense, Sense::Field(..)));
        may_be.then_some(noun)
    }

    /// "30-minute bands", "10 dollar ranges", "5 miles": the width before what it is of, and whether it is called a
    /// band.
    fn width_first(&mut self) -> Option<(Width, bool)> {
        let width = self.width()?;
        let called = self.band_word();
        Some((width, called))
    }

    /// A number with its unit.
    fn width(&mut self) -> Option<Width> {
        // "bands of one hour"
        if matches!(self.word(0), "one" | "a" | "an") {
            let unit = self.word(1).to_owned();
            let known = vocabulary::unit(&unit).is_some() && unit.len() > 2;
            if !known && !is_coin(&unit) {
                return None;
            }
            self.at += 2;
            return Some((1.0, Some(unit).filter(|_| known)));
        }
        let Some(Kind::Number(quantity)) = self.item(0).map(|item| item.kind.clone()) else { return None };
        self.at += 1;
        if quantity.value <= 0.0 {
            return None;
        }
        let mut unit = quantity.unit;
        // "30-minute bands": the unit stands apart behind the sign.
        let dash = usize::from(self.word(0) == "-");
        if unit.is_none() && vocabulary::unit(self.word(dash)).is_some() && self.word(dash).len() > 1 {
            unit = Some(self.word(dash).to_owned());
            self.at += dash + 1;
        } else if unit.is_none() && is_coin(self.word(dash)) {
            self.at += dash + 1;
        }
        Some((quantity.value, unit))
    }

    fn band_word(&mut self) -> bool {
        self.eat("-");
        let found = is_band(self.word(0));
        self.at += usize::from(found);
        found
    }

    /// "in bands of 30 minutes", "in 30 minute bands", "ranges of 10", all behind what they are of.
    fn width_after(&mut self) -> Option<Width> {
        self.eat(",");
        let joined = self.eat_any(&["grouped in", "grouped into", "put into", "divided into", "split into"])
            || self.eat_any(&["in", "into", "by", "with", "using"]);
        if self.band_word() {
            // "class" and "range" are parts of names as well: only with a width they are ranges.
            return self.eat_any(&["of", "every"]).then(|| self.width()).flatten();
        }
        if !joined {
            return None;
        }
        let (width, called) = self.width_first()?;
        called.then_some(width)
    }

    /// "by decade", "by decade of founding", "by decade built".
    fn decades(&mut self, each: bool) -> Option<Group> {
        self.articles();
        let from = self.at;
        if !matches!(self.word(0), "decade" | "decades") {
            // "by founding decade"
            if !matches!(self.word(1), "decade" | "decades") {
                return None;
            }
            let noun = self.year_named(self.at)?;
            self.at += 2;
            return Some(self.in_bands(noun, (DECADE, None), each));
        }
        self.at += 1;
        let of = self.eat_any(&["of the", "of", "they were", "it was", "when they were", "in which they were"]);
        if self.item(0).is_some_and(|item| !matches!(item.kind, Kind::Time(_) | Kind::Number(_)))
            && let Some(noun) = self.year_named(self.at)
        {
            self.at += 1;
            return Some(self.in_bands(noun, (DECADE, None), each));
        }
        if of {
            return None;
        }
        let noun = self.hinted(from, &["year"]);
        Some(self.in_bands(noun, (DECADE, None), each))
    }

    /// The field of years that a word speaks of: "founding" of a founding year.
    fn year_named(&mut self, at: usize) -> Option<NounAt> {
        let item = self.items.get(at)?;
        let years = |entry: &Entry| match entry.sense {
            Sense::Field(d, f) => self.field(d, f).is_some_and(|field| {
                field.datatype.is_calendar() || field.datatype.is_number() && says_year(&field.words(), &field.name)
            }),
            _ => false,
        };
        let said: Vec<&str> = item.norm.split(' ').collect();
        let longer = [[said.as_slice(), &["year"]].concat(), [&["year", "of"], said.as_slice()].concat()];
        let mut found: Vec<Entry> = longer
            .iter()
            .flat_map(|phrase| {
                let known = self.on.matches(phrase, &vec![false; phrase.len()]);
                known.into_iter().filter(|found| found.words == phrase.len()).flat_map(|found| found.entries)
            })
            .filter(|entry| !entry.partial && years(entry))
            .collect();
        if found.is_empty() {
            found = item.entries.iter().filter(|entry| years(entry)).cloned().collect();
        }
        if found.is_empty() {
            return None;
        }
        let noun = super::super::sketch::Noun::new(self, at..at + 1, found, Want::Group, "");
        Some(self.push(noun))
    }
}

/// What widths are of that have no unit in the data.
fn is_coin(word: &str) -> bool {
    matches!(words::singular(word).as_str(), "dollar" | "euro" | "pound" | "point" | "year")
}

/// Whether ranges of one width are called so.
pub(in super::super) fn is_band(word: &str) -> bool {
    BANDS.contains(&words::singular(word).as_str())
}

fn says_year(words: &str, name: &str) -> bool {
    words.to_lowercase().split(' ').chain(name.split('_')).any(|word| word.eq_ignore_ascii_case("year"))
}
