//! PostgreSQL's own parser, libpg_query, as WebAssembly in an interpreter: a text becomes the tree that a server would
//! make of it. Nothing is bound or run. What the parser does wrong stays in its box: it has no access to anything, a
//! budget of instructions and of memory, and each text gets an instance of its own.
//!
//! The module was built with Emscripten. Its imports are the calls of `setjmp` (`invoke_…`, which are answered as
//! Emscripten's own glue does) and an operating system that does not exist here. `tests.rs` shows that the names below
//! mean what they say.

use std::ffi::CStr;
use std::sync::OnceLock;

use wasmi::{
    Caller, Config, Engine, Error, Extern, ExternType, Instance, Linker, Memory, Module, Nullable, Ref, Store,
    StoreLimits, StoreLimitsBuilder, TrapCode, Val, WasmParams, WasmResults,
};

/// See `libpg_query/NOTE.md` for where it comes from.
const MODULE: &[u8] = include_bytes!("libpg_query/libpg-query.wasm");

/// Where a stack of 32 MiB ends and the heap starts, as the module was linked.
const LINKED_HEAP: u32 = 34_515_008;
/// The module's variable that holds where the heap starts.
const HEAP_START_AT: usize = 955_984;
/// Where they end and start here: a stack of 4 MiB, far more than [`MAX_CALLS`] need, and a heap behind it.
const STACK_TOP: u32 = 5 << 20;
/// The section that asks for 128 MiB of memory at first and 1 GiB at most. Each instance would fill them.
const LINKED_MEMORY: [u8; 9] = [5, 7, 1, 1, 0x80, 0x10, 0x80, 0x80, 0x01];
/// The same section with 8 MiB and [`MAX_MEMORY`].
const SMALL_MEMORY: [u8; 9] = [5, 7, 1, 1, 0x80, 0x01, 0x80, 0x88, 0x00];
/// Bytes; a text of 4 KiB takes less than 8 MiB.
const MAX_MEMORY: usize = 64 << 20;
/// Calls inside each other: bounds how deep a tree can be.
const MAX_CALLS: usize = 10_000;
/// Instructions, roughly: a text of 4 KiB takes a hundredth of it.
const FUEL: u64 = 1_000_000_000;

/// Imports that call a function of the module, so that it may be left by `longjmp`.
const INVOKES: [&str; 13] = ["a", "b", "d", "e", "f", "g", "h", "i", "j", "k", "l", "n", "y"];
const THROW_LONGJMP: &str = "p";
const RESIZE_HEAP: &str = "q";

/// What the parser says of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// JSON, as libpg_query writes it. Locations are offsets in bytes.
    Tree(String),
    /// The text is no SQL: the parser's message, and the character at which it stopped, from 1; 0 when unknown.
    Invalid { message: String, position: usize },
    /// The text takes too much time, memory or depth to parse.
    TooMuch,
}

/// Parses a text of any number of statements. It takes milliseconds of computing.
///
/// # Errors
/// What is wrong with the parser itself, never with the text.
pub(super) fn parse(sql: &str) -> Result<Parsed, String> {
    static PARSER: OnceLock<Result<Parser, String>> = OnceLock::new();
    let parser = PARSER.get_or_init(|| Parser::new().map_err(|problem| problem.to_string()));
    let parser = parser.as_ref().map_err(Clone::clone)?;
    match parser.parse(sql) {
        Ok(parsed) => Ok(parsed),
        Err(problem) => match problem.as_trap_code() {
            Some(TrapCode::OutOfFuel | TrapCode::StackOverflow | TrapCode::GrowthOperationLimited) => {
                Ok(Parsed::TooMuch)
            }
            // `abort` and what the C library does when there is no more memory.
            _ if problem.downcast_ref::<Left>() == Some(&Left::System) => Ok(Parsed::TooMuch),
            _ => Err(problem.to_string()),
        },
    }
}

/// Why the module is left in the middle.
#[derive(Debug, PartialEq, Eq)]
enum Left {
    /// By `longjmp`, to the nearest `invoke_…`.
    LongJmp,
    /// It asked for an operating system.
    System,
}

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Left::LongJmp => "longjmp",
            Left::System => "a call of the system",
        })
    }
}

impl wasmi::errors::HostError for Left {}

struct Parser {
    module: Module,
    linker: Linker<StoreLimits>,
}

impl Parser {
    fn new() -> Result<Self, Error> {
        let mut config = Config::default();
        config.consume_fuel(true).set_max_recursion_depth(MAX_CALLS).set_max_stack_height(8 << 20);
        let engine = Engine::new(&config);
        let module = Module::new(&engine, small()?)?;
        let mut linker = Linker::new(&engine);
        for import in module.imports() {
            let ExternType::Func(r#type) = import.ty() else { return Err(Error::new("not a function is imported")) };
            let name = import.name();
            let answer = if INVOKES.contains(&name) {
                invoke
            } else if name == THROW_LONGJMP {
                throw_longjmp
            } else if name == RESIZE_HEAP {
                resize_heap
            } else {
                no_system
            };
            linker.func_new(import.module(), name, r#type.clone(), answer)?;
        }
        Ok(Self { module, linker })
    }

    fn parse(&self, sql: &str) -> Result<Parsed, Error> {
        let limits = StoreLimitsBuilder::new().memory_size(MAX_MEMORY).trap_on_grow_failure(true).build();
        let mut store = Store::new(self.linker.engine(), limits);
        store.limiter(|limits| limits);
        store.set_fuel(FUEL)?;
        let instance = self.linker.instantiate_and_start(&mut store, &self.module)?;
        let mut at_work = AtWork { instance, memory: memory(instance.get_export(&store, "z"))?, store };
        at_work.start()?;

        let size = u32::try_from(sql.len()).ok().and_then(|size| size.checked_add(1));
        let text: u32 = at_work.call("C", (size.ok_or_else(|| Error::new("the text is too long"))?,))?;
        at_work.write(text, sql.as_bytes())?;
        at_work.write(text + u32::try_from(sql.len()).unwrap_or(0), &[0])?;
        let result: u32 = at_work.call("F", (text,))?;
        if result == 0 {
            return Ok(Parsed::TooMuch);
        }
        // PgQueryParseResult: the tree, what was written to stderr, the error.
        let (tree, error) = (at_work.word(result)?, at_work.word(result + 8)?);
        if error != 0 {
            // PgQueryError: message, function, file, line, position.
            let message = at_work.word(error)?;
            let position = usize::try_from(at_work.word(error + 16)?).unwrap_or(0);
            return Ok(Parsed::Invalid { message: at_work.text(message)?, position });
        }
        Ok(Parsed::Tree(at_work.text(tree)?))
    }
}

/// The module with less memory. The file itself stays as it was published.
fn small() -> Result<Vec<u8>, Error> {
    let at = MODULE.windows(LINKED_MEMORY.len()).position(|bytes| bytes == LINKED_MEMORY);
    let at = at.ok_or_else(|| Error::new("the module asks for another memory"))?;
    let mut module = MODULE.to_vec();
    module.iter_mut().skip(at).zip(SMALL_MEMORY).for_each(|(byte, small)| *byte = small);
    Ok(module)
}

/// An instance that parses one text.
struct AtWork {
    store: Store<StoreLimits>,
    instance: Instance,
    memory: Memory,
}

impl AtWork {
    /// Moves stack and heap together, and runs the constructors.
    fn start(&mut self) -> Result<(), Error> {
        if self.word(u32::try_from(HEAP_START_AT).unwrap_or(0))? != LINKED_HEAP {
            return Err(Error::new("the heap starts elsewhere"));
        }
        self.memory.write(&mut self.store, HEAP_START_AT, &STACK_TOP.to_le_bytes())?;
        self.call::<_, ()>("Q", (STACK_TOP,))?;
        self.call("A", ())
    }

    fn call<P: WasmParams, R: WasmResults>(&mut self, export: &str, arguments: P) -> Result<R, Error> {
        self.instance.get_typed_func::<P, R>(&self.store, export)?.call(&mut self.store, arguments)
    }

    fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), Error> {
        Ok(self.memory.write(&mut self.store, index(at), bytes)?)
    }

    fn word(&self, at: u32) -> Result<u32, Error> {
        let mut word = [0; 4];
        self.memory.read(&self.store, index(at), &mut word)?;
        Ok(u32::from_le_bytes(word))
    }

    /// A text that ends with a zero.
    fn text(&self, at: u32) -> Result<String, Error> {
        let bytes = self.memory.data(&self.store).get(index(at)..).filter(|_| at != 0);
        let bytes = bytes.ok_or_else(|| Error::new("a text out of bounds"))?;
        let text = CStr::from_bytes_until_nul(bytes).map_err(|_| Error::new("a text without an end"))?;
        String::from_utf8(text.to_bytes().to_vec()).map_err(|problem| Error::new(problem.to_string()))
    }
}

fn index(at: u32) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

fn memory(export: Option<Extern>) -> Result<Memory, Error> {
    export.and_then(Extern::into_memory).ok_or_else(|| Error::new("there is no memory"))
}

type Answered = Result<(), Error>;

/// Calls the function with the number of the first argument, and comes back where a `longjmp` leaves it.
fn invoke(mut caller: Caller<'_, StoreLimits>, arguments: &[Val], results: &mut [Val]) -> Answered {
    let export = |caller: &Caller<'_, StoreLimits>, name: &str| {
        let function = caller.get_export(name).and_then(Extern::into_func);
        function.ok_or_else(|| Error::new(format!("there is no function {name}")))
    };
    let mut stack = [Val::I32(0)];
    export(&caller, "R")?.call(&mut caller, &[], &mut stack)?;
    let table = caller.get_export("D").and_then(Extern::into_table).ok_or_else(|| Error::new("there is no table"))?;
    let (number, arguments) = arguments.split_first().ok_or_else(|| Error::new("nothing to invoke"))?;
    let number = number.i32().and_then(|number| u64::try_from(number).ok());
    let Some(Ref::Func(Nullable::Val(function))) = number.and_then(|number| table.get(&caller, number)) else {
        return Err(Error::new("there is no such function"));
    };
    match function.call(&mut caller, arguments, results) {
        Err(problem) if problem.downcast_ref::<Left>() == Some(&Left::LongJmp) => {
            export(&caller, "Q")?.call(&mut caller, &stack, &mut [])?;
            export(&caller, "P")?.call(&mut caller, &[Val::I32(1), Val::I32(0)], &mut [])?;
            for result in results {
                *result = Val::default_for_ty(result.ty());
            }
            Ok(())
        }
        ended => ended,
    }
}

fn throw_longjmp(_: Caller<'_, StoreLimits>, _: &[Val], _: &mut [Val]) -> Answered {
    Err(Error::host(Left::LongJmp))
}

/// The heap grows by itself as far as the limit allows.
fn resize_heap(mut caller: Caller<'_, StoreLimits>, arguments: &[Val], results: &mut [Val]) -> Answered {
    let memory = memory(caller.get_export("z"))?;
    let wanted = arguments.first().and_then(Val::i32).map_or(0, i32::cast_unsigned);
    let pages = u64::from(wanted).div_ceil(65_536);
    let more = pages.saturating_sub(memory.size(&caller));
    memory.grow(&mut caller, more)?;
    if let Some(result) = results.first_mut() {
        *result = Val::I32(1);
    }
    Ok(())
}

fn no_system(_: Caller<'_, StoreLimits>, _: &[Val], _: &mut [Val]) -> Answered {
    Err(Error::host(Left::System))
}
