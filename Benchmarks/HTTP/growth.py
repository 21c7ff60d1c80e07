#!/usr/bin/env python3
"""Measures how the processor time of a request grows with the number of stored users and grants.

    HTTP/growth.py [SECONDS]    COUNTERSIGN=path of a release build of the command      SIZES=numbers of users (1000,100000,1000000)
                                COUNTERSIGN_DATABASE=URL of an empty PostgreSQL database, instead of SQLite

Each size has as many users as grants and refresh tokens, as copies of real rows with ids of their own. The requests use up to 20,000 of them in
random order. Needs wrk, sqlite3 or psql, and openssl. Sends requests only to 127.0.0.1.
"""
import base64, hashlib, http.client, json, os, random, signal, sqlite3, subprocess, sys, tempfile, time, urllib.parse

PORT, ORIGIN = 8089, "http://127.0.0.1:8089"
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
LOGIN, PASSWORD = "bench@example.com", "Correct-Staple-77"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 8
sizes = [int(size) for size in os.environ.get("SIZES", "1000,100000,1000000").split(",")]
database = os.environ.get("COUNTERSIGN_DATABASE")
chosen = random.Random(1)


def form(path, headers=FORM, **fields):
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    connection.request("POST", path, urllib.parse.urlencode(fields), headers)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 200, (path, answer.status, body)
    return json.loads(body)


class Server:
    def __init__(self, command, folder):
        self.log = open(f"{folder}/log", "w")
        self.process = subprocess.Popen(
            [command, "serve", "--config", "org.yaml", "--data", f"{folder}/db", "--port", str(PORT), "--log-level", "warning"],
            stdout=self.log, stderr=subprocess.STDOUT)
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", PORT)
                connection.request("GET", "/oauth2/es256/v1/keys")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                pass
            if self.process.poll() is not None:
                sys.exit(open(f"{folder}/log").read())
            time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def processor_time(pid):
    """Seconds of a process and of its ended children."""
    with open(f"/proc/{pid}/stat") as file:
        name, fields = file.read().rsplit(")", 1)
    return name.split("(", 1)[1], sum(int(field) for field in fields.split()[11:15]) / os.sysconf("SC_CLK_TCK")


def database_time():
    total = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            name, time_used = processor_time(pid)
        except OSError:
            continue
        total += time_used if name == "postgres" else 0
    return total


class Rows:
    """Copies the rows of one user, grant and refresh token."""

    def __init__(self, folder):
        self.path = f"{folder}/db/countersign.sqlite"

    def query(self, text):
        if database:
            lines = subprocess.run(["psql", "-XAtq", "-F", "\x1f", database, "-c", text], check=True, capture_output=True, text=True).stdout
            return [line.split("\x1f") for line in lines.splitlines()]
        with sqlite3.connect(self.path) as connection:
            return connection.execute(text).fetchall()

    def copy(self, first, last, grant_id):
        """Adds the users from `first` to `last` and returns their refresh tokens, or 20,000 of them."""
        hexed = "encode({}, 'hex')" if database else "hex({})"
        kept = "keys::text" if database else "keys"
        (user_id, user_keys, user), = self.query(
            f"SELECT id, {kept}, {hexed.format('payload')} FROM records WHERE kind = 'user' AND id IN "
            f"(SELECT id FROM record_keys WHERE kind = 'user' AND value = '{LOGIN}')")
        (grant_expiry, grant_keys, grant), = self.query(
            f"SELECT expires, {kept}, {hexed.format('payload')} FROM records WHERE kind = 'grant' AND id = '{grant_id}'")
        (kind, owner_kind, use, expiry, payload, standing), = self.query(
            f"SELECT kind, owner_kind, use, expires, {hexed.format('payload')}, standing FROM tickets WHERE owner_id = '{grant_id}' LIMIT 1")
        indexed = self.query(f"SELECT name, value, is_unique FROM record_keys WHERE kind = 'grant' AND id = '{grant_id}'")
        user, grant, payload = (bytes.fromhex(value) for value in (user, grant, payload))
        tokens, records, keys, tickets = [], [], [], []
        wanted = set(chosen.sample(range(first, last), min(20_000, last - first)))

        def change(value, new_user, new_grant, login):
            pairs = ((user_id, new_user), (grant_id, new_grant), (LOGIN, login))
            for old, new in pairs:
                value = value.replace(old.encode(), new.encode()) if isinstance(value, bytes) else str(value).replace(old, new)
            return value

        for number in range(first, last):
            scrambled = f"{number * 7919 % 10**9:09d}"
            names = (f"00uGROWTH{scrambled}00", f"graGROWTH{scrambled}00", f"b{scrambled}@ex.com")
            records.append(("user", names[0], 1, None, change(user_keys, *names), change(user, *names)))
            records.append(("grant", names[1], 1, grant_expiry, change(grant_keys, *names), change(grant, *names)))
            keys.append(("user", "login", names[2], names[0], True))
            for name, value, unique in indexed:
                keys.append(("grant", name, change(value, *names), names[1], unique in (1, "t", True)))
            token = "".join(chosen.choices(ALPHABET, k=43))
            tickets.append((hashlib.sha256(token.encode()).digest(), kind, owner_kind, names[1], use, expiry, payload, standing))
            if number in wanted:
                tokens.append(token)
        self.insert("records", "kind, id, version, expires, keys, payload", records)
        self.insert("record_keys", "kind, name, value, id, is_unique", keys)
        self.insert("tickets", "digest, kind, owner_kind, owner_id, use, expires, payload, standing", tickets)
        if database:
            subprocess.run(["psql", "-Xq", database, "-c", "VACUUM (ANALYZE)", "-c", "CHECKPOINT"], check=True)
        chosen.shuffle(tokens)
        return tokens

    def insert(self, table, columns, rows):
        if not database:
            with sqlite3.connect(self.path) as connection:
                connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(rows[0]))})", rows)
            return

        def text(value):
            if value is None or value == "":
                return "\\N"
            if isinstance(value, bytes):
                return "\\\\x" + value.hex()
            return ("tf"[not value] if isinstance(value, bool) else str(value)).replace("\\", "\\\\")

        with subprocess.Popen(["psql", "-Xq", database, "-c", f"COPY {table} ({columns}) FROM STDIN"], stdin=subprocess.PIPE, text=True) as psql:
            for row in rows:
                psql.stdin.write("\t".join(map(text, row)) + "\n")
        assert psql.returncode == 0


def ask(text):
    return int(subprocess.run(["psql", "-XAtq", database, "-c", f"SELECT ({text})::bigint"], check=True, capture_output=True, text=True).stdout)


def journal():
    """Bytes that PostgreSQL has written to its log."""
    return ask("pg_current_wal_lsn() - '0/0'") if database else 0


def load(title, server, script, *arguments, connections=16):
    written = journal()
    before = processor_time(server.process.pid)[1], database_time()
    output = subprocess.run(
        ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "-s", script, ORIGIN, "--", *arguments], capture_output=True, text=True).stdout
    after = processor_time(server.process.pid)[1], database_time()
    written = journal() - written
    lines = [line.split() for line in output.splitlines() if line.strip()]
    requests = next(int(line[0]) for line in lines if line[1:2] == ["requests"])
    refused = next((int(line[-1]) for line in lines if line[0] == "Non-2xx"), 0)
    cost = " + ".join(f"{(b - a) / requests * 1e6:5.0f} µs" for a, b in zip(before, after))
    logged = f"   log: {written / requests:6.0f} bytes" if database else ""
    print(f"    {title:28} {requests / seconds:8.0f} requests/s   server + database: {cost}{logged}   refused {refused}", flush=True)


def session():
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    connection.request("POST", "/api/v1/authn", json.dumps({"username": LOGIN, "password": PASSWORD}), {"Content-Type": "application/json"})
    token = json.loads(connection.getresponse().read())["sessionToken"]
    connection.request("POST", "/api/v1/sessions", json.dumps({"sessionToken": token}), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    return next(value.split(";")[0] for name, value in answer.getheaders() if name.lower() == "set-cookie" and value.startswith("session="))


def measure(server, tokens, folder):
    def write(name, lines):
        with open(f"{folder}/{name}", "w") as file:
            file.write("".join(line + "\n" for line in lines))
        return f"{folder}/{name}"

    some, rest = tokens[:min(1_000, len(tokens) // 2)], tokens[min(1_000, len(tokens) // 2):]
    access = [
        form("/oauth2/es256/v1/token", grant_type="refresh_token", client_id="bench-app-es256", refresh_token=token)["access_token"]
        for token in some]
    load("introspection", server, "introspect.lua", "/oauth2/es256/v1/introspect", write("access", access))
    refresh = write("refresh", rest)
    load("refresh, ES256", server, "refresh.lua", "/oauth2/es256/v1/token", refresh, str(len(rest) // 2), "bench-app-es256")
    challenge = base64.urlsafe_b64encode(hashlib.sha256(b"0" * 43).digest()).rstrip(b"=").decode()
    query = urllib.parse.urlencode({
        "client_id": "bench-app-es256", "response_type": "code", "scope": "openid offline_access", "state": "s", "nonce": "n",
        "prompt": "none", "redirect_uri": "http://127.0.0.1/callback", "code_challenge": challenge, "code_challenge_method": "S256"})
    load("sign-in with a session", server, "authorize.lua", f"/oauth2/es256/v1/authorize?{query}",
         write("cookies", [session(), session()]), f"{folder}/codes", connections=2)


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    command = os.environ.get("COUNTERSIGN") or subprocess.check_output("../../scripts/release").decode().splitlines()[-1]
    with tempfile.TemporaryDirectory() as folder:
        if database:
            subprocess.run([command, "store", "migrate", "--config", "org.yaml"], check=True)
        server = Server(command, folder)
        first = form("/oauth2/es256/v1/token", grant_type="password", client_id="bench-app-es256", username=LOGIN, password=PASSWORD,
                     scope="openid offline_access")
        claims = first["access_token"].split(".")[1]
        identifier = json.loads(base64.urlsafe_b64decode(claims + "=="))["jti"]
        rows, count = Rows(folder), 0
        grant_id = next(row[0] for row in rows.query("SELECT id FROM records WHERE kind = 'grant'") if row[0] in identifier)
        for size in sizes:
            server.stop()
            tokens = rows.copy(count, size, grant_id)
            count = size
            server = Server(command, folder)
            size_on_disk = f", {ask('pg_database_size(current_database())') / size:.0f} bytes each" if database else ""
            print(f"{size} users and grants{size_on_disk}", flush=True)
            measure(server, tokens, folder)
        server.stop()


if __name__ == "__main__":
    main()
