//! What a tool asks back, put to the person where the client can (elicitation): within the call in the era of sessions,
//! as a result that the client answers by repeating the call (MRTR) in the newer one. Everywhere else the tool's result
//! is the question. No call of the service waits for a person: each answer is a call of its own.

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, InputResponses, JsonObject,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::compat::is_modern;
use super::written::Written;
use crate::base::json::put;
use crate::base::secret::sha256_hex;
use crate::gateway::Gateway;
use crate::gateway::operation::{Asks, Question};
use crate::model::caller::Caller;
use crate::model::error::{Error, Result};
use crate::model::run::MOST_ROUNDS;

/// The key of the one form in a result that asks.
pub(super) const FORM: &str = "clarification";

/// The longest that a person may take for one form.
const PATIENCE: Duration = Duration::from_secs(240);

/// How long a client may keep the state of a form: a person answers meanwhile.
const LIFE: Duration = Duration::from_secs(15 * 60);

/// The state of a form, which its client hands back (2026-07-28, multi round-trip requests): of use to whoever was asked,
/// for the same call with the same arguments, and not for long.
pub(super) struct State<'a> {
    gateway: &'a Gateway,
    caller: &'a Caller,
    purpose: String,
}

impl<'a> State<'a> {
    /// `arguments` are those that the client called with, and repeats.
    pub(super) fn new(gateway: &'a Gateway, caller: &'a Caller, tool: &str, arguments: &JsonObject) -> Self {
        let digest = sha256_hex(canonical(&Value::Object(arguments.clone())).as_bytes());
        Self { gateway, caller, purpose: format!("{tool} {digest}") }
    }

    fn seal(&self, conversation: &str) -> Option<String> {
        self.gateway.seal(self.caller, &self.purpose, &conversation, LIFE).ok()
    }

    /// The conversation that a state belongs to.
    ///
    /// # Errors
    /// `invalid_argument` for one that is not of this call.
    pub(super) fn open(&self, sealed: &str) -> Result<String> {
        let wrong = || {
            let message = "The requestState is not that of this call, with these arguments, by this client, or it is older than \
                           15 minutes. Call again without it.";
            Error::invalid("requestState", message)
        };
        self.gateway.unseal(self.caller, &self.purpose, sealed).ok_or_else(wrong)
    }
}

/// A value whose members have one order, whatever order they came in.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<&String, String> = members.iter().map(|(name, it)| (name, canonical(it))).collect();
            let members: Vec<String> = members.iter().map(|(name, it)| format!("{}:{it}", json!(name))).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        single => single.to_string(),
    }
}

/// Whether the client of a request shows forms. One that names no mode means these.
pub(super) fn shows_forms(context: &RequestContext<RoleServer>) -> bool {
    let can = context.client_capabilities().and_then(|it| it.elicitation);
    can.is_some_and(|it| it.form.is_some() || it.url.is_none())
}

/// The form for what a result asks back, and the conversation that the answer belongs to.
pub(super) fn form(asks: &Asks) -> Option<(ElicitRequestParams, String)> {
    let mut properties = JsonObject::new();
    let mut message = String::from("To answer rightly:");
    for (at, Question { question, suggestions, assumption }) in asks.questions.iter().enumerate() {
        message.push_str(&format!("\n{}. {question}", at + 1));
        let mut options = json!({ "type": "string", "title": question, "enum": suggestions });
        // Strict clients refuse a form whose default is none of the choices.
        if suggestions.contains(assumption) {
            put(&mut options, "default", assumption.as_str());
        }
        properties.insert(format!("answer_{}", at + 1), options);
    }
    let required: Vec<String> = properties.keys().cloned().collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let requested_schema = ElicitationSchema::from_json_schema(schema.as_object()?.clone()).ok()?;
    let form = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
    Some((form, asks.conversation.clone()))
}

/// The call that goes on with a conversation: one line an answer. `None` when the person did not answer.
fn going_on(arguments: &JsonObject, conversation: &str, answer: &ElicitResult) -> Option<JsonObject> {
    if answer.action != ElicitationAction::Accept {
        return None;
    }
    let content = answer.content.as_ref()?.as_object()?;
    let mut lines: Vec<(&String, &str)> = content.iter().filter_map(|(key, it)| Some((key, it.as_str()?))).collect();
    lines.sort();
    let lines: Vec<&str> = lines.into_iter().map(|(_, line)| line).collect();
    let mut arguments = arguments.clone();
    arguments.insert("question".into(), lines.join("\n").into());
    arguments.insert("conversationId".into(), conversation.into());
    (!lines.is_empty()).then_some(arguments)
}

/// The arguments of a call that repeats one with answers; the same arguments where there are none. `state` is the
/// conversation that they belong to.
pub(super) fn resumed(arguments: JsonObject, state: Option<&str>, responses: Option<&InputResponses>) -> JsonObject {
    let answer = responses.and_then(|all| all.get(FORM)).and_then(|it| serde_json::from_value(it.clone()).ok());
    match (state, answer) {
        (Some(conversation), Some(answer)) => {
            going_on(&arguments, conversation, &answer).unwrap_or_else(|| {
                // The person does not want to say: the assumptions hold.
                let mut arguments = arguments.clone();
                arguments.insert("question".into(), Value::from("as you assume"));
                arguments.insert("conversationId".into(), conversation.into());
                arguments
            })
        }
        _ => arguments,
    }
}

/// Puts what the result asks to the person, and calls again with the answer, until nothing is asked any more.
pub(super) async fn settled<C>(
    mut result: Written,
    arguments: &JsonObject,
    context: &RequestContext<RoleServer>,
    state: &State<'_>,
    call: impl Fn(JsonObject) -> C,
) -> CallToolResponse
where
    C: Future<Output = Written>,
{
    let forms = shows_forms(context);
    let modern = is_modern(context);
    for _ in 0..MOST_ROUNDS {
        let Some((params, conversation)) = result.asks.as_ref().filter(|_| forms).and_then(form) else { break };
        if modern {
            let Some(state) = state.seal(&conversation) else { break };
            let request = InputRequest::Elicitation(ElicitRequest::new(params));
            let requests: InputRequests = [(FORM.to_owned(), request)].into();
            return InputRequiredResult::new(Some(requests), Some(state)).into();
        }
        let answer = context.peer.create_elicitation_with_timeout(params, Some(PATIENCE)).await;
        let Some(next) = answer.ok().and_then(|answer| going_on(arguments, &conversation, &answer)) else { break };
        let said = next.get("question").and_then(Value::as_str).unwrap_or_default().to_owned();
        let answered = call(next).await;
        if answered.is_error {
            return CallToolResult::from(unheard(result, &said, &answered)).into();
        }
        result = answered;
    }
    CallToolResult::from(result).into()
}

/// The question once more, with what the person said to it: the call that would have taken the answer was refused, and
/// nobody has to be asked again.
fn unheard(mut question: Written, said: &str, refused: &Written) -> Written {
    let reason = refused.content.iter().find_map(|block| block.as_text()).map_or("", |text| text.text.as_str());
    let text = format!(
        "The person has answered already, and the answer could not be taken: {reason}\nCall ask_question again a little \
         later, with the same conversationId and this answer as the question:\n{said}"
    );
    question.content.push(ContentBlock::text(text));
    question
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(suggestions: &[&str], assumption: &str) -> Asks {
        let suggestions = suggestions.iter().map(|it| (*it).to_owned()).collect();
        let question = Question { question: "By what?".into(), suggestions, assumption: assumption.into() };
        Asks { questions: vec![question], conversation: "c1".into() }
    }

    #[test]
    fn the_default_of_a_form_is_one_of_its_choices_or_absent() {
        let properties = |asks: &Asks| {
            let (params, conversation) = form(asks).unwrap();
            assert_eq!(conversation, "c1");
            serde_json::to_value(params).unwrap()["requestedSchema"]["properties"]["answer_1"].clone()
        };
        assert_eq!(properties(&asked(&["revenue", "pieces"], "pieces"))["default"], "pieces");
        let without = properties(&asked(&["revenue", "pieces"], "the first"));
        assert!(without.get("default").is_none(), "{without}");
    }

    #[test]
    fn arguments_are_the_same_in_any_order_and_others_are_others() {
        let of = |text: &str| canonical(&serde_json::from_str(text).unwrap());
        assert_eq!(of(r#"{"a":1,"b":{"d":[1,2],"c":"x"}}"#), of(r#"{"b":{"c":"x","d":[1,2]},"a":1}"#));
        for other in [r#"{"a":"1"}"#, r#"{"a":[1]}"#, r#"{"a":1,"b":null}"#, r#"{"a":[2,1]}"#, r#"{"a:1,b":2}"#] {
            assert_ne!(of(other), of(r#"{"a":1}"#), "{other}");
        }
        assert_ne!(of(r#"{"a":[1,2]}"#), of(r#"{"a":[2,1]}"#));
    }

    #[test]
    fn an_answer_that_could_not_be_taken_is_not_lost() {
        let refused = |message: &str| Written::failure(&Error::unavailable(message), "r-1");
        let told = unheard(refused("By what?"), "pieces", &refused("Try again in 12 seconds."));
        let last = told.content.last().and_then(|block| block.as_text()).unwrap().text.clone();
        assert!(last.contains("12 seconds") && last.ends_with("\npieces"), "{last}");
        assert_eq!(told.content.len(), 2, "the question stays");
    }
}
