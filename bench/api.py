"""api -- a short operation of the daemon's API, alone and with operations of 50 ms; for bench/run.

Each round asks for SHORT answers one after the other (bench_http), then again while another client has one long
operation after the other answered.  Both count tokens: of a few words, and of a text that is made so long that one takes
50 ms.
"""
import json
import random
import statistics
import subprocess
import tempfile

import proxy

PATH = "/maki/ops/tokens.count"
LONG_MS = 50
LONG_REQUESTS = 100_000  # more than anybody waits for: the client is ended
SHORT = 2000
BAR_MS = 2


def ask(build, port, body, count):
    return [f"{build}/bench_http", str(port), PATH, body, str(count), "1"]


def timed(command):
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def write_body(directory, name, text):
    path = f"{directory}/{name}.json"
    with open(path, "w") as file:
        json.dump({"text": text, "encoding": "o200k_base"}, file, ensure_ascii=False)
    return path


def long_body(build, port, directory):
    """Words that nobody has seen before, so that each is counted anew; returns the body and the ms it takes."""
    words, size = random.Random(7), 50_000
    while True:
        text = " ".join(f"{words.getrandbits(40):x}" for _ in range(size))
        body = write_body(directory, "long", text)
        took = timed(ask(build, port, body, 5))["end_us"] / 1000
        if took >= LONG_MS:
            return body, took
        size = int(size * max(1.1, LONG_MS / took))


def measure(build, port, directory, runs):
    short, samples = write_body(directory, "short", "巻き戻し"), {"alone": [], "loaded": []}
    body, samples["long_ms"] = long_body(build, port, directory)
    for _ in range(runs):
        samples["alone"].append(timed(ask(build, port, short, SHORT))["end_p99_us"] / 1000)
        other = subprocess.Popen(ask(build, port, body, LONG_REQUESTS))
        samples["loaded"].append(timed(ask(build, port, short, SHORT))["end_p99_us"] / 1000)
        if other.poll() is not None:
            proxy.stop("the client of long operations ended by itself")
        other.kill()
        other.wait()
    return samples


def bench(row, build, runs, all_samples):
    port = proxy.free_port()
    with tempfile.TemporaryDirectory(prefix="maki-bench.") as directory, open(f"{directory}/log", "wb") as log:
        daemon = subprocess.Popen([f"{build}/maki-serve", "--listen", f"127.0.0.1:{port}", "--home", f"{directory}/home"],
                                  stdout=log, stderr=log)
        try:
            proxy.wait_for(port, "maki")
            samples = all_samples["api"] = measure(build, port, directory, runs)
        finally:
            daemon.terminate()
            daemon.wait()
    alone, loaded = statistics.median(samples["alone"]), statistics.median(samples["loaded"])
    return [row(f"API: a short operation with some of {samples['long_ms']:.0f} ms, 99th percentile", "ms", loaded,
                "alone", alone, f"at most {BAR_MS} ms more", loaded <= alone + BAR_MS)]
