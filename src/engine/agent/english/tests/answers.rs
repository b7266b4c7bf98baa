use super::*;

#[test]
fn numbers_are_counted_summed_and_averaged() {
    check(
        &bakery(),
        &[
            ("How many customers do we have?", "count customer"),
            ("how many shops are there", "count shop"),
            ("number of sales", "count sale"),
            ("What is the total revenue?", "revenue"),
            ("revenue", "revenue"),
            ("turnover", "revenue"),
            ("please tell me the revenue", "revenue"),
            ("What is the average price of breads?", "avg bread.price"),
            ("median price", "median bread.price"),
            ("average weight", "avg bread.weight"),
            ("total points", "sum customer.points"),
            ("what is the maximum price", "max bread.price"),
            ("lowest price", "min bread.price"),
            ("the highest weight", "max bread.weight"),
            ("How many countries do customers come from?", "countdistinct customer.country"),
            ("how many different towns are there", "countdistinct shop.town"),
            ("average basket", "average_basket"),
            ("units sold", "loaves_sold"),
            ("total amount", "sum sale.amount"),
            ("Is there any shop in Lund?", "count shop; where shop.town = 'Lund'"),
            ("How many clients do we have?", "count customer"),
            ("revenue divided by number of customers", "(revenue / count customer)"),
            ("ratio of revenue to loaves sold", "(revenue / loaves_sold)"),
            ("the difference between revenue and total points", "(revenue - sum customer.points)"),
            ("sum of revenue and total points", "(revenue + sum customer.points)"),
        ],
    );
}

#[test]
fn numbers_are_grouped() {
    check(
        &bakery(),
        &[
            ("revenue by shop", "revenue; by shop.shop_name"),
            ("revenue per shop", "revenue; by shop.shop_name"),
            ("revenue for each shop", "revenue; by shop.shop_name"),
            ("revenue broken down by channel", "revenue; by sale.channel"),
            ("revenue by shop and channel", "revenue; by shop.shop_name, sale.channel"),
            // Two customers may have the same name.
            ("revenue by customer", "revenue; by customer.full_name, customer.customer_id"),
            ("revenue by month", "revenue; by sale.sold_on:Month"),
            ("monthly revenue", "revenue; by sale.sold_on:Month"),
            ("number of customers by country", "count customer; by customer.country"),
            ("sales by channel", "count sale; by sale.channel"),
            ("How many sales does each customer have?", "count sale; by customer.full_name, customer.customer_id"),
            ("How many sales does each customer have by customer id?", "count sale; by customer.customer_id"),
            ("revenue by town of the shop", "revenue; by shop.town"),
            ("average price by flour", "avg bread.price; by bread.flour"),
            ("number of trips by origin shop", "count van_trip; by shop.shop_name@trip_source"),
            ("number of trips by destination", "count van_trip; by shop.shop_name@trip_target"),
            (
                "average number of sales per customer",
                "avg of (count sale) over customer.full_name, customer.customer_id",
            ),
            ("average revenue per month", "avg of (revenue) over sale.sold_on:month"),
            ("loaves sold by flour", "loaves_sold; by bread.flour"),
        ],
    );
}

#[test]
fn rankings_have_an_order_and_an_end() {
    check(
        &bakery(),
        &[
            ("top 2 shops by revenue", "revenue; by shop.shop_name; order m0 desc; first 2"),
            ("bottom 2 shops by revenue", "revenue; by shop.shop_name; order m0; first 2"),
            ("Which shop has the highest revenue?", "revenue; by shop.shop_name; order m0 desc; first 1 with ties"),
            ("Which shop has the most sales?", "count sale; by shop.shop_name; order m0 desc; first 1 with ties"),
            ("which shop has the fewest sales", "count sale; by shop.shop_name; order m0; first 1 with ties"),
            (
                "What is the most expensive bread?",
                "list bread: bread.title, bread.price; order d1 desc; first 1 with ties",
            ),
            ("the 3 cheapest breads", "list bread: bread.title, bread.price; order d1; first 3"),
            ("the heaviest bread", "list bread: bread.title, bread.weight; order d1 desc; first 1 with ties"),
            ("second most expensive bread", "list bread: bread.title, bread.price; order d1 desc; first 1 after 1"),
            (
                "Which month had the highest revenue?",
                "revenue; by sale.sold_on:Month; order m0 desc; first 1 with ties",
            ),
            (
                "top 2 shops for each channel by revenue",
                "revenue; by shop.shop_name, sale.channel; order m0 desc; first 2 per [1]",
            ),
            ("revenue by shop sorted by revenue descending", "revenue; by shop.shop_name; order m0 desc"),
            ("Which bread has the lowest price?", "list bread: bread.title, bread.price; order d1; first 1 with ties"),
        ],
    );
}

#[test]
fn values_are_found_with_and_without_their_field() {
    check(
        &bakery(),
        &[
            ("revenue in Lund", "revenue; where shop.town = 'Lund'"),
            ("online revenue", "revenue; where sale.channel = 'online'"),
            ("revenue with channel online", "revenue; where sale.channel = 'online'"),
            ("revenue of Harbour or Castle Hill", "revenue; where shop.shop_name in 'Harbour'/'Castle Hill'"),
            ("revenue without online", "revenue; where sale.channel != 'online'"),
            ("revenue excluding Lund", "revenue; where shop.town != 'Lund'"),
            ("revenue not in Lund", "revenue; where shop.town != 'Lund'"),
            ("How many Swedish customers do we have?", "count customer; where customer.country = 'SE'"),
            ("how many customers are from Norway", "count customer; where customer.country = 'NO'"),
            ("number of trips from Harbour", "count van_trip; where shop.shop_name@trip_source = 'Harbour'"),
            (
                "number of trips from Harbour to North Lane",
                "count van_trip; where shop.shop_name@trip_source = 'Harbour', shop.shop_name@trip_target = 'North Lane'",
            ),
            ("breads cheaper than 5", "list bread: bread.title; where bread.price < 5"),
            ("breads with a price over 5", "list bread: bread.title; where bread.price > 5"),
            (
                "breads with a price between 2 and 5",
                "list bread: bread.title; where bread.price >= 2, bread.price <= 5",
            ),
            ("how many breads are heavier than 1 kg", "count bread; where bread.weight > 1000"),
            ("sales with a queue time longer than 1 hour", "list sale: sale.sale_id; where sale.queue_minutes > 60"),
            (
                "customers without an email",
                "list customer: customer.full_name, customer.customer_id; where customer.email is null",
            ),
            (
                "customers with an email",
                "list customer: customer.full_name, customer.customer_id; where customer.email is not null",
            ),
            ("how many big sales were there", "count sale; where big sales"),
            ("number of sales that were not big", "count sale; where not big sales"),
            ("breads starting with 'Pum'", "distinct list bread: bread.title; where bread.title StartsWith 'Pum'"),
            (
                "customers whose email contains 'example'",
                "list customer: customer.full_name, customer.customer_id; where customer.email Contains 'example'",
            ),
            ("breads with an above average price", "list bread: bread.title; where bread.price > overall Avg"),
            ("sale 17", "distinct list sale: sale.sale_id; where sale.sale_id = 17"),
        ],
    );
}

#[test]
fn what_must_exist_and_what_must_not_are_told_apart() {
    let list = "list customer: customer.full_name, customer.customer_id";
    let cases: Vec<(&str, String)> = vec![
        ("customers with a sale", format!("{list}; where customer has sale()")),
        ("customers without any sales", format!("{list}; where customer has no sale()")),
        ("which customers have no sales", format!("{list}; where customer has no sale()")),
        ("customers who never had a sale", format!("{list}; where customer has no sale()")),
        ("customers with more than 3 sales", format!("{list}; where customer: count sale > 3")),
        ("customers with at least 2 purchases", format!("{list}; where customer: count sale >= 2")),
        ("which customers have revenue over 100", format!("{list}; where customer: revenue > 100")),
        (
            "How many customers had a sale in March 2024?",
            "count customer; where customer has sale(sale.sold_on within 2024-03-01..2024-04-01)".into(),
        ),
        (
            "How many customers purchased in 2024?",
            "count customer; where customer has sale(sale.sold_on within 2024-01-01..2025-01-01)".into(),
        ),
        (
            "How many customers bought Baguette?",
            "count customer; where customer has sale(sale has bread(bread.title = 'Baguette'))".into(),
        ),
        ("What percentage of sales is online?", "(count sale [sale.channel = 'online'] / count sale)".into()),
        ("What percentage of customers have a sale?", "(count customer [customer has sale()] / count customer)".into()),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(question, expected)| (*question, expected.as_str())).collect();
    check(&bakery(), &cases);
}

#[test]
fn times_are_those_that_the_question_names() {
    check(
        &bakery(),
        &[
            ("revenue in 2024", "revenue; time 2024-01-01..2025-01-01"),
            ("revenue in March 2024 by shop", "revenue; by shop.shop_name; time 2024-03-01..2024-04-01"),
            ("how many customers joined in 2024", "count customer; time customer.joined_on 2024-01-01..2025-01-01"),
            ("number of sales since 2024", "count sale; time 2024-01-01.."),
            (
                "revenue in 2024 compared with 2023",
                "revenue; time 2024-01-01..2025-01-01; beside 2023-01-01..2024-01-01",
            ),
            ("cumulative revenue by month", "revenue as Cumulative; by sale.sold_on:Month"),
            ("share of revenue by shop", "revenue as Share { within: [] }; by shop.shop_name"),
            ("loaves sold in 2024", "loaves_sold; time 2024-01-01..2025-01-01"),
            ("monthly revenue in 2024", "revenue; by sale.sold_on:Month; time 2024-01-01..2025-01-01"),
        ],
    );
}

#[test]
fn lists_show_what_is_asked_for() {
    check(
        &bakery(),
        &[
            ("list all shops", "list shop: shop.shop_name"),
            ("show me the shops with their town", "list shop: shop.shop_name, shop.town"),
            ("Which shops are in Lund?", "list shop: shop.shop_name; where shop.town = 'Lund'"),
            (
                "What is the email of Mary Smith?",
                "distinct list customer: customer.email; where customer.full_name = 'Mary Smith'",
            ),
            ("list the names of all breads", "list bread: bread.title"),
            ("what are the different towns", "distinct list shop: shop.town"),
            ("Return all sales by sale id and channel", "list sale: sale.sale_id, sale.channel"),
            ("price of Baguette", "avg bread.price; where bread.title = 'Baguette'"),
        ],
    );
}

#[test]
fn definitions_in_a_question_hold() {
    check(
        &bakery(),
        &[
            (
                "What is the average spend which is the revenue divided by the number of customers?",
                "(revenue / count customer)",
            ),
            (
                "What is the busyness of each shop where busyness is the ratio of loaves sold to revenue?",
                "(loaves_sold / revenue); by shop.shop_name",
            ),
            (
                "total stuff by shop, which is the sum of revenue, loaves sold and total amount",
                "(revenue + loaves_sold + sum sale.amount); by shop.shop_name",
            ),
        ],
    );
}

#[test]
fn misspelt_words_are_corrected_and_it_is_said() {
    let bakery = bakery();
    check(
        &bakery,
        &[
            ("revenu by shop", "revenue; by shop.shop_name"),
            ("how many custmers do we have", "count customer"),
            ("revenue of Pumpernikel", "revenue; where sale has bread(bread.title = 'Pumpernickel')"),
        ],
    );
    let Outcome::Plan(reading) = bakery.ask("revenu by shop") else { panic!("no plan") };
    assert_eq!(reading.assumptions, ["“revenu” read as “revenue”."]);
    assert_eq!(reading.phrases[0].means, "the metric revenue");
}

#[test]
fn misspelt_words_of_the_grammar_are_put_right_and_it_is_said() {
    let bakery = bakery();
    check(
        &bakery,
        &[
            ("nummber of custmers per contry", "count customer; by customer.country"),
            ("How mnay sales were there in Ocotber 2024?", "count sale; time 2024-10-01..2024-11-01"),
            ("avreage price of breads", "avg bread.price"),
            // Another letter in place of one makes another word, and so does one at an end.
            ("revenue in Augusta", "cannot Augusta"),
            ("revenue by mouth", "cannot mouth"),
        ],
    );
    let Outcome::Plan(reading) = bakery.ask("nummber of shops") else { panic!("no plan") };
    assert_eq!(reading.assumptions, ["“nummber” read as “number”."]);
}

#[test]
fn what_is_set_against_each_other_stands_beside_each_other() {
    check(
        &bakery(),
        &[
            (
                "compare the average price of rye and wheat",
                "avg bread.price; by bread.flour; where bread.flour in 'rye'/'wheat'",
            ),
            (
                "online vs phone vs counter: number of sales",
                "count sale; by sale.channel; where sale.channel in 'online'/'phone'/'counter'",
            ),
            ("revenue of online versus phone", "revenue; by sale.channel; where sale.channel in 'online'/'phone'"),
            ("online vs phone sales", "count sale; by sale.channel; where sale.channel in 'online'/'phone'"),
            ("sales in 2023 vs 2024", "count sale; time 2023-01-01..2024-01-01; beside 2024-01-01..2025-01-01"),
            (
                "How did revenue change from March to April?",
                "revenue; time 2025-04-01..2025-05-01; beside 2025-03-01..2025-04-01",
            ),
            (
                "By how much did the number of sales grow from 2023 to 2024?",
                "count sale; time 2024-01-01..2025-01-01; beside 2023-01-01..2024-01-01",
            ),
            (
                "What share of each shop's sales was online?",
                "(count sale [sale.channel = 'online'] / count sale); by shop.shop_name",
            ),
            ("breads heavier than the average", "list bread: bread.title; where bread.weight > overall Avg"),
            ("breads heavier than the avg", "list bread: bread.title; where bread.weight > overall Avg"),
            ("breads heavier than the average bread", "list bread: bread.title; where bread.weight > overall Avg"),
            (
                "which shop earns the most?",
                "ask rank:shop: metric:revenue | metric:average_basket | metric:loaves_sold",
            ),
            (
                "which customer cost us the most?",
                "ask rank:customer: metric:revenue | metric:average_basket | metric:loaves_sold",
            ),
            (
                "which customer spends the least in 2024",
                "ask rank:customer: metric:revenue | metric:average_basket | metric:loaves_sold",
            ),
        ],
    );
}

#[test]
fn a_thing_is_told_with_its_own_fields_and_a_number_has_the_time_of_its_metric() {
    check(
        &bakery(),
        &[
            (
                "trips to Harbour with their end date",
                "list van_trip: van_trip.trip_id, van_trip.returned_at; where shop.shop_name@trip_target = 'Harbour'",
            ),
            ("average arrival delay by month", "avg van_trip.arr_delay; by van_trip.returned_at:Month"),
            ("average departure delay by month", "avg van_trip.dep_delay; by van_trip.left_at:Month"),
        ],
    );
}

#[test]
fn a_part_of_a_value_stands_for_it_when_there_is_no_other() {
    let bakery = bakery();
    check(
        &bakery,
        &[
            ("revenue of Castle", "revenue; where shop.shop_name = 'Castle Hill'"),
            ("revenue of the Hill", "revenue; where shop.shop_name = 'Castle Hill'"),
            // Names of people are told nobody who does not say them whole.
            ("points of Smith", "cannot Smith"),
            // In lower case it is any word, "Harbour" is known already, and "Cast" is no whole word.
            ("revenue of castle", "cannot castle"),
            ("revenue of Harbour Castle", "cannot Castle"),
            ("revenue of Cast", "cannot Cast"),
        ],
    );
    let Outcome::Plan(reading) = bakery.ask("revenue of Castle") else { panic!("no plan") };
    assert_eq!(reading.assumptions, ["“Castle” read as “Castle Hill”."]);
    let shops = vec![known("shop", "shop_name", &["Castle Hill", "Castle Court"])];
    let bakery = Bakery { lexicon: Lexicon::build(&bakery.ontology, &shops), ..bakery };
    let asks = "ask value:castle: shop.shop_name = Castle Court | shop.shop_name = Castle Hill";
    check(&bakery, &[("revenue of Castle", asks)]);
    let chosen = Chosen { key: "value:castle".into(), value: "shop.shop_name = Castle Hill".into() };
    let answered = bakery.ask_in("revenue of Castle", &Context { chosen: vec![chosen], ..context() });
    assert_eq!(shown::outcome(&answered), "revenue; where shop.shop_name = 'Castle Hill'");
}
