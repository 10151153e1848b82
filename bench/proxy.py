"""proxy -- the daemon against a direct connection, nginx and Portkey's gateway; for bench/run.

Everything is on loopback: the fake provider answers, wrk (rate) and bench_http (one request at a time) ask.
Each round measures all of them in turn.  64 named sessions, so that recording is what it is in use: what ours
adds includes the log, its index and the journal.
"""
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request

SESSIONS = 64
CONNECTIONS = SESSIONS  # agents that ask at once, each in a conversation of its own
SECONDS = 3
REQUESTS = 3000  # one after the other
LARGE = 1_000_000  # bytes of a body
LARGE_REQUESTS = 60
STREAMS = 1000
PATH = "/v1/chat/completions"

NGINX = """
daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log stderr crit;
events {{ worker_connections 4096; }}
http {{
  access_log off; client_max_body_size 64m; client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/f; uwsgi_temp_path {directory}/u; scgi_temp_path {directory}/s;
  keepalive_requests 1000000000;
  upstream fake {{ server 127.0.0.1:{upstream}; keepalive 128; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass http://fake; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_request_buffering off; proxy_buffering off;
    }}
  }}
}}
"""

WRK = """
local n = 0
local file = io.open("{body}", "rb")
local body = file:read("*a")
request = function()
  n = n + 1
  return wrk.format("POST", "{path}", {{ ["Content-Type"] = "application/json", ["Authorization"] = "Bearer bench",
    ["x-maki-session"] = "s" .. (n % {sessions}), {headers} }}, body)
end
"""


def nginx_program():
    unpacked = "build/data/nginx/usr/sbin/nginx"  # scripts/setup --tests
    return unpacked if os.path.exists(unpacked) else shutil.which("nginx") or stop("no nginx: run scripts/setup --tests --bench")


def stop(words):
    raise SystemExit(f"bench: {words}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, what):
    for _ in range(200):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    stop(f"{what} does not listen")


class Place:
    """The programs that are measured, each on a port of its own, in a temporary directory."""

    def __init__(self, build):
        self.build, self.directory, self.running = build, tempfile.mkdtemp(prefix="maki-bench."), []
        self.ports = {"direct": free_port(), "maki": free_port(), "nginx": free_port()}
        self.headers = {name: {} for name in self.ports}
        upstream = self.ports["direct"]
        self.start("direct", [f"{build}/maki-fake-provider", "--port", str(upstream), "--scenario", "quick"])
        self.daemon = self.start("maki", [f"{build}/maki-serve", "--listen", f"127.0.0.1:{self.ports['maki']}",
                                          "--home", f"{self.directory}/home", "--max-connections", "20000",
                                          "--upstream", f"openai=http://127.0.0.1:{upstream}"])
        with open(f"{self.directory}/nginx.conf", "w") as conf:
            conf.write(NGINX.format(directory=self.directory, port=self.ports["nginx"], upstream=upstream))
        self.start("nginx", [nginx_program(), "-p", self.directory, "-c", f"{self.directory}/nginx.conf"])
        self.start_portkey(upstream)
        for name, port in self.ports.items():
            wait_for(port, name)

    def start(self, name, command):
        log = open(f"{self.directory}/{name}.log", "wb")
        process = subprocess.Popen(command, stdout=log, stderr=log)
        self.running.append(process)
        return process

    def start_portkey(self, upstream):
        gateway = "build/clients/portkey/node_modules/@portkey-ai/gateway/build/start-server.js"
        if not os.path.exists(gateway):
            return
        self.ports["portkey"] = free_port()
        self.headers["portkey"] = {"x-portkey-provider": "openai",
                                   "x-portkey-custom-host": f"http://127.0.0.1:{upstream}/v1"}
        self.start("portkey", ["node", gateway, f"--port={self.ports['portkey']}", "--headless"])

    def close(self):
        for process in reversed(self.running):
            process.send_signal(signal.SIGTERM)
        for process in self.running:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def anon_kb(self):
        with open(f"/proc/{self.daemon.pid}/status") as status:
            return int(re.search(r"RssAnon:\s+(\d+)", status.read()).group(1))


# ---- bodies -----------------------------------------------------------------------------------


def write_body(place, name, messages):
    path = f"{place.directory}/{name}.json"
    with open(path, "w") as file:
        json.dump({"model": "gpt-4o", "messages": messages}, file, ensure_ascii=False)
    return path


def small_body(place):
    return write_body(place, "small", [{"role": "user", "content": "巻き戻し " * 60}])


def say(place, session, messages):
    """One exchange through the daemon: what the fake answered."""
    request = urllib.request.Request(f"http://127.0.0.1:{place.ports['maki']}{PATH}", method="POST",
                                     data=json.dumps({"model": "gpt-4o", "messages": messages}, ensure_ascii=False).encode(),
                                     headers={"Content-Type": "application/json", "Authorization": "Bearer bench",
                                              "x-maki-session": session})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]


def large_body(place):
    """A conversation of a megabyte, known to the daemon but for its last message."""
    messages, turns = [], 48
    text = "What does this do? " + "int main(void) { return 0; }\n" * (LARGE // turns // 30)
    for _ in range(turns):
        messages.append({"role": "user", "content": text})
        messages.append({"role": "assistant", "content": say(place, "s0", messages)})
    missing = LARGE - os.path.getsize(write_body(place, "large", messages))
    messages.append({"role": "user", "content": "And now? ".ljust(missing - 40, ".")})
    say(place, "s0", messages)
    return write_body(place, "large", messages)


# ---- measuring --------------------------------------------------------------------------------


def wrk(place, name, body):
    script = f"{place.directory}/{name}.lua"
    headers = ", ".join(f'["{k}"] = "{v}"' for k, v in place.headers[name].items())
    with open(script, "w") as file:
        file.write(WRK.format(body=body, path=PATH, sessions=SESSIONS, headers=headers))
    ran = subprocess.run(["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--timeout", "10s", "-s", script,
                          f"http://127.0.0.1:{place.ports[name]}"], stdout=subprocess.PIPE, check=True)
    told = ran.stdout.decode()
    if "Non-2xx" in told or "Socket errors" in told:
        stop(f"wrk on {name}: {told}")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", told).group(1))


def one_by_one(place, name, body, count, sessions):
    headers = [f"{k}: {v}" for k, v in place.headers[name].items()]
    ran = subprocess.run([f"{place.build}/bench_http", str(place.ports[name]), PATH, body, str(count), str(sessions),
                          *headers], stdout=subprocess.PIPE, check=True)
    return json.loads(ran.stdout)


def open_streams(place):
    """KB of RssAnon that one of many open streams takes."""
    before, sockets = place.anon_kb(), []
    body = json.dumps({"model": "gpt-4o", "stream": True, "messages": [{"role": "user", "content": "fake:slow:60000"}]})
    for number in range(STREAMS):
        s = socket.create_connection(("127.0.0.1", place.ports["maki"]))
        s.sendall((f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: Bearer "
                   f"bench\r\nx-maki-session: stream{number}\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
        sockets.append(s)
    for s in sockets:
        s.settimeout(60)
        if not s.recv(1):
            stop("a stream was closed")
    time.sleep(1)
    took = (place.anon_kb() - before) / STREAMS
    for s in sockets:
        s.close()
    return took


def measure(place, runs):
    """{name: {figure: [value]}}"""
    small, large = small_body(place), large_body(place)
    samples = {name: {} for name in place.ports}

    def note(name, figures):
        for figure, value in figures.items():
            samples[name].setdefault(figure, []).append(value)

    for _ in range(runs):
        for name in place.ports:
            few = 10 if name == "portkey" else 1
            note(name, one_by_one(place, name, small, REQUESTS // few, SESSIONS))
            note(name, {"rate": wrk(place, name, small)})
            note(name, {"large_us": one_by_one(place, name, large, LARGE_REQUESTS // few, 1)["end_us"]})
    return samples


def rows_of(row, samples, stream_kb):
    mid = {name: {figure: statistics.median(values) for figure, values in told.items()}
           for name, told in samples.items()}
    direct, ours, nginx = mid["direct"], mid["maki"], mid["nginx"]
    added = lambda who, figure: max(0.001, (who[figure] - direct[figure]) / 1000)
    in_ms = lambda who, figure: who[figure] / 1000
    rows = [
        row("proxy, 1 KB: added to the first byte", "ms", added(ours, "first_us"), "nginx", added(nginx, "first_us"),
            "at most 3x", added(ours, "first_us") <= 3 * added(nginx, "first_us")),
        row("proxy, 1 KB: added to the last byte, durable", "ms", added(ours, "end_us"), "nginx", added(nginx, "end_us")),
        row("proxy, 1 KB: 99th percentile, first byte", "ms", in_ms(ours, "first_p99_us"), "nginx",
            in_ms(nginx, "first_p99_us"), "at most 1 ms more",
            in_ms(ours, "first_p99_us") <= in_ms(nginx, "first_p99_us") + 1),
        row("proxy, 1 KB: 99th percentile, last byte", "ms", in_ms(ours, "end_p99_us"), "nginx", in_ms(nginx, "end_p99_us")),
        row("proxy, 1 KB: requests a second, recorded", "/s", ours["rate"], "nginx", nginx["rate"], "0.25x",
            ours["rate"] >= nginx["rate"] / 4),
        row("", "/s", ours["rate"], "direct", direct["rate"]),
        row("proxy, 1 MB of a known conversation", "ms", in_ms(ours, "large_us"), "nginx", in_ms(nginx, "large_us"),
            "at most 2x", ours["large_us"] <= 2 * nginx["large_us"]),
        row(f"memory of one of {STREAMS} open streams (RssAnon)", "KB", stream_kb, bar="at most 24 KB", ok=stream_kb <= 24),
    ]
    if "portkey" in mid:
        peer = mid["portkey"]
        rows.insert(1, row("", "ms", added(ours, "first_us"), "portkey", added(peer, "first_us")))
        rows.insert(7, row("", "/s", ours["rate"], "portkey", peer["rate"]))
    return rows


def bench(row, build, runs, all_samples):
    place = Place(build)
    try:
        all_samples["proxy"] = measure(place, max(5, runs))
        return rows_of(row, all_samples["proxy"], open_streams(place))
    finally:
        place.close()
