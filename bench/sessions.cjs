// sessions.cjs -- the peer: the same sessions.json in node, and a stat of every file.
//
//     node sessions.cjs AGENT_DIRECTORY     prints {"id", "all"} of the newest
const fs = require("fs");
const path = require("path");

const directory = process.argv[2];
const { entries } = JSON.parse(fs.readFileSync(path.join(directory, "sessions.json"), "utf8"));
let newest = { id: "", time: 0 };
for (const id of Object.keys(entries)) {
  const time = fs.statSync(path.join(directory, "sessions", id + ".jsonl")).mtimeMs;
  if (time > newest.time) newest = { id, time };
}
console.log(JSON.stringify({ id: newest.id, all: Object.keys(entries).length }));
