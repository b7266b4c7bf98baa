//! Bytes become a worker's answer: columns of any types with any claims about them, as an Arrow stream, whole or broken.
//! Reading it may fail; what is read is valid JSON, and whole numbers and decimals are exact.
#![no_main]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_ipc::writer::StreamWriter;
use dragoman::engine::sql::rows;
use dragoman::model::table::RowText;
use duckdb::arrow::array::*;
use duckdb::arrow::buffer::OffsetBuffer;
use duckdb::arrow::datatypes::*;
use duckdb::arrow::record_batch::RecordBatch;
use duckdb::core::LogicalTypeId;
use libfuzzer_sys::arbitrary::{Error, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

/// Values of a whole-number or decimal column as the reply must have them.
type Exact = Option<Vec<Option<String>>>;

struct Made {
    array: ArrayRef,
    shape: Value,
    exact: Exact,
}

/// Whether the stream is broken: then Arrow's reader may panic, as long as nobody outside notices. Elsewhere it counts
/// even where it is caught.
static BROKEN: AtomicBool = AtomicBool::new(false);

fuzz_target!(
    init: std::panic::set_hook(Box::new(|panic| {
        if !BROKEN.load(Ordering::Relaxed) {
            eprintln!("{panic}");
            std::process::abort();
        }
    })),
    |data: &[u8]| {
        BROKEN.store(false, Ordering::Relaxed);
        // What is too short for a case is no case.
        let _short = case(&mut Unstructured::new(data));
    }
);

fn case(bytes: &mut Unstructured) -> Result<()> {
    let height = bytes.int_in_range(0..=5)?;
    let width = bytes.int_in_range(1..=4)?;
    let columns = (0..width).map(|_| made(bytes, height, 0)).collect::<Result<Vec<Made>>>()?;
    let field = |(index, made): (usize, &Made)| Field::new(format!("c{index}"), made.array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().enumerate().map(field).collect::<Vec<_>>()));
    let arrays = columns.iter().map(|made| made.array.clone()).collect();
    let batch = RecordBatch::try_new(schema.clone(), arrays).expect("columns of one height");
    let mut payload = vec![];
    let mut writer = StreamWriter::try_new(&mut payload, &schema).expect("a schema can be written");
    writer.write(&batch).and_then(|()| writer.finish()).expect("a batch can be written");
    drop(writer);

    let mut shapes: Vec<Value> = columns.iter().map(|made| made.shape.clone()).collect();
    let lies = bytes.ratio(1, 4)?;
    if lies {
        shapes = (0..width).map(|_| shape(bytes, 0)).collect::<Result<_>>()?;
    }
    let breaks = bytes.ratio(1, 4)?;
    if breaks {
        for _ in 0..bytes.int_in_range(1..=8)? {
            let at = bytes.int_in_range(0..=payload.len() - 1)?;
            payload[at] = bytes.arbitrary()?;
        }
        payload.truncate(bytes.int_in_range(payload.len() / 2..=payload.len())?);
    }
    BROKEN.store(breaks, Ordering::Relaxed);
    let names: Vec<String> = (0..shapes.len()).map(|index| format!("c{index}")).collect();
    let rows = json!({ "shapes": shapes, "names": names, "truncated": false, "used": [], "judged_us": 0, "execution_us": 0 });
    let rows = serde_json::from_value(rows).expect("rows as a worker says them");
    let Ok(table) = rows::table::<Vec<Value>>(&rows, &payload, 1 << 20) else {
        assert!(lies || breaks || columns.iter().any(|made| made.exact.is_none()), "{columns:?} cannot be read");
        return Ok(());
    };
    let texts = rows::table::<RowText>(&rows, &payload, 1 << 20).expect("what has values has a text");
    let read = |row: &RowText| serde_json::from_str::<Vec<Value>>(row.get()).expect("the text is JSON");
    assert_eq!(texts.rows.iter().map(read).collect::<Vec<_>>(), table.rows, "texts say the same as values");
    if lies || breaks {
        return Ok(());
    }
    assert_eq!(table.rows.len(), height);
    for (index, made) in columns.iter().enumerate() {
        let Some(exact) = &made.exact else { continue };
        for (row, expected) in table.rows.iter().zip(exact) {
            let found = match &row[index] {
                Value::Null => None,
                Value::Number(number) => {
                    let whole = number.as_i64().expect("a whole number");
                    assert!(whole.unsigned_abs() <= 1 << 53, "{whole} is not exact for every reader");
                    Some(whole.to_string())
                }
                Value::String(text) => Some(text.clone()),
                other => panic!("{other} is no number"),
            };
            assert_eq!(&found, expected);
        }
    }
    Ok(())
}

impl std::fmt::Debug for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}", self.array, self.shape)
    }
}

/// Any claim about a type.
fn shape(bytes: &mut Unstructured, depth: usize) -> Result<Value> {
    let children = if depth > 3 { 0 } else { bytes.int_in_range(0..=2)? };
    let children = (0..children).map(|_| shape(bytes, depth + 1)).collect::<Result<Vec<_>>>()?;
    Ok(json!({ "id": bytes.int_in_range(0_u32..=60)?, "name": bytes.arbitrary::<String>()?, "children": children }))
}

fn plain(id: LogicalTypeId) -> Value {
    json!({ "id": id as u32, "name": "t", "children": [] })
}

fn some<T>(bytes: &mut Unstructured, height: usize) -> Result<Vec<Option<T>>>
where
    T: for<'a> libfuzzer_sys::arbitrary::Arbitrary<'a>,
{
    (0..height).map(|_| bytes.arbitrary()).collect()
}

fn texts<T: ToString>(values: &[Option<T>]) -> Exact {
    Some(values.iter().map(|value| value.as_ref().map(ToString::to_string)).collect())
}

/// A decimal number as people write it: digits, of which the last `scale` stand behind a point.
fn point(value: i128, scale: usize) -> String {
    let digits = format!("{:0>1$}", value.unsigned_abs(), scale + 1);
    let (whole, part) = digits.split_at(digits.len() - scale);
    let sign = if value < 0 { "-" } else { "" };
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
}

fn made(bytes: &mut Unstructured, height: usize, depth: usize) -> Result<Made> {
    use LogicalTypeId as Id;
    macro_rules! whole {
        ($array:ty, $native:ty, $id:expr) => {{
            let values = some::<$native>(bytes, height)?;
            let exact = texts(&values);
            (Arc::new(<$array>::from(values)) as ArrayRef, plain($id), exact)
        }};
    }
    macro_rules! other {
        ($array:ty, $native:ty, $id:expr) => {{ (Arc::new(<$array>::from(some::<$native>(bytes, height)?)) as ArrayRef, plain($id), None) }};
    }
    let last = if depth > 3 { 20 } else { 24 };
    let (array, shape, exact) = match bytes.int_in_range(0..=last)? {
        0 => whole!(Int8Array, i8, Id::Tinyint),
        1 => whole!(Int16Array, i16, Id::Smallint),
        2 => whole!(Int32Array, i32, Id::Integer),
        3 => whole!(Int64Array, i64, Id::Bigint),
        4 => whole!(UInt8Array, u8, Id::UTinyint),
        5 => whole!(UInt16Array, u16, Id::USmallint),
        6 => whole!(UInt32Array, u32, Id::UInteger),
        7 => whole!(UInt64Array, u64, Id::UBigint),
        8 => {
            let values = some::<i128>(bytes, height)?;
            let exact = texts(&values);
            let array = Decimal128Array::from(values).with_precision_and_scale(38, 0).expect("a precision");
            (Arc::new(array) as ArrayRef, plain(Id::Hugeint), exact)
        }
        9 => {
            let values = some::<u128>(bytes, height)?;
            let exact = texts(&values);
            let signed = Decimal128Array::from_iter(values.iter().map(|value| value.map(u128::cast_signed)));
            let array = signed.with_precision_and_scale(38, 0).expect("a precision");
            (Arc::new(array) as ArrayRef, plain(Id::UHugeint), exact)
        }
        10 => {
            let scale = bytes.int_in_range(0_u8..=38)?;
            let values = some::<i128>(bytes, height)?;
            let exact = values.iter().map(|value| value.map(|value| point(value, scale.into()))).collect();
            let array = Decimal128Array::from(values);
            let array = array.with_precision_and_scale(38, scale.cast_signed()).expect("a precision");
            (Arc::new(array) as ArrayRef, plain(Id::Decimal), Some(exact))
        }
        11 => other!(BooleanArray, bool, Id::Boolean),
        12 => other!(Float32Array, f32, Id::Float),
        13 => other!(Float64Array, f64, Id::Double),
        14 => other!(StringArray, String, Id::Varchar),
        15 => other!(Date32Array, i32, Id::Date),
        16 => other!(Time64MicrosecondArray, i64, Id::Time),
        17 => other!(TimestampSecondArray, i64, Id::TimestampS),
        18 => other!(TimestampNanosecondArray, i64, Id::TimestampNs),
        19 => {
            let values = some::<Vec<u8>>(bytes, height)?;
            let values: Vec<Option<&[u8]>> = values.iter().map(|value| value.as_deref()).collect();
            let id = if bytes.arbitrary()? { Id::Bit } else { Id::Blob };
            (Arc::new(BinaryArray::from(values)) as ArrayRef, plain(id), None)
        }
        20 => {
            let parts = some::<(i32, i32, i64)>(bytes, height)?;
            let whole = |(months, days, nanos)| IntervalMonthDayNano::new(months, days, nanos);
            let array = IntervalMonthDayNanoArray::from_iter(parts.into_iter().map(|value| value.map(whole)));
            (Arc::new(array) as ArrayRef, plain(Id::Interval), None)
        }
        21 => {
            let lengths = (0..height).map(|_| bytes.int_in_range(0..=3)).collect::<Result<Vec<usize>>>()?;
            let inner = made(bytes, lengths.iter().sum(), depth + 1)?;
            let field = Arc::new(Field::new("l", inner.array.data_type().clone(), true));
            let array = ListArray::new(field, OffsetBuffer::from_lengths(lengths), inner.array, None);
            let shape = json!({ "id": Id::List as u32, "name": "t[]", "children": [inner.shape] });
            (Arc::new(array) as ArrayRef, shape, None)
        }
        22 => {
            let (a, b) = (made(bytes, height, depth + 1)?, made(bytes, height, depth + 1)?);
            let field = |name: &str, of: &Made| Field::new(name, of.array.data_type().clone(), true);
            let fields = Fields::from(vec![field("a", &a), field(if bytes.arbitrary()? { "a" } else { "" }, &b)]);
            let array = StructArray::new(fields, vec![a.array, b.array], None);
            let shape = json!({ "id": Id::Struct as u32, "name": "s", "children": [a.shape, b.shape] });
            (Arc::new(array) as ArrayRef, shape, None)
        }
        23 => {
            let lengths = (0..height).map(|_| bytes.int_in_range(0..=3)).collect::<Result<Vec<usize>>>()?;
            let count = lengths.iter().sum();
            let (key, value) = (made(bytes, count, 4)?, made(bytes, count, depth + 1)?);
            let fields = Fields::from(vec![
                Field::new("key", key.array.data_type().clone(), false),
                Field::new("value", value.array.data_type().clone(), true),
            ]);
            // Keys that are missing make no map.
            let entries = StructArray::try_new(fields.clone(), vec![key.array, value.array], None);
            let entries = entries.map_err(|_| Error::IncorrectFormat)?;
            let field = Arc::new(Field::new("entries", DataType::Struct(fields), false));
            let shape = json!({ "id": Id::Map as u32, "name": "m", "children": [key.shape, value.shape] });
            let array = MapArray::new(field, OffsetBuffer::from_lengths(lengths), entries, None, false);
            (Arc::new(array) as ArrayRef, shape, None)
        }
        _ => (Arc::new(NullArray::new(height)) as ArrayRef, plain(Id::SqlNull), None),
    };
    Ok(Made { array, shape, exact })
}
