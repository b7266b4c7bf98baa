//! What people answered of references. It stands in the ontology, and is told to the tables of each draft made anew.

use crate::engine::ontology::draft::{DraftTable, ForeignKey};
use crate::engine::ontology::graph::column;
use crate::model::ontology::{Confidence, Link, Ontology};

/// Answers, by the names of tables and columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    pub accepted: Vec<Link>,
    pub refused: Vec<Link>,
}

impl Answers {
    /// Those that stand in an ontology.
    pub fn of(ontology: &Ontology) -> Self {
        let verified = ontology.relationships.iter().filter(|it| it.confidence == Confidence::Verified);
        let in_tables = |link: Link| {
            let (from, to) = (ontology.entity(&link.from)?, ontology.entity(&link.to)?);
            Some(Link {
                from: from.table().to_owned(),
                from_columns: link.from_columns.iter().map(|name| column(from, name).to_owned()).collect(),
                to: to.table().to_owned(),
                to_columns: link.to_columns.iter().map(|name| column(to, name).to_owned()).collect(),
            })
        };
        Self {
            accepted: verified.filter_map(|it| in_tables(it.link())).collect(),
            refused: ontology.refused.iter().cloned().filter_map(in_tables).collect(),
        }
    }

    /// With others, which win.
    #[must_use]
    pub fn then(mut self, later: Self) -> Self {
        let told = |link: &Link| later.accepted.iter().chain(&later.refused).any(|other| other.is(link));
        self.accepted.retain(|link| !told(link));
        self.refused.retain(|link| !told(link));
        self.accepted.extend(later.accepted);
        self.refused.extend(later.refused);
        self
    }

    /// Tells the tables, and says which answers are about something that is not there any more.
    pub(super) fn tell(&self, tables: &mut [DraftTable]) -> Vec<String> {
        let mut gone = Vec::new();
        for (link, accepted) in
            self.accepted.iter().map(|link| (link, true)).chain(self.refused.iter().map(|link| (link, false)))
        {
            let Some((from, said)) = found(link, tables) else {
                gone.push(format!("An answer about {} is not used: a table or column of it is gone.", in_words(link)));
                continue;
            };
            let Some(table) = tables.get_mut(from) else { continue };
            match accepted {
                true => table.confirmed.push(said),
                false => table.refused.push(said),
            }
        }
        gone
    }
}

/// "orders.cust and customers.id".
fn in_words(link: &Link) -> String {
    format!("{}.{} and {}.{}", link.from, link.from_columns.join(", "), link.to, link.to_columns.join(", "))
}

/// Where the table stands that refers, and what it would declare; `None` for what is not there.
fn found(link: &Link, tables: &[DraftTable]) -> Option<(usize, ForeignKey)> {
    let place = |name: &str| tables.iter().position(|table| table.name.eq_ignore_ascii_case(name));
    let (from, to) = (place(&link.from)?, tables.get(place(&link.to)?)?);
    let names = |table: &DraftTable, columns: &[String]| -> Option<Vec<String>> {
        columns.iter().map(|name| Some(table.column(name)?.name.clone())).collect()
    };
    let columns = names(tables.get(from)?, &link.from_columns)?;
    Some((from, ForeignKey { columns, to: to.name.clone(), to_columns: names(to, &link.to_columns)? }))
}
