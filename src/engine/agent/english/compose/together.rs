//! Conditions on rows that there must be, where they are on one and the same row.

use crate::engine::ontology::graph::{Graph, Step, Steps};
use crate::model::plan::Condition;

/// Conditions on the same rows of one dataset hold for one and the same row; so do those on what such a row has one of.
pub(super) fn merged(conditions: Vec<Condition>, graph: &Graph) -> Vec<Condition> {
    let mut merged: Vec<Condition> = Vec::new();
    for condition in conditions {
        if let Condition::Exists { of, dataset, via, filters, negated: false } = &condition {
            let known = merged.iter_mut().find_map(|known| match known {
                Condition::Exists { of: other_of, dataset: other, via: other_via, filters: own, negated: false }
                    if other_of == of
                        && other == dataset
                        && other_via == via
                        && !own.is_empty()
                        && !filters.is_empty() =>
                {
                    Some(own)
                }
                _ => None,
            });
            if let Some(own) = known {
                own.extend(filters.iter().cloned());
                continue;
            }
        }
        if !merged.contains(&condition) {
            merged.push(condition);
        }
    }
    while let Some((at, host, said)) = on_the_way(&merged, graph) {
        if let Some(Condition::Exists { filters, .. }) = merged.get_mut(host) {
            filters.extend(said);
        }
        merged.remove(at);
    }
    merged
}

/// "customers with a sale by phone in Lund" are those with a sale by phone in a shop there: a condition on rows that
/// others have one of, which of these it is said of, and how.
fn on_the_way(conditions: &[Condition], graph: &Graph) -> Option<(usize, usize, Vec<Condition>)> {
    let hosts = |one: &Condition| -> Vec<(usize, Vec<Condition>)> {
        let all = conditions.iter().enumerate();
        all.filter_map(|(at, host)| Some((at, seen_from(host, one, graph)?))).collect()
    };
    conditions.iter().enumerate().find_map(|(at, one)| {
        let mut outermost = hosts(one);
        outermost.retain(|(host, _)| conditions.get(*host).is_some_and(|host| hosts(host).is_empty()));
        // Rows of two kinds may both have one: which is meant is not said.
        let (host, said) = outermost.pop().filter(|_| outermost.is_empty())?;
        Some((at, host, said))
    })
}

/// What is said of rows that there must be, as conditions on other such rows, each of which has one of them at most and
/// by the same way; `None` where that is not so.
fn seen_from(host: &Condition, one: &Condition, graph: &Graph) -> Option<Vec<Condition>> {
    let Condition::Exists { of, dataset: row, via: row_via, filters: own, negated: false } = host else { return None };
    let Condition::Exists { of: owner, dataset, via, filters, negated: false } = one else { return None };
    let plain = |condition: &Condition| {
        matches!(condition, Condition::Compare { .. } | Condition::In { .. } | Condition::Like { .. })
            && condition.fields().iter().all(|field| field.dataset == *dataset && field.via.is_empty())
    };
    if of != owner || own.is_empty() || filters.is_empty() || !filters.iter().all(plain) {
        return None;
    }
    let (from, row, to) = (graph.dataset(of)?, graph.dataset(row)?, graph.dataset(dataset)?);
    let to_row = graph.way(from, row, row_via, Steps::Any).ok()?;
    let to_other = graph.way(from, to, via, Steps::Any).ok()?;
    let shared = to_row.iter().zip(&to_other).take_while(|(one, other)| one == other).count();
    let back = to_row.iter().skip(shared).rev().map(|step| graph.back(step));
    let between: Vec<Step> = back.chain(to_other.iter().skip(shared).copied()).collect();
    // Where each has one of the other, the nearer has what is said of both.
    let each = between.iter().all(|step| !graph.back(step).to_many) && to_row.len() >= to_other.len();
    if between.is_empty() || each || between.iter().any(|step| step.to_many) {
        return None;
    }
    let named = graph.names(&between);
    let via: Vec<String> =
        via.iter().filter(|name| named.iter().any(|known| known.eq_ignore_ascii_case(name))).cloned().collect();
    let same = graph.way(row, to, &via, Steps::Any).is_ok_and(|way| way == between);
    if !same {
        return None;
    }
    let mut said = filters.clone();
    for condition in &mut said {
        for field in condition.fields_mut() {
            field.via.clone_from(&via);
        }
    }
    Some(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ontology::read::read;
    use crate::model::plan::{Comparator, FieldRef, Literal};

    fn is(dataset: &str, field: &str, value: &str) -> Condition {
        let field = FieldRef::new(dataset, field);
        Condition::Compare { field, op: Comparator::Equal, value: Literal::Text(value.into()) }
    }

    fn has(of: &str, dataset: &str, filters: &[&Condition]) -> Condition {
        let filters = filters.iter().map(|filter| (*filter).clone()).collect();
        Condition::Exists { of: of.into(), dataset: dataset.into(), via: Vec::new(), filters, negated: false }
    }

    /// What is left of conditions of the bakery.
    fn left(conditions: &[Condition]) -> Vec<Condition> {
        let ontology = read(include_str!("../tests/bakery.yaml")).unwrap().ontology;
        merged(conditions.to_vec(), &Graph::new(&ontology))
    }

    #[test]
    fn what_a_row_has_one_of_is_said_of_that_row() {
        let (phone, lund) = (is("sale", "channel", "phone"), is("shop", "town", "Lund"));
        let (sale, shop) = (has("customer", "sale", &[&phone]), has("customer", "shop", &[&lund]));
        let together = [has("customer", "sale", &[&phone, &lund])];
        assert_eq!(left(&[sale.clone(), shop.clone()]), together);
        assert_eq!(left(&[shop.clone(), sale.clone()]), together);
        // The sale of a line lies between it and the shop.
        let line = is("sale_line", "loaves", "3");
        assert_eq!(
            left(&[has("shop", "sale", &[&phone]), has("shop", "sale_line", &[&line])]),
            [has("shop", "sale_line", &[&line, &phone])]
        );
        // Of three, the line has one of each of the others.
        assert_eq!(
            left(&[shop, sale, has("customer", "sale_line", &[&line])]),
            [has("customer", "sale_line", &[&line, &lund, &phone])]
        );
    }

    #[test]
    fn what_a_row_has_several_of_stays_apart() {
        let (phone, lund, rye) =
            (is("sale", "channel", "phone"), is("shop", "town", "Lund"), is("bread", "flour", "rye"));
        let (sale, shop) = (has("customer", "sale", &[&phone]), has("customer", "shop", &[&lund]));
        let bread = has("customer", "bread", &[&rye]);
        for apart in [[sale.clone(), bread.clone()], [shop.clone(), bread]] {
            assert_eq!(left(&apart), apart);
        }
        // That there is any says nothing of the row that is meant, and that there is none is said of all.
        let any = [has("customer", "sale", &[]), shop.clone()];
        assert_eq!(left(&any), any);
        let mut none = shop;
        if let Condition::Exists { negated, .. } = &mut none {
            *negated = true;
        }
        let without = [sale, none];
        assert_eq!(left(&without), without);
    }
}
