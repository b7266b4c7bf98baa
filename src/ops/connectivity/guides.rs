//! The texts: one guide for each client, and the only place where they are (what several say in the same words is in
//! `words.rs`). The console's hub, the operation `connectivity_generate_setup`, the MCP prompt `connect_client` and the
//! pages of clients in the documentation are made of them; a test holds what they name against what the service has.

use super::guide::{Class, Format, Guide, Way};
use super::pieces as make;
use super::words::{
    APPROVE, ASK, BAD_TOKEN, CLOUD, EXPORT_TOKEN, MAKE_TOKEN, NO_COMMAND, NOTHING_PUBLISHED, OFF, SCOPE, SIGN_IN_AGAIN,
    click, copy, say, trouble,
};

/// All, in the order in which they are shown.
pub const GUIDES: &[Guide] = &[
    Guide {
        id: "claude",
        name: "Claude (web, Desktop, mobile)",
        also: &["claude-web"],
        class: Class::BestEffort,
        from_cloud: true,
        way: Way::Approval,
        about: "A custom connector, added once for your account; the Desktop and mobile apps have it too.",
        steps: &[
            click(
                "In Claude, open Settings → Connectors and choose Add custom connector. The link opens that dialog \
                       with both fields filled. On a Team or Enterprise plan an owner adds it once, in the \
                       organization's settings.",
                "Remote MCP server URL",
                Format::Text,
                make::hosted,
                ("Add to Claude", make::claude_link),
            ),
            say("Name it Dragoman, leave the advanced settings empty, and choose Add.", "Dragoman is in the list."),
            say("Choose Connect beside it.", "A page of Dragoman opens."),
            APPROVE,
            say("In a conversation, open the menu of tools (+) and switch Dragoman on.", ""),
            ASK,
        ],
        calls_itself: &["/api/mcp/auth_callback", "mcp-oauth-client-metadata", "anthropic/"],
        troubles: &[
            CLOUD,
            trouble(
                "Desktop says the same although this machine can open the address.",
                "Connectors of Desktop are asked from Anthropic's cloud too. For an address of your own network use \
                 Claude Desktop with a local program, or Claude Code.",
            ),
            SIGN_IN_AGAIN,
            NOTHING_PUBLISHED,
            OFF,
        ],
    },
    Guide {
        id: "desktop",
        name: "Claude Desktop, by a local program",
        also: &["claude-desktop", "claude-stdio"],
        class: Class::BestEffort,
        from_cloud: false,
        way: Way::Token,
        about: "For an address that only your own machine or network reaches: Desktop starts dragoman, which asks there.",
        steps: &[
            MAKE_TOKEN,
            say(
                "Put the program dragoman on your machine, and open Settings → Developer → Edit Config in Claude Desktop.",
                "The file claude_desktop_config.json opens.",
            ),
            copy(
                "Put this into it (beside what is there already), with your token instead of {token}.",
                "~/Library/Application Support/Claude/claude_desktop_config.json (macOS), \
                 %APPDATA%\\Claude\\claude_desktop_config.json (Windows)",
                Format::Json,
                make::stdio,
                "",
            ),
            say("Quit Claude Desktop wholly and start it again.", "Dragoman is among the tools of a conversation (+)."),
            ASK,
        ],
        calls_itself: &["claude-ai", "claude desktop"],
        troubles: &[NO_COMMAND, BAD_TOKEN, NOTHING_PUBLISHED, OFF],
    },
    Guide {
        id: "claude-code",
        name: "Claude Code",
        also: &[],
        class: Class::BestEffort,
        from_cloud: false,
        way: Way::Approval,
        about: "One command in a terminal; it signs in through your browser.",
        steps: &[
            copy("In a terminal:", "", Format::Sh, make::claude_code, "It says that the server dragoman was added."),
            say("Start claude, type /mcp, choose dragoman and Authenticate.", "A page of Dragoman opens."),
            APPROVE,
            ASK,
            copy(
                "To give it to everybody who works on a project, put this file into the project instead of the first \
                 step.",
                ".mcp.json",
                Format::Json,
                make::claude_code_file,
                "",
            ),
        ],
        calls_itself: &["claude-code", "claude code"],
        troubles: &[
            trouble(
                "“Protected resource … does not match”.",
                "The address was written in another way than the service writes it. Take it from this page, letter by \
                 letter, and add the server again.",
            ),
            trouble("Long answers are cut.", "Set MAX_MCP_OUTPUT_TOKENS to more than 25000, or ask for fewer rows."),
            SIGN_IN_AGAIN,
            NOTHING_PUBLISHED,
            OFF,
        ],
    },
    Guide {
        id: "chatgpt",
        name: "ChatGPT",
        also: &["chatgpt-desktop", "chatgpt-web"],
        class: Class::BestEffort,
        from_cloud: true,
        way: Way::Approval,
        about: "An app in developer mode (a paid plan; on Business, Enterprise and Edu an admin allows it first).",
        steps: &[
            say(
                "On the web, open Settings → Apps & Connectors → Advanced settings, and switch Developer mode on.",
                "A button Create appears.",
            ),
            copy(
                "Choose Create. Name it Dragoman, give this as the MCP server URL, and OAuth as the authentication.",
                "MCP server URL",
                Format::Text,
                make::hosted,
                "",
            ),
            say("Tick I trust this application, and choose Create.", "A page of Dragoman opens."),
            APPROVE,
            say("In a conversation, open + → Developer mode (or More) and choose Dragoman.", ""),
            ASK,
        ],
        calls_itself: &["chatgpt", "openai-mcp"],
        troubles: &[
            CLOUD,
            trouble(
                "It only searches, and runs no SQL.",
                "Developer mode is off in this conversation: without it ChatGPT uses search and fetch alone.",
            ),
            SIGN_IN_AGAIN,
            NOTHING_PUBLISHED,
            OFF,
        ],
    },
    Guide {
        id: "custom-gpt",
        name: "ChatGPT Custom GPT, by Actions",
        also: &["openai-custom-gpt", "gpt-actions", "chatgpt-custom-gpt"],
        class: Class::BestEffort,
        from_cloud: true,
        way: Way::Rest,
        about: "A GPT of your own that asks over REST; everybody who uses the GPT asks with its one token.",
        steps: &[
            MAKE_TOKEN,
            copy(
                "In ChatGPT, open Explore GPTs → Create → Configure → Create new action → Import from URL.",
                "Import from URL",
                Format::Text,
                make::actions_document,
                "The list of available actions appears.",
            ),
            copy(
                "Authentication: choose API key, the type Bearer, and paste the token.",
                "API key",
                Format::Text,
                make::token,
                "",
            ),
            copy(
                "For the GPT's instructions, take the prompt of your workspace (the page for any model has it), or this:",
                "Instructions",
                Format::Text,
                make::short_instructions,
                "",
            ),
            say("In the preview, ask: What data do I have in Dragoman?", "It asks to talk to your service; allow it."),
        ],
        calls_itself: &[],
        troubles: &[
            CLOUD,
            BAD_TOKEN,
            SCOPE,
            trouble(
                "The answer is refused as too large, or comes too late.",
                "Actions take 100,000 characters and wait 45 seconds: ask for fewer rows, or for totals.",
            ),
            NOTHING_PUBLISHED,
            OFF,
        ],
    },
    Guide {
        id: "cursor",
        name: "Cursor",
        also: &[],
        class: Class::BestEffort,
        from_cloud: false,
        way: Way::Approval,
        about: "One click, or a file; it signs in through your browser.",
        steps: &[
            click(
                "Open the link and choose Install, or put this into the file.",
                "~/.cursor/mcp.json, or .cursor/mcp.json in a project",
                Format::Json,
                make::cursor_file,
                ("Add to Cursor", make::cursor_link),
            ),
            say("Open Settings → MCP (Tools & MCP) and choose Connect beside dragoman.", "A page of Dragoman opens."),
            APPROVE,
            ASK,
            copy(
                "Where the address can be reached by a local program alone, use this file instead, with a token of \
                 {clients} for {token}.",
                "~/.cursor/mcp.json",
                Format::Json,
                make::stdio,
                "",
            ),
        ],
        calls_itself: &["cursor"],
        troubles: &[
            trouble(
                "It stays at “Needs login”.",
                "Switch dragoman off and on in Settings → MCP, and choose Connect again; a window that was closed ends \
                 the attempt.",
            ),
            SIGN_IN_AGAIN,
            NOTHING_PUBLISHED,
            OFF,
        ],
    },
    Guide {
        id: "vscode",
        name: "VS Code (Copilot)",
        also: &["vs-code", "copilot"],
        class: Class::BestEffort,
        from_cloud: false,
        way: Way::Approval,
        about: "One click, or a file; used by Copilot's agent mode.",
        steps: &[
            click(
                "Open the link and choose Install, or put this into the file. The command MCP: Add Server asks for \
                       the same: HTTP, the address, a name.",
                ".vscode/mcp.json, or the command MCP: Open User Configuration",
                Format::Json,
                make::vscode_file,
                ("Add to VS Code", make::vscode_link),
            ),
            say("Choose Start above the entry in the file, and Allow when it asks to sign in.", "A page opens."),
            APPROVE,
            say("Open the chat in agent mode and see that dragoman is ticked among its tools.", ""),
            ASK,
            copy(
                "Where the address can be reached by a local program alone, use this file instead; VS Code asks for a \
                 token of {clients} and keeps it.",
                ".vscode/mcp.json",
                Format::Json,
                make::vscode_stdio,
                "",
            ),
        ],
        calls_itself: &["visual studio code", "vscode.dev"],
        troubles: &[
            trouble(
                "There is no agent mode, or no tools.",
                "Set chat.agent.enabled and chat.mcp.access; in an organisation, a policy may forbid MCP servers.",
            ),
            SIGN_IN_AGAIN,
            NOTHING_PUBLISHED,
            OFF,
        ],
    },
    Guide {
        id: "windsurf",
        name: "Windsurf (Devin Desktop)",
        also: &["devin", "devin-desktop", "codeium"],
        class: Class::BestEffort,
        from_cloud: false,
        way: Way::Approval,
        about: "A file; Windsurf is called Devin Desktop since June 2026 and then reads another one.",
        steps: &[
            copy(
                "In Windsurf, open the menu MCPs of Cascade, then Configure, and put this into the file.",
                "~/.codeium/windsurf/mcp_config.json",
                Format::Json,
                make::windsurf_file,
                "",
            ),
            copy(
                "In Devin Desktop it is this one.",
                "~/.config/devin/mcp_config.json (Windows: %APPDATA%\\devin\\mcp_config.json)",
                Format::Json,
                make::devin_file,
                "",
            ),
            say("Press the refresh button of the list, and Authenticate beside dragoman.", "A page of Dragoman opens."),
            APPROVE,
            ASK,
        ],
        calls_itself: &["windsurf", "codeium", "devin"],
        troubles: &[
            trouble(
                "It does not connect, and nothing is seen of it.",
                "Windsurf wants the address as serverUrl, Devin Desktop as url: a file of one does nothing in the other.",
            ),
            SIGN_IN_AGAIN,
            OFF,
        ],
    },
    Guide {
        id: "gemini",
        name: "Gemini CLI",
        also: &["gemini-cli"],
        class: Class::BestEffort,
        from_cloud: false,
        way: Way::Approval,
        about: "One command in a terminal, or a file; it signs in through your browser.",
        steps: &[
            copy("In a terminal:", "", Format::Sh, make::gemini, "It says that the server dragoman was added."),
            copy("Or put this into the file.", "~/.gemini/settings.json", Format::Json, make::gemini_file, ""),
            say("Start gemini and type /mcp auth dragoman.", "A page of Dragoman opens."),
            APPROVE,
            ASK,
        ],
        calls_itself: &["gemini"],
        troubles: &[
            trouble(
                "The list of servers says Disabled.",
                "Gemini CLI switches servers off in folders that it does not trust: start it there and trust the folder.",
            ),
            trouble(
                "It looks for an event stream and fails.",
                "The address stands under url alone: Gemini CLI tries the older transport too then. Say \"type\": \"http\".",
            ),
            SIGN_IN_AGAIN,
            NOTHING_PUBLISHED,
            OFF,
        ],
    },
    Guide {
        id: "inspector",
        name: "MCP Inspector",
        also: &["mcp-inspector"],
        class: Class::Tested,
        from_cloud: false,
        way: Way::Token,
        about: "For engineers: every tool and message by hand (Node 22.19 or later).",
        steps: &[
            MAKE_TOKEN,
            copy(
                "Put this into a file, with your token instead of {token}.",
                "dragoman.json",
                Format::Json,
                make::inspector_file,
                "",
            ),
            copy("In a terminal, beside the file:", "", Format::Sh, make::inspector, "It prints the tools as JSON."),
            say(
                "Its web page signs in as any other client does. The operator lets the page in with the setting \
                 DRAGOMAN_ALLOWED_ORIGINS=http://localhost:6274: other origins of browsers are refused.",
                "",
            ),
        ],
        calls_itself: &["inspector"],
        troubles: &[BAD_TOKEN, SCOPE, OFF],
    },
    Guide {
        id: "openai-api",
        name: "OpenAI API",
        also: &["openai", "openai-functions"],
        class: Class::BestEffort,
        from_cloud: false,
        way: Way::Rest,
        about: "Your own program on OpenAI's models, or on any server that speaks their chat completions.",
        steps: &[
            MAKE_TOKEN,
            EXPORT_TOKEN,
            copy(
                "This program is whole: it fetches the function definitions, asks the model, and calls what the model \
                 asks for. OPENAI_API_KEY holds the model's key; OPENAI_BASE_URL names another server.",
                "ask.py",
                Format::Python,
                make::openai_program,
                "",
            ),
            copy("In the same terminal:", "", Format::Sh, make::run_program, "It answers with your datasets."),
            copy(
                "The Responses API can ask by itself, from OpenAI's cloud, where the address is public: this is a member \
                 of tools.",
                "tools",
                Format::Json,
                make::openai_tool,
                "",
            ),
        ],
        calls_itself: &[],
        troubles: &[BAD_TOKEN, SCOPE, NOTHING_PUBLISHED, OFF],
    },
    Guide {
        id: "anthropic-api",
        name: "Anthropic API",
        also: &["claude-api", "anthropic"],
        class: Class::BestEffort,
        from_cloud: false,
        way: Way::Rest,
        about: "Your own program on Anthropic's models.",
        steps: &[
            MAKE_TOKEN,
            EXPORT_TOKEN,
            copy(
                "This program is whole: it fetches the tool definitions, asks the model, and calls what the model asks \
                 for. ANTHROPIC_API_KEY holds the model's key.",
                "ask.py",
                Format::Python,
                make::anthropic_program,
                "",
            ),
            copy("In the same terminal:", "", Format::Sh, make::run_program, "It answers with your datasets."),
        ],
        calls_itself: &[],
        troubles: &[BAD_TOKEN, SCOPE, NOTHING_PUBLISHED, OFF],
    },
    Guide {
        id: "prompt",
        name: "Any model, by a prompt",
        also: &["generic-llm", "deepseek", "qwen", "browser", "any-model"],
        class: Class::Universal,
        from_cloud: false,
        way: Way::Rest,
        about: "DeepSeek, Qwen, a model of your own, a chat in a browser: whatever reads a system prompt.",
        steps: &[
            MAKE_TOKEN,
            EXPORT_TOKEN,
            copy(
                "Take the prompt of your workspace: it is beside this guide in the console, and in the same terminal this \
                 prints it. It tells the model your published datasets, their columns, and how to ask.",
                "",
                Format::Sh,
                make::fetch_prompt,
                "",
            ),
            say(
                "Paste it as the system prompt, or as the first message. Where the model can run requests itself, it \
                 reads the token from the variable DRAGOMAN_TOKEN. Where it cannot, it writes commands for you: run \
                 them, and paste what they print. Never paste the token into a conversation.",
                "",
            ),
            ASK,
        ],
        calls_itself: &[],
        troubles: &[
            trouble(
                "It makes numbers up.",
                "It was not able to ask, and guessed. Tell it to write the command, run it yourself, and paste what it \
                 prints.",
            ),
            BAD_TOKEN,
            SCOPE,
            OFF,
        ],
    },
    Guide {
        id: "program",
        name: "Any program, over REST",
        also: &["generic-rest", "rest", "curl"],
        class: Class::Universal,
        from_cloud: false,
        way: Way::Rest,
        about: "Scripts, notebooks, spreadsheets, automation: whatever sends HTTP requests.",
        steps: &[
            MAKE_TOKEN,
            EXPORT_TOKEN,
            copy(
                "In the same terminal. The header is Authorization: Bearer, and the token goes by a pipe, so that no \
                 list of processes shows it.",
                "",
                Format::Sh,
                make::rest_list,
                "Your published datasets, as JSON.",
            ),
            copy("Run SQL:", "", Format::Sh, make::rest_sql, "One row, as JSON."),
            copy("Everything else is in the OpenAPI document:", "", Format::Text, make::openapi_document, ""),
        ],
        calls_itself: &[],
        troubles: &[
            BAD_TOKEN,
            SCOPE,
            trouble("429 rate_limited.", "Wait as Retry-After says. A token has 30 requests a minute, 10 of SQL."),
            NOTHING_PUBLISHED,
            OFF,
        ],
    },
];
