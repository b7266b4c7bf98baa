//! What stands in the place of a table: after `FROM`, `JOIN`, a comma between tables, and `IN`.

use super::token::{Kind, Token};
use crate::engine::sql::guard::{Refusal, Verdict, limit, no_table, too_many};
use crate::engine::sql::remote::Permitted;

/// Functions that make rows of numbers, in the place of a table.
const TABLE_FUNCTIONS: [&str; 2] = ["numbers", "generate_series"];

/// Keywords that end a list of tables.
const CLAUSES: [&str; 12] = [
    "WHERE", "PREWHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "WINDOW", "QUALIFY", "UNION", "EXCEPT",
    "INTERSECT",
];

/// Keywords by which places are told apart, beside those. As names they need quotation marks.
const MARKS: [&str; 9] = ["FROM", "JOIN", "ARRAY", "IN", "SELECT", "WITH", "ON", "USING", "FINAL"];

/// What a statement reads.
pub(super) struct Found<'p> {
    pub used: Vec<&'p Permitted>,
    /// Names in the statement's own `WITH`.
    pub top: Vec<String>,
}

/// What is expected at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// An expression; commas lead to another one.
    Expression,
    /// A table.
    Table,
    /// What follows a table: an alias, a join, a comma before another table.
    AfterTable,
    /// The condition of a join, or the arrays of `ARRAY JOIN`; a comma behind a condition leads to another table.
    Condition,
    Arrays,
}

/// One pair of brackets around a place; the outermost is the statement.
struct Level {
    expect: Expect,
    /// Parts of `WITH` that are seen from here on, inside these brackets.
    names: Vec<String>,
    /// Whether the words are those of `WITH`, before its `SELECT`.
    in_with: bool,
    /// Whether tables were named, since the last `UNION`.
    has_from: bool,
    /// A part of `WITH` whose query is being read: it does not see itself.
    coming: Option<String>,
}

/// Checks every table, and answers which are read.
pub(super) fn check<'p>(tokens: &[Token<'_>], permitted: &'p [Permitted]) -> Verdict<Found<'p>> {
    let mut walk = Walk { tokens, permitted, levels: vec![], found: Found { used: vec![], top: vec![] }, tables: 0 };
    walk.levels.push(Level {
        expect: Expect::Expression,
        names: vec![],
        in_with: false,
        has_from: false,
        coming: None,
    });
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        index = walk.step(index, token)?;
    }
    walk.found.top = walk.levels.pop().map(|level| level.names).unwrap_or_default();
    Ok(walk.found)
}

struct Walk<'t, 'p> {
    tokens: &'t [Token<'t>],
    permitted: &'p [Permitted],
    levels: Vec<Level>,
    found: Found<'p>,
    tables: usize,
}

impl<'t> Walk<'t, '_> {
    fn at(&self, index: usize) -> Option<&'t Token<'t>> {
        self.tokens.get(index)
    }

    fn is_sign(&self, index: usize, sign: char) -> bool {
        self.at(index).is_some_and(|token| token.is_sign(sign))
    }

    fn is(&self, index: usize, keyword: &str) -> bool {
        self.at(index).is_some_and(|token| token.is(keyword))
    }

    fn level(&mut self) -> Verdict<&mut Level> {
        self.levels.last_mut().ok_or_else(|| refused("brackets", "Its brackets do not match."))
    }

    /// Reads what starts at `index`, and answers where the next thing starts.
    fn step(&mut self, index: usize, token: &Token<'_>) -> Verdict<usize> {
        if token.is_sign('(') || token.is_sign('[') {
            let expect = if self.level()?.expect == Expect::Table { Expect::Table } else { Expect::Expression };
            self.levels.push(Level { expect, names: vec![], in_with: false, has_from: false, coming: None });
            return Ok(index + 1);
        }
        if token.is_sign(')') || token.is_sign(']') {
            self.levels.pop();
            let level = self.level()?;
            if level.expect == Expect::Table {
                level.expect = Expect::AfterTable;
            }
            let names: Option<String> = level.coming.take();
            level.names.extend(names);
            return Ok(index + 1);
        }
        // A name behind a point is a part of what is before it.
        if index > 0 && self.is_sign(index - 1, '.') {
            return Ok(index + 1);
        }
        self.plainly(index, token)?;
        if token.is("IN") {
            return self.after_in(index + 1);
        }
        self.part_of_with(index)?;
        if ["UNION", "EXCEPT", "INTERSECT"].iter().any(|word| token.is(word)) {
            self.level()?.has_from = false;
        }
        if token.is("WITH") {
            let is_query = !self.is(index + 1, "TIES") && !self.is(index + 1, "FILL") && !self.is(index + 1, "TOTALS");
            let in_with = is_query && !self.is(index + 1, "ROLLUP");
            let level = self.level()?;
            level.in_with = in_with;
            if level.expect == Expect::Table {
                // The start of a subquery.
                level.expect = Expect::Expression;
            }
        }
        if token.is("SELECT") {
            let level = self.level()?;
            // Behind a table it is read as its alias: `FROM a SELECT FINAL, b`.
            if level.expect != Expect::Expression && level.expect != Expect::Table || level.has_from {
                return Err(refused("SELECT", "A SELECT behind FROM may not be used."));
            }
            (level.expect, level.in_with) = (Expect::Expression, false);
            return Ok(index + 1);
        }
        let expected = self.level()?.expect;
        match expected {
            Expect::Table => self.table(index),
            _ if token.is("FROM") && !self.is_part_of_function(index) => self.expect(Expect::Table, index),
            _ if token.is("JOIN") => {
                let is_array = index > 0 && self.is(index - 1, "ARRAY");
                self.expect(if is_array { Expect::Arrays } else { Expect::Table }, index)
            }
            Expect::AfterTable | Expect::Condition if token.is_sign(',') => self.expect(Expect::Table, index),
            Expect::AfterTable if token.is("ON") || token.is("USING") => self.expect(Expect::Condition, index),
            Expect::AfterTable | Expect::Condition | Expect::Arrays
                if CLAUSES.iter().any(|clause| token.is(clause)) =>
            {
                self.expect(Expect::Expression, index)
            }
            _ => Ok(index + 1),
        }
    }

    fn expect(&mut self, expect: Expect, index: usize) -> Verdict<usize> {
        let level = self.level()?;
        level.has_from |= expect == Expect::Table;
        level.expect = expect;
        Ok(index + 1)
    }

    /// `extract(year FROM day)`, `substring(a FROM 1)`, `trim(both ' ' FROM a)`: brackets of a function that hold no
    /// query of their own.
    fn is_part_of_function(&self, index: usize) -> bool {
        let mut depth = 0_usize;
        for (before, token) in self.tokens.iter().enumerate().take(index).rev() {
            if token.is_sign(')') || token.is_sign(']') {
                depth += 1;
            } else if token.is_sign('(') || token.is_sign('[') {
                if depth == 0 {
                    let words = ["extract", "substring", "substr", "trim", "mid"];
                    let is_call = |word: &str| words.iter().any(|known| word.eq_ignore_ascii_case(known));
                    let called = before.checked_sub(1).and_then(|name| self.at(name));
                    return before + 1 < index
                        && called.is_some_and(|name| matches!(name.kind, Kind::Word(word) if is_call(word)));
                }
                depth -= 1;
            } else if depth == 0 && (token.is("SELECT") || token.is("WITH")) {
                return false;
            }
        }
        false
    }

    /// A keyword that is used as a name would tell places apart where the server does not: `FROM a AS where, b`.
    fn plainly(&self, index: usize, token: &Token<'_>) -> Verdict {
        let Kind::Word(word) = token.kind else { return Ok(()) };
        let is_clause = CLAUSES.iter().any(|clause| token.is(clause));
        if !is_clause && !MARKS.iter().any(|mark| token.is(mark)) {
            return Ok(());
        }
        let is_type = token.is("ARRAY") && self.is_sign(index + 1, '(');
        let is_alias = index > 0 && self.is(index - 1, "AS") && !is_type;
        let is_alone = [',', ')', '.', ']', ';'].iter().any(|sign| self.is_sign(index + 1, *sign));
        let is_last = index + 1 == self.tokens.len();
        let has_by = !token.is("GROUP") && !token.is("ORDER") || self.is(index + 1, "BY");
        if is_alias || is_clause && (is_alone || is_last || !has_by) {
            let message = format!("The keyword {word} may not be used as a name.");
            return Err(Refusal::new("text", word, message, format!("Write \"{word}\", or another name.")));
        }
        Ok(())
    }

    /// `name AS (SELECT …)` in `WITH`: the name is seen when its query has ended.
    fn part_of_with(&mut self, index: usize) -> Verdict {
        let Some(name) = self.at(index).and_then(Token::name) else { return Ok(()) };
        let is_query = self.is(index + 1, "AS")
            && self.is_sign(index + 2, '(')
            && (self.is(index + 3, "SELECT") || self.is(index + 3, "WITH"));
        let level = self.level()?;
        if !level.in_with || !is_query {
            return Ok(());
        }
        level.coming = Some(name.to_owned());
        if self.levels.iter().map(|level| level.names.len()).sum::<usize>() > limit::CTES {
            return Err(too_many("WITH parts", limit::CTES, "Use fewer."));
        }
        Ok(())
    }

    fn table(&mut self, index: usize) -> Verdict<usize> {
        let Some(name) = self.at(index).and_then(Token::name) else {
            return Err(refused("table", "In the place of a table there is something else."));
        };
        self.tables += 1;
        if self.tables > limit::TABLES {
            return Err(too_many("tables in FROM", limit::TABLES, "Join fewer tables."));
        }
        self.level()?.expect = Expect::AfterTable;
        if self.is_sign(index + 1, '(') {
            if TABLE_FUNCTIONS.contains(&name) {
                return Ok(index + 1);
            }
            let message = format!("The table function {name} may not be used: queries read the listed tables only.");
            let hint = format!("Query a table by its name. These work: {}.", TABLE_FUNCTIONS.join(", "));
            return Err(Refusal::new("table_function", name, message, hint));
        }
        if self.is_sign(index + 1, '.') {
            let last = self.at(index + 2).and_then(Token::name).unwrap_or_default();
            let path = format!("{name}.{last}");
            let message = format!("Tables have plain names here, and {path} has more than one part.");
            let hint = match self.permitted.iter().any(|table| table.name == last) {
                true => format!("Write {last}."),
                false => "List the datasets to see which tables there are.".to_owned(),
            };
            return Err(Refusal::new("qualified_name", &path, message, hint));
        }
        if self.levels.iter().any(|level| level.names.iter().any(|seen| seen == name)) {
            return Ok(index + 1);
        }
        if let Some(table) = self.permitted.iter().find(|table| table.name == name) {
            if !self.found.used.iter().any(|used| used.name == table.name) {
                self.found.used.push(table);
            }
            return Ok(index + 1);
        }
        Err(no_table(name, self.permitted.iter().map(|table| table.name.as_str())))
    }

    /// `IN` reads a table where a bare name follows, with or without brackets, and as a function, `in(1, t)`, too: so
    /// that a list of it holds values and calls only, or is a query.
    fn after_in(&self, index: usize) -> Verdict<usize> {
        let is_list = self.is_sign(index, '(') || self.is_sign(index, '[');
        let mut inside = index;
        while self.is_sign(inside, '(') {
            inside += 1;
        }
        if is_list && (self.is(inside, "SELECT") || self.is(inside, "WITH")) {
            return Ok(index);
        }
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(index) {
            match token.kind {
                Kind::Sign('(' | '[') => depth += 1,
                Kind::Sign(')' | ']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            let is_value = ["null", "true", "false"].iter().any(|value| token.is(value));
            let is_name = token.name().is_some() && !is_value && !self.is_sign(at + 1, '(');
            if !is_list || is_name {
                let message = "After IN there must be a list of values or a query.";
                return Err(Refusal::new("table", "IN", message, "Write IN ('a', 'b') or IN (SELECT a FROM t)."));
            }
            if depth == 0 {
                break;
            }
        }
        Ok(index)
    }
}

fn refused(name: &str, message: &str) -> Refusal {
    Refusal::new("node", name, message, "Use plain SELECT, FROM, JOIN, WHERE, GROUP BY, HAVING, ORDER BY and LIMIT.")
}
