#!/usr/bin/env python3
"""Holds the polls of 10,000 sign-ins that wait for a push, at two servers with one PostgreSQL database, and reports memory and processor time
of the servers and of the database. Then some phones approve at the other server, and the time until the tokens arrive is measured.

    HTTP/waiting.py     COUNTERSIGN=path of a release build of the command      WAITING=how many (10,000)
                        COUNTERSIGN_DATABASE=URL of an empty PostgreSQL database

Needs the Python package cryptography (the project's .venv has it). Sends requests only to 127.0.0.1.
"""
import asyncio, os, resource, signal, statistics, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor

import push
from growth import database_time
from polls import Connection, status

PORTS = [push.PORT, push.PORT + 1]
WAITING = int(os.environ.get("WAITING", 10_000))
APPROVALS = 200


def report(title, servers):
    parts = [f"{memory:6.0f} MiB, {threads} threads" for memory, threads, _ in (status(server.pid) for server in servers)]
    print(f"{title:36} " + "   ".join(parts), flush=True)


def times(servers):
    return [status(server.pid)[2] for server in servers] + [database_time()]


async def hold(servers, phones, pool):
    loop = asyncio.get_running_loop()
    wires = [push.Wire(port) for port in PORTS]
    codes = [push.open_sign_in(wires[number % 2], phone) for number, phone in enumerate(phones)]
    report(f"{WAITING} sign-ins begun", servers)
    connections = []
    for start in range(0, WAITING, 500):
        connections += await asyncio.gather(*(Connection().open(PORTS[n % 2]) for n in range(start, min(start + 500, WAITING))))
    arrived = {}

    async def poll(number):
        # A poll is held for at most 25 seconds and then repeated, as the SDK does.
        while True:
            code, answer = await connections[number].post("/oauth2/default/v1/token", ["Prefer: wait=25"], **codes[number])
            arrived[number] = time.perf_counter()
            if answer.get("error") != "authorization_pending":
                return code

    begun = time.monotonic()
    polls = []
    for number in range(WAITING):
        if number % 100 == 0:
            await asyncio.sleep(max(0, begun + 10 * number / WAITING - time.monotonic()))
        polls.append(asyncio.create_task(poll(number)))
    await asyncio.sleep(3)
    report(f"{WAITING} polls held", servers)
    before = times(servers)
    await asyncio.sleep(8)
    used = [f"{(b - a) / 8 * 100:.0f} %" for a, b in zip(before, times(servers))]
    print(f"Processor time while they wait, of one core: servers {used[0]} and {used[1]}, database {used[2]}", flush=True)

    def approve(number):
        # At the server that does not hold the poll.
        wire = push.Wire(PORTS[(number + 1) % 2])
        path, body = phones[number].answer(wire)
        begun = time.perf_counter()
        code, answer = wire.ask("POST", path, body, {"Content-Type": "application/json", "Accept": push.JSON})
        assert code == 200, answer
        return begun

    delays, statuses = [], {}
    for number in range(min(APPROVALS, WAITING)):
        begun = await loop.run_in_executor(pool, approve, number)
        code = await polls[number]
        statuses[code] = statuses.get(code, 0) + 1
        delays.append((arrived[number] - begun) * 1_000)
    print(f"Approval at one server to tokens at the other: median {statistics.median(delays):.0f} ms, "
          f"p99 {push.percentile(delays, .99):.0f} ms, statuses {statuses}", flush=True)
    for task in polls:
        task.cancel()
    await asyncio.gather(*polls, return_exceptions=True)


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < WAITING + 1_000:
        sys.exit(f"The limit of open files is {hard}. Raise it to {WAITING + 1_000} (ulimit -Hn), or hold fewer polls with WAITING.")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if not os.environ.get("COUNTERSIGN_DATABASE"):
        sys.exit("Name an empty PostgreSQL database in COUNTERSIGN_DATABASE.")
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    command = os.environ.get("COUNTERSIGN") or subprocess.check_output("../../scripts/release").decode().splitlines()[-1]
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/org.yaml", "w") as file:
            file.write(f"server: {{ max-connections: {2 * WAITING}, max-connections-per-address: {2 * WAITING}, idle-timeout: 300 }}\n")
            file.write(push.organization(WAITING))
        subprocess.run([command, "store", "migrate", "--config", f"{folder}/org.yaml"], check=True)
        servers = []
        try:
            for port in PORTS:
                servers.append(subprocess.Popen(
                    [command, "serve", "--config", f"{folder}/org.yaml", "--data", f"{folder}/db", "--port", str(port), "--log-level", "error"]))
                while True:
                    try:
                        if push.Wire(port).ask("GET", "/oauth2/default/v1/keys")[0] == 200:
                            break
                    except OSError:
                        if servers[-1].poll() is not None:
                            sys.exit("The server did not start.")
                    time.sleep(0.1)
            report("at rest", servers)
            with ThreadPoolExecutor(4) as pool:
                wires = [push.Wire(PORTS[part % 2]) for part in range(4)]
                parts = pool.map(
                    lambda part: [push.Phone(wires[part], f"p{number}@example.com") for number in range(part, WAITING, 4)], range(4))
                phones = [phone for part in parts for phone in part]
                asyncio.run(asyncio.wait_for(hold(servers, phones, pool), 600))
        finally:
            for server in servers:
                server.send_signal(signal.SIGTERM)
            for server in servers:
                server.wait(30)


if __name__ == "__main__":
    main()
