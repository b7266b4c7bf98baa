//! Files and functions stay readable, and folders have names that tools do not take for what they built.

use super::circles;
use super::imports::LAYERS;
use super::sources::{Function, Program, Source, below, root};

/// Lines that a function may have.
const LINES: usize = 100;

/// Functions that have more, each with the reason. The list only shrinks.
const LONG: &[(&str, &str, &str)] = &[];

/// A room that is going to be replaced as a whole: its functions are as long as they are.
fn is_excused(file: &str) -> bool {
    file.starts_with("src/engine/agent/english/")
}

/// Names under which tools keep what they built, and skip what they find.
const OUTPUT: [&str; 10] =
    ["bin", "build", "coverage", "debug", "dist", "node_modules", "obj", "out", "release", "target"];

/// Lines of production of each file, the shortest first.
fn lengths(program: &Program) -> Vec<(usize, &str)> {
    let mut sizes: Vec<_> = program.files().map(|source| (source.lines.len(), source.name.as_str())).collect();
    sizes.sort_unstable();
    sizes
}

fn functions(program: &Program) -> impl Iterator<Item = (&str, &Function)> {
    program.files().flat_map(|source| source.functions.iter().map(|function| (source.name.as_str(), function)))
}

/// The house in numbers: `cargo test --test it -- files_stay_readable --nocapture`.
fn say(program: &Program, sizes: &[(usize, &str)]) {
    println!("layer        files   lines");
    for (layer, _) in LAYERS {
        let within = |source: &&Source| {
            let rest = source.name.trim_start_matches("src/");
            rest.split(['/', '.']).next() == Some(layer)
        };
        let (files, lines) = program
            .files()
            .filter(within)
            .fold((0, 0), |(files, lines), source| (files + 1, lines + source.lines.len()));
        println!("{layer:<10} {files:>7} {lines:>7}");
    }
    println!("{:<10} {:>7} {:>7}", "all", sizes.len(), sizes.iter().map(|(lines, _)| lines).sum::<usize>());
    println!("median {}, 90th percentile {}", sizes[sizes.len() / 2].0, sizes[sizes.len() * 9 / 10].0);
    println!("\nlargest files");
    sizes.iter().rev().take(15).for_each(|(lines, name)| println!("{lines:>7} {name}"));
    let mut functions: Vec<_> = functions(program).map(|(file, function)| (function, file)).collect();
    functions.sort_unstable();
    let long = functions.iter().filter(|(function, _)| function.lines > LINES).count();
    println!("\n{} functions, {long} of more than {LINES} lines; the largest", functions.len());
    functions
        .iter()
        .rev()
        .take(40)
        .for_each(|(function, file)| println!("{:>7} {} ({file})", function.lines, function.name));
    let circles = circles::all(program);
    let members: usize = circles.iter().map(|(_, circle)| circle.split(' ').count()).sum();
    println!("\n{} circles, {members} members", circles.len());
    circles.iter().for_each(|(folder, circle)| println!("{folder}: {circle}"));
}

#[test]
fn files_stay_readable() {
    let program = Program::read();
    let sizes = lengths(program);
    say(program, &sizes);
    let too_long: Vec<_> = sizes.iter().filter(|(lines, _)| *lines > 500).collect();
    assert!(too_long.is_empty(), "more than 500 lines of production: {too_long:#?}");
    let (p90, name) = &sizes[sizes.len() * 9 / 10];
    assert!(*p90 <= 300, "a tenth of the files is longer than {name} with {p90} lines");
    let (median, _) = &sizes[sizes.len() / 2];
    assert!(*median <= 120, "the median file has {median} lines");
}

#[test]
fn functions_stay_readable() {
    let program = Program::read();
    let found = functions(program).filter(|(file, function)| !is_excused(file) && function.lines > LINES);
    let found: Vec<_> = found.collect();
    let is =
        |known: &(&str, &str, &str), (file, function): &(&str, &Function)| known.0 == *file && known.1 == function.name;
    let new: Vec<_> = found.iter().filter(|one| !LONG.iter().any(|known| is(known, one))).collect();
    let gone: Vec<_> = LONG.iter().filter(|known| !found.iter().any(|one| is(known, one))).collect();
    assert!(new.is_empty(), "functions of more than {LINES} lines: {new:#?}");
    assert!(gone.is_empty(), "these are short now, and the list should say so: {gone:#?}");
}

#[test]
fn no_folder_is_named_like_what_tools_build() {
    for path in ["src", "migrations", "tests/it", "tests/bench"].into_iter().flat_map(below) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(!(root().join(&path).is_dir() && OUTPUT.contains(&name.as_str())), "{}", path.display());
    }
}
