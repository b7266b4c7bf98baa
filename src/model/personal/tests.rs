use super::*;

fn found(name: &str, content: Content, values: &[&str]) -> Option<(Kind, Vec<Basis>)> {
    let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
    judge(name, &[], content, &values).map(|finding| (finding.kind, finding.because))
}

#[test]
fn names_in_several_languages_say_their_kind() {
    use Content::{Text, Time, Whole};
    for (name, content, kind) in [
        ("email", Text, Kind::Email),
        ("customerEmail", Text, Kind::Email),
        ("E-Mail-Adresse", Text, Kind::Email),
        ("courriel", Text, Kind::Email),
        ("correo_electronico", Text, Kind::Email),
        ("phone_number", Text, Kind::Phone),
        ("CONTACT_NO", Whole, Kind::Phone),
        ("Telefonnummer", Text, Kind::Phone),
        ("teléfono", Whole, Kind::Phone),
        ("first_name", Text, Kind::PersonName),
        ("Nachname", Text, Kind::PersonName),
        ("prénom", Text, Kind::PersonName),
        ("apellidos", Text, Kind::PersonName),
        ("Cognome", Text, Kind::PersonName),
        ("achternaam", Text, Kind::PersonName),
        ("DataNascita", Time, Kind::DateOfBirth),
        ("data_nascimento", Time, Kind::DateOfBirth),
        ("customer_name", Text, Kind::PersonName),
        ("CUST_FIRST_NM", Text, Kind::PersonName),
        ("ownerNm", Text, Kind::PersonName),
        ("nom_client", Text, Kind::PersonName),
        ("adresse", Text, Kind::PostalAddress),
        ("Straße", Text, Kind::PostalAddress),
        ("billing_address_1", Text, Kind::PostalAddress),
        ("dirección", Text, Kind::PostalAddress),
        ("dob", Time, Kind::DateOfBirth),
        ("Geburtsdatum", Time, Kind::DateOfBirth),
        ("date_naissance", Text, Kind::DateOfBirth),
        ("fecha_nacimiento", Time, Kind::DateOfBirth),
        ("birth_year", Whole, Kind::DateOfBirth),
        ("ssn", Text, Kind::NationalId),
        ("national_id", Text, Kind::NationalId),
        ("Steuer-ID", Text, Kind::NationalId),
        ("IBAN", Text, Kind::BankAccount),
        ("credit_card_number", Whole, Kind::PaymentCard),
        ("client_ip", Text, Kind::IpAddress),
        ("OWNERNAME", Text, Kind::PersonName),
        ("pass", Text, Kind::Credential),
        ("pass_crypted", Text, Kind::Credential),
        ("passwordHash", Text, Kind::Credential),
    ] {
        assert_eq!(found(name, content, &[]), Some((kind, vec![Basis::Name])), "{name}");
    }
}

#[test]
fn names_that_only_sound_like_it_say_nothing() {
    use Content::{Other, Text, Time, Whole};
    for (name, content) in [
        ("name", Text),
        ("airline_name", Text),
        ("product_name", Text),
        ("product_nm", Text),
        ("customer_nm", Whole),
        ("nm", Text),
        ("filename", Text),
        ("boarding_pass", Text),
        ("password_id", Whole),
        ("token_count", Whole),
        ("address_id", Whole),
        ("address_id", Text),
        ("mac_address", Text),
        ("wallet_address", Text),
        ("email_sent", Text),
        ("email_count", Whole),
        ("is_email_verified", Text),
        ("email_sent_at", Time),
        ("phone_model", Text),
        ("emaille", Text),
        ("hotel", Text),
        ("telemetry", Text),
        ("ship", Text),
        ("tip", Whole),
        ("recipe", Text),
        ("email", Other),
        ("phone", Other),
        ("missing", Text),
        ("unir", Text),
        ("card", Text),
        ("created_on", Time),
        ("dep_time", Time),
        ("city", Text),
        ("", Text),
    ] {
        assert_eq!(found(name, content, &[]), None, "{name}");
    }
}

#[test]
fn values_say_it_without_a_name() {
    for (kind, values) in [
        (Kind::Email, &["ann@example.com", "bob.b+x@mail.example.co.uk", "no"][..]),
        (Kind::Email, &["please write to <ann@example.com>.", "{\"mail\": \"a@b.org\"}"]),
        (Kind::Phone, &["+49 30 901820", "+1 (212) 555-0123", "+33.1.23.45.67.89"]),
        (Kind::Phone, &["(212) 555-0123", "415-555-2671"]),
        // The example accounts of the IBAN registry.
        (Kind::BankAccount, &["DE89370400440532013000", "GB29 NWBK 6016 1331 9268 19", "FR1420041010050500013M02606"]),
        // The test numbers of the networks.
        (Kind::PaymentCard, &["4111 1111 1111 1111", "5555555555554444", "378282246310005", "6011111111111117"]),
        (Kind::NationalId, &["123-45-6789", "219-09-9999"]),
        (Kind::NationalId, &["12345678Z", "X1234567L"]),
        (Kind::NationalId, &["AB123456C", "JG 10 37 59 A"]),
        (Kind::IpAddress, &["192.168.0.1", "2001:db8::1", "8.8.8.8"]),
    ] {
        assert_eq!(found("c", Content::Text, values), Some((kind, vec![Basis::Values])), "{values:?}");
    }
    let numbers = ["4111111111111111", "5555555555554444"];
    assert_eq!(found("n", Content::Whole, &numbers), Some((Kind::PaymentCard, vec![Basis::Values])));
    let nested = ["{'who': ann@example.com}"];
    assert_eq!(found("n", Content::Nested, &nested), Some((Kind::Email, vec![Basis::Values])));
}

#[test]
fn values_that_only_look_like_it_say_nothing() {
    for values in [
        // Product codes and order numbers.
        &["123-456-7890", "012-345-6789", "100-200-3000"][..],
        &["4111111111111112", "1234567890123456", "4000000000000000"],
        &["0000000000000000", "AB-12-34"],
        &["900-12-3456", "666-12-3456", "123-00-6789", "000-12-3456"],
        &["DE89370400440532013001", "GB00NWBK60161331926819", "XX123"],
        &["12345678A", "1234567Z"],
        // Versions among other things; UUIDs.
        &["1.2.3.4", "1.2.3", "2.0.0-rc1", "10.4"],
        &["0190a3c2-0000-7000-8000-000000000000", "550e8400-e29b-41d4-a716-446655440000"],
        &["@handle", "a@b", "user@localhost", "x@y.1", "2 @ 3.50"],
        &["American Airlines", "United", "JetBlue"],
        &["2013-01-31", "10:11:12", "12.50", "-3"],
        &["5551234", "(555) 12", "+12", "+1 x y"],
    ] {
        assert_eq!(found("c", Content::Text, values), None, "{values:?}");
    }
    assert_eq!(found("order_number", Content::Whole, &["4111111111111111"]), None, "the name says what it counts");
    assert_eq!(found("app_version", Content::Text, &["1.2.3.4", "1.2.3.5"]), None);
    assert_eq!(found("c", Content::Whole, &["2125550123", "4930901820"]), None, "any numbers");
}

#[test]
fn a_name_and_its_values_support_or_contradict_each_other() {
    let both = Some((Kind::Phone, vec![Basis::Name, Basis::Values]));
    assert_eq!(found("telefon", Content::Text, &["030 901820", "0170/1234567", "089-12 34 56 ext. 7"]), both);
    assert_eq!(found("phone", Content::Whole, &["2125550123"]), both);
    assert_eq!(found("email", Content::Text, &["yes", "no"]), None);
    assert_eq!(found("mobile", Content::Text, &["iPhone", "Pixel"]), None);
    let finding = judge("mail", &[], Content::Text, &["a@b.org".into(), "-".into()]).unwrap();
    assert_eq!((finding.kind, finding.share), (Kind::Email, Some(0.5)));
    let finding = judge("contact", &["email".into()], Content::Nested, &["{'email': a@b.org}".into()]).unwrap();
    assert_eq!((finding.kind, finding.share), (Kind::Email, Some(1.0)));
    let finding = judge("contact", &["first_name".into()], Content::Nested, &["{'first_name': Ann}".into()]).unwrap();
    assert_eq!((finding.kind, finding.because), (Kind::PersonName, vec![Basis::Name]));
}

#[test]
fn nothing_of_a_person_is_left_under_a_mask() {
    for (kind, value, shown) in [
        (Kind::Email, "ann@example.com", "a…@…"),
        (Kind::Email, "write to ann@example.com", "w…@…"),
        (Kind::Phone, "+49 30 901820", "+…"),
        (Kind::PersonName, "Émilie", "É…"),
        (Kind::DateOfBirth, "1962-03-04", "1962-…"),
        (Kind::DateOfBirth, "4 March 1962", "…"),
        (Kind::NationalId, "123-45-6789", "…"),
        (Kind::BankAccount, "DE89370400440532013000", "…"),
        (Kind::PaymentCard, "4111111111111111", "…"),
        (Kind::IpAddress, "192.168.0.1", "192.…"),
        (Kind::IpAddress, "2001:db8::1", "2001:…"),
        (Kind::PostalAddress, "", "…"),
    ] {
        assert_eq!(mask(kind, value), shown);
    }
}

#[test]
fn fields_are_personal_by_what_is_said_by_their_names_and_by_those_of_their_columns() {
    use crate::model::ontology::DataType;
    let field = |name: &str, expression: &str| Field {
        name: name.into(),
        expression: expression.into(),
        datatype: DataType::String,
        ..Field::default()
    };
    for (field, expected) in [
        (Field { pii: Some("name".into()), is_enum: true, ..field("who", "who") }, true),
        (field("customer_name", "x"), true),
        (Field { index_values: true, ..field("called", "last_name") }, true),
        (field("kind", "CASE WHEN way = 'home address' THEN 'email' END"), false),
        (field("region", "region"), false),
        // A closed set holds nobody's, and a number is none.
        (Field { is_enum: true, ..field("phone", "phone") }, false),
        (Field { datatype: DataType::Integer, ..field("phone", "phone") }, false),
    ] {
        assert_eq!(is_personal(&field), expected, "{field:?}");
    }
}

#[test]
fn names_inside_a_type_are_read() {
    assert_eq!(fields("STRUCT(email VARCHAR, \"home street\" VARCHAR)[]"), ["email", "home street"]);
    assert_eq!(fields("MAP(VARCHAR, STRUCT(dob DATE))"), ["dob"]);
    assert!(fields("INTEGER[]").is_empty());
}

#[test]
fn types_of_every_engine_are_read() {
    for (r#type, content) in [
        ("VARCHAR", Content::Text),
        ("character varying(20)", Content::Text),
        ("LowCardinality(Nullable(String))", Content::Text),
        ("text", Content::Text),
        ("BIGINT", Content::Whole),
        ("UInt64", Content::Whole),
        ("int4", Content::Whole),
        ("Nullable(Decimal(10, 2))", Content::Whole),
        ("timestamp with time zone", Content::Time),
        ("DateTime64(3)", Content::Time),
        ("interval", Content::Other),
        ("boolean", Content::Other),
        ("uuid", Content::Other),
        ("text[]", Content::Nested),
        ("jsonb", Content::Nested),
    ] {
        assert_eq!(Content::of_type(r#type), content, "{type}");
    }
}
