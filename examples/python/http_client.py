"""http_client.py -- plain HTTP through the daemon: the conversation has a name, and then an operation is run on it.

    maki serve    # in another terminal
    OPENAI_API_KEY=... python3 http_client.py
"""
import json
import os
import urllib.request

DAEMON = os.environ.get("MAKI_URL", "http://127.0.0.1:4747")


def post(path, body, **headers):
    request = urllib.request.Request(DAEMON + path, json.dumps(body).encode(), {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


headers = {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}", "x-maki-session": "sushi-http"}
messages = []
for content in ["巻き寿司の具は何ですか？", "그리고 마실 것은요? 🍵"]:
    messages.append({"role": "user", "content": content})
    body = {"model": os.environ.get("MODEL", "gpt-5-mini"), "messages": messages}
    messages.append(post("/v1/chat/completions", body, **headers)["choices"][0]["message"])
    print(messages[-1]["content"])
print("messages", post("/maki/ops/history.status", {"conversation": "sushi-http"})["messages"])
