#!/usr/bin/env python3
"""Holds 10,000 polls of the token endpoint at the same time (`Prefer: wait=25`), and reports the server's memory, threads and processor time.

    HTTP/polls.py       COUNTERSIGN=path of a release build of the command      POLLS=how many (10,000)

Sends requests only to 127.0.0.1, and ends by itself.
"""
import asyncio, json, os, resource, subprocess, sys, tempfile, time, urllib.parse

PORT = 8089
POLLS = int(os.environ.get("POLLS", 10_000))
CLIENTS = 4
WAIT = 25
GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def organization():
    limits = "{ per_client: 100000000, per_address: 100000000, per_address_sign_ins: 100000000, per_user: 100000000 }"
    applications = "".join(f"""
  - id: tv-{n}
    name: Television {n}
    type: native
    grant_types: [device_code, refresh_token]
    sign_on_policy: one-factor
    assignment: everyone""" for n in range(CLIENTS))
    return f"""
name: Benchmark
origin: http://127.0.0.1:{PORT}
server: {{ max-connections: {2 * POLLS}, max-connections-per-address: {2 * POLLS}, idle-timeout: 300 }}
rate_limits: {limits}
sign_on_policies:
  - name: one-factor
    rules: [{{ name: Everybody, require: one_factor }}]
authorization_servers:
  - id: default
    name: Default
    audience: api://default
    access_policies:
      - name: Everybody
        rules: [{{ name: People, grant_types: [device_code, refresh_token] }}]
applications:{applications}
users:
  - {{ login: bench@example.com, password: Correct-Staple-77 }}
"""


class Connection:
    """A persistent connection to one of the servers. The origin is that of the first."""

    async def open(self, port=PORT):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        return self

    async def post(self, path, headers=(), **fields):
        body = urllib.parse.urlencode(fields).encode()
        lines = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{PORT}", f"Content-Length: {len(body)}",
                 "Content-Type: application/x-www-form-urlencoded", *headers]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        return int(head.split(b" ", 2)[1]), json.loads(await self.reader.readexactly(length))


def status(pid):
    with open(f"/proc/{pid}/status") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line)
    with open(f"/proc/{pid}/stat") as file:
        ticks = sum(int(field) for field in file.read().rsplit(")", 1)[1].split()[11:13])
    return int(fields["VmRSS"].split()[0]) / 1024, int(fields["Threads"]), ticks / os.sysconf("SC_CLK_TCK")


def report(title, pid):
    memory, threads, seconds = status(pid)
    print(f"{title:40} {memory:7.1f} MiB resident   {threads} threads   {seconds:.2f} s of processor time", flush=True)
    return seconds


async def measure(pid):
    connections = []
    for _ in range(0, POLLS, 500):
        connections += await asyncio.gather(*(Connection().open() for _ in range(min(500, POLLS - len(connections)))))
    report(f"{POLLS} connections, silent", pid)
    codes = []
    # A few at a time, because the benchmark does not measure the commits.
    for start in range(0, POLLS, 100):
        answers = await asyncio.gather(*(
            connections[n].post("/oauth2/default/v1/device/authorize", client_id=f"tv-{n % CLIENTS}", scope="openid")
            for n in range(start, min(start + 100, POLLS))))
        assert all(code == 200 for code, _ in answers), answers[0]
        codes += [answer["device_code"] for _, answer in answers]
    report(f"{POLLS} sign-ins begun", pid)
    begun = time.monotonic()
    polls = []
    # Start the polls over 10 s, as real clients would. The benchmark measures the wait.
    for n in range(POLLS):
        if n % 100 == 0:
            await asyncio.sleep(max(0, begun + 10 * n / POLLS - time.monotonic()))
        polls.append(asyncio.create_task(connections[n].post(
            "/oauth2/default/v1/token", [f"Prefer: wait={WAIT}"], grant_type=GRANT, client_id=f"tv-{n % CLIENTS}", device_code=codes[n])))
    await asyncio.sleep(5)
    early = sum(poll.done() for poll in polls)
    before = report(f"{POLLS - early} polls held", pid)
    await asyncio.sleep(5)
    print(f"Processor time while they wait: {(status(pid)[2] - before) / 5 * 100:.1f} % of one core")
    answers = await asyncio.gather(*polls)
    lasted = time.monotonic() - begun
    errors = {}
    for code, answer in answers:
        errors[answer.get("error", str(code))] = errors.get(answer.get("error", str(code)), 0) + 1
    print(f"All answered after {lasted:.1f} s: {errors}; {early} at once")
    report("afterwards", pid)


def main():
    # The server inherits the limit; each side has one file per connection.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < POLLS + 1_000:
        sys.exit(f"The limit of open files is {hard}. Raise it to {POLLS + 1_000} (ulimit -Hn), or hold fewer polls with POLLS.")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    command = os.environ.get("COUNTERSIGN") or subprocess.run(
        [os.path.join(os.path.dirname(__file__), "../../scripts/release")], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.split()[-1]
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/org.yaml", "w") as file:
            file.write(organization())
        with open(f"{folder}/log", "w") as log:
            server = subprocess.Popen(
                [command, "serve", "--config", f"{folder}/org.yaml", "--data", f"{folder}/db", "--port", str(PORT), "--log-level", "warning"],
                stdout=log, stderr=subprocess.STDOUT)
        try:
            while True:
                try:
                    asyncio.run(Connection().open())
                    break
                except OSError:
                    if server.poll() is not None:
                        sys.exit(open(f"{folder}/log").read())
                    time.sleep(0.05)
            report("at rest", server.pid)
            asyncio.run(asyncio.wait_for(measure(server.pid), 180))
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
