"""page -- the page with 100,000 messages and 1,000 steps in Chromium: the first paint, the longest frame; for bench/run."""
import json
import os
import statistics
import subprocess

import proxy

FIRST_MS = 500
FRAME_MS = 50
HEAP_MB = 10
ELEMENTS = 5000


def bench(row, build, runs, all_samples):
    """A daemon, a conversation and a browser, and `runs` times the page in it: bench/page.mjs."""
    ran = subprocess.run(["scripts/node", "bench/page.mjs", str(runs)], env={**os.environ, "MAKI_BUILD": os.path.abspath(build)},
                         stdout=subprocess.PIPE)
    if ran.returncode != 0:
        proxy.stop(f"bench/page.mjs ended with {ran.returncode}")
    samples = all_samples["page"] = json.loads(ran.stdout)
    mid = {name: statistics.median(values) for name, values in samples.items()}
    heap = mid["heapBytes"] / 1e6
    return [
        row("page, 100,000 messages: bar and first messages painted", "ms", mid["firstMs"], bar=f"under {FIRST_MS} ms",
            ok=mid["firstMs"] < FIRST_MS),
        row("longest frame, scrolling 20,000 px and to the end", "ms", mid["frameMs"], bar=f"under {FRAME_MS} ms",
            ok=mid["frameMs"] < FRAME_MS),
        row("what scrolling adds to the heap", "MB", heap, bar=f"under {HEAP_MB} MB", ok=heap < HEAP_MB),
        row("elements in the document, at most", "", mid["elements"], bar=f"under {ELEMENTS}", ok=mid["elements"] < ELEMENTS),
    ]
