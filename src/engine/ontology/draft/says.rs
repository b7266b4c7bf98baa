//! What a name may say of a reference, and how surely.

/// How surely a column is called for keys of a table, and what says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Called {
    /// 0 to 100; below 0 where the name says something else.
    pub score: i16,
    pub says: Says,
}

impl Called {
    pub(super) fn of(score: i16, says: Says) -> Self {
        Self { score, says }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// "customer id", "customer"
    Table,
    /// "billing address id"
    TableWithRole,
    /// "mid" and "mid"
    SameName,
    /// "manager staff id" and "staff id"
    SameNameWithRole,
    /// "dept no" of departments
    ShortForm,
    /// "series id" of conference series
    PartOfTable,
    /// "user id" where people are customers
    People,
    /// "parent", "reports to"
    OwnRole,
    /// An id of something that no table is called.
    SomeId,
    /// "citing", "sender"
    Role,
    /// Nothing.
    Nothing,
    /// Another table.
    Another,
    /// An amount or a time.
    Amount,
}
