//! Remote engines as sources of a workspace, against a real PostgreSQL server that asks for passwords over TCP.

mod answers;
mod catalogues;
mod hostile;
mod lives;
mod logins;
mod ontology;
mod pages;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use dragoman::model::access::Role;
use dragoman::model::org::Org;
use serde_json::{Value, json};
use sqlx::{AnyConnection, AssertSqlSafe, Connection as _};

use crate::support::databases::Cluster;
use crate::support::service::Service;

pub const PASSWORD: &str = "s3cret of the reader";

/// Lets workspaces use the loopback interface, as an operator would his own network.
pub const OPEN: (&str, &str) = ("DRAGOMAN_SOURCE_PRIVATE_HOSTS", "127.0.0.0/8");

const SCHEMA: &str = "
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, country char(2));
CREATE TABLE orders (id bigint PRIMARY KEY, customer int NOT NULL REFERENCES customers, total numeric(10,2),
                     placed timestamptz NOT NULL);
CREATE TABLE payments (id int PRIMARY KEY, card text NOT NULL);
INSERT INTO customers VALUES (1, 'Ann', 'DE'), (2, 'Bob', 'FR'), (3, 'Cy', 'DE');
INSERT INTO orders SELECT n, 1 + n % 3, n * 1.25, timestamptz '2024-01-01 12:00:00+01' + n * interval '1 day'
    FROM generate_series(1, 1000) n;
INSERT INTO payments VALUES (1, 'CANARY-4111');
COMMENT ON TABLE orders IS 'What was ordered';
COMMENT ON COLUMN orders.total IS 'in euros';
ANALYZE;
";

/// A database of its own with three tables, and a login that reads two of them.
pub struct Shop {
    pub cluster: &'static Cluster,
    pub database: String,
    pub reader: String,
}

fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::on_tcp)
}

impl Shop {
    pub async fn open() -> Self {
        Self::on(tokio::task::spawn_blocking(cluster).await.unwrap()).await
    }

    pub async fn on(cluster: &'static Cluster) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let shop = Self { cluster, database: format!("shop_{number}"), reader: format!("reader_{number}") };
        run(&cluster.url_of("postgres", "postgres"), &format!("CREATE DATABASE {}", shop.database)).await;
        shop.admin(SCHEMA).await;
        shop.admin(&format!(
            "CREATE ROLE {0} LOGIN PASSWORD '{PASSWORD}'; GRANT SELECT ON customers, orders TO {0}",
            shop.reader
        ))
        .await;
        shop
    }

    /// Runs statements as the server's superuser.
    pub async fn admin(&self, sql: &str) {
        run(&self.cluster.url_of("postgres", &self.database), sql).await;
    }

    /// One value, as the server's superuser.
    pub async fn value(&self, sql: &str) -> i64 {
        sqlx::any::install_default_drivers();
        let mut connection = AnyConnection::connect(&self.cluster.url_of("postgres", &self.database)).await.unwrap();
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(&mut connection).await.unwrap()
    }

    /// How many statements of the reader run now.
    pub async fn running(&self) -> i64 {
        let sql =
            format!("SELECT count(*) FROM pg_stat_activity WHERE usename = '{}' AND state = 'active'", self.reader);
        self.value(&sql).await
    }

    /// Returns when so many statements of the reader run.
    pub async fn until_running(&self, count: i64) {
        let wait = async {
            while self.running().await != count {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), wait).await.expect("the server's state changes");
    }

    /// Returns when the reader has no connection any more.
    pub async fn until_left(&self) {
        let sql = format!("SELECT count(*) FROM pg_stat_activity WHERE usename = '{}'", self.reader);
        let wait = async {
            while self.value(&sql).await > 0 {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), wait).await.expect("its connections end with it");
    }

    pub fn address(&self) -> String {
        self.cluster.address(&self.reader, &self.database)
    }

    pub fn new_source(&self, name: &str) -> Value {
        json!({ "name": name, "engine": "postgres", "address": self.address(), "password": PASSWORD })
    }
}

async fn run(url: &str, sql: &str) {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(url).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// A workspace whose source `shop` has its two tables published.
pub struct Ready {
    pub shop: Shop,
    pub org: Org,
    pub admin: String,
    /// An external client's.
    pub token: String,
    pub source: String,
}

impl Ready {
    pub async fn new(service: &Service) -> Self {
        Self::with(service, Shop::open().await).await
    }

    pub async fn with(service: &Service, shop: Shop) -> Self {
        let org = service.workspace("acme").await;
        let (_, admin) = service.member(&org, "admin@acme.example", Role::Admin).await;
        let (status, made) = service.manage(&admin, "POST", "/sources", Some(shop.new_source("shop"))).await;
        assert_eq!(status, 200, "{made}");
        let source = made["source"]["source_id"].as_str().unwrap().to_owned();
        publish(service, &admin, &made["source"]).await;
        let token = service.token(&org).await;
        Self { shop, org, admin, token, source }
    }

    pub async fn sql(&self, service: &Service, sql: &str) -> (bool, Value) {
        service.tool(&self.token, "dragoman_sql", json!({ "sql": sql })).await
    }
}

/// Publishes every table of a source.
pub async fn publish(service: &Service, admin: &str, source: &Value) {
    for table in source["tables"].as_array().unwrap() {
        let path = format!("/datasets/{}", table["dataset_id"].as_str().unwrap());
        let change = json!({ "externally_queryable": true });
        let (status, body) = service.manage(admin, "PATCH", &path, Some(change)).await;
        assert_eq!(status, 200, "{body}");
    }
}
