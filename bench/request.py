"""request -- a request written from a conversation of a gigabyte, against dd, Python and node, which build it in
memory; and the first words of an answer, against a bare socket."""
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

ROWS_BYTES = 1_000_000_000
SMALL_BYTES = 2_000_000
TURN = 8  # rows of bench_make after which every call is answered
MEMORY_BAR_MB = 16
ASKED = 1000  # requests of a round, for the first words
BAR_MS = 1


def stop(words):
    sys.exit(f"bench: {words}")


def run(command):
    """Run it; gives seconds and what it printed on both."""
    began = time.perf_counter()
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    took = time.perf_counter() - began
    if ran.returncode != 0:
        stop(f"{command[0]} ended with {ran.returncode}: {ran.stderr.decode(errors='replace').strip()}")
    return took, ran.stdout.decode(), ran.stderr.decode()


# ---- a conversation ---------------------------------------------------------------------------------------


def make(build, directory):
    """1 GB of messages, in English, Japanese, Chinese, Korean and code, with calls and results in the shapes of two protocols;
    made once, and again when its maker changed."""
    path, maker = os.path.join(directory, "messages.jsonl"), os.path.join(build, "bench_make")
    os.makedirs(directory, exist_ok=True)
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(maker):
        for name in os.listdir(directory):
            os.unlink(os.path.join(directory, name))
        run([maker, "log", str(ROWS_BYTES), path + ".new"])
        os.replace(path + ".new", path)
    return path


def out_path(directory):
    """Where the requests go: memory if they fit, for a disk would be measured instead."""
    memory = "/dev/shm"
    free = shutil.disk_usage(memory).free if os.path.isdir(memory) else 0
    return os.path.join(memory if free > 3 * ROWS_BYTES else directory, f"maki-bench.{os.getpid()}")


def commands_of(build, rows, out):
    ours = os.path.join(build, "bench_request")
    return {"maki": [ours, rows, "anthropic", out], "chat": [ours, rows, "openai", out],
            "dd": ["dd", "bs=1M", f"if={rows}", f"of={out}"],
            "python": [sys.executable, "bench/request_peer.py", rows, out],
            "node": ["node", "--max-old-space-size=16000", "bench/request_peer.cjs", rows, out]}


def with_blocks(request):
    """A string is one text block: we write long strings as that, so that they need no buffer."""
    for message in request["messages"]:
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
    return request


def check(build, directory, out):
    """Do all three write a request of the same meaning?"""
    small = os.path.join(directory, "small.jsonl")
    run([os.path.join(build, "bench_make"), "log", str(SMALL_BYTES), small])
    with open(small, "rb") as file:
        lines = file.readlines()
    with open(small, "wb") as file:
        file.writelines(lines[:len(lines) // TURN * TURN])
    if os.path.exists(small[:-6] + ".idx"):
        os.unlink(small[:-6] + ".idx")
    requests = {}
    for name in ("maki", "python", "node"):
        run(commands_of(build, small, out)[name])
        with open(out, encoding="utf-8") as file:
            requests[name] = with_blocks(json.load(file))
        os.unlink(out)
    for name in ("python", "node"):
        if requests[name] != requests["maki"]:
            stop(f"maki and {name} do not write the same request")


def rounds(commands, names, count, out):
    """{name: [seconds]} and {name: what it told last}, after one round that does not count."""
    seconds, told = {name: [] for name in names}, {}
    for number in range(count + 1):
        for name in names:
            if os.path.exists(out):
                os.unlink(out)
            took, printed, _ = run(commands[name])
            told[name] = printed
            if number:
                seconds[name].append(took)
    return seconds, told


def peers(build, commands, count, out):
    """{name: [seconds]} and {name: MB} of those that keep it all in memory."""
    seconds, megabytes = {"python": [], "node": []}, {}
    for _ in range(count):
        for name in seconds:
            if os.path.exists(out):
                os.unlink(out)
            _, _, told = run([os.path.join(build, "bench_watch"), *commands[name]])
            told = json.loads(told.strip().splitlines()[-1])
            seconds[name].append(told["us"] / 1e6)
            megabytes[name] = max(megabytes.get(name, 0), told["peak_kb"] / 1000)
    return seconds, megabytes


def bench(row, build, runs, samples):
    directory = os.path.join(build, "data", "request")
    rows = make(build, directory)
    out = out_path(directory)
    try:
        check(build, directory, out)
        commands = commands_of(build, rows, out)
        seconds, told = rounds(commands, ("maki", "dd", "chat"), runs, out)
        slow, memory = peers(build, commands, max(1, runs // 3), out)
    finally:
        if os.path.exists(out):
            os.unlink(out)
    samples.setdefault("seconds", {})["request"] = {**seconds, **slow}
    mid = {name: statistics.median(times) for name, times in {**seconds, **slow}.items()}
    size = os.path.getsize(rows) / 1e6
    ours_mb = max(json.loads(told[name])["peak_kb"] for name in ("maki", "chat")) / 1000
    lines = []
    lines.append(row("a request from 1 GB, Anthropic", "MB/s", size / mid["maki"], "dd bs=1M", size / mid["dd"], "0.5x",
                     mid["maki"] <= 2 * mid["dd"]))
    lines.append(row("the same, OpenAI chat", "MB/s", size / mid["chat"], "dd bs=1M", size / mid["dd"]))
    lines.append(row("its peak memory (VmHWM)", "MB", ours_mb, bar=f"under {MEMORY_BAR_MB} MB", ok=ours_mb < MEMORY_BAR_MB))
    for name in slow:
        lines.append(row(f"the same request, {name} in memory", "ms", 1000 * mid["maki"], name, 1000 * mid[name]))
        lines.append(row("their memory", "MB", ours_mb, name, memory[name], "99 % less", ours_mb <= 0.01 * memory[name]))
    return lines


# ---- the first words of an answer -------------------------------------------------------------------------


def bench_first(row, build, runs, samples):
    provider = subprocess.Popen([os.path.join(build, "maki-fake-provider")], stdout=subprocess.PIPE)
    try:
        port = provider.stdout.readline().decode().strip().rsplit(":", 1)[1]
        told = [json.loads(run([os.path.join(build, "bench_first"), port, str(ASKED)])[1]) for _ in range(runs)]
    finally:
        provider.terminate()
        provider.wait()
    samples["first_us"] = told
    mid = {name: statistics.median(t[name] for t in told) / 1000 for name in told[0]}
    return [
        row("first words of a stream, our sender", "ms", mid["ours_us"], "a bare socket", mid["bare_us"]),
        row("added to them, median", "ms", mid["more_us"], bar=f"under {BAR_MS} ms", ok=mid["more_us"] < BAR_MS),
        row("added to them, 99th percentile", "ms", mid["more_p99_us"]),
    ]
