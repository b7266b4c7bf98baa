//! Words by which columns say what they refer to.

/// People, of whom there is often one table, whatever a column calls them there.
pub(super) const PEOPLE: &[&str] = &[
    "person", "people", "user", "customer", "client", "member", "employee", "staff", "account", "contact", "worker",
    "student", "patient", "guest", "individual", "player", "author", "actor",
];

/// What people are to something.
pub(super) const ROLES: &[&str] = &[
    "rep", "manager", "mgr", "supervisor", "boss", "agent", "owner", "assignee", "approver", "salesperson", "seller",
    "buyer", "sender", "receiver", "recipient", "creator", "reviewer", "reporter", "author", "editor", "teacher",
    "instructor", "driver", "host", "lead", "leader", "head", "chair", "director", "coach", "captain", "winner",
    "loser", "giver", "taker", "follower", "followed", "friend",
];

/// Which of the rows of the same table is meant.
pub(super) const OWN_ROLES: &[&str] = &[
    "parent", "manager", "mgr", "boss", "supervisor", "child", "previous", "prev", "next", "original", "root", "super",
    "reply", "predecessor", "successor", "ancestor", "leader", "reports", "spouse", "father", "mother", "duplicate",
    "prerequisite", "prereq", "replaces", "inherited", "inherits", "copied", "derived", "jefe", "padre", "superior",
    "chef", "eltern", "vorgesetzter",
];

/// Which of several rows is meant, with no word for what they are.
pub(super) const ENDS: &[&str] = &[
    "from", "to", "source", "target", "src", "dst", "dest", "orig", "origin", "destination", "start", "end", "citing",
    "cited", "home", "away", "winner", "loser", "departure", "arrival", "left", "right", "first", "second",
];

/// Names that say what a value is, and not of what.
pub(super) const GENERIC: &[&str] = &[
    "name", "title", "type", "kind", "date", "year", "month", "day", "time", "status", "code", "email", "phone",
    "description", "comment", "label", "address", "city", "value", "number", "id", "key", "rank", "note", "url",
    "notes", "text", "level", "category", "gender", "sex", "age", "identifier", "slug", "position", "round", "season",
    "rowid", "uuid", "guid", "pk", "sk", "ref",
];

/// Keys, and names, that go without another word.
pub(super) const BARE_KEYS: &[&str] =
    &["id", "key", "identifier", "uuid", "guid", "number", "no", "code", "name", "title", "rowid", "pk", "sk", "ref"];

/// Endings of one word that say that it is a key.
pub(super) const SHORT_KEYS: &[&str] = &["number", "num", "code", "key", "id", "no", "nr"];

/// What somebody has done to something: "created by", "assigned to".
pub(super) fn is_done_by(words: &[String]) -> bool {
    matches!(words, [_, last] if last == "by") || matches!(words, [first, ..] if first == "assigned")
}

/// Whether one of the words is in a list.
pub(super) fn any(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}
