"""Asks a model a question about the data in Dragoman: python3 ask.py "What data do I have?"

DRAGOMAN_TOKEN      a connectivity token
ANTHROPIC_API_KEY   the key of the model's server
ANTHROPIC_BASE_URL  that server; Anthropic's own where it is not set
ANTHROPIC_MODEL     which model
"""
import json
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

DRAGOMAN = "{base}"
ANTHROPIC = os.environ.get("ANTHROPIC_BASE_URL", "https://api.anthropic.com").rstrip("/")
MODEL = os.environ.get("ANTHROPIC_MODEL", "claude-sonnet-4-5")


def send(url, headers, body=None, method=None):
    """The answer, whatever its status: what went wrong is told to the model in the same words."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as problem:
        return problem.code, problem.read().decode()


def call(functions, name, arguments):
    """Runs one function: parts of the path come from the arguments, the rest is the body, or the query."""
    how = functions["calls"].get(name)
    if how is None:
        return 404, json.dumps({"error": {"code": "not_found", "message": f"There is no function {name}."}})
    inside = re.findall(r"{(\w+)}", how["path"])
    path = re.sub(r"{(\w+)}", lambda part: urllib.parse.quote(str(arguments[part[1]]), safe=""), how["path"])
    rest = {key: value for key, value in arguments.items() if key not in inside and value is not None}
    url, body = DRAGOMAN + path, rest
    if how["method"] == "GET":
        flat = {key: ",".join(map(str, value)) if isinstance(value, list) else value for key, value in rest.items()}
        url, body = url + ("?" + urllib.parse.urlencode(flat) if flat else ""), None
    token = {"Authorization": "Bearer " + os.environ["DRAGOMAN_TOKEN"]}
    return send(url, token, body, how["method"])


def main(question):
    functions = json.loads(send(DRAGOMAN + "/api/v1/ext/functions/anthropic.json", {})[1])
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}
    messages = [{"role": "user", "content": question}]
    for _ in range(12):
        body = {"model": MODEL, "max_tokens": 4096, "system": functions["instructions"], "messages": messages,
                "tools": functions["tools"]}
        status, text = send(ANTHROPIC + "/v1/messages", headers, body)
        if status != 200:
            sys.exit(f"The model's server answered {status}: {text}")
        answer = json.loads(text)
        messages.append({"role": "assistant", "content": answer["content"]})
        if answer["stop_reason"] != "tool_use":
            return print("\n".join(block["text"] for block in answer["content"] if block["type"] == "text"))
        results = []
        for asked in (block for block in answer["content"] if block["type"] == "tool_use"):
            try:
                status, result = call(functions, asked["name"], asked["input"])
            except KeyError as problem:
                status, result = 400, json.dumps({"error": {"code": "invalid_argument", "message": f"Missing: {problem}"}})
            results.append({"type": "tool_result", "tool_use_id": asked["id"], "content": result, "is_error": status != 200})
        messages.append({"role": "user", "content": results})
    sys.exit("The model went on asking without an answer.")


main(" ".join(sys.argv[1:]) or "What data do I have in Dragoman?")
