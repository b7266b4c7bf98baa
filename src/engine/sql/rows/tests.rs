use std::sync::Arc;

use arrow_ipc::writer::StreamWriter;
use duckdb::arrow::array::*;
use duckdb::arrow::datatypes::{DataType, Field, Int32Type, IntervalMonthDayNano, Schema, UInt8Type};
use duckdb::core::LogicalTypeId as Id;

use super::*;

/// A column: its values, and its type as a worker says it.
type Made = (ArrayRef, Value);

fn plain(id: Id) -> Value {
    json!({ "id": id as u32, "name": "t", "children": [] })
}

fn with(id: Id, children: &[Value]) -> Value {
    json!({ "id": id as u32, "name": "t", "children": children })
}

/// What a worker sends of columns.
fn sent(columns: &[Made]) -> (Rows, Vec<u8>) {
    let names: Vec<String> = (0..columns.len()).map(|index| format!("c{index}")).collect();
    let field = |((array, _), name): (&Made, &String)| Field::new(name, array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().zip(&names).map(field).collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(array, _)| array.clone()).collect();
    let batch = RecordBatch::try_new(schema.clone(), arrays).unwrap();
    let mut payload = vec![];
    let mut writer = StreamWriter::try_new(&mut payload, &schema).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let shapes: Vec<&Value> = columns.iter().map(|(_, shape)| shape).collect();
    let rows = json!({
        "shapes": shapes, "names": names, "truncated": false, "used": [], "is_lasting": false,
        "judged_us": 0, "execution_us": 0,
    });
    (serde_json::from_value(rows).unwrap(), payload)
}

/// Values of both kinds of one column, which must be the same.
fn told(column: Made) -> Vec<Value> {
    let (rows, payload) = sent(&[column]);
    let values = table::<Vec<Value>>(&rows, &payload, 1 << 20).unwrap();
    let texts = table::<RowText>(&rows, &payload, 1 << 20).unwrap();
    let read: Vec<Vec<Value>> = texts.rows.iter().map(|row| serde_json::from_str(row.get()).unwrap()).collect();
    assert_eq!(read, values.rows, "the text says the same as the values");
    for (row, text) in values.rows.iter().zip(&texts.rows) {
        assert_eq!(<Vec<Value> as Row>::of(row).unwrap().1, text.get().len(), "and takes as many bytes");
        assert_eq!(RowText::of_values(row.clone()).unwrap().get(), text.get());
    }
    values.rows.into_iter().map(|mut row| row.remove(0)).collect()
}

fn decimals(values: Vec<Option<i128>>, precision: u8, scale: i8) -> ArrayRef {
    Arc::new(Decimal128Array::from(values).with_precision_and_scale(precision, scale).unwrap())
}

#[test]
fn numbers_are_exact_for_every_reader() {
    const EDGE: i64 = 1 << 53;
    let whole = vec![Some(0), None, Some(EDGE), Some(-EDGE), Some(EDGE + 1), Some(-EDGE - 1), Some(i64::MIN)];
    let expected = [
        json!(0),
        json!(null),
        json!(EDGE),
        json!(-EDGE),
        json!("9007199254740993"),
        json!("-9007199254740993"),
        json!("-9223372036854775808"),
    ];
    assert_eq!(told((Arc::new(Int64Array::from(whole)), plain(Id::Bigint))), expected);
    let unsigned = Arc::new(UInt64Array::from(vec![7, u64::MAX]));
    assert_eq!(told((unsigned, plain(Id::UBigint))), [json!(7), json!("18446744073709551615")]);
    let huge = decimals(vec![Some(-3), Some(i128::MAX)], 38, 0);
    let expected = [json!(-3), json!("170141183460469231731687303715884105727")];
    assert_eq!(told((huge, plain(Id::Hugeint))), expected);
    let unsigned = decimals(vec![Some(3), Some(-1)], 38, 0);
    let expected = [json!(3), json!("340282366920938463463374607431768211455")];
    assert_eq!(told((unsigned, plain(Id::UHugeint))), expected);
    let exact = decimals(vec![Some(1), Some(-150), Some(0), None], 10, 2);
    assert_eq!(told((exact, plain(Id::Decimal))), [json!("0.01"), json!("-1.50"), json!("0.00"), json!(null)]);
}

#[test]
fn floats_come_back_as_they_were() {
    let hard = [0.1 + 0.2, 1e-310, 5e-324, f64::MAX, f64::MIN_POSITIVE, -0.0, 123_456_789.123_456_78, 1e21, 2.5e-8];
    // A walk over all bits, besides those that are known to be hard.
    let walk = (0..5_000_u64).map(|step| f64::from_bits(step.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let floats: Vec<f64> = hard.into_iter().chain(walk).filter(|float| float.is_finite()).collect();
    let told_floats = told((Arc::new(Float64Array::from(floats.clone())), plain(Id::Double)));
    for (float, told) in floats.iter().zip(told_floats) {
        assert_eq!(told.as_f64().unwrap().to_bits(), float.to_bits(), "{float:e}");
    }
    let odd = Float64Array::from(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    assert_eq!(told((Arc::new(odd), plain(Id::Double))), [json!("NaN"), json!("Infinity"), json!("-Infinity")]);
    let single = Float32Array::from(vec![0.1, f32::NAN, 16_777_216.0]);
    assert_eq!(told((Arc::new(single), plain(Id::Float))), [json!(0.1), json!("NaN"), json!(16_777_216.0)]);
}

#[test]
fn texts_times_and_bytes_are_texts() {
    let text = "é\"\\\n\u{1}\u{2028}</script>\u{1f600}";
    assert_eq!(told((Arc::new(StringArray::from(vec![text, ""])), plain(Id::Varchar))), [json!(text), json!("")]);
    let bytes = Arc::new(BinaryArray::from(vec![&[0, 255, 16][..], &[]]));
    assert_eq!(told((bytes, plain(Id::Blob))), [json!("AP8Q"), json!("")]);
    let bits = Arc::new(BinaryArray::from(vec![&[4, 0b1111_0101][..]]));
    assert_eq!(told((bits, plain(Id::Bit))), [json!("0101")]);
    let days = Arc::new(Date32Array::from(vec![0, i32::MAX, -i32::MAX]));
    assert_eq!(told((days, plain(Id::Date))), [json!("1970-01-01"), json!("infinity"), json!("-infinity")]);
    let moment = TimestampMicrosecondArray::from(vec![1_500_000]);
    let zoned = moment.clone().with_timezone("UTC");
    assert_eq!(told((Arc::new(moment), plain(Id::Timestamp))), [json!("1970-01-01T00:00:01.5")]);
    assert_eq!(told((Arc::new(zoned), plain(Id::TimestampTZ))), [json!("1970-01-01T00:00:01.5Z")]);
    let time = Arc::new(Time64MicrosecondArray::from(vec![36_671_500_000]));
    assert_eq!(told((time, plain(Id::Time))), [json!("10:11:11.5")]);
    let interval = IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(14, 3, 1_000_000_000)]);
    assert_eq!(told((Arc::new(interval), plain(Id::Interval))), [json!("1 year 2 months 3 days 00:00:01")]);
    let truth = Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]));
    assert_eq!(told((truth, plain(Id::Boolean))), [json!(true), json!(false), json!(null)]);
    let kinds: DictionaryArray<UInt8Type> = vec![Some("a"), None, Some("b"), Some("a")].into_iter().collect();
    let expected = [json!("a"), json!(null), json!("b"), json!("a")];
    assert_eq!(told((Arc::new(kinds), plain(Id::Enum))), expected);
}

#[test]
fn what_is_inside_another_value_follows_the_same_rules() {
    let numbers =
        ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), None, Some(vec![])]);
    let list = with(Id::List, &[plain(Id::Integer)]);
    assert_eq!(told((Arc::new(numbers), list)), [json!([1, null]), json!(null), json!([])]);

    let field = |name: &str, of: &ArrayRef| Arc::new(Field::new(name, of.data_type().clone(), true));
    let big: ArrayRef = Arc::new(Int64Array::from(vec![i64::MAX]));
    let odd: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN]));
    let inner = with(Id::Struct, &[plain(Id::Bigint), plain(Id::Double)]);
    let named = |names: [&str; 2]| -> ArrayRef {
        Arc::new(StructArray::from(vec![(field(names[0], &big), big.clone()), (field(names[1], &odd), odd.clone())]))
    };
    let expected = json!({ "a": "9223372036854775807", "b": "NaN" });
    assert_eq!(told((named(["a", "b"]), inner.clone())), [expected]);
    let (rows, payload) = sent(&[(named(["", ""]), inner)]);
    let texts = table::<RowText>(&rows, &payload, 1 << 20).unwrap();
    assert_eq!(texts.rows[0].get(), r#"[{"":"NaN"}]"#, "no name stands twice in an object");

    let mut texts = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    texts.keys().append_value("k\"");
    texts.values().append_value(i64::MIN);
    texts.append(true).unwrap();
    let shape = with(Id::Map, &[plain(Id::Varchar), plain(Id::Bigint)]);
    assert_eq!(told((Arc::new(texts.finish()), shape)), [json!({ "k\"": "-9223372036854775808" })]);
    let mut numbers = MapBuilder::new(None, Int32Builder::new(), Int64Builder::new());
    numbers.keys().append_value(1);
    numbers.values().append_null();
    numbers.append(true).unwrap();
    let shape = with(Id::Map, &[plain(Id::Integer), plain(Id::Bigint)]);
    assert_eq!(told((Arc::new(numbers.finish()), shape)), [json!([{ "key": 1, "value": null }])]);
}

#[test]
fn a_type_without_a_form_is_named_and_rows_end_where_a_reply_does() {
    let foreign = with(Id::Bignum, &[]);
    let (rows, payload) = sent(&[(Arc::new(BinaryArray::from(vec![&[1][..]])), foreign)]);
    for error in [
        table::<Vec<Value>>(&rows, &payload, 1 << 20).unwrap_err(),
        table::<RowText>(&rows, &payload, 1 << 20).unwrap_err(),
    ] {
        assert_eq!((error.code, &error.details), (Code::InvalidArgument, &json!({ "type": "t" })));
    }
    let duration = Arc::new(DurationSecondArray::from(vec![1]));
    assert_eq!(duration.data_type(), &DataType::Duration(duckdb::arrow::datatypes::TimeUnit::Second));
    let (rows, payload) = sent(&[(duration, plain(Id::Interval))]);
    assert!(table::<RowText>(&rows, &payload, 1 << 20).unwrap_err().details["type"].is_string());

    let (rows, payload) = sent(&[(Arc::new(StringArray::from(vec!["x".repeat(96); 10])), plain(Id::Varchar))]);
    // The head of 26 bytes, and of 101 bytes a row.
    for (bytes, whole) in [(26 + 303, 3), (26 + 302, 2), (26 + 101, 1), (26 + 1_010, 10)] {
        let (texts, values) = (table::<RowText>(&rows, &payload, bytes), table::<Vec<Value>>(&rows, &payload, bytes));
        let (texts, values) = (texts.unwrap(), values.unwrap());
        assert_eq!((texts.rows.len(), texts.truncated), (whole, whole < 10), "{bytes}");
        assert_eq!((values.rows.len(), values.truncated), (whole, whole < 10), "{bytes}");
    }
    assert_eq!(table::<RowText>(&rows, &payload, 26 + 100).unwrap_err().code, Code::LimitExceeded);
}
