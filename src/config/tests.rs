use std::collections::HashMap;

use super::*;

fn read(pairs: &[(&str, &str)]) -> Result<Config, Problems> {
    let map: HashMap<String, String> = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Config::read(|name| map.get(name).cloned())
}

#[test]
fn nothing_set_gives_the_published_defaults_on_loopback() {
    let config = read(&[]).unwrap();
    assert_eq!(config.issuer(), "http://127.0.0.1:8787");
    assert_eq!(config.resource(), "http://127.0.0.1:8787/mcp");
    assert_eq!(config.limits, Limits::default(), "the table of variables and the defaults agree");
    assert!(!config.is_https());
}

#[test]
fn every_problem_is_reported_at_once_and_no_value_is_echoed() {
    let Problems(problems) = read(&[
        ("DRAGOMAN_LISTEN", "nowhere"),
        ("DRAGOMAN_SQL_ROWS", "0"),
        ("DRAGOMAN_LOG_FORMAT", "xml"),
        ("DRAGOMAN_MCP_STRICT", "yes"),
        ("DATABASE_URL", "mysql://root:hunter2@db/x"),
        ("DRAGOMAN_MASTER_KEY", "short"),
    ])
    .unwrap_err();
    let all = problems.join("\n");
    for name in [
        "DRAGOMAN_LISTEN", "DRAGOMAN_SQL_ROWS", "DRAGOMAN_LOG_FORMAT", "DRAGOMAN_MCP_STRICT", "DATABASE_URL",
        "DRAGOMAN_MASTER_KEY",
    ] {
        assert!(all.contains(name), "{name} in {all}");
    }
    assert_eq!(problems.len(), 6, "{all}");
    assert!(!all.contains("hunter2"));
}

#[test]
fn what_is_kept_is_bounded_where_it_is_said_and_a_disk_may_be_filled() {
    let keep = |pairs: &[(&str, &str)]| read(pairs).map(|config| config.limits.budgets.keep);
    let set = keep(&[("DRAGOMAN_WORKSPACE_BYTES", "5"), ("DRAGOMAN_DISK_FREE_BYTES", "0")]).unwrap();
    assert_eq!((set.workspace.map(u64::from), set.free), (Some(5), Some(0)));
    for wrong in [("DRAGOMAN_WORKSPACE_BYTES", "0"), ("DRAGOMAN_DISK_FREE_BYTES", "1 GB")] {
        let Problems(problems) = keep(&[wrong]).unwrap_err();
        assert!(problems.len() == 1 && problems[0].starts_with(wrong.0), "{problems:?}");
    }
}

#[test]
fn off_loopback_the_public_url_must_be_given_and_be_https() {
    assert!(read(&[("DRAGOMAN_LISTEN", "0.0.0.0:8787")]).is_err());
    let plain = [("DRAGOMAN_LISTEN", "0.0.0.0:8787"), ("DRAGOMAN_PUBLIC_URL", "http://data.example.com")];
    assert!(read(&plain).is_err());
    let tls = [("DRAGOMAN_LISTEN", "0.0.0.0:8787"), ("DRAGOMAN_PUBLIC_URL", "https://data.example.com/")];
    assert_eq!(read(&tls).unwrap().resource(), "https://data.example.com/mcp");
    let deep = [("DRAGOMAN_PUBLIC_URL", "https://data.example.com/sub?x=1")];
    assert!(read(&deep).is_err());
}

#[test]
fn a_qdrant_server_is_named_by_its_grpc_address_and_a_key_needs_one() {
    let url = |config: Config| config.qdrant.unwrap().url.to_string();
    assert_eq!(url(read(&[("QDRANT_URL", "http://127.0.0.1:6334")]).unwrap()), "http://127.0.0.1:6334/");
    assert_eq!(url(read(&[("QDRANT_URL", "http://qdrant.internal:6334")]).unwrap()), "http://qdrant.internal:6334/");
    assert_eq!(url(read(&[("QDRANT_URL", "http://qdrant:6334")]).unwrap()), "http://qdrant:6334/");
    let keyed = [("QDRANT_URL", "https://qdrant.example.com:6334"), ("QDRANT_API_KEY", "hunter2")];
    assert_eq!(read(&keyed).unwrap().qdrant.unwrap().api_key.unwrap().expose(), "hunter2");
    for wrong in [
        &[("QDRANT_URL", "127.0.0.1:6334")][..],
        &[("QDRANT_URL", "http://8.8.8.8:6334")],
        &[("QDRANT_URL", "http://qdrant.example.com:6334")],
        &[("QDRANT_URL", "https://me:hunter2@qdrant.example.com:6334")],
        &[("QDRANT_URL", "https://qdrant.example.com:6334/dashboard")],
        &[("QDRANT_API_KEY", "hunter2")],
        &[("QDRANT_URL", "http://127.0.0.1:6334"), ("QDRANT_API_KEY", "hunter 2")],
    ] {
        let Problems(problems) = read(wrong).unwrap_err();
        assert!(problems.len() == 1 && problems[0].starts_with("QDRANT_"), "{wrong:?}: {problems:?}");
        assert!(!problems[0].contains("hunter"), "{problems:?}");
    }
}

#[test]
fn a_providers_issuer_is_https_or_on_loopback() {
    let with = |issuer| read(&[("DRAGOMAN_OIDC_ISSUER", issuer), ("DRAGOMAN_OIDC_CLIENT_ID", "x")]);
    for good in
        ["https://id.example.com/realms/a", "https://10.0.0.7:8443", "http://127.0.0.1:4000", "http://localhost"]
    {
        assert_eq!(with(good).unwrap().providers[0].issuer, good, "as it is written");
    }
    for bad in
        ["id.example.com", "http://id.example.com", "http://10.0.0.7", "https://a:b@id.example.com", "https://i.d/?x"]
    {
        let Problems(problems) = with(bad).unwrap_err();
        assert!(problems.len() == 1 && problems[0].starts_with("DRAGOMAN_OIDC_ISSUER"), "{bad}: {problems:?}");
    }
    assert!(read(&[("DRAGOMAN_OIDC_ISSUER", "https://id.example.com")]).is_err(), "without a client");
}

#[test]
fn a_language_model_is_whole_or_absent() {
    assert!(read(&[]).unwrap().llm.is_none());
    let with = |more: &[(&str, &str)]| {
        let mut all = vec![("DRAGOMAN_LLM_PROVIDER", "openai"), ("DRAGOMAN_LLM_MODEL", "m")];
        all.extend(more);
        read(&all)
    };
    let local = with(&[("DRAGOMAN_LLM_URL", "http://127.0.0.1:11434/v1"), ("DRAGOMAN_LLM_LOCAL_HOSTS", "127.0.0.0/8")]);
    let local = local.unwrap().llm.unwrap();
    assert_eq!((local.provider, local.model.as_str(), local.api_key), (LlmProvider::OpenAi, "m", None));
    assert_eq!((local.timeout.as_secs(), local.daily_tokens, local.output_tokens), (30, 1_000_000, 4_000));
    let own = with(&[("DRAGOMAN_LLM_API_KEY", "sk-hunter2")]).unwrap();
    assert_eq!(own.llm.as_ref().unwrap().url.as_str(), "https://api.openai.com/v1");
    assert!(!format!("{own:?}").contains("hunter2"));
    for good in ["https://models.example/v1", "http://models.internal:8000", "http://10.0.0.7", "http://[::1]:9"] {
        assert!(with(&[("DRAGOMAN_LLM_URL", good)]).is_ok(), "{good}");
    }
    for bad in ["models", "ftp://a", "http://1.1.1.1", "https://u:hunter2@a.example", "https://a.example?key=hunter2"] {
        let Problems(problems) = with(&[("DRAGOMAN_LLM_URL", bad)]).unwrap_err();
        assert!(problems.len() == 1 && problems[0].starts_with("DRAGOMAN_LLM_URL: "), "{bad}: {problems:?}");
        assert!(!problems[0].contains("hunter2"));
    }
}

#[test]
fn every_problem_of_a_language_model_is_reported_at_once() {
    let Problems(problems) = read(&[
        ("DRAGOMAN_LLM_PROVIDER", "anthropic"),
        ("DRAGOMAN_LLM_TIMEOUT", "0"),
        ("DRAGOMAN_LLM_DAILY_TOKENS", "many"),
        ("DRAGOMAN_LLM_LOCAL_HOSTS", "https://a.example"),
    ])
    .unwrap_err();
    let all = problems.join("\n");
    for name in ["TIMEOUT", "DAILY_TOKENS", "LOCAL_HOSTS", "MODEL", "API_KEY"] {
        assert!(all.contains(&format!("DRAGOMAN_LLM_{name}: ")), "{name} in {all}");
    }
    assert_eq!(problems.len(), 5, "{all}");
    for half in [("DRAGOMAN_LLM_MODEL", "m"), ("DRAGOMAN_LLM_PROVIDER", "gemini"), ("DRAGOMAN_LLM_API_KEY", "a b")] {
        let Problems(problems) = read(&[half]).unwrap_err();
        assert!(problems.len() == 1 && problems[0].starts_with("DRAGOMAN_LLM_PROVIDER: "), "{problems:?}");
    }
}

#[test]
fn an_encoder_is_built_in_or_a_whole_folder_or_a_whole_server() {
    assert!(matches!(read(&[]).unwrap().embedding, Embedding::Builtin));
    let url = ("DRAGOMAN_EMBEDDING_URL", "http://127.0.0.1:11434/v1");
    let (model, key) = (("DRAGOMAN_EMBEDDING_MODEL", "m"), ("DRAGOMAN_EMBEDDING_API_KEY", "hunter2"));
    let config = read(&[url, model, key]).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
    let Embedding::Server(server) = config.embedding else { panic!("a server was set") };
    assert_eq!((server.url.as_str(), server.model.as_str()), (url.1, "m"));
    assert_eq!((server.timeout.as_secs(), server.api_key.is_some()), (30, true));

    let folder = tempfile::tempdir().unwrap();
    let named = ("DRAGOMAN_EMBEDDING_FOLDER", folder.path().to_str().unwrap());
    let Problems(problems) = read(&[named]).unwrap_err();
    assert_eq!(problems.len(), 3, "{problems:?}");
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::write(folder.path().join(file), "x").unwrap();
    }
    assert!(matches!(read(&[named]).unwrap().embedding, Embedding::Folder(found) if found == folder.path()));

    for (wrong, name) in [
        (vec![url], "MODEL"),
        (vec![model], "URL"),
        (vec![key], "URL"),
        (vec![url, model, named], "FOLDER"),
        (vec![("DRAGOMAN_EMBEDDING_URL", "http://1.1.1.1"), model], "URL"),
        (vec![url, model, ("DRAGOMAN_EMBEDDING_API_KEY", "two words")], "API_KEY"),
    ] {
        let Problems(problems) = read(&wrong).unwrap_err();
        let begins = format!("DRAGOMAN_EMBEDDING_{name}: ");
        assert!(problems.len() == 1 && problems[0].starts_with(&begins), "{name}: {problems:?}");
    }
}
