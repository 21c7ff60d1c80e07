#!/usr/bin/env python3
"""Computes what a number of users and of sign-ins per second needs, from the measured costs of requests (README, Growth).

    Benchmarks/scale.py [USERS [SIGN_INS_PER_SECOND]]     (100000000 100000)

Prints the tables of Documentation/Scale.md. Every assumption is a constant below.
"""
import sys

# Processor time in seconds of the server and of PostgreSQL, and bytes of PostgreSQL's log, for one request. Measured on one machine.
READ = (461e-6, 498e-6, 0)
COMMIT = (692e-6, 1181e-6, 4_000)
AUTHORIZE = (1206e-6, 2408e-6, 8_000)
HASH = 55e-3  # One password hash with the default cost.

# Requests of one sign-in: reads, commits, authorization requests, password hashes.
SIGN_INS = {
    "password": (0, 1, 0, 1),
    "password and push": (1, 4, 0, 1),
    "passkey": (0, 2, 0, 0),
    "browser session": (0, 1, 1, 0),
}
# Shares of the sign-ins at a peak.
MIX = {"password": 0.05, "password and push": 0.15, "passkey": 0.2, "browser session": 0.6}

APPS_PER_USER = 2  # Signed-in apps, with a grant and a refresh token each.
REFRESH_INTERVAL = 3600.0  # Seconds. Half of the apps are in use at a peak.
IN_USE = 0.5
BYTES_PER_GRANT = 6_000  # A grant, its refresh token and a share of the user, with indexes.
LOG_BYTES, LOG_DAYS = 900, 90
UTILIZATION = 0.5  # The share of a core that is used at a peak. The rest is for the failure of a site and for deployments.
SERVER_CORES, DATABASE_CORES = 16, 64
DATABASE_COMMITS = 20_000  # Commits per second that one primary with a synchronous standby sustains.
DATABASE_BYTES = 4e12


def cost(reads, commits, authorizations, hashes):
    parts = [(reads, READ), (commits, COMMIT), (authorizations, AUTHORIZE)]
    server, database, journal = (sum(count * each[n] for count, each in parts) for n in range(3))
    return server + hashes * HASH, database, journal, commits + authorizations


def up(value):
    return -int(-value // 1)


def main():
    users = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000_000
    rate = float(sys.argv[2]) if len(sys.argv) > 2 else 100_000.0
    print(f"| {rate:,.0f} a second of | server cores | of which hashing | database cores | commits/s | database log |")
    print("|---|---:|---:|---:|---:|---:|")

    def line(name, rate, requests):
        server, database, journal, commits = (part * rate for part in cost(*requests))
        hashing = requests[3] * HASH * rate
        print(f"| {name} | {server / UTILIZATION:,.0f} | {hashing / UTILIZATION:,.0f} | {database / UTILIZATION:,.0f} | {commits:,.0f} "
              f"| {journal / 1e6:,.0f} MB/s |")
        return server, database, journal, commits

    for name, requests in SIGN_INS.items():
        line(name, rate, requests)
    mixed = tuple(sum(MIX[name] * requests[n] for name, requests in SIGN_INS.items()) for n in range(4))
    totals = line("the mix", rate, mixed)
    refreshes = users * APPS_PER_USER * IN_USE / REFRESH_INTERVAL
    more = line(f"refreshes, {refreshes:,.0f}/s", refreshes, (0, 1, 0, 0))
    server, database, journal, commits = (a + b for a, b in zip(totals, more))

    grants = users * APPS_PER_USER
    # On average, a day has a tenth of the peak's sign-ins.
    events = rate / 10 * 86_400 * 2
    stored = grants * BYTES_PER_GRANT
    shards = {
        "processor time": database / UTILIZATION / DATABASE_CORES,
        "commits": commits / DATABASE_COMMITS,
        "disk": stored / DATABASE_BYTES,
    }
    print()
    print("| For the mix and the refreshes | |")
    print("|---|---:|")
    print(f"| servers with {SERVER_CORES} cores | {up(server / UTILIZATION / SERVER_CORES):,} |")
    for reason, number in shards.items():
        print(f"| databases with {DATABASE_CORES} cores, by {reason} | {up(number):,} |")
    print(f"| rows of users, grants and tokens | {stored / 1e12:,.1f} TB |")
    print(f"| system log a day | {events / 1e9:,.1f} billion entries, {events * LOG_BYTES / 1e12:,.1f} TB |")
    print(f"| rows that expire at the peak | {(rate * sum(mixed[:3]) + refreshes) :,.0f}/s |")


if __name__ == "__main__":
    main()
