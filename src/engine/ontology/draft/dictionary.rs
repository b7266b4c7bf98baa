//! A data dictionary: what people wrote of tables and columns, as a table in CSV or Markdown. It gives descriptions and
//! other names; nothing else of a draft comes from it.

use std::collections::HashMap;

use super::DraftTable;
use super::names::{canonical, singular};
use crate::model::error::{Error, Result};
use crate::model::ontology::{Field, Ontology, Term, in_words};

/// Bytes of a dictionary, and its lines.
const MAX_BYTES: usize = 512 << 10;
const MAX_LINES: usize = 10_000;
/// Characters of a description, and of a name.
const MAX_DESCRIPTION: usize = 2_000;
const MAX_NAME: usize = 120;
/// Other names of one thing.
const MAX_SYNONYMS: usize = 20;

/// What a dictionary says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dictionary {
    entries: Vec<Entry>,
    /// Words of the house.
    pub terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    table: String,
    /// Empty for the table itself.
    column: String,
    description: String,
    synonyms: Vec<String>,
}

/// What a column of a dictionary holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Table,
    Column,
    Description,
    Synonyms,
    Term,
    Means,
}

impl Dictionary {
    /// Reads a table whose first line names its columns: `table`, `column`, `description`, `synonyms` (parted by `;`),
    /// or `term` and `means`. Commas or Markdown's bars part its cells.
    ///
    /// # Errors
    /// `invalid_argument`: the line that cannot be read, and what is expected there.
    pub fn read(text: &str) -> Result<Self> {
        if text.len() > MAX_BYTES || text.lines().count() > MAX_LINES {
            return Err(wrong(format!("A dictionary has at most {MAX_LINES} lines and {} KB.", MAX_BYTES >> 10)));
        }
        let mut rows = rows(text)?.into_iter();
        let Some((_, head)) = rows.next() else { return Ok(Self::default()) };
        let holds: Vec<Option<Holds>> = head.iter().map(|name| holds(name)).collect();
        let column = |wanted: Holds| holds.iter().position(|it| *it == Some(wanted));
        let described = column(Holds::Description).or(column(Holds::Synonyms)).is_some();
        let tables = column(Holds::Table).is_some() && described;
        let terms = column(Holds::Term).is_some() && column(Holds::Means).is_some();
        if !tables && !terms {
            let message =
                "The first line names the columns: table, column, description and synonyms, or term and means.";
            return Err(wrong(message.to_owned()));
        }
        let mut made = Self::default();
        for (line, row) in rows {
            let cell = |wanted: Holds| {
                let text = column(wanted).and_then(|at| row.get(at)).map(String::as_str).unwrap_or_default();
                text.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()
            };
            let (table, name, term) = (cell(Holds::Table), cell(Holds::Column), cell(Holds::Term));
            if [&table, &name, &term].iter().any(|text| text.chars().count() > MAX_NAME) {
                return Err(wrong(format!("Line {line}: a name has at most {MAX_NAME} characters.")));
            }
            if !term.is_empty() && !cell(Holds::Means).is_empty() {
                made.terms.push(Term { term, means: cell(Holds::Means) });
            } else if !table.is_empty() {
                let description = cell(Holds::Description).chars().take(MAX_DESCRIPTION).collect();
                let synonyms = cell(Holds::Synonyms);
                let synonyms = synonyms.split([';', '/']).map(|word| word.trim().to_lowercase());
                let spoken = synonyms.filter(|word| !word.is_empty() && word.chars().count() <= MAX_NAME);
                let synonyms = spoken.take(MAX_SYNONYMS).collect();
                made.entries.push(Entry { table, column: name, description, synonyms });
            }
        }
        Ok(made)
    }

    /// Writes its descriptions into tables, and says what it names that is not there.
    pub fn tell(&self, tables: &mut [DraftTable]) -> Vec<String> {
        let mut missing = Vec::new();
        let known = Names::new(tables.iter().map(|table| table.name.as_str()));
        let mut columns: HashMap<usize, Names> = HashMap::new();
        for entry in &self.entries {
            let at = known.find(&entry.table);
            let Some((at, table)) = at.and_then(|at| Some((at, tables.get_mut(at)?))) else {
                missing.push(format!("The dictionary names a table {}, which is not there.", entry.table));
                continue;
            };
            if entry.column.is_empty() {
                if !entry.description.is_empty() {
                    table.description.clone_from(&entry.description);
                }
                continue;
            }
            let of_table = || Names::new(table.columns.iter().map(|column| column.name.as_str()));
            let column = columns.entry(at).or_insert_with(of_table).find(&entry.column);
            match column.and_then(|column| table.columns.get_mut(column)) {
                Some(column) if !entry.description.is_empty() => column.description.clone_from(&entry.description),
                Some(_) => {}
                None => {
                    let (table, column) = (&table.name, &entry.column);
                    missing.push(format!("The dictionary names a column {column} of {table}, which is not there."));
                }
            }
        }
        missing.dedup();
        missing
    }

    /// Adds its synonyms. A name that a column of the same table has is not given to another.
    pub(super) fn name(&self, ontology: &mut Ontology) {
        let known = Names::new(ontology.datasets.iter().map(|entity| entity.source.as_str()));
        let mut fields: HashMap<usize, Called> = HashMap::new();
        for entry in self.entries.iter().filter(|entry| !entry.synonyms.is_empty()) {
            let at = known.find(&entry.table);
            let Some((at, entity)) = at.and_then(|at| Some((at, ontology.datasets.get_mut(at)?))) else { continue };
            let called = fields.entry(at).or_insert_with(|| Called::new(&entity.fields));
            let of = if entry.column.is_empty() {
                Some(&mut entity.ai.synonyms)
            } else {
                let field = called.columns.find(&entry.column);
                field.and_then(|field| entity.fields.get_mut(field)).map(|field| &mut field.ai.synonyms)
            };
            let Some(synonyms) = of else { continue };
            let column = keys(&entry.column);
            for word in &entry.synonyms {
                if synonyms.len() >= MAX_SYNONYMS {
                    break;
                }
                if !synonyms.contains(word) && !called.is_taken(word, &column) {
                    synonyms.push(word.clone());
                }
            }
        }
    }
}

/// Names of columns and tables are compared as words: two are alike where one of these is the same. Letters apart from
/// case; words apart from short forms and number; all letters run together.
fn keys(name: &str) -> [String; 3] {
    let words = in_words(name.trim_matches('"'));
    let each: Vec<String> = words.split(' ').map(canonical).collect();
    let together = singular(&words.replace(' ', ""));
    [format!("={}", name.to_ascii_lowercase()), format!(" {}", each.join(" ")), format!("~{together}")]
}

/// Names by what they are compared by, each with where the first of them stands.
struct Names(HashMap<String, usize>);

impl Names {
    fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut first = HashMap::new();
        for (at, name) in names.enumerate() {
            for key in keys(name) {
                first.entry(key).or_insert(at);
            }
        }
        Self(first)
    }

    /// Where the first name stands that is like this one.
    fn find(&self, name: &str) -> Option<usize> {
        keys(name).iter().filter_map(|key| self.0.get(key)).min().copied()
    }
}

/// The fields of a dataset by their columns, and what each is called.
struct Called {
    columns: Names,
    /// By what fields are called: what their columns are compared by.
    words: HashMap<String, Vec<[String; 3]>>,
}

impl Called {
    fn new(fields: &[Field]) -> Self {
        let mut words: HashMap<String, Vec<[String; 3]>> = HashMap::new();
        for field in fields {
            words.entry(field.words()).or_default().push(keys(&field.expression));
        }
        Self { columns: Names::new(fields.iter().map(|field| field.expression.as_str())), words }
    }

    /// Whether a field of another column is called so.
    fn is_taken(&self, word: &str, column: &[String; 3]) -> bool {
        let of_another = |other: &[String; 3]| other.iter().zip(column).all(|(one, other)| one != other);
        self.words.get(word).is_some_and(|columns| columns.iter().any(of_another))
    }
}

fn holds(name: &str) -> Option<Holds> {
    Some(match name.trim().to_lowercase().as_str() {
        "table" | "dataset" | "table name" | "table_name" => Holds::Table,
        "column" | "field" | "column name" | "column_name" => Holds::Column,
        "description" | "definition" | "comment" | "meaning" => Holds::Description,
        "synonyms" | "synonym" | "aliases" | "also called" | "other names" => Holds::Synonyms,
        "term" | "word" => Holds::Term,
        "means" | "stands for" => Holds::Means,
        _ => return None,
    })
}

/// The rows that are not empty, with the numbers of their lines.
fn rows(text: &str) -> Result<Vec<(usize, Vec<String>)>> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if first.trim_start().starts_with('|') {
        let cells = |line: &str| {
            let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
            inner.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect::<Vec<_>>()
        };
        let lines = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with('|'));
        let rows = lines.map(|(at, line)| (at + 1, cells(line)));
        let ruled =
            |row: &Vec<String>| row.iter().all(|cell| !cell.is_empty() && cell.chars().all(|c| "-: ".contains(c)));
        return Ok(rows.filter(|(_, row)| !ruled(row)).collect());
    }
    separated(text)
}

/// RFC 4180: cells between commas, in quotes where they hold commas, quotes (doubled) or ends of lines.
fn separated(text: &str) -> Result<Vec<(usize, Vec<String>)>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut line, mut start) = (false, 1, 1);
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if quoted || cell.trim().is_empty() => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push((start, std::mem::take(&mut row)));
                start = line;
            }
            c => cell.push(c),
        }
    }
    if quoted {
        return Err(wrong(format!("Line {start}: a quotation mark is not closed.")));
    }
    row.push(cell);
    rows.push((start, row));
    rows.retain(|(_, row)| row.iter().any(|cell| !cell.trim().is_empty()));
    Ok(rows)
}

fn wrong(message: String) -> Error {
    Error::invalid("dictionary", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::dataset::ColumnInfo;
    use crate::model::ontology::Entity;

    fn tables() -> Vec<DraftTable> {
        let column = |name: &str| ColumnInfo {
            name: name.into(),
            r#type: "VARCHAR".into(),
            nullable: true,
            description: "as it was".into(),
            sample_values: vec![],
            ..ColumnInfo::default()
        };
        vec![DraftTable { name: "visits".into(), columns: vec![column("startedAt"), column("ward")], ..<_>::default() }]
    }

    #[test]
    fn descriptions_are_read_of_csv_and_of_markdown() {
        let csv = "Table,Column,Description\nVisits,,\"Stays, by day\"\nvisits,started_at,\"When \"\"it\"\" began\"\n\
                   visits,colour,x\nelephants,,y\n";
        let markdown = "| Table | Column | Description |\n|---|:-:|---|\n| Visits | | Stays, by day |\n\
                        | visits | `started_at` | When \"it\" began |\n| visits | colour | x |\n| elephants | | y |\n";
        for text in [csv, markdown] {
            let mut tables = tables();
            let missing = Dictionary::read(text).unwrap().tell(&mut tables);
            assert_eq!(tables[0].description, "Stays, by day");
            let told: Vec<&str> = tables[0].columns.iter().map(|column| column.description.as_str()).collect();
            assert_eq!(told, ["When \"it\" began", "as it was"]);
            assert_eq!(
                missing,
                [
                    "The dictionary names a column colour of visits, which is not there.",
                    "The dictionary names a table elephants, which is not there."
                ]
            );
        }
    }

    #[test]
    fn synonyms_go_to_their_column_and_never_to_two() {
        let field = |name: &str| Field { name: name.into(), expression: name.into(), ..Field::default() };
        let visits = Entity {
            name: "visits".into(),
            source: "visits".into(),
            fields: vec![field("started_at"), field("ward")],
            ..Entity::default()
        };
        let mut ontology = Ontology { datasets: vec![visits], ..Ontology::default() };
        let text = "table,column,synonyms\nvisits,started_at,Begin; ward ;begin\nvisits,,Stays\n";
        Dictionary::read(text).unwrap().name(&mut ontology);
        assert_eq!(ontology.datasets[0].fields[0].ai.synonyms, ["begin"]);
        assert_eq!(ontology.datasets[0].ai.synonyms, ["stays"]);
        assert!(ontology.datasets[0].fields[1].ai.synonyms.is_empty());
    }

    #[test]
    fn names_are_alike_apart_from_case_short_forms_number_and_gaps() {
        let names = Names::new(["cust_no", "Orders", "line item", "\"Net Amt\"", "lineitem", "orders2"].into_iter());
        for (name, at) in [
            ("CUST_NO", Some(0)),
            ("customer_number", Some(0)),
            ("order", Some(1)),
            ("LineItems", Some(2)),
            ("lineitem", Some(2)),
            ("net_amount", Some(3)),
            ("orders2", Some(5)),
            ("cust", None),
            ("", None),
        ] {
            assert_eq!(names.find(name), at, "{name}");
        }
    }

    /// Each line compared with each table and column would take minutes.
    #[test]
    fn a_long_dictionary_of_many_tables_takes_little_time() {
        let table = |at: usize| DraftTable { name: format!("table_{at}"), ..tables().remove(0) };
        let mut tables: Vec<DraftTable> = (0..1_000).map(table).collect();
        let column = tables[0].columns[0].clone();
        tables[999].columns =
            (0..1_000).map(|at| ColumnInfo { name: format!("part_{at}"), ..column.clone() }).collect();
        let field = |at: usize| {
            let name = format!("part_{at}");
            Field { expression: name.clone(), name, ..Field::default() }
        };
        let parts = Entity {
            name: "parts".into(),
            source: "table_999".into(),
            fields: (0..1_000).map(field).collect(),
            ..Entity::default()
        };
        let mut ontology = Ontology { datasets: vec![parts], ..Ontology::default() };
        let line = |at: usize| format!("table_999,part_{},told,word {at}\n", at % 1_000);
        let text =
            (0..9_999).map(line).fold("table,column,description,synonyms\n".to_owned(), |text, line| text + &line);
        let dictionary = Dictionary::read(&text).unwrap();
        let begun = std::time::Instant::now();
        assert!(dictionary.tell(&mut tables).is_empty());
        dictionary.name(&mut ontology);
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
        assert!(tables[999].columns.iter().all(|column| column.description == "told"));
        assert_eq!(ontology.datasets[0].fields[999].ai.synonyms.len(), 9, "999, 1999 and so on to 8999");
        assert_eq!(ontology.datasets[0].fields[0].ai.synonyms.len(), 10);
    }

    #[test]
    fn one_thing_has_only_so_many_other_names() {
        let entity = Entity { name: "visits".into(), source: "visits".into(), ..Entity::default() };
        let mut ontology = Ontology { datasets: vec![entity], ..Ontology::default() };
        let text = (0..100).map(|at| format!("visits,word {at}\n")).collect::<String>();
        Dictionary::read(&format!("table,synonyms\n{text}")).unwrap().name(&mut ontology);
        assert_eq!(ontology.datasets[0].ai.synonyms.len(), MAX_SYNONYMS);
    }

    #[test]
    fn terms_are_words_of_the_house() {
        let read = Dictionary::read("term,means\nAOV,average order value\n,x\n").unwrap();
        assert_eq!(read.terms, [Term { term: "AOV".into(), means: "average order value".into() }]);
    }

    #[test]
    fn what_is_no_dictionary_is_refused_with_its_line() {
        for (text, says) in [
            (
                "a,b\n1,2",
                "The first line names the columns: table, column, description and synonyms, or term and means.",
            ),
            ("table,column\nvisits,ward", "The first line names the columns"),
            ("table,description\nvisits,\"open\n", "Line 2: a quotation mark is not closed."),
        ] {
            let error = Dictionary::read(text).unwrap_err();
            assert!(error.message.starts_with(says), "{}", error.message);
        }
        assert!(Dictionary::read(&"x".repeat(MAX_BYTES + 1)).is_err());
        assert_eq!(Dictionary::read(" \n").unwrap(), Dictionary::default());
    }
}
