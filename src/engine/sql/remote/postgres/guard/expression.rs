//! Expressions.

use serde_json::Value;

use super::functions;
use super::query::unexpected;
use super::walk::{Fields, Walk};
use crate::engine::sql::guard::{Refusal, Verdict, unknown};

/// Columns that every table has and that show how it is stored.
const SYSTEM_COLUMNS: [&str; 6] = ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"];

/// Words for dates and times; the others of their kind show who is connected, and where.
const TIMES: [&str; 9] = [
    "SVFOP_CURRENT_DATE",
    "SVFOP_CURRENT_TIME",
    "SVFOP_CURRENT_TIME_N",
    "SVFOP_CURRENT_TIMESTAMP",
    "SVFOP_CURRENT_TIMESTAMP_N",
    "SVFOP_LOCALTIME",
    "SVFOP_LOCALTIME_N",
    "SVFOP_LOCALTIMESTAMP",
    "SVFOP_LOCALTIMESTAMP_N",
];

impl Walk<'_> {
    pub(super) fn expressions(&mut self, expressions: &[Value]) -> Verdict {
        expressions.iter().try_for_each(|expression| self.expression(expression))
    }

    pub(super) fn optional(&mut self, value: Option<&Value>) -> Verdict {
        value.map_or(Ok(()), |value| self.expression(value))
    }

    /// Opens a node whose deep fields are expressions or lists of them.
    fn plainly(&mut self, value: &Value, what: &str, plain: &[&str], one: &[&str], many: &[&str]) -> Verdict {
        let fields = self.open(value, what, plain, &[one, many].concat())?;
        for key in one {
            self.optional(fields.get(key))?;
        }
        many.iter().try_for_each(|key| self.expressions(fields.list(key)?))
    }

    pub(super) fn expression(&mut self, value: &Value) -> Verdict {
        // DISTINCT without columns is an empty place.
        let Some((kind, inside)) = self.node(value)? else { return Ok(()) };
        match kind {
            "A_Const" => self.constant(inside),
            "ColumnRef" => self.column(inside),
            "A_Expr" => self.operation(inside),
            "List" => self.plainly(inside, "list", &[], &[], &["items"]),
            "BoolExpr" => self.plainly(inside, "condition", &["boolop"], &[], &["args"]),
            "NullTest" => self.plainly(inside, "IS NULL", &["nulltesttype", "argisrow"], &["arg"], &[]),
            "BooleanTest" => self.plainly(inside, "IS TRUE", &["booltesttype"], &["arg"], &[]),
            "CaseExpr" => self.plainly(inside, "CASE", &[], &["arg", "defresult"], &["args"]),
            "CaseWhen" => self.plainly(inside, "WHEN", &[], &["expr", "result"], &[]),
            "CoalesceExpr" => self.plainly(inside, "COALESCE", &[], &[], &["args"]),
            "MinMaxExpr" => self.plainly(inside, "GREATEST", &["op"], &[], &["args"]),
            "GroupingFunc" => self.plainly(inside, "GROUPING", &[], &[], &["args"]),
            "GroupingSet" => self.plainly(inside, "GROUP BY", &["kind"], &[], &["content"]),
            "RowExpr" => self.plainly(inside, "ROW", &["row_format"], &[], &["args"]),
            "A_ArrayExpr" => self.plainly(inside, "ARRAY", &["list_start", "list_end"], &[], &["elements"]),
            "NamedArgExpr" => self.plainly(inside, "argument", &["name", "argnumber"], &["arg"], &[]),
            "FuncCall" => self.call(inside, functions::in_expression),
            "SubLink" => self.subquery(inside),
            "TypeCast" => {
                let cast = self.open(inside, "CAST", &[], &["arg", "typeName"])?;
                self.type_name(cast.get("typeName").ok_or_else(|| unknown("CAST", "type"))?)?;
                self.optional(cast.get("arg"))
            }
            "CollateClause" => {
                let collate = self.open(inside, "COLLATE", &[], &["arg", "collname"])?;
                let name = self.names(collate.list("collname")?)?;
                if !matches!(name[..], [_] | ["pg_catalog", _]) {
                    return Err(Refusal::new(
                        "qualified_name",
                        &name.join("."),
                        "Collations have plain names here.",
                        "Write COLLATE \"C\".",
                    ));
                }
                self.optional(collate.get("arg"))
            }
            "A_Indirection" => self.part(inside),
            "SQLValueFunction" => {
                let word = self.open(inside, "value", &["op", "typmod"], &[])?.word("op");
                if TIMES.contains(&word) {
                    return Ok(());
                }
                let name = word.trim_start_matches("SVFOP_").to_ascii_lowercase();
                let message = format!("{name} may not be used: it shows the state of the server.");
                Err(Refusal::new("value_name", &name, message, "Leave it out."))
            }
            "ParamRef" => {
                let message = "Parameters ($1) have no values here.";
                Err(Refusal::new("expression", "$", message, "Write the value itself."))
            }
            "XmlExpr" | "XmlSerialize" => {
                let message = "XML functions may not be used.";
                Err(Refusal::new("function", "XML", message, "Use JSON functions, or read the columns themselves."))
            }
            other => Err(unknown("expression", other)),
        }
    }

    fn constant(&mut self, value: &Value) -> Verdict {
        let constant = self.open(value, "constant", &["isnull"], &["ival", "fval", "boolval", "sval", "bsval"])?;
        for key in ["ival", "fval", "boolval", "sval", "bsval"] {
            if let Some(value) = constant.get(key) {
                self.open(value, "constant", &[key], &[])?;
            }
        }
        Ok(())
    }

    fn column(&mut self, value: &Value) -> Verdict {
        let column = self.open(value, "column", &[], &["fields"])?;
        let mut path = vec![];
        for field in column.list("fields")? {
            if let Some(name) = self.field(field)? {
                path.push(name);
            }
        }
        for name in &path {
            if SYSTEM_COLUMNS.contains(name) {
                let message = format!("{name} may not be used: it shows how rows are stored.");
                return Err(Refusal::new("column", name, message, "Use the columns of the table."));
            }
        }
        if let Some(name) = path.last() {
            self.level()?.column(name);
        }
        // t.name means name(t) where t has no such column.
        path.iter().skip(1).try_for_each(|name| functions::as_column(name))
    }

    /// `.name`, or `.*` without a name.
    fn field<'v>(&mut self, value: &'v Value) -> Verdict<Option<&'v str>> {
        if let Some(star) = value.get("A_Star") {
            self.node(value)?;
            self.open(star, "*", &[], &[])?;
            return Ok(None);
        }
        self.name(value).map(Some)
    }

    /// `(value).name`, `value[1]`, `value[1:2]`.
    fn part(&mut self, value: &Value) -> Verdict {
        let part = self.open(value, "part", &[], &["arg", "indirection"])?;
        self.optional(part.get("arg"))?;
        for step in part.list("indirection")? {
            if let Some(indices) = step.get("A_Indices") {
                self.node(step)?;
                self.plainly(indices, "index", &["is_slice"], &["lidx", "uidx"], &[])?;
            } else if let Some(name) = self.field(step)? {
                functions::as_column(name)?;
            }
        }
        Ok(())
    }

    fn operation(&mut self, value: &Value) -> Verdict {
        let plain = ["kind", "rexpr_list_start", "rexpr_list_end"];
        let operation = self.open(value, "operator", &plain, &["name", "lexpr", "rexpr"])?;
        let name = self.names(operation.list("name")?)?;
        match operation.word("kind") {
            "AEXPR_BETWEEN" | "AEXPR_NOT_BETWEEN" | "AEXPR_BETWEEN_SYM" | "AEXPR_NOT_BETWEEN_SYM" => {}
            "AEXPR_OP" | "AEXPR_OP_ANY" | "AEXPR_OP_ALL" | "AEXPR_DISTINCT" | "AEXPR_NOT_DISTINCT" | "AEXPR_NULLIF"
            | "AEXPR_IN" | "AEXPR_LIKE" | "AEXPR_ILIKE" | "AEXPR_SIMILAR" => functions::operator(&name)?,
            other => return Err(unknown("operator", other)),
        }
        self.optional(operation.get("lexpr"))?;
        self.optional(operation.get("rexpr"))
    }

    fn subquery(&mut self, value: &Value) -> Verdict {
        let deep = ["testexpr", "operName", "subselect"];
        let link = self.open(value, "subquery", &["subLinkType", "subLinkId"], &deep)?;
        let operator = self.names(link.list("operName")?)?;
        if !operator.is_empty() {
            functions::operator(&operator)?;
        }
        self.optional(link.get("testexpr"))?;
        let (inner, copies) = self.query(link.get("subselect").ok_or_else(|| unknown("subquery", "empty"))?)?;
        let level = self.level()?;
        level.reads(copies);
        level.holds(inner);
        Ok(())
    }

    /// A function, an aggregate or a window function; `allowed` says which, where it stands.
    pub(super) fn call(&mut self, value: &Value, allowed: fn(&str) -> Verdict) -> Verdict {
        let plain = ["agg_within_group", "agg_star", "agg_distinct", "func_variadic", "funcformat"];
        let call = self.open(value, "function", &plain, &["funcname", "args", "agg_order", "agg_filter", "over"])?;
        let name = match self.names(call.list("funcname")?)?[..] {
            [name] | ["pg_catalog", name] => name,
            ref path => {
                let path = path.join(".");
                let message = format!("Functions have plain names here, and {path} has more than one part.");
                return Err(Refusal::new("qualified_name", &path, message, "Use PostgreSQL's built-in functions."));
            }
        };
        allowed(name)?;
        self.arguments(name, &call)?;
        self.orders(call.list("agg_order")?)?;
        self.optional(call.get("agg_filter"))?;
        call.get("over").map_or(Ok(()), |window| self.window(window))
    }

    fn arguments(&mut self, name: &str, call: &Fields<'_>) -> Verdict {
        let arguments = call.list("args")?;
        functions::arguments(name, arguments)?;
        let amplifies = functions::amplifies(name);
        if amplifies && self.amplifiers > 0 {
            let message = format!("{name} may not stand inside another function of its kind.");
            return Err(Refusal::new("amplifier", name, message, "Use one of them."));
        }
        self.amplifiers += usize::from(amplifies);
        self.expressions(arguments)?;
        self.amplifiers -= usize::from(amplifies);
        Ok(())
    }

    /// A window, in `OVER (…)` or in `WINDOW`.
    pub(super) fn window(&mut self, value: &Value) -> Verdict {
        let plain = ["name", "refname", "frameOptions"];
        let deep = ["partitionClause", "orderClause", "startOffset", "endOffset"];
        let window = self.open(value, "window", &plain, &deep)?;
        self.expressions(window.list("partitionClause")?)?;
        self.orders(window.list("orderClause")?)?;
        self.optional(window.get("startOffset"))?;
        self.optional(window.get("endOffset"))
    }

    pub(super) fn type_name(&mut self, value: &Value) -> Verdict {
        let r#type = self.open(value, "type", &["typemod"], &["names", "typmods", "arrayBounds"])?;
        let names = self.names(r#type.list("names")?)?;
        functions::type_name(&names)?;
        for modifier in r#type.list("typmods")? {
            let Some(("A_Const", constant)) = self.node(modifier)? else {
                let message = "The parameters of a type must be literals.";
                return Err(Refusal::new("literal", "type", message, "Write numeric(10, 2)."));
            };
            self.constant(constant)?;
        }
        for bound in r#type.list("arrayBounds")? {
            match self.node(bound)? {
                Some(("Integer", bound)) => self.open(bound, "type", &["ival"], &[])?,
                other => return Err(unexpected("type", other)),
            };
        }
        Ok(())
    }
}
