//! Fields made of columns.

use crate::base::counted::counted;
use crate::engine::ontology::draft::columns::{Column, is_random};
use crate::engine::ontology::draft::names::{common_prefix, key_stem, noun, same, spelt_out};
use crate::engine::ontology::draft::quantities::Nature;
use crate::engine::ontology::draft::reasons::{CLOSED, Reason};
use crate::engine::ontology::draft::vocabulary::Vocabulary;
use crate::engine::ontology::draft::{DraftTable, identifier, personal};
use crate::engine::ontology::draft::{amounts, kinds, quantities, short, units};
use crate::engine::ontology::read::datatype_of;
use crate::model::dataset::ColumnInfo;
use crate::model::ontology::{Aggregation, AiContext, DataType, Field, FieldRole};
use crate::model::profile::ColumnProfile;

/// Different values of a closed set, and of one that is looked up in questions.
const CLOSED_VALUES: i64 = 50;
const INDEXED_VALUES: i64 = 20_000;
/// Words of keys that say when something happened.
const PERIODS: &[&str] = &["year", "season", "quarter", "month", "week", "jahr", "saison", "annee", "temporada"];
/// Characters of a value that people would say.
const SPOKEN: usize = 80;
/// Different numbers that stand for kinds.
const CODES: i64 = 12;
/// Why a column tells no rows apart.
const ALIKE: &str = "All rows that have a value have the same.";

/// The words of each column without the prefix that all of them share.
pub(super) fn words(table: &DraftTable, vocabulary: &Vocabulary) -> Vec<Vec<String>> {
    let columns: Vec<Vec<String>> = table.columns.iter().map(|column| vocabulary.column(column)).collect();
    let skip = common_prefix(&vocabulary.table(&table.name), &columns);
    columns.into_iter().map(|words| words.into_iter().skip(skip).collect()).collect()
}

/// What is known of a table beside its columns.
pub(super) struct About<'a> {
    /// Columns that relationships use.
    pub joins: &'a [String],
    /// Columns that by themselves refer to another table.
    pub refers: &'a [String],
    pub key: &'a [String],
    /// Whether others refer to it.
    pub referred: bool,
    /// Whether somebody said in which time zone days begin.
    pub zoned: bool,
}

/// The fields of a table, and of each column why its field is what it is.
pub(super) fn fields(table: &DraftTable, vocabulary: &Vocabulary, about: &About<'_>) -> (Vec<Field>, Vec<Vec<Reason>>) {
    let words = words(table, vocabulary);
    // What others refer to and what has no time of its own is described, and did not happen. What is told apart by a
    // season too did: what a player scored in it.
    let happened = |(column, words): (&ColumnInfo, &Vec<String>)| {
        let is_time = table.times.contains_key(&column.name) || datatype_of(&column.r#type).is_calendar();
        is_time && !kinds::is_other_time(words) || about.key.contains(&column.name) && kinds::any(words, PERIODS)
    };
    let nature = match table.columns.iter().zip(&words).any(happened) {
        true if !about.refers.is_empty() => Nature::Happened,
        false if about.referred => Nature::Described,
        _ => Nature::Unsaid,
    };
    let nouns = vocabulary.table(&table.name);
    let (mut fields, mut reasons): (Vec<Field>, Vec<Vec<Reason>>) = table
        .columns
        .iter()
        .zip(&words)
        .map(|(column, words)| field(table, column, words, &nouns, about, nature))
        .unzip();
    short::name_short(&mut fields, &words);
    personal::hide_names(&mut fields, &mut reasons, &words);
    if let Some(name) = full_name(&fields, &words) {
        fields.push(name);
    }
    if let Some(date) = date_of_parts(table, &fields, &words, about.zoned) {
        fields.push(date);
    }
    (fields, reasons)
}

fn field(
    table: &DraftTable,
    column: &ColumnInfo,
    words: &[String],
    nouns: &[String],
    about: &About<'_>,
    nature: Nature,
) -> (Field, Vec<Reason>) {
    // An enumeration of the database's own is a text with known values.
    let values = table.values.get(&column.name);
    let datatype = values.map_or_else(|| datatype_of(&column.r#type), |_| DataType::String);
    let is_key = about.key.contains(&column.name) || about.joins.contains(&column.name);
    let written = table.times.get(&column.name).filter(|_| !is_key);
    let datatype = written.map_or(datatype, |written| written.datatype());
    let figures = table.figures(&column.name);
    // A number that is called like the table numbers its rows.
    let numbers = datatype == DataType::Integer && same(words, nouns) && !quantities::is_amount(words);
    let label = match words {
        [only] if key_stem(words).is_some() => format!("{} {only}", noun(nouns)),
        _ if numbers => format!("{} number", noun(nouns)),
        _ => words.join(" "),
    };
    let personal = personal::judge(table, column, (words, nouns), datatype);
    let few = table.told.values.contains_key(&column.name);
    let known = match () {
        () if about.key.contains(&column.name) => Some("It is in the key."),
        () if is_key => Some("A relationship uses it."),
        () => numbers.then_some("It is called like the table: it numbers the rows."),
    };
    let (role, because) = match role(words, column, (table.rows(), figures), datatype, known) {
        (FieldRole::Measure, _) if few => (FieldRole::Dimension, "A number of which all values are known is a code."),
        (FieldRole::Measure, _) if personal.is_some() => (FieldRole::Dimension, "It says something of a person."),
        (FieldRole::Dimension, _) if written.is_some() => {
            (FieldRole::Dimension, "All of its values can be read as times.")
        }
        judged => judged,
    };
    let mut reasons = vec![Reason::new(called(role), because)];
    let rare = role == FieldRole::Measure && figures.is_some_and(|figures| is_rare(table, figures));
    let mut field = Field {
        name: column.name.clone(),
        expression: written.map_or_else(|| identifier(&column.name), |written| written.expression(&column.name)),
        datatype,
        is_time: datatype.is_calendar(),
        ai: AiContext { synonyms: other_names(words), ..AiContext::default() },
        label,
        description: column.description.clone(),
        native_type: Some(column.r#type.clone()),
        // Where there is no time, a written one may be 0 or an empty text.
        nullable: Some(written.is_some() || figures.map_or(column.nullable, |figures| figures.nulls > 0)),
        role,
        ..Field::default()
    };
    if role == FieldRole::Measure {
        let goods = kinds::is_moved(nouns);
        let loaded = (goods || nature == Nature::Happened && !about.referred) && quantities::is_load(words, goods);
        measured(&mut field, &mut reasons, (table, column), (words, loaded), nature);
    }
    let closed = match &personal {
        Some(_) => None,
        None if values.is_some() => Some("Its database lists its values.".to_owned()),
        None if few => Some("The dictionary lists its values.".to_owned()),
        None => closed(table, figures, words, datatype, role),
    };
    field.is_enum = closed.is_some();
    field.index_values = personal.is_none()
        && (field.is_enum && datatype == DataType::String || is_looked_up(column, figures, words, datatype));
    if values.is_some() {
        field.expression = format!("CAST({} AS VARCHAR)", identifier(&column.name));
        field.index_values = personal.is_none();
    }
    // What it refers to has the values and the names: "JFK" is an airport, whatever refers to it.
    let refers = about.refers.contains(&column.name);
    // Nobody says what was drawn at random.
    let random = is_random(column);
    // Texts at which nobody looked may say anything of people.
    let unjudged = datatype == DataType::String && figures.is_some_and(|figures| !personal::is_judged(figures));
    if refers || unjudged || random {
        (field.is_enum, field.index_values) = (false, false);
    }
    reasons.extend(closed.filter(|_| field.is_enum).map(|because| Reason::new(CLOSED, because)));
    // A number that refers says nothing; a code is what people say, and what models look for where the table has it.
    let elsewhere = refers && !about.key.contains(&column.name) && (datatype != DataType::String || random);
    // When a row was written is not asked for, and must not be taken for when it happened.
    let written = datatype.is_calendar() && kinds::is_audit(words);
    let hidden = match () {
        () if datatype == DataType::Opaque => Some("Nobody asks by values of its type."),
        () if written => Some("It says when a row was written, not when it happened."),
        () if elsewhere => Some("What it refers to says more than its number."),
        () if figures.is_some_and(is_empty) => Some("It has no value."),
        () if rare => Some("Hardly a row has a value."),
        () if personal.as_ref().is_some_and(|judged| judged.kind == "credential") => Some("It is a secret."),
        () => None,
    };
    field.hidden = hidden.is_some();
    reasons.extend(personal.as_ref().map(|judged| Reason::new("Personal", judged.because.as_str())));
    reasons.extend(hidden.map(|because| Reason::new("Hidden", because)));
    field.pii = personal.map(|judged| judged.kind);
    (field, reasons)
}

fn called(role: FieldRole) -> &'static str {
    match role {
        FieldRole::Dimension => "Dimension",
        FieldRole::Measure => "Measure",
        FieldRole::Key => "Key",
        FieldRole::Attribute => "Attribute",
    }
}

/// Says how values of a measure come together, and in what unit they are. `loaded` says that it is how much each row
/// brought or took.
fn measured(
    field: &mut Field,
    reasons: &mut Vec<Reason>,
    (table, column): (&DraftTable, &ColumnInfo),
    (words, loaded): (&[String], bool),
    nature: Nature,
) {
    let (aggregation, because) = match loaded {
        true => (Aggregation::Sum, "It is how much each row brought or took, which adds up."),
        false => quantities::aggregation(words, nature, field.datatype == DataType::Float),
    };
    field.default_aggregation = Some(aggregation);
    reasons.push(Reason::new(if aggregation == Aggregation::Sum { "Added up" } else { "Averaged" }, because));
    if let Some((unit, because)) = units::of_measure(table, column, words) {
        field.unit = Some(unit.to_owned());
        reasons.push(Reason::new(format!("In {unit}"), because));
    }
}

/// What a column is for, and why; `known` says why it is a key, where that is known.
fn role(
    words: &[String],
    column: &ColumnInfo,
    (rows, figures): (i64, Option<&ColumnProfile>),
    datatype: DataType,
    known: Option<&'static str>,
) -> (FieldRole, &'static str) {
    let id = words.len() > 1
        && matches!(words.last().map(String::as_str), Some("id" | "key" | "identifier" | "uuid" | "guid" | "fk"));
    let refers = words.len() > 1 && words.first().is_some_and(|first| first == "fk" || first == "id");
    let key = known.or_else(|| (id || refers).then_some("It is called like a key."));
    if let Some(because) = key.filter(|_| !datatype.is_calendar()) {
        return (FieldRole::Key, because);
    }
    let one = figures.is_some_and(|figures| figures.distinct == 1) && rows > 1;
    match datatype {
        DataType::Integer | DataType::Decimal | DataType::Float => {
            // Nothing is learnt from what all rows have, but amounts will differ one day: the quantity that was 1 so far.
            let counts_rows = matches!(words, [only] if only == "count");
            let one = one && (counts_rows || !quantities::is_amount(words));
            match () {
                () if kinds::is_place(words) => (FieldRole::Attribute, "It is a place or a direction."),
                () if kinds::is_ratio(words) => (FieldRole::Attribute, "It is a part of something that is not there."),
                () if kinds::is_moment(words) => (FieldRole::Attribute, "It says when, as a number."),
                () if one => (FieldRole::Attribute, ALIKE),
                () if is_year(words, figures) => (FieldRole::Dimension, "Its name and its values are those of years."),
                () if is_switch(figures) => (FieldRole::Dimension, "0 and 1 stand for no and yes."),
                () if is_clock(words, column, figures) => {
                    (FieldRole::Dimension, "It is a time of day: hours and minutes in one number.")
                }
                () => match amounts::weigh(&Column::of(column, 0, figures, words.to_vec()), rows) {
                    (true, because) => (FieldRole::Measure, because),
                    (false, because) => (FieldRole::Dimension, because),
                },
            }
        }
        DataType::String if kinds::is_prose(words) => (FieldRole::Attribute, "It is called like a text to read."),
        DataType::String if column.sample_values.iter().any(|value| value.chars().count() > SPOKEN) => {
            (FieldRole::Attribute, "Its values are longer than what people say.")
        }
        DataType::Opaque => (FieldRole::Attribute, "Its type is none to group by or to compute with."),
        DataType::String => (FieldRole::Dimension, "It is a text."),
        DataType::Boolean => (FieldRole::Dimension, "It says yes or no."),
        DataType::Date | DataType::Time | DataType::DateTime | DataType::DateTimeTz => match one {
            true => (FieldRole::Attribute, ALIKE),
            false => (FieldRole::Dimension, "It is a time, by its type."),
        },
    }
}

/// What else people call a column: its short forms spelt out, and everyday names that mean the same.
fn other_names(words: &[String]) -> Vec<String> {
    const SAME: &[(&str, &[&str])] = &[
        ("phone", &["phone number", "telephone", "telephone number"]),
        ("mobile", &["mobile number", "mobile phone"]),
        ("fax", &["fax number"]),
        ("email", &["email address", "mail address", "e-mail"]),
        ("postal code", &["zip code", "zip", "postcode"]),
        ("postcode", &["zip code", "zip", "postal code"]),
        ("zip", &["zip code", "postal code", "postcode"]),
        ("zip code", &["zip", "postal code", "postcode"]),
        ("stars", &["rating"]),
        ("unit price", &["price"]),
        ("list price", &["price"]),
        ("qty", &["quantity"]),
        ("dob", &["birthday", "birth date"]),
        ("birth date", &["birthday", "date of birth"]),
    ];
    let text = words.join(" ");
    let same = SAME.iter().filter(|(name, _)| *name == text).flat_map(|(_, same)| same.iter().map(|&it| it.to_owned()));
    let mut names: Vec<String> = spelt_out(words).into_iter().collect();
    names.extend(same.filter(|name| !names.contains(name)).collect::<Vec<_>>());
    names
}

/// A column without a value.
pub(super) fn is_empty(figures: &ColumnProfile) -> bool {
    figures.distinct == 0 && figures.nulls > 0
}

/// Whether hardly any row has a value: what they add up to says nothing of the rows.
pub(super) fn is_rare(table: &DraftTable, figures: &ColumnProfile) -> bool {
    figures.nulls.saturating_mul(20) > table.rows().saturating_mul(19)
}

/// 0 and 1 for no and yes.
fn is_switch(figures: Option<&ColumnProfile>) -> bool {
    let both = |figures: &ColumnProfile| figures.min.as_deref() == Some("0") && figures.max.as_deref() == Some("1");
    figures.is_some_and(|figures| figures.distinct == 2 && both(figures))
}

/// Years, by their name and size: "year built".
fn is_year(words: &[String], figures: Option<&ColumnProfile>) -> bool {
    let bound = |value: Option<&String>| {
        value.and_then(|value| value.parse::<f64>().ok()).filter(|n| (1_000.0..2_200.0).contains(n))
    };
    let sized = |figures: &ColumnProfile| bound(figures.min.as_ref()).and(bound(figures.max.as_ref())).is_some();
    let called = |word: &String| {
        ["year", "jahr", "annee", "anno"].iter().any(|year| word.starts_with(year) || word.ends_with(year))
            || matches!(word.as_str(), "ano" | "anio" | "an" | "yr")
    };
    words.iter().any(called) && figures.is_some_and(sized)
}

/// Times of day as hours and minutes in one number: 517, 2359.
fn is_clock(words: &[String], column: &ColumnInfo, figures: Option<&ColumnProfile>) -> bool {
    let number = |text: &String| text.parse::<f64>().ok();
    let most = figures.and_then(|figures| figures.max.as_ref()).and_then(number);
    let called = words.last().is_some_and(|word| word == "time");
    let minutes = column.sample_values.iter().filter_map(number).all(|value| value % 100.0 < 60.0 && value <= 2_400.0);
    called && minutes && most.is_some_and(|most| (1_300.0..=2_400.0).contains(&most))
}

/// Why the values of a column are few and known; `None` where they are not.
fn closed(
    table: &DraftTable,
    figures: Option<&ColumnProfile>,
    words: &[String],
    datatype: DataType,
    role: FieldRole,
) -> Option<String> {
    if datatype == DataType::Boolean {
        return Some("It says yes or no.".into());
    }
    if role == FieldRole::Measure || datatype == DataType::String && kinds::is_prose(words) {
        return None;
    }
    let text = datatype == DataType::String;
    match figures {
        Some(figures) => {
            let few = figures.distinct <= CLOSED_VALUES && figures.distinct > 0;
            // In a small table nearly every text has few values.
            let repeated = figures.distinct.saturating_mul(2) <= table.rows();
            let code = datatype == DataType::Integer && role == FieldRole::Dimension;
            let coded = code && repeated && kinds::is_closed(words) && (1..=CODES).contains(&figures.distinct);
            let closed = text && few && (repeated || kinds::is_closed(words)) || coded || is_switch(Some(figures));
            let (values, rows) = (counted(figures.distinct, "different value"), counted(table.rows(), "row"));
            closed.then(|| format!("It has {values} in {rows}."))
        }
        None => (text && kinds::is_closed(words)).then(|| "It is called like one of a set.".into()),
    }
}

fn is_looked_up(column: &ColumnInfo, figures: Option<&ColumnProfile>, words: &[String], datatype: DataType) -> bool {
    let spoken = column.sample_values.iter().all(|value| value.chars().count() <= SPOKEN);
    if datatype != DataType::String || kinds::is_prose(words) || !spoken {
        return false;
    }
    match figures {
        Some(figures) => (1..=INDEXED_VALUES).contains(&figures.distinct),
        None => {
            words.last().is_some_and(|word| matches!(word.as_str(), "name" | "title" | "code" | "city" | "country"))
        }
    }
}

/// First and last name together, where both are there and the whole is not.
fn full_name(fields: &[Field], words: &[Vec<String>]) -> Option<Field> {
    let (_, first, last) = personal::name_parts(fields, words)?;
    let (first, last) = fields.get(first).zip(fields.get(last))?;
    let texts = || fields.iter().zip(words).filter(|(field, _)| field.datatype == DataType::String);
    let find = |names: &[&str]| texts().find(|(_, words)| names.contains(&words.join(" ").as_str()));
    if find(&["name", "full name", "display name"]).is_some() {
        return None;
    }
    Some(Field {
        name: free_name("full_name", fields),
        expression: format!("{} || ' ' || {}", first.expression, last.expression),
        datatype: DataType::String,
        label: "full name".into(),
        description: "First and last name.".into(),
        ai: AiContext { synonyms: vec!["name".into()], ..AiContext::default() },
        nullable: Some(first.nullable == Some(true) || last.nullable == Some(true)),
        role: FieldRole::Dimension,
        index_values: first.index_values && last.index_values,
        pii: first.pii.clone().or_else(|| last.pii.clone()),
        ..Field::default()
    })
}

/// A date made of year, month and day, where no column holds one.
fn date_of_parts(table: &DraftTable, fields: &[Field], words: &[Vec<String>], zoned: bool) -> Option<Field> {
    let find = |name: &String| fields.iter().find(|field| field.name == *name && field.datatype == DataType::Integer);
    let [year, month, day] = table.date_parts.as_ref()?;
    let (year, month, day) = (find(year)?, find(month)?, find(day)?);
    (!has_time(fields, words, zoned)).then(|| Field {
        expression: format!("MAKE_DATE({}, {}, {})", year.expression, month.expression, day.expression),
        description: format!("Made of {}, {} and {}.", year.name, month.name, day.name),
        nullable: Some([year, month, day].iter().any(|field| field.nullable == Some(true))),
        ..made_date(free_name("date", fields), "date")
    })
}

/// Whether a field says on which day a row was. An instant says so only when it is known in which time zone; what a date
/// is made of is as clocks showed it.
pub(super) fn has_time(fields: &[Field], words: &[Vec<String>], zoned: bool) -> bool {
    let is_day = |field: &Field| field.is_time && (zoned || field.datatype != DataType::DateTimeTz);
    // Fields that are made stand after those of columns, and none is of when a row was written.
    let mut fields = fields.iter().enumerate();
    fields.any(|(at, field)| is_day(field) && words.get(at).is_none_or(|words| !kinds::is_audit(words)))
}

/// A date that is made of several columns, still without what it is made of.
pub(super) fn made_date(name: String, label: &str) -> Field {
    Field {
        name,
        datatype: DataType::Date,
        is_time: true,
        label: label.into(),
        role: FieldRole::Dimension,
        ..Field::default()
    }
}

fn free_name(wanted: &str, fields: &[Field]) -> String {
    let taken = |name: &str| fields.iter().any(|field| field.name.eq_ignore_ascii_case(name));
    let mut name = wanted.to_owned();
    while taken(&name) {
        name.push('_');
    }
    name
}

/// When a row happened: of its times the one that is called so, and how sure that is, 1 to 4.
pub(super) fn default_time_field(fields: &[Field], words: &[Vec<String>], nouns: &[String]) -> Option<(u8, String)> {
    let own = noun(nouns);
    let made = fields.iter().skip(words.len()).find(|field| field.is_time).map(|field| (4, field));
    let score = |words: &[String]| {
        let text = words.join(" ");
        let born = |word: &String| {
            const BORN: &[&str] =
                &["birth", "geburt", "geboorte", "nacimiento", "naissance", "nascita", "nascimento", "urodz"];
            word == "dob" || BORN.iter().any(|born| word.contains(born))
        };
        if kinds::is_audit(words) || words.iter().any(born) {
            return None;
        }
        let called = ["date", "time", "at", "timestamp", "datetime", "day", "on", "hour"];
        let exact = called.contains(&text.as_str());
        let own = called.iter().any(|end| text == format!("{own} {end}"));
        Some(if exact || own {
            3
        } else if !kinds::is_other_time(words) && !words.iter().any(|word| word.starts_with("create")) {
            2
        } else {
            1
        })
    };
    let mut best: Option<(u8, &Field)> = made;
    // What is the same in all rows says nothing of when.
    let tells = |field: &Field| field.is_time && !field.hidden && field.role != FieldRole::Attribute;
    for (field, words) in fields.iter().zip(words).filter(|(field, _)| tells(field)) {
        if let Some(score) = score(words).filter(|score| best.is_none_or(|(most, _)| *score > most)) {
            best = Some((score, field));
        }
    }
    best.map(|(sure, field)| (sure, field.name.clone()))
}

/// Whether a field can be computed with, and how.
pub(super) fn measure(field: &Field) -> Option<Aggregation> {
    field.default_aggregation.filter(|_| field.role == FieldRole::Measure && !field.hidden)
}
