//! `PIVOT t ON a USING sum(b)`, which finds out its columns by itself: the engine would write such a statement as
//! several, of which one changes its catalogue. Here it is two questions: which values there are, and then the same
//! statement with them, `PIVOT t ON a IN ('x', 'y') USING sum(b)`.
//!
//! Where the list would stand a mark is written into the text. The engine's parser says whether it stands there: it must
//! be the only value of a `PIVOT` in the tree. From that tree comes the question for the values. All three texts, with
//! the mark, for the values, and with the values, pass the judge as a caller's own.

use duckdb::Connection;
use serde_json::{Value, json};

use super::edit;
use crate::engine::sql::guard::{Refusal, tree as json_tree};
use crate::model::error::{Code, Error, Result};
use crate::model::source::text_literal;

/// Values that a `PIVOT` may have without a list, and columns that all lists of a statement may make.
const VALUES: usize = 200;
const COLUMNS: usize = 1_000;
/// Characters of all values of a list: they become names of columns.
const CHARS: usize = 16_000;

/// What a question for values is made of: `x.c` stands for the expression, `t` for the table. Grouped would be several
/// columns where the expression is a row of them.
const TEMPLATE: &str = "SELECT CAST(c AS VARCHAR) AS v FROM (SELECT DISTINCT x.c AS c FROM t WHERE x.c IS NOT NULL) \
                        AS d ORDER BY c LIMIT 201";

/// A column of a `PIVOT` whose values are not listed.
pub(super) struct Column {
    expression: Value,
    source: Value,
    /// The parts of WITH that can be seen there.
    with: Vec<Value>,
}

/// The text with a mark in the place of each list that is left out, its tree, and the columns of which they are.
/// Nothing for a text that the parser reads as it is, or whose `PIVOT` cannot be completed so.
pub(super) fn marked(connection: &Connection, sql: &str, tree: &str) -> Option<(String, String, Vec<Column>)> {
    let is_read = |tree: &str| Some(!json_tree::parse(tree).ok()?.get("error")?.as_bool()?);
    if !sql.to_ascii_lowercase().contains("pivot") || sql.contains(MARK) || is_read(tree)? {
        return None;
    }
    let (text, count) = with_marks(sql)?;
    let tree = edit::parse(connection, &text).ok()?;
    let columns = columns(&tree, count)?;
    Some((text, tree, columns))
}

/// The columns with a mark, when there are `count` of them and every one stands where a list of values does.
pub(super) fn columns(tree: &str, count: usize) -> Option<Vec<Column>> {
    let parsed = json_tree::parse(tree).ok()?;
    let mut found: Vec<Option<Column>> = (0..count).map(|_| None).collect();
    find(&parsed, &[], &mut found);
    let columns = found.into_iter().collect::<Option<Vec<_>>>()?;
    (tree.matches(MARK).count() == count && count > 0).then_some(columns)
}

/// The refusal of a `PIVOT` whose values cannot be found out.
pub(super) fn unlisted() -> Refusal {
    let message = "The values of this PIVOT cannot be found out by themselves.";
    Refusal::new("statement", "PIVOT", message, "Name them: PIVOT t ON a IN ('x', 'y') USING sum(b).")
}

/// The text with the values in the places of the marks.
///
/// # Errors
/// `invalid_argument` when there are none, or more than columns can be made of.
pub(super) fn filled(text: &str, lists: &[Vec<String>]) -> Result<String> {
    let wrong = |message: String| {
        let details = json!({ "rule": "pivot", "name": "PIVOT", "max": VALUES });
        Error::new(Code::InvalidArgument, message).with(details)
    };
    let mut filled = text.to_owned();
    for (index, values) in lists.iter().enumerate() {
        if values.is_empty() {
            return Err(wrong(
                "PIVOT makes a column of each value, and there is none. Check the filter before it.".into(),
            ));
        }
        let chars: usize = values.iter().map(|value| value.chars().count()).sum();
        if values.len() > VALUES || chars > CHARS {
            return Err(wrong(format!(
                "PIVOT makes a column of each value, and without a list there may be {VALUES}; here are more, or very \
                 long ones. Name those that you need, PIVOT t ON a IN ('x', 'y') USING sum(b), or use GROUP BY."
            )));
        }
        let list: Vec<String> = values.iter().map(|value| text_literal(value)).collect();
        filled = filled.replace(&mark(index), &list.join(", "));
    }
    let columns = lists.iter().fold(1, |all: usize, values| all.saturating_mul(values.len()));
    if columns > COLUMNS {
        return Err(wrong(format!(
            "This PIVOT makes {columns} columns, more than {COLUMNS}. Name the values: IN ('x', 'y')."
        )));
    }
    Ok(filled)
}

const MARK: &str = "__values_of_pivot_";

/// The literal that stands for a list.
fn mark(index: usize) -> String {
    format!("'{MARK}{index}__'")
}

impl Column {
    /// The question for the values, in the order of the expression; nothing when the engine cannot write it.
    pub(super) fn query(&self, connection: &Connection) -> Option<String> {
        let mut tree = json_tree::parse(&edit::parse(connection, TEMPLATE).ok()?).ok()?;
        if !self.with.is_empty() {
            *tree.pointer_mut("/statements/0/node/cte_map")? = json!({ "map": self.with });
        }
        let node = tree.pointer_mut("/statements/0/node/from_table/subquery/node")?;
        put(node, &self.expression);
        *node.get_mut("from_table")? = self.source.clone();
        // The values of another PIVOT would have to be known first.
        if tree.to_string().contains(MARK) {
            return None;
        }
        edit::text(connection, &tree)
    }
}

/// Puts the expression in the places of `x.c`.
fn put(value: &mut Value, expression: &Value) {
    if value.get("column_names") == Some(&json!(["x", "c"])) {
        let alias = value.get("alias").cloned();
        *value = expression.clone();
        if let (Some(map), Some(alias)) = (value.as_object_mut(), alias) {
            map.insert("alias".into(), alias);
        }
        return;
    }
    match value {
        Value::Array(list) => list.iter_mut().for_each(|child| put(child, expression)),
        Value::Object(map) => map.values_mut().for_each(|child| put(child, expression)),
        _ => {}
    }
}

/// Looks for marks. `with` are the parts of WITH that can be seen.
fn find(value: &Value, with: &[Value], found: &mut [Option<Column>]) {
    let map = match value {
        Value::Array(list) => return list.iter().for_each(|child| find(child, with, found)),
        Value::Object(map) => map,
        _ => return,
    };
    let own = map.get("cte_map").and_then(|ctes| ctes.get("map")).and_then(Value::as_array);
    let own = own.map_or(&[][..], Vec::as_slice);
    for (index, cte) in own.iter().enumerate() {
        find(cte, &[with, own.get(..index).unwrap_or_default()].concat(), found);
    }
    let with = &[with, own].concat();
    if map.get("type").and_then(Value::as_str) == Some("PIVOT")
        && let (Some(source), Some(pivots)) = (map.get("source"), map.get("pivots").and_then(Value::as_array))
    {
        for pivot in pivots {
            if let Some((index, expression)) = marked_column(pivot)
                && let Some(place) = found.get_mut(index)
            {
                *place = Some(Column { expression: expression.clone(), source: source.clone(), with: with.clone() });
            }
        }
    }
    map.iter().filter(|(key, _)| *key != "cte_map").for_each(|(_, child)| find(child, with, found));
}

/// The number of the mark that is the only value of a column, and the column.
fn marked_column(pivot: &Value) -> Option<(usize, &Value)> {
    let ([expression], [entry]) =
        (pivot.get("pivot_expressions")?.as_array()?.as_slice(), pivot.get("entries")?.as_array()?.as_slice())
    else {
        return None;
    };
    let text = entry.pointer("/star_expr/literal/text")?.as_str()?;
    let index = text.strip_prefix(MARK)?.strip_suffix("__")?.parse().ok()?;
    Some((index, expression))
}

/// Writes ` IN (mark)` behind each column of each `PIVOT … ON` that has no list. It need not understand more of SQL
/// than where words, brackets and commas are: what it gets wrong does not parse, or has a mark elsewhere.
fn with_marks(sql: &str) -> Option<(String, usize)> {
    let tokens = tokens(sql);
    // Where something is written, and what.
    let mut marks: Vec<(usize, String)> = Vec::new();
    let mut count = 0;
    for (at, token) in tokens.iter().enumerate() {
        if !token.is_word(sql, &["pivot", "pivot_wider"]) {
            continue;
        }
        let same = || tokens.iter().enumerate().skip(at + 1).take_while(|(_, it)| it.depth >= token.depth);
        let Some((on, _)) = same().find(|(_, it)| it.depth == token.depth && it.is_word(sql, &["on"])) else {
            continue;
        };
        let rest = tokens.iter().skip(on + 1).take_while(|it| {
            let ends = ["using", "group", "order", "limit", "offset", "union", "except", "intersect", "select", "from"];
            it.depth >= token.depth && !(it.depth == token.depth && (it.is_word(sql, &ends) || it.is(sql, ";")))
        });
        let mut columns: Vec<Vec<&Token>> = vec![vec![]];
        for it in rest {
            match it.depth == token.depth && it.is(sql, ",") {
                true => columns.push(vec![]),
                false => columns.last_mut()?.push(it),
            }
        }
        for column in columns {
            let has_list = column.iter().any(|it| it.depth == token.depth && it.is_word(sql, &["in"]));
            if has_list {
                continue;
            }
            let (first, last) = (column.first()?, column.last()?);
            marks.push((first.start, "(".to_owned()));
            marks.push((last.end, format!(") IN ({})", mark(count))));
            count += 1;
        }
    }
    marks.sort_by_key(|(at, _)| *at);
    let mut text = String::new();
    let mut written = 0;
    for (at, what) in &marks {
        text.push_str(sql.get(written..*at)?);
        text.push_str(what);
        written = *at;
    }
    text.push_str(sql.get(written..)?);
    (count > 0).then_some((text, count))
}

/// A word, a sign or a quoted text, where it stands, and how many brackets are around it.
struct Token {
    start: usize,
    end: usize,
    depth: usize,
}

impl Token {
    fn is(&self, sql: &str, sign: &str) -> bool {
        sql.get(self.start..self.end) == Some(sign)
    }

    fn is_word(&self, sql: &str, words: &[&str]) -> bool {
        sql.get(self.start..self.end).is_some_and(|own| words.iter().any(|word| own.eq_ignore_ascii_case(word)))
    }
}

fn tokens(sql: &str) -> Vec<Token> {
    let (mut tokens, mut at, mut depth) = (Vec::new(), 0, 0_usize);
    while let Some(rest) = sql.get(at..)
        && let Some(first) = rest.chars().next()
    {
        let to = |end: &str, from: usize| {
            rest.get(from..).and_then(|tail| tail.find(end)).map_or(rest.len(), |found| from + found + end.len())
        };
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let (length, is_token) = match first {
            _ if rest.starts_with("--") => (to("\n", 2), false),
            _ if rest.starts_with("/*") => (to("*/", 2), false),
            space if space.is_whitespace() => (space.len_utf8(), false),
            '\'' | '"' => (to(if first == '"' { "\"" } else { "'" }, 1), true),
            c if word(c) => (rest.find(|c| !word(c)).unwrap_or(rest.len()), true),
            c => (c.len_utf8(), true),
        };
        depth = if matches!(first, ')' | ']' | '}') && is_token { depth.saturating_sub(1) } else { depth };
        if is_token {
            // What closes belongs to what is around it, as what opens does.
            tokens.push(Token { start: at, end: at + length, depth });
        }
        depth += usize::from(matches!(first, '(' | '[' | '{') && is_token);
        at += length;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sql: &str) -> Option<(String, Vec<Column>)> {
        let engine = Connection::open_in_memory().unwrap();
        let tree = edit::parse(&engine, sql).unwrap();
        marked(&engine, sql, &tree).map(|(text, _, columns)| (text, columns))
    }

    #[test]
    fn the_values_are_asked_for_as_they_can_be_seen() {
        let engine = Connection::open_in_memory().unwrap();
        for (sql, asked) in [
            ("PIVOT flights ON origin USING count(*)", &["FROM flights WHERE (origin IS NOT NULL)"][..]),
            (
                "PIVOT flights ON origin || 'x', year(day) USING sum(a) GROUP BY b",
                &["(origin || 'x')", "\"year\"(\"day\")"][..],
            ),
            (
                "SELECT * FROM (PIVOT (SELECT * FROM f WHERE a IN (1, 2)) ON origin) x LIMIT 3",
                &["WHERE (a IN (1, 2))"][..],
            ),
            ("WITH w AS (FROM f), p AS (PIVOT w ON o USING sum(a)) FROM p", &["WITH w AS"][..]),
            ("PIVOT f /* on */ ON o -- using\nUSING sum(\"on\")", &["FROM f WHERE (o IS NOT NULL)"][..]),
        ] {
            let (text, columns) = read(sql).unwrap_or_else(|| panic!("{sql}"));
            assert_eq!(columns.len(), asked.len(), "{text}");
            for (column, part) in columns.iter().zip(asked) {
                let query = column.query(&engine).unwrap();
                assert!(query.contains(part) && query.contains("LIMIT 201"), "{sql}: {query}");
            }
        }
    }

    #[test]
    fn what_has_a_list_or_is_no_pivot_is_left_alone() {
        for sql in [
            "PIVOT flights ON origin IN ('a') USING count(*)",
            "SELECT 'pivot t on a'",
            "CREATE TABLE pivot AS SELECT 1",
            "PIVOT flights ON",
            "DELETE FROM t; PIVOT t ON a",
            "PIVOT a JOIN b ON a.x = b.x ON y USING sum(z)",
            "PIVOT t ON a IN ('__values_of_pivot_0__'), b",
        ] {
            assert!(read(sql).is_none(), "{sql}");
        }
        // A PIVOT over another one would need its values first.
        let engine = Connection::open_in_memory().unwrap();
        let (_, columns) = read("WITH p AS (PIVOT f ON a USING sum(x)) PIVOT p ON b USING sum(y)").unwrap();
        let asked: Vec<bool> = columns.iter().map(|column| column.query(&engine).is_some()).collect();
        assert_eq!(asked, [true, false]);
    }

    #[test]
    fn values_stay_texts_and_their_number_is_bounded() {
        let text = format!("PIVOT t ON (a) IN ({}) USING sum(b)", mark(0));
        let written = filled(&text, &[vec!["x".into(), "O'Hare) --".into()]]).unwrap();
        assert_eq!(written, "PIVOT t ON (a) IN ('x', 'O''Hare) --') USING sum(b)");
        for values in [vec![], vec!["x".to_owned(); VALUES + 1], vec!["x".repeat(CHARS + 1)]] {
            assert_eq!(filled(&text, &[values]).unwrap_err().code, Code::InvalidArgument);
        }
        let many = vec!["x".to_owned(); 100];
        assert!(filled(&text, &[many.clone(), many]).unwrap_err().message.contains("10000 columns"));
    }
}
