use super::*;

/// A library of tools, whose people borrow, inspect and manage.
fn library() -> Bakery {
    let ontology = read(include_str!("roles.yaml")).unwrap().ontology;
    let values = vec![
        known("person", "full_name", &["Ada Berg", "Olaf Lund"]),
        known("branch", "town", &["Lund", "Bergen"]),
        known("loan", "pickup_town", &["Bergen", "Turku"]),
        known("tool", "title", &["Band Saw", "Drill"]),
    ];
    Bakery { lexicon: Lexicon::build(&ontology, &values), graph: Graph::new(&ontology), ontology }
}

#[test]
fn who_does_something_is_called_by_the_verb() {
    check(
        &library(),
        &[
            (
                "who manages branch 2?",
                "distinct list branch: person.full_name@branch_manager, person.person_id@branch_manager; where branch.branch_id = 2",
            ),
            (
                "who inspected loan 7?",
                "distinct list loan: person.full_name@loan_inspector, person.person_id@loan_inspector; where loan.loan_id = 7",
            ),
            (
                "who looks after loan 7?",
                "distinct list loan: person.full_name@loan_inspector, person.person_id@loan_inspector; where loan.loan_id = 7",
            ),
            ("who took loan 7?", "distinct list loan: loan.desk; where loan.loan_id = 7"),
            (
                "which person manages branch 2",
                "distinct list branch: person.full_name@branch_manager, person.person_id@branch_manager; where branch.branch_id = 2",
            ),
            (
                "manager of branch 2",
                "distinct list branch: person.full_name@branch_manager, person.person_id@branch_manager; where branch.branch_id = 2",
            ),
            (
                "branch 2's manager",
                "distinct list branch: person.full_name@branch_manager, person.person_id@branch_manager; where branch.branch_id = 2",
            ),
            (
                "who joined in 2024?",
                "list person: person.full_name, person.person_id; time person.joined_on 2024-01-01..2025-01-01",
            ),
            (
                "who joined in 2024, and when?",
                "list person: person.full_name, person.person_id, person.joined_on; time person.joined_on 2024-01-01..2025-01-01",
            ),
        ],
    );
}

#[test]
fn verbs_say_which_part_someone_plays() {
    check(
        &library(),
        &[
            (
                "loans that Ada Berg inspected",
                "list loan: loan.loan_id; where person.full_name@loan_inspector = 'Ada Berg'",
            ),
            ("how many loans did Ada Berg inspect", "count loan; where person.full_name@loan_inspector = 'Ada Berg'"),
            ("fees of loans inspected by Ada Berg", "sum loan.fee; where person.full_name@loan_inspector = 'Ada Berg'"),
            ("fees of the borrower Ada Berg", "fees; where person.full_name@loan_borrower = 'Ada Berg'"),
            ("fees by borrower name", "fees; by person.full_name@loan_borrower"),
            ("inspector names", "distinct list loan: person.full_name@loan_inspector"),
        ],
    );
}

#[test]
fn where_things_are_from_is_not_where_what_they_do_begins() {
    let key = |name: &str| {
        format!(
            "- {{name: {name}, expression: {{dialects: [{{dialect: ANSI_SQL, expression: {name}}}]}}, \
             datatype: Integer, custom_extensions: [{{vendor_name: DRAGOMAN, data: {{role: key, hidden: true}}}}]}}"
        )
    };
    let driver = format!(
        "  - name: driver\n    source: driver\n    primary_key: [driver_id]\n    fields:\n      {}\n      {}\n\
         relationships:\n  \
         - {{name: trip_driver, from: van_trip, to: driver, from_columns: [driver_id], to_columns: [driver_id]}}\n  \
         - {{name: driver_home, from: driver, to: shop, from_columns: [home_shop], to_columns: [shop_id]}}\n",
        key("driver_id"),
        key("home_shop"),
    );
    let text = include_str!("bakery.yaml")
        .replace("- {name: source_shop,", &format!("{}\n      - {{name: source_shop,", key("driver_id")))
        .replace("relationships:\n", &driver)
        .replace("role: origin", "role: from")
        .replace("role: destination", "role: to");
    let ontology = read(&text).unwrap().ontology;
    let lexicon = Lexicon::build(&ontology, &[known("shop", "town", &["Lund", "Bergen"])]);
    let bakery = Bakery { lexicon, graph: Graph::new(&ontology), ontology };
    assert_eq!(bakery.said("number of trips from Lund"), "count van_trip; where shop.town@trip_source = 'Lund'");
    let said = bakery.said("number of trips of drivers from Lund");
    assert!(said.starts_with("cannot") || said.contains("driver_home"), "{said}");
}

#[test]
fn what_nobody_is_called_by_is_not_answered() {
    let library = library();
    for question in [
        "who painted loan 7?",
        "who approved the fees?",
        "who lent loan 7?",
        "loans that Ada Berg painted",
        "loans of Ada Berg",
        "who lent in 2024?",
        "manager of loan 7",
    ] {
        assert!(!matches!(library.ask(question), Outcome::Plan(_)), "{question}: {}", library.said(question));
    }
}

#[test]
fn attributes_are_those_of_the_row_that_is_named() {
    check(
        &library(),
        &[
            ("loan date of loan 7", "list loan: loan.lent_on; where loan.loan_id = 7"),
            (
                "loan date and borrower of loan 7",
                "distinct list loan: loan.lent_on, person.full_name@loan_borrower, person.person_id@loan_borrower; where loan.loan_id = 7",
            ),
            ("price of tool 3", "list tool: tool.price; where tool.tool_id = 3"),
            (
                "tool Band Saw: price, blades",
                "list tool: tool.title, tool.tool_id, tool.price, tool.blades; where tool.title = 'Band Saw'",
            ),
            ("tools with a price of 4.99", "list tool: tool.title, tool.tool_id; where tool.price = 4.99"),
            ("tools with a price of 5 euros", "list tool: tool.title, tool.tool_id; where tool.price = 5"),
            ("tools with 2 blades", "list tool: tool.title, tool.tool_id; where tool.blades = 2"),
            (
                "tools built before 2000 - price and year",
                "list tool: tool.title, tool.tool_id, tool.price, tool.model_year; where tool.model_year < 2000",
            ),
        ],
    );
}

#[test]
fn a_plain_name_is_meant_before_one_that_says_more() {
    let Outcome::Plan(reading) = library().ask("fees in Bergen") else { panic!("no plan") };
    assert_eq!(reading.plan.filters.len(), 1, "{:?}", reading.plan.filters);
    assert!(format!("{:?}", reading.plan.filters).contains("branch"), "{:?}", reading.plan.filters);
    assert!(reading.assumptions.iter().any(|line| line.contains("pickup town")), "{:?}", reading.assumptions);
}

#[test]
fn short_and_misspelt_words_are_read_and_told() {
    let bakery = bakery();
    let told = |question: &str| match bakery.ask(question) {
        Outcome::Plan(reading) => reading.assumptions,
        other => panic!("{question}: {other:?}"),
    };
    assert_eq!(told("rev by shop"), ["“rev” read as “revenue”."]);
    assert_eq!(told("revenue by chanel")[0], "“chanel” read as “channel”.");
    assert_eq!(told("breads cheaper then 5 EUR")[0], "“then” read as “than”.");
    // No field or number has the long form.
    assert!(!matches!(bakery.ask("temp by shop"), Outcome::Plan(_)));
}
