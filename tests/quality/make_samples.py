#!/usr/bin/python3
"""make_samples -- write the sample conversations and their answer keys.

    tests/quality/make_samples.py [FOLDER]    FOLDER is tests/quality/samples unless told

Each is a coding session of 200 messages: en.jsonl in Anthropic's shape, ja.jsonl in OpenAI's, zh.jsonl in
Anthropic's with the tool names of another agent.  What people say is in the stories (story_en.py and its
neighbours); this program turns them into messages, writes the files that are read, and notes in NAME.key
what a summary must still hold: `path`, `error` (unresolved) and `task` lines.  The same every time.
"""
import json
import os
import random
import sys

from story_en import STORY as EN
from story_ja import STORY as JA
from story_zh import STORY as ZH

MESSAGES = 200


# ---- files that the sessions read ------------------------------------------------------------------


def typescript(path, rng, nouns, verbs):
    name = os.path.basename(path).split(".")[0]
    lines = [f'import {{ {n}Repository }} from "../data/{n.lower()}Repository";' for n in nouns[:2]]
    lines += ['import { logger } from "../util/logger";', "", f"const MAX_{nouns[0].upper()} = {rng.randrange(20, 900)};", ""]
    for verb in verbs:
        noun = rng.choice(nouns)
        lines += [f"export async function {verb}{noun}(id: string, options: {noun}Options = {{}}): Promise<{noun}> {{",
                  f"  const {noun.lower()} = await new {noun}Repository().findById(id);",
                  f"  if (!{noun.lower()}) throw new NotFoundError(`{noun.lower()} ${{id}} does not exist`);",
                  f"  if ({noun.lower()}.version !== options.version) {{",
                  f'    logger.warn("{name}: stale version", {{ id, version: options.version }});',
                  f"    return {noun.lower()};", "  }",
                  f"  {noun.lower()}.updatedAt = Date.now() + {rng.randrange(1, 60)} * 1000;",
                  f"  return {noun.lower()};", "}", ""]
    return "\n".join(lines)


def python(path, rng, nouns, verbs):
    name = os.path.basename(path).split(".")[0]
    lines = ["from __future__ import annotations", "", "import logging", "from dataclasses import dataclass", "",
             f'logger = logging.getLogger("{name}")', f"BATCH_SIZE = {rng.randrange(50, 800)}", ""]
    for verb in verbs:
        noun = rng.choice(nouns).lower()
        lines += ["", f"def {verb.lower()}_{noun}(session, {noun}_id: int, *, dry_run: bool = False):",
                  f"    row = session.get({noun.title()}, {noun}_id)", "    if row is None:",
                  f'        raise LookupError(f"{noun} {{{noun}_id}} is unknown")',
                  f"    if row.quantity < {rng.randrange(2, 40)} and not dry_run:",
                  f'        logger.info("{verb.lower()} {noun} %s", {noun}_id)',
                  f"        row.quantity += BATCH_SIZE // {rng.randrange(2, 9)}", "    return row", ""]
    return "\n".join(lines)


def golang(path, rng, nouns, verbs):
    package = os.path.basename(os.path.dirname(path)) or "main"
    lines = [f"package {package}", "", "import (", '\t"context"', '\t"errors"', '\t"fmt"', ")", "",
             f"const max{nouns[0]}s = {rng.randrange(16, 4096)}", ""]
    for verb in verbs:
        noun = rng.choice(nouns)
        lines += [f"// {verb}{noun} changes one {noun.lower()} inside a transaction.",
                  f"func (s *Service) {verb}{noun}(ctx context.Context, id int64) (*{noun}, error) {{",
                  f"\trow, err := s.store.Load{noun}(ctx, id)", "\tif err != nil {",
                  f'\t\treturn nil, fmt.Errorf("load {noun.lower()} %d: %w", id, err)', "\t}",
                  f"\tif row.Amount > {rng.randrange(100, 90000)} {{",
                  f'\t\treturn nil, errors.New("{noun.lower()} is over the limit")', "\t}",
                  "\trow.Version++", "\treturn row, nil", "}", ""]
    return "\n".join(lines)


def plain(path, rng, nouns, verbs):
    return "\n".join(f"{noun.lower()}_{verb.lower()}: {rng.randrange(1, 5000)}" for noun in nouns for verb in verbs)


MAKERS = {".ts": typescript, ".tsx": typescript, ".py": python, ".go": golang}


def file_text(path, rng, story):
    maker = MAKERS.get(os.path.splitext(path)[1], plain)
    verbs = rng.sample(story["verbs"], min(len(story["verbs"]), rng.randrange(5, 9)))
    return maker(path, rng, story["nouns"], verbs)


def numbered(text):
    return "\n".join(f"{n:5d}\t{line}" for n, line in enumerate(text.splitlines(), 1))


# ---- shapes ------------------------------------------------------------------------------------------


class Anthropic:
    def __init__(self, names):
        self.rows, self.names, self.calls = [], names, 0

    def user(self, text):
        self.rows.append({"role": "user", "content": text})

    def assistant(self, text, tool=None, args=None):
        blocks = [{"type": "text", "text": text}] if text else []
        if tool:
            self.calls += 1
            blocks.append({"type": "tool_use", "id": f"toolu_{self.calls:04d}", "name": self.names[tool], "input": args})
        self.rows.append({"role": "assistant", "content": blocks})

    def result(self, text, failed=False):
        block = {"type": "tool_result", "tool_use_id": f"toolu_{self.calls:04d}", "content": text}
        if failed:
            block["is_error"] = True
        self.rows.append({"role": "user", "content": [block]})


class OpenAI(Anthropic):
    def assistant(self, text, tool=None, args=None):
        row = {"role": "assistant", "content": text or None}
        if tool:
            self.calls += 1
            row["tool_calls"] = [{"id": f"call_{self.calls:04d}", "type": "function", "function": {
                "name": self.names[tool], "arguments": json.dumps(args, ensure_ascii=False)}}]
        self.rows.append(row)

    def result(self, text, failed=False):
        self.rows.append({"role": "tool", "tool_call_id": f"call_{self.calls:04d}", "content": text})


# ---- a session -----------------------------------------------------------------------------------------


class Session:
    def __init__(self, story, shape, seed):
        self.story, self.out, self.rng = story, shape, random.Random(seed)
        self.paths, self.errors, self.tasks = [], [], []

    def path(self, path):
        if path not in self.paths:
            self.paths.append(path)
        return path

    def read(self, text, path):
        self.out.assistant(text, "read", {self.story["path_key"]: self.path(path)})
        self.out.result(numbered(file_text(path, self.rng, self.story)))

    def edit(self, text, path, old, new):
        self.out.assistant(text, "edit", {self.story["path_key"]: self.path(path), "old_string": old, "new_string": new})
        self.out.result(self.story["edited"].format(path=path))

    def run(self, text, command, errors, counts):
        noise = [f"  ok {n} {self.rng.choice(self.story['cases'])}" for n in range(1, self.rng.randrange(8, 20))]
        self.out.assistant(text, "run", {"command": command})
        code = 1 if errors else 0
        body = "\n".join(noise + list(errors) + [counts, f"Exit code: {code}"])
        self.out.result(body, bool(errors))

    def search(self, text, path):
        pattern = self.rng.choice(self.story["verbs"]) + self.rng.choice(self.story["nouns"])
        folder = os.path.dirname(path)
        hits = [f"{path}:{self.rng.randrange(8, 90)}: {pattern}(" for _ in range(self.rng.randrange(2, 6))]
        self.out.assistant(text, "search", {"pattern": pattern, "path": folder})
        self.out.result("\n".join(hits))

    def diff(self, e):
        changed = [f" {path} | {self.rng.randrange(2, 30)} +++--" for path, _, _ in e["edits"]]
        self.out.assistant("", "run", {"command": "git diff --stat | cat"})
        self.out.result("\n".join(changed + [f" {len(changed)} files changed"]))

    def episode(self, e):
        self.out.user(e["ask"])
        self.search(e["plan"], e["reads"][0])
        for path in e["reads"]:
            self.read("", path)
        for path, old, new in e["edits"]:
            self.edit("", path, old, new)
        self.run("", e["run"], e.get("errors", ()), e["bad"] if e.get("errors") else e["good"])
        if e.get("errors") and e.get("fix"):
            text, path, old, new = e["fix"]
            self.edit(text, path, old, new)
            self.run("", e["run"], (), e["good"])
        elif e.get("errors"):
            self.errors += e["errors"]
        self.diff(e)
        self.out.assistant(e["wrap"])
        for path in e.get("mentions", ()):
            self.path(path)
        self.tasks += e.get("tasks", ())

    def fill(self):
        """More of the same until one exchange is left: reading around, as sessions do."""
        talk = iter(self.story["talk"])
        while len(self.out.rows) < MESSAGES - 4:
            ask, answer, path = next(talk)
            self.out.user(ask)
            if len(self.out.rows) < MESSAGES - 7:
                self.read("", path)
            self.out.assistant(answer)

    def close(self):
        todos = [{"content": text, "status": status, "priority": "medium"} for text, status in self.story["todos"]]
        self.out.assistant(self.story["todo_words"], "todo", {"todos": todos})
        self.out.result(self.story["todo_done"])
        self.tasks += [text for text, status in self.story["todos"] if status != "completed"]
        if len(self.out.rows) < MESSAGES - 1:
            self.out.user(self.story["last_ask"])
        self.out.assistant(self.story["last_answer"])
        self.tasks += self.story["last_tasks"]


def write(folder, name, session):
    rows = session.out.rows
    assert len(rows) == MESSAGES, f"{name}: {len(rows)} messages"
    with open(os.path.join(folder, name + ".jsonl"), "w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    with open(os.path.join(folder, name + ".key"), "w", encoding="utf-8") as out:
        for kind, lines in (("path", session.paths), ("error", session.errors), ("task", session.tasks)):
            for line in lines:
                out.write(f"{kind}\t{line}\n")


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "samples")
    names = {
        "en": {"read": "Read", "edit": "Edit", "run": "Bash", "todo": "TodoWrite", "search": "Grep"},
        "ja": {"read": "read_file", "edit": "apply_edit", "run": "shell", "todo": "update_todo_list", "search": "search_files"},
        "zh": {"read": "view_file", "edit": "str_replace", "run": "execute_command", "todo": "todo_write", "search": "grep_search"},
    }
    for name, story, shape, seed in (("en", EN, Anthropic, 11), ("ja", JA, OpenAI, 22), ("zh", ZH, Anthropic, 33)):
        session = Session(story, shape(names[name]), seed)
        for e in story["episodes"]:
            session.episode(e)
        session.fill()
        session.close()
        write(folder, name, session)


if __name__ == "__main__":
    main()
