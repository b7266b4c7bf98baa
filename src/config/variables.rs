//! Every setting by its variable: the default and what it means. `docs/settings.md` and `.env.example` say the same.

/// A variable that the service reads, for `.env.example` and the documentation.
#[derive(Debug)]
pub struct Variable {
    pub name: &'static str,
    /// As it would be written; empty when there is none.
    pub default: &'static str,
    pub meaning: &'static str,
}

macro_rules! variables {
    ($($name:literal = $default:literal: $meaning:literal;)*) => {
        /// Every variable, in the order of `.env.example`.
        pub const VARIABLES: &[Variable] = &[$(Variable { name: $name, default: $default, meaning: $meaning }),*];
    };
}

variables! {
    "DRAGOMAN_DATA_DIR" = "./data": "folder of databases, tables, vectors and keys";
    "DRAGOMAN_LISTEN" = "127.0.0.1:8787": "address of the service";
    "DRAGOMAN_PUBLIC_URL" = "": "address that clients use; taken from the listen address on loopback, required otherwise, https required off loopback";
    "DRAGOMAN_ADMIN_LISTEN" = "127.0.0.1:8788": "address of /metrics; 'off' switches it off";
    "DATABASE_URL" = "": "PostgreSQL for metadata (postgres://…); SQLite in the data folder when empty";
    "DRAGOMAN_MASTER_KEY" = "": "64 hex digits that seal keys at rest; a file in the data folder when empty; required to be the same on every node";
    "DRAGOMAN_BREACHED_PASSWORDS" = "": "file of breached passwords that nobody may choose, as Have I Been Pwned publishes it (SHA-1, sorted by hash); read where it lies";
    "DRAGOMAN_SMTP_URL" = "": "mail server (smtps://user:password@host:465, or smtp://… with STARTTLS, which only a server on this machine may lack); when empty, mails are written to the log on loopback, and none are sent elsewhere";
    "DRAGOMAN_MAIL_FROM" = "Dragoman <dragoman@localhost>": "sender of mails";
    "DRAGOMAN_OIDC_GOOGLE_CLIENT_ID" = "": "lets people sign in with Google; redirect address /login/google/callback";
    "DRAGOMAN_OIDC_GOOGLE_CLIENT_SECRET" = "": "secret of the client at Google";
    "DRAGOMAN_OIDC_ISSUER" = "": "lets people sign in with this OpenID Connect provider; redirect address /login/oidc/callback";
    "DRAGOMAN_OIDC_NAME" = "your organisation": "how the sign-in page calls that provider";
    "DRAGOMAN_OIDC_CLIENT_ID" = "": "client at that provider";
    "DRAGOMAN_OIDC_CLIENT_SECRET" = "": "secret of the client at that provider; empty for a public client";
    "DRAGOMAN_TRUSTED_PROXIES" = "": "comma-separated addresses and networks (10.0.0.5, 10.0.0.0/8) of the proxies and balancers before the service, whose X-Forwarded-For is believed";
    "DRAGOMAN_ALLOWED_ORIGINS" = "": "comma-separated browser origins that may call /mcp, such as http://localhost:6274 for a local inspector";
    "DRAGOMAN_EXT_ALLOWED_ORIGINS" = "": "comma-separated browser origins, each whole, such as https://app.example, whose pages may call /api/v1/ext; none when empty";
    "DRAGOMAN_MCP_STRICT" = "off": "on: MCP requests are taken only as the protocol writes them, without the allowances for clients that are known to be sloppy; for conformance tests";
    "DRAGOMAN_SOURCE_PRIVATE_HOSTS" = "": "comma-separated hosts and networks (db.internal, 10.0.0.0/8) of your own network in which the admins of workspaces may register PostgreSQL and ClickHouse servers; none when empty";
    "DRAGOMAN_SYNC_PRIVATE_SITES" = "": "comma-separated web sites, and servers that speak S3's protocol, of your own network, each behind the slug of the one workspace that may keep documents from it: acme=https://wiki.internal. Public ones need no leave; none of your own network when empty";
    "DRAGOMAN_SYNC_FOLDERS" = "": "comma-separated folders of this machine, each behind the slug of the one workspace that may keep documents from it and the name that it has there: acme/handbook=/srv/handbook. Every file in it can become a document of that workspace; none when empty";
    "DRAGOMAN_LLM_PROVIDER" = "": "openai (for any server with its chat completions) or anthropic; no language model when empty. Each workspace says whether it may be asked; what is sent then is in its settings";
    "DRAGOMAN_LLM_URL" = "": "address of the model's server, such as http://127.0.0.1:11434/v1; the provider's own when empty; may lie in your own network";
    "DRAGOMAN_LLM_API_KEY" = "": "key of the model's server; empty for a server that asks for none";
    "DRAGOMAN_LLM_MODEL" = "": "name of the model, as its server calls it";
    "DRAGOMAN_LLM_TIMEOUT" = "30": "seconds that an answer of the model may take";
    "DRAGOMAN_LLM_DAILY_TOKENS" = "1000000": "tokens that each workspace may use in a day (UTC); counted in memory by each node, from nothing at its start";
    "DRAGOMAN_LLM_OUTPUT_TOKENS" = "4000": "tokens that an answer of the model may have";
    "DRAGOMAN_LLM_LOCAL_HOSTS" = "": "comma-separated hosts and networks (127.0.0.0/8, models.internal) of your own network whose models are local for workspaces that allow only these; none when empty. A relay that passes questions on is not local";
    "DRAGOMAN_EMBEDDING_FOLDER" = "": "folder of a sentence-transformers model of the BERT family (config.json, tokenizer.json, model.safetensors) that makes vectors of texts instead of the built-in encoder. After a change the vectors of documents are made anew in the background: rag_admin_stats tells how far, and until then the old ones answer where they are of the built-in encoder, otherwise words alone";
    "DRAGOMAN_EMBEDDING_URL" = "": "address of a server with OpenAI's /v1/embeddings that makes vectors of texts, such as http://127.0.0.1:11434/v1. Texts and questions of all workspaces go there if it lies in your own network; otherwise those of workspaces that allow it for language models, and the built-in encoder serves the others";
    "DRAGOMAN_EMBEDDING_MODEL" = "": "name of the model, as that server calls it";
    "DRAGOMAN_EMBEDDING_API_KEY" = "": "key of that server; empty for one that asks for none";
    "DRAGOMAN_EMBEDDING_TIMEOUT" = "30": "seconds that the server may take for one batch of texts, with everything that is tried again";
    "QDRANT_URL" = "": "gRPC address of a Qdrant server (1.19 or later) that keeps the indexes of documents, such as http://127.0.0.1:6334; in the data folder when empty. What is there already is moved by `dragoman admin index move`";
    "QDRANT_API_KEY" = "": "key of that server; empty for one that asks for none";
    "DRAGOMAN_TOKEN" = "": "token that `dragoman stdio` presents, for clients that start it; the service itself reads none";
    "DRAGOMAN_LOG" = "info,qdrant_edge=error": "log filter, such as info,dragoman=debug; of libraries only warnings and errors are written, because their other lines hold requests";
    "DRAGOMAN_LOG_FORMAT" = "text": "text or json";
    "DRAGOMAN_ACCESS_TTL" = "600": "seconds that an access token lives";
    "DRAGOMAN_CODE_TTL" = "60": "seconds that an authorization code lives";
    "DRAGOMAN_REFRESH_TTL" = "2592000": "seconds that a refresh token lives unused";
    "DRAGOMAN_REFRESH_ABSOLUTE_TTL" = "15552000": "seconds after which a grant ends whatever its use";
    "DRAGOMAN_REFRESH_RETRY_WINDOW" = "30": "seconds in which a repeated refresh gets the same successor";
    "DRAGOMAN_CONSENT_TTL" = "600": "seconds that a person may take to approve";
    "DRAGOMAN_BROWSER_SESSION_TTL" = "43200": "seconds that a browser session lives unused";
    "DRAGOMAN_STEP_UP_TTL" = "900": "seconds after a log-in in which sensitive actions need no new one";
    "DRAGOMAN_DEVICE_TTL" = "900": "seconds that a device waits for approval";
    "DRAGOMAN_LINK_TTL" = "1800": "seconds that a link to set a new password works";
    "DRAGOMAN_INVITE_TTL" = "604800": "seconds that an invitation can be accepted";
    "DRAGOMAN_KEY_TTL" = "7776000": "seconds after which a signing key is replaced";
    "DRAGOMAN_MCP_SESSION_TTL" = "3600": "seconds that an MCP session lives unused";
    "DRAGOMAN_MCP_SESSIONS" = "20": "MCP sessions for each principal";
    "DRAGOMAN_MCP_SESSIONS_TOTAL" = "2000": "MCP sessions for this instance";
    "DRAGOMAN_AUDIT_DAYS" = "400": "days that the audit log is kept; 'off' keeps it for good";
    "DRAGOMAN_EXT_MAX_TOKENS" = "10": "connectivity tokens of a workspace that may be in force";
    "DRAGOMAN_EXT_RATE_TOKEN" = "30": "calls a minute for each connectivity token";
    "DRAGOMAN_EXT_RATE_SQL" = "10": "queries a minute for each connectivity token, in SQL and in the words of an ontology";
    "DRAGOMAN_EXT_RATE_ASK" = "5": "questions in plain words a minute for each connectivity token";
    "DRAGOMAN_EXT_RATE_RESOURCES" = "30": "resource reads a minute for each connectivity token";
    "DRAGOMAN_CLIENT_RATE_CALLS" = "120": "calls a minute for each client that a person has connected";
    "DRAGOMAN_CLIENT_RATE_SQL" = "60": "queries a minute for each such client, in SQL and in the words of an ontology";
    "DRAGOMAN_CLIENT_RATE_ASK" = "30": "questions in plain words a minute for each such client";
    "DRAGOMAN_CLIENT_RATE_RESOURCES" = "120": "resource reads a minute for each such client";
    "DRAGOMAN_EXT_RATE_WORKSPACE" = "1200": "calls a minute for each workspace";
    "DRAGOMAN_EXT_RATE_INSTANCE" = "": "requests of any kind a minute of all clients and tokens at this instance together; no such limit when empty";
    "DRAGOMAN_RATE_MANAGE" = "120": "calls of management a minute for each token, client or person";
    "DRAGOMAN_EXT_RATE_REQUESTS" = "300": "requests of any kind a minute for each person or connectivity token";
    "DRAGOMAN_EXT_RATE_SESSIONS" = "60": "MCP sessions that each person or connectivity token may open in a minute";
    "DRAGOMAN_EXT_IN_FLIGHT" = "3": "calls at the same time for each token, and uploads, and as many requests of more than 64 kB, for each person";
    "DRAGOMAN_EXT_STREAMS" = "20": "open MCP streams for each token";
    "DRAGOMAN_IN_FLIGHT" = "64": "calls at the same time for this instance; one workspace has at most as many as are still free";
    "DRAGOMAN_UPLOADS" = "32": "uploads at the same time for this instance, and as many requests of more than 64 kB, shared in the same way";
    "DRAGOMAN_STREAMS" = "1000": "open MCP streams for this instance, shared in the same way";
    "DRAGOMAN_CONNECTIONS" = "4096": "open connections of this instance, and never more than half of the files that the system lets it open; one address that is neither this machine's nor in DRAGOMAN_TRUSTED_PROXIES has at most 256, and at most as many as are still free";
    "DRAGOMAN_RATE_REFUSED" = "300": "requests a minute from one address without a credential that is good, or was until it expired or was revoked";
    "DRAGOMAN_FAILURES_PER_IP" = "5": "failed log-ins, or bad tokens, a minute from one address before further ones are refused";
    "DRAGOMAN_BLOCK_TTL" = "300": "seconds that a blocked address stays blocked";
    "DRAGOMAN_FAILURES_PER_ACCOUNT" = "10": "failed log-ins of one account in 15 minutes before its log-ins are slowed down for browsers that it has not used";
    "DRAGOMAN_RATE_AUTHORIZE" = "10": "authorization requests a minute from one address";
    "DRAGOMAN_RATE_REGISTER" = "20": "registrations of clients that are not known yet a minute from one address";
    "DRAGOMAN_RATE_TOKEN" = "60": "requests for tokens, revocations and introspections a minute that fail from one address, starts of devices among them; good ones count for their grant or client instead, and are as many";
    "DRAGOMAN_SQL_SECONDS" = "10": "seconds that a query may run";
    "DRAGOMAN_SQL_ROWS" = "500": "rows that a query may return";
    "DRAGOMAN_SQL_MEMORY_MB" = "256": "megabytes that a query may use";
    "DRAGOMAN_SQL_THREADS" = "2": "threads that a query may use";
    "DRAGOMAN_SQL_CHARS" = "4096": "characters that a query may have";
    "DRAGOMAN_SQL_WORKERS" = "4": "queries at the same time on this node";
    "DRAGOMAN_SQL_KNOWN_MB" = "16": "megabytes of answers that are given again to the same statement over the same data; 0 computes each anew";
    "DRAGOMAN_ASK_SECONDS" = "300": "seconds that a question may take, with all that it runs";
    "DRAGOMAN_ASK_SQL_SECONDS" = "30": "seconds that one statement of a question may run";
    "DRAGOMAN_ASK_ROWS" = "10000": "rows that the answer to a question may have";
    "DRAGOMAN_REPLY_BYTES" = "130000": "bytes of the largest reply";
    "DRAGOMAN_UPLOAD_BYTES" = "536870912": "bytes of the largest uploaded file";
    "DRAGOMAN_VERSIONS" = "5": "versions of a dataset that are kept, the current one included";
    "DRAGOMAN_VERSIONS_BYTES" = "1073741824": "bytes that the earlier versions of a dataset may take together";
    "DRAGOMAN_WORKSPACE_BYTES" = "": "bytes that the datasets of a workspace may take together, all their versions counted; no such limit when empty";
    "DRAGOMAN_DISK_FREE_BYTES" = "": "bytes of the data folder's disk that imports, uploads and syncs leave free for the metadata and the record; when empty a twentieth of the disk, and at most 1 GiB";
}
