use super::lanes::{Lanes, Work, each};
use super::matrix::Rows;
use super::waves::{gelu, weigh};
use super::*;
use crate::engine::search::embed::bert::tokenizer_of;

const WEIGHTS: &[u8] = include_bytes!("../minilm/model.safetensors");
const TOKENIZER: &[u8] = include_bytes!("../minilm/tokenizer.json");

/// Numbers that look like chance, -1 to 1.
fn numbers(seed: usize, count: usize) -> Vec<f32> {
    (0..count).map(|at| ((at * 7_919 + seed * 104_729) % 2_003) as f32 / 1_001.5 - 1.0).collect()
}

#[derive(Clone, Copy)]
struct Times<'a>(&'a Matrix, &'a [f32], usize);

impl Work for Times<'_> {
    type Output = Vec<f32>;

    fn on<L: Lanes>(self, lanes: L) -> Vec<f32> {
        let Self(matrix, rows, depth) = self;
        let mut read = Rows::default();
        read.read(rows, depth);
        let mut out = vec![f32::NAN; rows.len() / depth * matrix.width()];
        matrix.multiply(lanes, &read, &mut out);
        out
    }
}

/// What is left of a row between its least and its greatest number.
fn in_255_steps(row: &[f32]) -> Vec<f32> {
    let (least, most) = row.iter().fold((f32::MAX, f32::MIN), |(least, most), x| (least.min(*x), most.max(*x)));
    let steps = |x: &f32| ((x - least) * (255.0 / (most - least))).round_ties_even();
    row.iter().map(|x| least + steps(x) * ((most - least) / 255.0)).collect()
}

#[test]
fn rows_times_a_matrix_are_what_floats_would_be_on_every_processor() {
    for (count, depth, width) in [(1, 32, 16), (5, 64, 48), (6, 384, 32), (13, 96, 64)] {
        let weights: Vec<i8> = numbers(1, depth * width).iter().map(|x| (x * 7.9).floor() as i8).collect();
        let (scales, bias) = (numbers(2, depth * width / GROUP), numbers(3, width));
        let rows = numbers(4, count * depth);
        let matrix = Matrix::new(depth, &weights, &scales, &bias).unwrap();
        let rounded: Vec<f32> = rows.chunks(depth).flat_map(in_255_steps).collect();
        let of = |row: usize, column: usize| {
            let weight = |at: usize| f32::from(weights[column * depth + at]) * scales[(column * depth + at) / GROUP];
            bias[column] + (0..depth).map(|at| rounded[row * depth + at] * weight(at)).sum::<f32>()
        };
        for made in each(&Times(&matrix, &rows, depth)) {
            assert_eq!(made.len(), count * width);
            for (at, x) in made.iter().enumerate() {
                let expected = of(at / width, at % width);
                assert!((x - expected).abs() < 1e-3 * depth as f32, "{count} {depth} {width} {at}: {x} {expected}");
            }
        }
    }
}

#[test]
fn the_greatest_sums_do_not_overflow() {
    let depth = 64;
    for (weight, row) in [(-8_i8, 1.0_f32), (7, 1.0), (-8, -1.0)] {
        let matrix = Matrix::new(depth, &vec![weight; depth * 16], &[1.0; 32], &[0.0; 16]).unwrap();
        // One coordinate is the other end of the range.
        let mut rows = vec![row; depth];
        rows[0] = 0.0;
        let expected = f32::from(weight) * row * (depth - 1) as f32;
        for made in each(&Times(&matrix, &rows, depth)) {
            assert!(made.iter().all(|x| (x - expected).abs() < 1e-2), "{made:?} {expected}");
        }
    }
}

#[test]
fn a_matrix_of_another_shape_is_none() {
    assert!(Matrix::new(32, &[0; 512], &[0.0; 16], &[0.0; 16]).is_some());
    for (depth, weights, scales, bias) in
        [(31, 496, 16, 16), (32, 511, 16, 16), (32, 512, 15, 16), (32, 480, 15, 15), (0, 0, 0, 16)]
    {
        assert!(Matrix::new(depth, &vec![0; weights], &vec![0.0; scales], &vec![0.0; bias]).is_none());
    }
}

#[test]
fn the_curves_are_those_of_the_books() {
    let mut of = [0.0; 16];
    of[..6].copy_from_slice(&[1.0, -1.0, 2.0, 0.5, -3.0, 12.0]);
    gelu(&mut of);
    let expected = [0.841_344_7, -0.158_655_3, 1.954_499_7, 0.345_731_2, -0.004_049_7, 12.0, 0.0];
    for (x, expected) in of.iter().zip(expected) {
        assert!((x - expected).abs() < 1e-6, "{x} {expected}");
    }
    let mut row = numbers(5, 32);
    let whole = weigh(&mut row, 20, 3.0);
    let source = numbers(5, 20);
    let greatest = source.iter().copied().fold(f32::MIN, f32::max);
    for (x, source) in row.iter().zip(&source) {
        let expected = ((source - greatest) * 3.0).exp();
        assert!((x - expected).abs() < 1e-6 * expected, "{x} {expected}");
    }
    assert!((whole - row[..20].iter().sum::<f32>()).abs() < 1e-5);
    assert!(row[20..].iter().all(|x| *x < 1e-30));
}

#[test]
fn floats_of_16_bits_are_read() {
    for (bits, expected) in [
        (0x3c00_u16, 1.0),
        (0xbc00, -1.0),
        (0x0001, 5.960_464_5e-8),
        (0x7bff, 65_504.0),
        (0x3555, 0.333_251_95),
        (0, 0.0),
    ] {
        assert_eq!(half(bits.to_le_bytes()), expected, "{bits:x}");
    }
}

#[test]
fn meanings_are_those_of_the_same_weights_in_floats() {
    let long = include_str!("../minilm/LICENSE").split_at(1_000).1.split_at(900).0;
    let texts = ["x", "The flight was postponed.", "Größe, naïve façade 日本語 δ", long].map(str::to_owned);
    let model = Model::read(WEIGHTS, 128).unwrap();
    let tokenizer = tokenizer_of(TOKENIZER, 128).unwrap();
    let read: Vec<_> = texts.iter().map(|text| tokenizer.encode_fast(text.as_str(), true).unwrap()).collect();
    let pieces: Vec<&[u32]> = read.iter().map(tokenizers::Encoding::get_ids).collect();
    assert!(pieces.iter().any(|pieces| pieces.len() == 128) && pieces.iter().any(|pieces| pieces.len() == 3));
    let of = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>();
    let floats = in_floats(WEIGHTS, TOKENIZER, 128).unwrap().encode(&texts, "").unwrap();
    for ((made, expected), text) in model.encode(&pieces).iter().zip(&floats).zip(&texts) {
        let cosine = of(made, expected) / (of(made, made) * of(expected, expected)).sqrt();
        assert!(cosine > 0.999, "{cosine}: {text}");
    }
}

#[test]
fn a_file_that_is_broken_says_where() {
    let said = |file: Vec<u8>| Model::read(file.leak(), 128).err().unwrap();
    assert!(said(vec![1, 2]).contains("no header"));
    assert!(said(vec![9, 0, 0, 0, 0, 0, 0, 0, b'{']).contains("within its header"));
    let with = |header: &str| [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
    assert!(said(with("{}")).contains("embeddings.position_embeddings.weight.q4 is missing"));
    let outside = r#"{"embeddings.position_embeddings.weight.q4":{"data_offsets":[0,9]}}"#;
    assert!(said(with(outside)).contains("outside of the file"));
}
