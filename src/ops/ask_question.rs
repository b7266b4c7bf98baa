//! `ask_question`: a question in plain words over an ontology, answered with a number, how it was read, a chart and
//! where it came from; or with a question back; or with why there is no answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::Id;
use crate::base::json;
use crate::base::secret::sha256_hex;
use crate::engine::agent::conversation::{Answered, Ask, Body};
use crate::engine::agent::stages::Record;
use crate::engine::job::Job;
use crate::gateway::operation::{Asks, Blocks, Cost, Info, Operation, Parts, Question, Route, Toolset};
use crate::model::access::{Action, Want};
use crate::model::chart::ChartSpec;
use crate::model::error::{Code, Result};
use crate::model::lineage::Lineage;
use crate::model::ontology::OntologyRef;
use crate::model::query::Query;
use crate::model::run::{Caveat, Conversation, Ending, Run, Understood};
use crate::model::table::{Column, Table};

/// Rows that the narrative itself shows; a table of more is a block of its own.
const TOLD_ROWS: usize = 20;

/// Bytes of a reply around what is in it: names, ids, the request's.
const AROUND: usize = 1_000;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AskQuestion {
    /// Id or name, from dragoman_list_ontologies. Leave it out where there is one only.
    #[serde(default)]
    pub ontology_id: Option<OntologyRef>,
    /// In plain words: "total premium by policy number in 2019". In a conversation also "and by carrier?", or the answer
    /// to what was asked back.
    #[schemars(length(min = 1, max = 2000))]
    pub question: String,
    /// Of the reply before, to go on with it.
    #[serde(default)]
    pub conversation_id: Option<Id<Conversation>>,
    /// Whether the chart comes as an image (SVG) too; over REST in `images`.
    #[serde(default)]
    pub image: bool,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    /// Give it with the next question that belongs to this one.
    pub conversation_id: Id<Conversation>,
    /// Names what happened on the way; people open it in the console.
    pub trace_id: Id<Run>,
    pub outcome: Ending,
    /// Markdown: the answer first, then how it was read, then caveats. Complete by itself.
    pub narrative: String,
    /// How the question was read, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_as: Option<String>,
    /// How what the question left open was settled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// What makes the answer less than it seems: tell the person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
    /// Whether every check of the result was made and passed; absent when there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chart_specs: Option<ChartSpecs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_lineage: Option<Lineage>,
    /// How the question was read, to change and run again with dragoman_query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<Query>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clarification_request: Option<ClarificationRequest>,
    /// Where there is no answer: what was read, what comes near, and how to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub understood: Option<Understood>,
    /// The answer as a table, as many rows as fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<Shown>,
    /// The charts as SVG; not part of what models read.
    #[serde(skip)]
    pub svg: Vec<String>,
    /// Whether they were asked for.
    #[serde(skip)]
    pub image: bool,
}

/// Charts of an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChartSpecs {
    /// Always `chart_specs`.
    #[serde(rename = "_type")]
    pub kind: &'static str,
    pub charts: Vec<ChartSpec>,
}

/// What is asked back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClarificationRequest {
    /// Always `clarification_request`.
    #[serde(rename = "_type")]
    pub kind: &'static str,
    /// At most three. Answer them all in the next question, one line each, with the conversation's id.
    pub questions: Vec<Question>,
}

/// Rows of an answer, as for dragoman_sql.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Value>>,
    /// Rows of the whole answer.
    pub row_count: usize,
    /// Whether rows are left out here, or the answer had more than an answer may have.
    pub truncated: bool,
}

impl Operation for AskQuestion {
    const INFO: Info = Info {
        name: "ask_question",
        title: "Ask a question",
        description: "Answers a question in plain words over an ontology: the numbers, how it was read, a chart, where \
                      they come from, and its `query` to change and run again. Where you can write it with names of the \
                      ontology, dragoman_query is exact; either comes before dragoman_sql. It may ask back: call it again \
                      with the same conversationId and the answers as the question. It may say that it cannot answer: do \
                      not guess then; `understood` has what was read, near names, and how to go on with dragoman_query. \
                      Tell the person its assumptions and caveats.",
        action: Action::RunSql,
        cost: Cost::Ask,
        toolsets: &[Toolset::Ask],
        view: Some("ui://dragoman/chart.html"),
        route: Route { method: "POST", path: "/ask" },
        time: |budgets| budgets.ask_time,
        example: r#"{"ontologyId":"01936f2e-7c1a-7000-8000-000000000001","question":"How many flights were there by carrier in July 2013?"}"#,
        ..Info::READ
    };
    type Reply = Reply;
    const WANT: Want = Want::All;
    const LATE: Code = Code::AgentTimeout;

    /// A digest of the question and no word of it. The record can never be erased, and a question may hold what has to be:
    /// a name, a stored value. With the digest it can still be shown that somebody asked this very question.
    fn target(&self) -> String {
        let digest: String = sha256_hex(self.question.as_bytes()).chars().take(16).collect();
        format!("{} sha256:{digest}", OntologyRef::recorded(self.ontology_id.as_ref()))
    }

    fn rows(reply: &Reply) -> usize {
        reply.table.as_ref().map_or(0, |table| table.rows.len())
    }

    fn blocks(reply: &Reply) -> Option<Blocks> {
        let (conversation_id, trace_id) = (reply.conversation_id, reply.trace_id);
        // With what a client needs to go on, for those that show a model texts only.
        let texts = match &reply.clarification_request {
            Some(asked) => vec![text(&Asked { asked, conversation_id, understood: reply.understood.as_ref() })],
            None => [
                Some(reply.narrative.clone()),
                (!reply.caveats.is_empty()).then(|| text(&Warned::of(reply))),
                reply.chart_specs.as_ref().map(text),
                reply.data_lineage.as_ref().map(text),
                reply
                    .table
                    .as_ref()
                    .filter(|table| table.row_count > TOLD_ROWS)
                    .map(|table| text(&Tagged { kind: "table", block: table })),
                reply.understood.as_ref().map(|understood| text(&Tagged { kind: "understood", block: understood })),
                Some(text(&Spoken { kind: "conversation", conversation_id, trace_id, query: reply.query.as_ref() })),
            ]
            .into_iter()
            .flatten()
            .collect(),
        };
        Some(Blocks { texts, pictures: reply.svg.clone() })
    }

    fn images(reply: &Reply) -> &[String] {
        if reply.image { &reply.svg } else { &[] }
    }

    fn asks(reply: &Reply) -> Option<Asks> {
        let asked = reply.clarification_request.as_ref()?;
        Some(Asks { questions: asked.questions.clone(), conversation: reply.conversation_id.to_string() })
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let questions = &on.engines.questions;
        let ask = Ask {
            ontology: questions.meant(job, self.ontology_id.as_ref(), self.conversation_id).await?,
            question: self.question,
            conversation: self.conversation_id,
            record: Record::default(),
        };
        let answered = questions.ask(job, ask).await?;
        Ok(reply(answered, self.image, on.config.limits.budgets.reply_bytes))
    }
}

/// The block of what is asked back.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Asked<'a> {
    #[serde(flatten)]
    asked: &'a ClarificationRequest,
    conversation_id: Id<Conversation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    understood: Option<&'a Understood>,
}

/// The block of caveats.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Warned<'a> {
    #[serde(rename = "_type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_as: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    assumptions: &'a [String],
    caveats: &'a [Caveat],
}

impl<'a> Warned<'a> {
    fn of(reply: &'a Reply) -> Self {
        let Reply { read_as, assumptions, caveats, .. } = reply;
        Self { kind: "caveats", read_as: read_as.as_deref(), assumptions, caveats }
    }
}

/// The block of a part that does not name its kind itself.
#[derive(Serialize)]
struct Tagged<'a, T> {
    #[serde(rename = "_type")]
    kind: &'static str,
    #[serde(flatten)]
    block: &'a T,
}

/// The block of what a client needs to go on.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spoken<'a> {
    #[serde(rename = "_type")]
    kind: &'static str,
    conversation_id: Id<Conversation>,
    trace_id: Id<Run>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<&'a Query>,
}

/// A block's JSON. Like the reply that it is a part of, it always has one.
fn text(block: &impl Serialize) -> String {
    serde_json::to_string(block).unwrap_or_default()
}

/// What may be long is left out until all of it fits into a reply's bytes: charts, then rows, then pictures.
pub(super) fn reply(answered: Answered, image: bool, bytes: usize) -> Reply {
    let Answered { conversation, run, ending, body } = answered;
    let Body { narrative, read_as, assumptions, caveats, verified, mut charts, svg, .. } = body;
    let Body { lineage, asked, table, query, understood, .. } = body;
    let questions: Vec<Question> = asked
        .into_iter()
        .map(|asked| Question {
            question: asked.question,
            suggestions: asked.options.into_iter().map(|option| option.label).collect(),
            assumption: asked.assumption,
        })
        .collect();
    charts.truncate(fitting(charts.iter().map(size), bytes / 4));
    let mut reply = Reply {
        conversation_id: conversation,
        trace_id: run,
        outcome: ending,
        narrative,
        read_as,
        assumptions,
        caveats,
        verified,
        chart_specs: (!charts.is_empty()).then_some(ChartSpecs { kind: "chart_specs", charts }),
        data_lineage: lineage,
        query,
        clarification_request: (!questions.is_empty())
            .then_some(ClarificationRequest { kind: "clarification_request", questions }),
        understood,
        table: None,
        image,
        svg: Vec::new(),
    };
    let left = bytes.saturating_sub(size(&reply) + AROUND);
    reply.table = table.map(|table| shown(table, left.min(bytes / 4)));
    let left = left.saturating_sub(size(&reply.table));
    let drawn = reply.chart_specs.as_ref().map_or(0, |specs| specs.charts.len());
    reply.svg = svg.into_iter().take(drawn).collect();
    reply.svg.truncate(fitting(reply.svg.iter().map(String::len), left.min(bytes / 2)));
    reply
}

/// A table with as many of its rows as there is room for.
fn shown(table: Table, mut room: usize) -> Shown {
    let row_count = table.rows.len();
    let mut fits = |row: &Vec<Value>| {
        let size = size(row).saturating_add(1);
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    };
    let rows: Vec<Vec<Value>> = table.rows.into_iter().map_while(|row| fits(&row).then_some(row)).collect();
    Shown { truncated: table.truncated || rows.len() < row_count, columns: table.columns, rows, row_count }
}

/// As JSON; what has none fits nowhere.
fn size(of: &impl Serialize) -> usize {
    json::size(of).unwrap_or(usize::MAX)
}

/// How many of the first fit together.
fn fitting(sizes: impl Iterator<Item = usize>, room: usize) -> usize {
    let whole = sizes.scan(0_usize, |all, size| {
        *all = all.saturating_add(size);
        Some(*all)
    });
    whole.take_while(|all| *all <= room).count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::clock::Clock;
    use crate::gateway::WithId;
    use crate::model::chart::Point;
    use crate::model::run::CaveatKind;

    fn answer(rows: usize, image: bool) -> Reply {
        let clock = Clock::manual(0);
        let rows = (0..rows).map(|row| vec![json!(row)]).collect::<Vec<_>>();
        Reply {
            conversation_id: Id::new(&clock),
            trace_id: Id::new(&clock),
            outcome: Ending::Answer,
            narrative: "18 cakes".into(),
            read_as: Some("Number of cakes".into()),
            assumptions: vec![],
            caveats: vec![],
            verified: Some(true),
            chart_specs: Some(ChartSpecs { kind: "chart_specs", charts: vec![] }),
            data_lineage: None,
            clarification_request: None,
            query: None,
            understood: None,
            table: Some(Shown { columns: vec![], row_count: rows.len(), rows, truncated: false }),
            svg: vec!["<svg/>".into()],
            image,
        }
    }

    /// The blocks of a reply as JSON; the narrative is none.
    fn blocks(reply: &Reply) -> Vec<Value> {
        let blocks = AskQuestion::blocks(reply).unwrap();
        assert_eq!(blocks.pictures, reply.svg, "for the view, whatever was asked for");
        blocks.texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect()
    }

    #[test]
    fn each_block_is_a_part_of_the_structure_and_pictures_are_in_none() {
        let reply = answer(21, false);
        let text = WithId { reply: &reply, request_id: "r" }.text().unwrap();
        assert!(!text.contains("svg"), "{text}");
        let whole: Value = serde_json::from_str(&text).unwrap();
        let found = blocks(&reply);
        let kinds: Vec<&str> = found.iter().map(|block| block["_type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["chart_specs", "table", "conversation"]);
        assert_eq!(found[0], whole["chartSpecs"]);
        assert_eq!(found[1]["rows"], whole["table"]["rows"]);
        let ids = ["conversationId", "traceId"].map(|id| (&found[2][id], &whole[id]));
        assert!(ids.iter().all(|(block, whole)| block == whole && whole.is_string()), "{found:?}");
        assert_eq!(blocks(&answer(20, false)).len(), 2, "the narrative shows so many rows itself");
    }

    #[test]
    fn caveats_are_a_block_of_their_own_where_there_are_any() {
        let reply = Reply {
            caveats: vec![CaveatKind::Incomplete.says("The first 2 of 9 rows are shown.")],
            ..answer(1, false)
        };
        let found = blocks(&reply);
        let warned = json!({
            "_type": "caveats",
            "readAs": "Number of cakes",
            "caveats": [{ "kind": "incomplete", "says": "The first 2 of 9 rows are shown." }]
        });
        assert_eq!(found[0], warned);
        assert!(blocks(&answer(1, false)).iter().all(|block| block["_type"] != "caveats"));
    }

    #[test]
    fn what_is_asked_back_stands_alone_with_what_goes_on() {
        let question = Question { question: "By what?".into(), suggestions: vec![], assumption: "pieces".into() };
        let asked = ClarificationRequest { kind: "clarification_request", questions: vec![question] };
        let reply = Reply { clarification_request: Some(asked), ..answer(30, false) };
        let [block] = blocks(&reply).try_into().unwrap();
        assert_eq!(block["_type"], "clarification_request");
        assert_eq!(block["questions"][0]["question"], "By what?");
        assert_eq!(block["conversationId"], json!(reply.conversation_id));
    }

    #[test]
    fn what_may_be_long_is_left_out_until_the_rest_fits() {
        let clock = Clock::manual(0);
        let chart = |points: usize| {
            let point = Point { x: 1.5, y: 2.5, label: Some("a label".into()) };
            let spec = json!({ "type": "scatter", "title": "t", "points": vec![point; points] });
            serde_json::from_value::<ChartSpec>(spec).unwrap()
        };
        let of = |charts: Vec<ChartSpec>, rows: usize, svg: Vec<usize>, sql: usize| {
            let rows = vec![vec![json!("some text in a row")]; rows];
            let table = Table { columns: vec![], rows, truncated: false };
            let lineage = Lineage { sql: "x".repeat(sql), ..Lineage::default() };
            let body = Body {
                charts,
                svg: svg.into_iter().map(|size| "s".repeat(size)).collect(),
                lineage: Some(lineage),
                table: Some(table),
                ..Body::default()
            };
            let answered =
                Answered { conversation: Id::new(&clock), run: Id::new(&clock), ending: Ending::Answer, body };
            let reply = super::reply(answered, false, 20_000);
            let pictures = reply.svg.iter().map(String::len).sum::<usize>();
            assert!(size(&reply) + pictures <= 20_000, "{} and {pictures}", size(&reply));
            let table = reply.table.as_ref().unwrap();
            assert_eq!(table.truncated, table.rows.len() < table.row_count);
            (reply.chart_specs.as_ref().map_or(0, |specs| specs.charts.len()), table.rows.len(), reply.svg.len())
        };
        assert_eq!(of(vec![chart(10), chart(10)], 9, vec![4_000, 4_000], 100), (2, 9, 2));
        assert_eq!(of(vec![chart(10), chart(10)], 9, vec![4_000, 9_000], 100), (2, 9, 1), "too large a picture");
        assert_eq!(of(vec![chart(10), chart(1_000)], 9, vec![400, 400], 100), (1, 9, 1), "and too large a chart");
        let (_, rows, svg) = of(vec![chart(10)], 2_000, vec![9_000], 10_000);
        assert!((50..400).contains(&rows) && svg == 0, "{rows} {svg}");
    }

    #[test]
    fn images_are_given_to_whom_asks_for_them() {
        assert_eq!(AskQuestion::images(&answer(1, true)), ["<svg/>"]);
        assert_eq!(AskQuestion::images(&answer(1, false)), [""; 0]);
    }
}
