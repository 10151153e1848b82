"""sessions -- a start with ten thousand sessions, against node reading the same sessions.json."""
import json
import os
import statistics
import subprocess
import sys
import time

SESSIONS = 10_000
BAR_MS = 50
USUAL_MS = 1600000000  # seconds: when the files say they were written; long ago, so that their directory is at rest


def make(directory):
    """Ten thousand transcripts with their events; made once."""
    sessions = os.path.join(directory, "agents", "default", "sessions")
    if os.path.isdir(sessions) and len(os.listdir(sessions)) >= 2 * SESSIONS:
        return
    os.makedirs(sessions, exist_ok=True)
    for number in range(SESSIONS):
        name = f"{number * 2654435761 % 2**32:08x}-0000-4000-8000-{number:012d}"
        header = {"type": "header", "version": 1, "sessionId": name, "createdAt": 1700000000000 + number,
                  "sessionKey": f"agent:default:telegram:{number}", "channel": "telegram"}
        rows = [header, {"role": "user", "content": "Hello", "createdAt": 1700000001000, "meta": {"sender": str(number)}},
                {"role": "assistant", "content": "Hi there!", "createdAt": 1700000002000,
                 "meta": {"model": "claude-sonnet-4"}}]
        stem = os.path.join(sessions, name)
        with open(stem + ".jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
        os.utime(stem + ".jsonl", (USUAL_MS + number, USUAL_MS + number))
    os.utime(sessions, (USUAL_MS, USUAL_MS))


def run(command, environment):
    began = time.perf_counter()
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    took = (time.perf_counter() - began) * 1000
    if ran.returncode != 0:
        sys.exit(f"bench: {command[0]} ended with {ran.returncode}: {ran.stderr.decode(errors='replace').strip()}")
    return took, ran.stdout.decode()


def bench(row, build, runs, samples):
    directory = os.path.join(build, "data", "sessions")
    agent = os.path.join(directory, "agents", "default")
    make(directory)
    here = {**os.environ, "MAKI_HOME": directory}
    maki = os.path.join(build, "maki")
    if not os.path.exists(maki):
        maki = "build/maki"
    newest = [maki, "session", "list", "--json", "--limit", "1"]
    commands = {
        "list": newest,
        "resolve": [maki, "session", "resolve", "--json", "--channel", "telegram", "--sender", "7777"],
        "node": ["node", "bench/sessions.cjs", agent],
    }
    view = os.path.join(agent, "sessions.json")
    if os.path.exists(view):
        os.unlink(view)
    made, _ = run(newest, here)
    told = json.loads(run(newest, here)[1])
    peer = json.loads(run(commands["node"], here)[1])
    if (told["all"], told["sessions"][0]["id"]) != (peer["all"], peer["id"]) or told["all"] != SESSIONS:
        sys.exit(f"bench: maki and node disagree: {told['all']} and {peer['all']} sessions")
    times = {name: [] for name in commands}
    for number in range(3 * runs + 1):
        for name, command in commands.items():
            took, _ = run(command, here)
            if number:
                times[name].append(took)
    samples["sessions_ms"] = times
    mid = {name: statistics.median(values) for name, values in times.items()}
    return [
        row("newest of 10,000 sessions, start to end", "ms", mid["list"], "node", mid["node"],
            f"under {BAR_MS} ms", mid["list"] < BAR_MS),
        row("resolve one of 10,000, start to end", "ms", mid["resolve"], bar=f"under {BAR_MS} ms",
            ok=mid["resolve"] < BAR_MS),
        row("sessions.json of 10,000 made again, once", "ms", made),
    ]
