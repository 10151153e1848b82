"""request_peer -- the peer: the same request built in memory, in Python.

    request_peer.py ROWS OUT     the rows as a request to Anthropic
"""
import json
import sys


def blocks_of(row):
    """What a row says, as Anthropic's content: a string, or blocks."""
    if row["role"] == "tool":
        return [{"type": "tool_result", "tool_use_id": row["tool_call_id"], "content": row["content"]}]
    if row.get("tool_calls"):
        return [{"type": "tool_use", "id": call["id"], "name": call["function"]["name"],
                 "input": json.loads(call["function"]["arguments"])} for call in row["tool_calls"]]
    if isinstance(row["content"], str):
        return row["content"]
    for block in row["content"]:
        if block.get("is_error") is False:
            del block["is_error"]  # only a failure is sent
    return row["content"]


def main():
    messages = []
    with open(sys.argv[1], encoding="utf-8") as rows:
        for line in rows:
            row = json.loads(line)
            messages.append({"role": "assistant" if row["role"] == "assistant" else "user", "content": blocks_of(row)})
    request = {"model": "bench", "max_tokens": 1024, "stream": True,
               "system": [{"type": "text", "text": "You are a careful engineer."}], "messages": messages}
    with open(sys.argv[2], "wb") as out:
        out.write(json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode())


main()
