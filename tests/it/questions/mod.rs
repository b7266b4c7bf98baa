//! Questions in plain words as clients ask them: over MCP in both eras, over REST and in conversations; who may, what is
//! asked back and how, and what the record says.

mod answers;
mod conversations;
mod erasure;
mod gate;
mod leaving;
mod mcp;
mod memory;
mod ontologies;
mod played;
mod prepared;
mod quality;
mod rights;
mod semantic;
mod settings;
mod tasks;
mod views;

use dragoman::base::id::Id;
use dragoman::gateway::Via;
use dragoman::gateway::operation::Operation;
use dragoman::model::access::{Role, Scope};
use dragoman::model::caller::Caller;
use dragoman::model::ontology::{Status, StoredOntology};
use dragoman::model::org::Org;
use dragoman::model::run::Memory;
use dragoman::ops::questions::Remember;
use dragoman::store;
use serde_json::{Value, json};

use crate::support::service::{Service, as_json, in_console, json_of};

/// A bakery: two shops, what they sold, and when. Small enough to add up by hand.
const SALES: &[u8] = b"sale_id,shop_id,product,sold_on,pieces,euros\n\
    1,1,Rye,2025-01-10,2,8.00\n\
    2,1,Bun,2025-01-20,10,5.00\n\
    3,2,Rye,2025-02-03,1,4.00\n\
    4,2,Bun,2025-02-05,4,2.00\n\
    5,2,Rye,2025-02-28,3,12.00\n";
const SHOPS: &[u8] = b"shop_id,shop_name,town\n1,Old Mill,Ghent\n2,Corner,Bruges\n3,Closed,Ghent\n";

const ONTOLOGY: &str = "\
version: 0.2.0.dev0
name: bakery
description: What the shops sell
datasets:
  - name: sale
    source: sales
    primary_key: [sale_id]
    description: One row for each sale
    custom_extensions: [{vendor_name: DRAGOMAN, data: {default_time_field: sold_on, grain: sale}}]
    fields:
      - {name: sale_id, expression: {dialects: [{dialect: ANSI_SQL, expression: sale_id}]}, datatype: Integer}
      - {name: shop_id, expression: {dialects: [{dialect: ANSI_SQL, expression: shop_id}]}, datatype: Integer,
         custom_extensions: [{vendor_name: DRAGOMAN, data: {hidden: true}}]}
      - {name: product, expression: {dialects: [{dialect: ANSI_SQL, expression: product}]}, datatype: String,
         ai_context: {synonyms: [article]}, custom_extensions: [{vendor_name: DRAGOMAN, data: {enum: true}}]}
      - {name: sold_on, expression: {dialects: [{dialect: ANSI_SQL, expression: sold_on}]}, datatype: Date,
         dimension: {is_time: true}}
      - {name: euros, expression: {dialects: [{dialect: ANSI_SQL, expression: euros}]}, datatype: Decimal,
         custom_extensions: [{vendor_name: DRAGOMAN, data: {hidden: true}}]}
      - {name: pieces, expression: {dialects: [{dialect: ANSI_SQL, expression: pieces}]}, datatype: Integer}
  - name: shop
    source: shops
    primary_key: [shop_id]
    custom_extensions: [{vendor_name: DRAGOMAN, data: {label_field: shop_name, grain: shop}}]
    fields:
      - {name: shop_id, expression: {dialects: [{dialect: ANSI_SQL, expression: shop_id}]}, datatype: Integer,
         custom_extensions: [{vendor_name: DRAGOMAN, data: {hidden: true}}]}
      - {name: shop_name, expression: {dialects: [{dialect: ANSI_SQL, expression: shop_name}]}, datatype: String,
         custom_extensions: [{vendor_name: DRAGOMAN, data: {index_values: true}}]}
      - {name: town, expression: {dialects: [{dialect: ANSI_SQL, expression: town}]}, datatype: String,
         custom_extensions: [{vendor_name: DRAGOMAN, data: {index_values: true}}]}
relationships:
  - {name: sale_to_shop, from: sale, to: shop, from_columns: [shop_id], to_columns: [shop_id]}
metrics:
  - name: revenue
    expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(sale.euros)}]}
    datatype: Decimal
    ai_context: {synonyms: [turnover]}
    custom_extensions: [{vendor_name: DRAGOMAN, data: {additivity: additive, unit: EUR}}]
  - name: pieces_sold
    expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(sale.pieces)}]}
    datatype: Integer
    ai_context: {synonyms: [pieces]}
    custom_extensions: [{vendor_name: DRAGOMAN, data: {additivity: additive}}]
";

/// A workspace with the bakery's tables and its ontology, ready to be asked.
pub struct Bakery {
    pub service: Service,
    org: Org,
    /// Of an admin's client with every scope.
    pub admin: String,
    /// The admin in the console.
    baker: Caller,
    /// Of a contributor's client.
    pub client: String,
    pub ontology: String,
}

/// One that the store holds, whatever its text; which tables it uses is not kept with it.
async fn in_store(bakery: &Bakery, name: &str, text: &str) -> Id<StoredOntology> {
    let clock = &bakery.service.clock;
    let stored = StoredOntology {
        id: Id::new(clock),
        org: bakery.org.id,
        name: name.into(),
        description: "hush".into(),
        status: Status::Ready,
        problem: String::new(),
        version: 1,
        dataset_count: 1,
        field_count: 1,
        created_at: clock.now(),
        updated_at: clock.now(),
    };
    let mut tx = bakery.service.db.tenant(bakery.org.id).await.unwrap();
    assert!(store::ontologies::insert(&mut tx, &stored).await.unwrap());
    store::ontologies::keep(&mut tx, &stored, text, "", None).await.unwrap();
    tx.commit().await.unwrap();
    stored.id
}

impl Bakery {
    async fn open(service: Service) -> Self {
        let org = service.workspace("bakery").await;
        let (user, admin) = service.member(&org, "baker@example.com", Role::Admin).await;
        let baker = in_console(&service, &org, user.id, Role::Admin);
        for (file, rows) in [("sales.csv", SALES), ("shops.csv", SHOPS)] {
            service.import(&org, file, rows, true).await.unwrap();
        }
        let (status, made) = service.manage(&admin, "POST", "/ontologies", Some(json!({ "text": ONTOLOGY }))).await;
        assert_eq!(status, 200, "{made}");
        let ontology = made["ontology"]["ontology_id"].as_str().unwrap().to_owned();
        let (_, checked) = service.manage(&admin, "POST", &format!("/ontologies/{ontology}/check"), None).await;
        assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
        let scopes = [Scope::DataRead, Scope::DataWrite, Scope::OntologiesRead];
        let client = service.access_token(&org, Role::Contributor, &scopes).await;
        Self { service, org, admin, baker, client, ontology }
    }

    pub async fn start() -> Self {
        Self::open(Service::start().await).await
    }

    /// Asks the service as the console does.
    async fn console(&self, op: impl Operation) -> dragoman::model::error::Result<Value> {
        as_json(self.service.gateway.call(&self.baker, op, Via::new("console.call")).await)
    }

    /// Has something remembered of a question, as the baker.
    async fn remember(&self, reply: &Value, memory: Memory) -> dragoman::model::error::Result<Value> {
        self.console(Remember { trace_id: reply["traceId"].as_str().unwrap().parse().unwrap(), memory }).await
    }

    /// Withdraws a table from AI clients.
    async fn withdraw(&self, table: &str) {
        let (_, all) = json_of(self.service.get("/api/v1/ext/datasets", &self.client).send().await.unwrap()).await;
        let found = all["datasets"].as_array().unwrap().iter().find(|it| it["name"] == table).unwrap().clone();
        let path = format!("/datasets/{}", found["id"].as_str().unwrap());
        let body = json!({ "externally_queryable": false });
        assert_eq!(self.service.manage(&self.admin, "PATCH", &path, Some(body)).await.0, 200);
    }

    /// Asks over REST, whatever comes of it.
    async fn try_ask(&self, question: &str) -> (u16, Value) {
        let body = json!({ "ontologyId": self.ontology, "question": question });
        json_of(self.service.post("/api/v1/ext/ask", &self.client).json(&body).send().await.unwrap()).await
    }

    /// Asks over REST.
    async fn ask(&self, question: &str, conversation: Option<&Value>) -> Value {
        let mut body = json!({ "ontologyId": self.ontology, "question": question });
        if let Some(conversation) = conversation {
            body["conversationId"] = conversation.clone();
        }
        let (status, reply) =
            json_of(self.service.post("/api/v1/ext/ask", &self.client).json(&body).send().await.unwrap()).await;
        assert_eq!(status, 200, "{question}: {reply}");
        reply
    }
}
