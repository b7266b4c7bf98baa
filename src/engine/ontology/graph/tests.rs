use super::*;

/// `a>b` is a relationship from many a to one b, `a=b` one to one, `a~b` many to many; `a>b:name` names it and
/// `a>b:name!` prefers it.
fn ontology(edges: &[&str]) -> Ontology {
    let mut ontology = Ontology::default();
    for (at, edge) in edges.iter().enumerate() {
        let (ends, name) = edge.split_once(':').unwrap_or((edge, ""));
        let sign = ends.find(['>', '=', '~']).unwrap();
        let (from, to) = (&ends[..sign], &ends[sign + 1..]);
        for dataset in [from, to] {
            if ontology.entity(dataset).is_none() {
                let primary_key = vec!["id".into()];
                ontology.datasets.push(Entity { name: dataset.into(), primary_key, ..Entity::default() });
            }
        }
        let key = |is_key: bool| vec![if is_key { "id".to_owned() } else { format!("k{at}") }];
        let sign = ends.as_bytes()[sign];
        ontology.relationships.push(Relationship {
            name: if name.is_empty() { ends.into() } else { name.trim_end_matches('!').into() },
            from: from.into(),
            to: to.into(),
            from_columns: key(sign == b'='),
            to_columns: key(sign != b'~'),
            cardinality: Cardinality::ManyToMany,
            preferred: name.ends_with('!'),
            ..Relationship::default()
        });
    }
    ontology
}

fn way(edges: &[&str], from: &str, to: &str, via: &[&str], steps: Steps) -> Result<Vec<String>, NoWay> {
    let graph = Graph::new(&ontology(edges));
    let via: Vec<String> = via.iter().map(|name| (*name).to_owned()).collect();
    let way = graph.way(graph.dataset(from).unwrap(), graph.dataset(to).unwrap(), &via, steps)?;
    Ok(graph.names(&way))
}

#[test]
fn a_cardinality_comes_from_the_keys_of_both_sides() {
    let mut from = Entity { primary_key: vec!["id".into()], ..Entity::default() };
    let to = Entity {
        primary_key: vec!["a".into(), "b".into()],
        unique_keys: vec![vec!["code".into()]],
        ..Entity::default()
    };
    let mut relationship = ontology(&["x>y"]).relationships.remove(0);
    let mut is = |from: &Entity, columns: &[&str], other: &[&str]| {
        relationship.from_columns = columns.iter().map(|c| (*c).to_owned()).collect();
        relationship.to_columns = other.iter().map(|c| (*c).to_owned()).collect();
        cardinality(&relationship, from, &to)
    };
    assert_eq!(is(&from, &["x", "y"], &["B", "a"]), Cardinality::ManyToOne);
    assert_eq!(is(&from, &["x"], &["a"]), Cardinality::ManyToMany, "half a key is none");
    assert_eq!(is(&from, &["x"], &["code"]), Cardinality::ManyToOne);
    assert_eq!(is(&from, &["id"], &["code"]), Cardinality::OneToOne);
    from.unique_keys.push(vec!["x".into()]);
    assert_eq!(is(&from, &["x"], &["code"]), Cardinality::OneToOne);
    assert_eq!(is(&from, &["x"], &["other"]), Cardinality::ManyToMany);
}

#[test]
fn what_a_row_refers_to_itself_is_meant_and_otherwise_length_tells_nothing() {
    let edges = ["sale>shop", "sale>customer", "customer>shop"];
    assert_eq!(way(&edges, "sale", "shop", &[], Steps::ToOne).unwrap(), ["sale>shop"]);
    let edges = ["a>b", "b>c", "a>d", "d>e", "e>c"];
    let Err(NoWay::Ambiguous(ways)) = way(&edges, "a", "c", &[], Steps::ToOne) else { panic!() };
    assert_eq!(ways, [vec!["a>b", "b>c"], vec!["a>d", "d>e", "e>c"]], "as a supplier's nation and a customer's");
    let edges_that_meet = ["a>b", "b>c", "a>d", "d>b"];
    let one = way(&edges_that_meet, "a", "c", &[], Steps::ToOne).unwrap();
    assert_eq!(one, ["a>b", "b>c"], "both arrive in the same role");
    assert_eq!(way(&edges, "a", "c", &["d>e"], Steps::ToOne).unwrap(), ["a>d", "d>e", "e>c"]);
    assert_eq!(way(&edges, "c", "a", &[], Steps::ToOne), Err(NoWay::Unreachable));
    assert_eq!(way(&edges, "a", "a", &[], Steps::ToOne).unwrap(), Vec::<String>::new());
}

#[test]
fn equally_short_ways_are_not_chosen_among() {
    let edges = ["order>customer", "customer>region", "order>store", "store>region"];
    let Err(NoWay::Ambiguous(ways)) = way(&edges, "order", "region", &[], Steps::ToOne) else { panic!() };
    assert_eq!(ways, [["order>customer", "customer>region"], ["order>store", "store>region"]]);
    let chosen = way(&edges, "order", "region", &["ORDER>store"], Steps::ToOne).unwrap();
    assert_eq!(chosen, ["order>store", "store>region"]);
    let edges = ["order>customer", "customer>region", "order>store:at!", "store>region"];
    assert_eq!(way(&edges, "order", "region", &[], Steps::ToOne).unwrap(), ["at", "store>region"]);
}

#[test]
fn two_relationships_between_one_pair_are_two_ways() {
    let edges = ["flight>airport:origin", "flight>airport:destination"];
    let Err(NoWay::Ambiguous(ways)) = way(&edges, "flight", "airport", &[], Steps::ToOne) else { panic!() };
    assert_eq!(ways, [["origin"], ["destination"]]);
    assert_eq!(way(&edges, "flight", "airport", &["destination"], Steps::ToOne).unwrap(), ["destination"]);
    assert_eq!(
        way(&edges, "flight", "airport", &["arrival"], Steps::ToOne),
        Err(NoWay::UnknownRelationship("arrival".into()))
    );
}

#[test]
fn a_dataset_can_refer_to_itself() {
    let edges = ["employee>employee:manager", "employee>office"];
    assert_eq!(way(&edges, "employee", "employee", &[], Steps::ToOne).unwrap(), Vec::<String>::new());
    assert_eq!(way(&edges, "employee", "employee", &["manager"], Steps::ToOne).unwrap(), ["manager"]);
}

#[test]
fn rows_of_a_bridge_are_a_better_way_than_a_shared_dataset() {
    // A policy has claims through its coverages; both lie in a region, which does not make the one the other's.
    let edges = ["coverage>policy", "coverage>claim", "policy>region", "claim>region"];
    assert_eq!(way(&edges, "policy", "claim", &[], Steps::Any).unwrap(), ["coverage>policy", "coverage>claim"]);
    // Where there is nothing else, the shared dataset is a way.
    assert_eq!(way(&edges[2..], "policy", "claim", &[], Steps::Any).unwrap(), ["policy>region", "claim>region"]);
    // To one row wins over to many, however long it is.
    let edges = ["a>b", "b>c", "c>d", "d>a:back"];
    assert_eq!(way(&edges, "a", "d", &[], Steps::Any).unwrap(), ["a>b", "b>c", "c>d"]);
}

#[test]
fn siblings_share_what_they_belong_to_and_parts_do_not() {
    let up = |edges: &[&str], from: &str, to: &str| {
        let graph = Graph::new(&ontology(edges));
        shared(&graph.way(graph.dataset(from).unwrap(), graph.dataset(to).unwrap(), &[], Steps::Any).unwrap())
    };
    let edges = ["line>order", "order>shop", "refund>shop", "shop>town"];
    assert_eq!([up(&edges, "order", "refund"), up(&edges, "line", "refund")], [Some(1), Some(2)]);
    assert_eq!([up(&edges, "shop", "refund"), up(&edges, "town", "line"), up(&edges, "line", "town")], [None; 3]);
    // Through rows between them each has its own, and what is one to one is shared with nobody.
    assert_eq!(up(&["order_tag>order", "order_tag>tag"], "order", "tag"), None);
    assert_eq!(up(&["sale=order", "refund>order"], "sale", "refund"), None);
}

#[test]
fn a_step_over_a_one_to_one_relationship_stays_one_row_both_ways() {
    assert_eq!(way(&["a=b"], "a", "b", &[], Steps::ToOne).unwrap(), ["a=b"]);
    assert_eq!(way(&["a=b"], "b", "a", &[], Steps::ToOne).unwrap(), ["a=b"]);
    assert_eq!(way(&["a~b"], "a", "b", &[], Steps::ToOne), Err(NoWay::Unreachable));
    assert_eq!(way(&["a~b"], "a", "b", &[], Steps::Any).unwrap(), ["a~b"]);
}

#[test]
fn ways_end_after_eight_steps() {
    let chain: Vec<String> = (0..9).map(|at| format!("n{at}>n{}", at + 1)).collect();
    let edges: Vec<&str> = chain.iter().map(String::as_str).collect();
    assert_eq!(way(&edges, "n0", "n8", &[], Steps::ToOne).unwrap().len(), 8);
    assert_eq!(way(&edges, "n0", "n9", &[], Steps::Any), Err(NoWay::Unreachable));
}
