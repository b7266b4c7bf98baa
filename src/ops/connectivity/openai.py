"""Asks a model a question about the data in Dragoman: python3 ask.py "What data do I have?"

DRAGOMAN_TOKEN   a connectivity token
OPENAI_API_KEY   the key of the model's server
OPENAI_BASE_URL  that server; OpenAI's own where it is not set
OPENAI_MODEL     which model
"""
import json
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

DRAGOMAN = "{base}"
OPENAI = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1").rstrip("/")
MODEL = os.environ.get("OPENAI_MODEL", "gpt-5")


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
        return json.dumps({"error": {"code": "not_found", "message": f"There is no function {name}."}})
    inside = re.findall(r"{(\w+)}", how["path"])
    path = re.sub(r"{(\w+)}", lambda part: urllib.parse.quote(str(arguments[part[1]]), safe=""), how["path"])
    rest = {key: value for key, value in arguments.items() if key not in inside and value is not None}
    url, body = DRAGOMAN + path, rest
    if how["method"] == "GET":
        flat = {key: ",".join(map(str, value)) if isinstance(value, list) else value for key, value in rest.items()}
        url, body = url + ("?" + urllib.parse.urlencode(flat) if flat else ""), None
    token = {"Authorization": "Bearer " + os.environ["DRAGOMAN_TOKEN"]}
    return send(url, token, body, how["method"])[1]


def main(question):
    functions = json.loads(send(DRAGOMAN + "/api/v1/ext/functions/openai.json", {})[1])
    messages = [{"role": "system", "content": functions["instructions"]}, {"role": "user", "content": question}]
    for _ in range(12):
        body = {"model": MODEL, "messages": messages, "tools": functions["tools"]}
        status, text = send(OPENAI + "/chat/completions", {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}, body)
        if status != 200:
            sys.exit(f"The model's server answered {status}: {text}")
        message = json.loads(text)["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return print(message["content"])
        for asked in message["tool_calls"]:
            try:
                result = call(functions, asked["function"]["name"], json.loads(asked["function"]["arguments"] or "{}"))
            except (KeyError, ValueError) as problem:
                result = json.dumps({"error": {"code": "invalid_argument", "message": f"Missing or malformed: {problem}"}})
            messages.append({"role": "tool", "tool_call_id": asked["id"], "content": result})
    sys.exit("The model went on asking without an answer.")


main(" ".join(sys.argv[1:]) or "What data do I have in Dragoman?")
