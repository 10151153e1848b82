// request_peer.cjs -- the peer: the same request built in memory, in node.
//
//     node request_peer.cjs ROWS OUT     the rows as a request to Anthropic
//
// A string of node's cannot hold half a gigabyte: the file is a buffer, and the body is put together from one a message.
const fs = require("fs");

function blocksOf(row) {
  if (row.role === "tool") return [{ type: "tool_result", tool_use_id: row.tool_call_id, content: row.content }];
  if (row.tool_calls) {
    return row.tool_calls.map((call) => ({
      type: "tool_use", id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments),
    }));
  }
  if (typeof row.content !== "string") {
    for (const block of row.content) if (block.is_error === false) delete block.is_error; // only a failure is sent
  }
  return row.content;
}

const rows = fs.readFileSync(process.argv[2]);
const messages = [];
for (let at = 0, end = 0; at < rows.length; at = end + 1) {
  end = rows.indexOf(10, at);
  const row = JSON.parse(rows.toString("utf8", at, end));
  messages.push({ role: row.role === "assistant" ? "assistant" : "user", content: blocksOf(row) });
}
const head = JSON.stringify({
  model: "bench", max_tokens: 1024, stream: true, system: [{ type: "text", text: "You are a careful engineer." }], messages: [],
});
const pieces = [Buffer.from(head.slice(0, -2))];
messages.forEach((message, i) => pieces.push(Buffer.from((i ? "," : "") + JSON.stringify(message))));
pieces.push(Buffer.from("]}"));
fs.writeFileSync(process.argv[3], Buffer.concat(pieces));
