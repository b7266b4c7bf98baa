//! Times in milliseconds, and tables of them.

use std::time::{Duration, Instant};

/// Milliseconds, in order.
#[derive(Clone, Default)]
pub struct Times(Vec<f64>);

impl Times {
    pub fn add(&mut self, took: Duration) {
        self.0.push(took.as_secs_f64() * 1e3);
        self.0.sort_by(f64::total_cmp);
    }

    pub fn of(mut millis: Vec<f64>) -> Self {
        millis.sort_by(f64::total_cmp);
        Self(millis)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The value that so great a part of them does not exceed.
    pub fn rank(&self, part: f64) -> f64 {
        let index = (part * self.0.len() as f64).ceil() as usize;
        self.0.get(index.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }

    pub fn median(&self) -> f64 {
        self.rank(0.5)
    }

    pub fn p99(&self) -> f64 {
        self.rank(0.99)
    }

    pub fn max(&self) -> f64 {
        self.rank(1.0)
    }
}

/// How long something took, and its result.
pub fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let result = work();
    (started.elapsed(), result)
}

/// A table with its first column to the left and the others to the right.
pub fn print(title: &str, head: &[&str], rows: &[Vec<String>]) {
    println!("\n{title}");
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([head[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.iter().zip(&widths).enumerate().map(|(index, (cell, width))| match index {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        println!("  {}", cells.collect::<Vec<_>>().join("  "));
    };
    line(head.to_vec());
    for row in rows {
        line(row.iter().map(String::as_str).collect());
    }
}

/// What else the machine does: its processors, and how many threads wanted to run in the last minute.
pub fn load(when: &str) {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    let processors = std::thread::available_parallelism().unwrap();
    println!("[{when}: {processors} processors, load {}]", load.split(' ').next().unwrap());
}

pub fn ms(millis: f64) -> String {
    match millis {
        millis if millis < 10.0 => format!("{millis:.2}"),
        millis if millis < 100.0 => format!("{millis:.1}"),
        millis => format!("{millis:.0}"),
    }
}

pub fn mb(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 20))
}
