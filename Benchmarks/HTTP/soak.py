#!/usr/bin/env python3
"""Runs the server for a day under a moderate load and checks that memory, open files and tables stop growing.

    HTTP/soak.py [MINUTES]      COUNTERSIGN=path of a release build of the command      SPEED=how fast the server's clock runs (24)
                                COUNTERSIGN_DATABASE=URL of an empty PostgreSQL database, instead of SQLite

The server's clock runs SPEED times as fast as real time (clock.c, preloaded), so that the default 60 minutes are one day: everything with a lifetime
expires and is removed many times. Needs a C compiler. The load signs in, refreshes, makes codes, signs out, and leaves things unfinished as users do. Log lines and
signing keys are kept on purpose and are not counted. Sends requests only to 127.0.0.1. Exits with 1 if something grows.
"""
import base64, hashlib, http.client, json, os, random, signal, sqlite3, statistics, subprocess, sys, tempfile, threading, time, urllib.parse

PORT, PEOPLE, WORKERS, RATE = 8089, 200, 4, 40
PASSWORD = "Correct-Staple-77"
KEPT = {"logEvent", "signingKey", "user"}
minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 60
speed = float(os.environ.get("SPEED", 24))
database = os.environ.get("COUNTERSIGN_DATABASE")
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json", "Accept": "application/json"}


def organization():
    limits = "{ per_client: 100000000, per_address: 100000000, per_address_sign_ins: 100000000, per_user: 100000000 }"
    people = "\n".join(f"  - {{ login: p{n}@example.com, password: {PASSWORD} }}" for n in range(PEOPLE))
    return f"""
name: Soak
origin: http://127.0.0.1:{PORT}
password_policy: {{ scrypt_log_n: 14 }}
rate_limits: {limits}
sign_on_policies:
  - name: one-factor
    rules: [{{ name: Everybody, require: one_factor }}]
authorization_servers:
  - id: default
    name: Default
    audience: api://default
    access_token_algorithm: ES256
    access_policies:
      - name: Everybody
        rules:
          - name: People
            grant_types: [password, refresh_token, authorization_code, device_code]
            access_token_lifetime: 5m
            refresh_token_idle_lifetime: 1h
            refresh_token_lifetime: 2h
applications:
  - id: app
    name: App
    type: native
    grant_types: [password, refresh_token, authorization_code, device_code]
    redirect_uris: ["http://127.0.0.1/callback"]
    silent_sign_in: always
    sign_on_policy: one-factor
    assignment: everyone
    refresh_token_rotation: rotate
    refresh_token_leeway: 30s
authn_api: {{ sign_on_policy: one-factor }}
users:
{people}
"""


class Worker(threading.Thread):
    """Plays users, RATE / WORKERS steps per second."""

    def __init__(self, number, stop):
        super().__init__()
        self.random, self.stop, self.tokens, self.counts = random.Random(number), stop, [], {}
        self.connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)

    def ask(self, method, path, body=None, headers=None):
        try:
            self.connection.request(method, path, body, headers or {})
            answer = self.connection.getresponse()
            return answer.status, answer.read(), answer.getheaders()
        except (http.client.HTTPException, ConnectionError):
            # The server closes idle connections.
            self.connection.close()
            return 0, b"", []

    def form(self, path, **fields):
        status, body, _ = self.ask("POST", path, urllib.parse.urlencode(fields), FORM)
        return status, json.loads(body) if body.startswith(b"{") else {}

    def login(self):
        return f"p{self.random.randrange(PEOPLE)}@example.com"

    def sign_in(self):
        status, tokens = self.form("/oauth2/default/v1/token", grant_type="password", client_id="app", username=self.login(),
                                   password=PASSWORD, scope="openid offline_access")
        if status == 200:
            self.tokens = self.tokens[-50:] + [tokens["refresh_token"]]
        return status

    def refresh(self):
        if not self.tokens:
            return self.sign_in()
        token = self.tokens.pop(self.random.randrange(len(self.tokens)))
        status, tokens = self.form("/oauth2/default/v1/token", grant_type="refresh_token", client_id="app", refresh_token=token)
        if status == 200:
            self.tokens.append(tokens["refresh_token"])
        return status

    def revoke(self):
        return self.form("/oauth2/default/v1/revoke", client_id="app", token=self.tokens.pop())[0] if self.tokens else self.sign_in()

    def wrong_password(self):
        return self.form("/oauth2/default/v1/token", grant_type="password", client_id="app", username=f"u{self.random.randrange(10**6)}",
                         password="wrong", scope="openid")[0]

    def abandoned_device(self):
        return self.form("/oauth2/default/v1/device/authorize", client_id="app", scope="openid")[0]

    def browser(self):
        """Signs in by the classic API, makes a session and a code, and uses the code half of the time."""
        status, body, _ = self.ask("POST", "/api/v1/authn", json.dumps({"username": self.login(), "password": PASSWORD}), JSON)
        token = json.loads(body or b"{}").get("sessionToken")
        if not token:
            return status
        status, body, headers = self.ask("POST", "/api/v1/sessions", json.dumps({"sessionToken": token}), JSON)
        cookie = next((v.split(";")[0] for n, v in headers if n.lower() == "set-cookie" and v.startswith("session=")), "")
        verifier = "0" * 43
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = urllib.parse.urlencode({
            "client_id": "app", "response_type": "code", "scope": "openid offline_access", "state": "s", "nonce": "n", "prompt": "none",
            "redirect_uri": "http://127.0.0.1/callback", "code_challenge": challenge, "code_challenge_method": "S256"})
        status, _, headers = self.ask("GET", f"/oauth2/default/v1/authorize?{query}", None, {"Cookie": cookie})
        location = next((value for name, value in headers if name.lower() == "location"), "")
        code = urllib.parse.parse_qs(urllib.parse.urlparse(location).query).get("code")
        if code and self.random.random() < 0.5:
            return self.form("/oauth2/default/v1/token", grant_type="authorization_code", client_id="app", code=code[0],
                             code_verifier=verifier, redirect_uri="http://127.0.0.1/callback")[0]
        return status

    def abandoned_page(self):
        query = urllib.parse.urlencode({
            "client_id": "app", "response_type": "code", "scope": "openid", "state": "s", "redirect_uri": "http://127.0.0.1/callback",
            "code_challenge": "0" * 43, "code_challenge_method": "S256"})
        return self.ask("GET", f"/oauth2/default/v1/authorize?{query}")[0]

    def run(self):
        steps = [self.sign_in] + [self.refresh] * 6 + [self.revoke, self.wrong_password, self.abandoned_device, self.browser, self.abandoned_page]
        begun, done = time.monotonic(), 0
        while not self.stop.is_set():
            step = self.random.choice(steps)
            outcome = f"{step.__name__} {step()}"
            self.counts[outcome] = self.counts.get(outcome, 0) + 1
            done += 1
            self.stop.wait(max(0, begun + done * WORKERS / RATE - time.monotonic()))


def sample(server, path):
    with open(f"/proc/{server.pid}/status") as file:
        memory = next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))
    found = {"MiB resident": memory, "open files": len(os.listdir(f"/proc/{server.pid}/fd"))}
    statement = "SELECT kind, count(*) FROM records GROUP BY kind UNION ALL SELECT 'ticket ' || kind, count(*) FROM tickets GROUP BY kind"
    if database:
        output = subprocess.run(["psql", "-XAtq", "-F", "\t", database, "-c", statement], check=True, capture_output=True, text=True).stdout
        rows = [line.split("\t") for line in output.splitlines()]
    else:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30) as connection:
            rows = connection.execute(statement).fetchall()
    return found | {f"rows of {kind}": int(count) for kind, count in rows if kind not in KEPT}


def judge(samples):
    """Compares the last quarter with the one before it. A first day has reached its level by the half."""
    quarter = max(1, len(samples) // 4)
    grown = False
    for name in sorted({name for one in samples for name in one}):
        values = [one.get(name, 0) for one in samples]
        before, after = statistics.mean(values[-2 * quarter:-quarter]), statistics.mean(values[-quarter:])
        # Counts vary with the load; memory varies by the allocator's pages.
        grows = after > before * 1.1 + 20
        grown = grown or grows
        print(f"{name:32} first {values[0]:9.0f}   third quarter {before:9.0f}   last quarter {after:9.0f}   {'GROWS' if grows else ''}")
    return grown


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    command = os.environ.get("COUNTERSIGN") or subprocess.check_output("../../scripts/release").decode().splitlines()[-1]
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/org.yaml", "w") as file:
            file.write(organization())
        if database:
            subprocess.run([command, "store", "migrate", "--config", f"{folder}/org.yaml"], check=True)
        library = f"{folder}/clock.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, "clock.c"], check=True)
        clock = {"LD_PRELOAD": library, "SOAK_START": str(time.time()), "SOAK_SPEED": str(speed)}
        log = open(f"{folder}/log", "w")
        server = subprocess.Popen(
            [command, "serve", "--config", f"{folder}/org.yaml", "--data", f"{folder}/db", "--port", str(PORT), "--log-level", "warning"],
            env=os.environ | clock, stdout=log, stderr=subprocess.STDOUT)
        stop, samples = threading.Event(), []
        try:
            while True:
                try:
                    connection = http.client.HTTPConnection("127.0.0.1", PORT)
                    connection.request("GET", "/oauth2/default/v1/keys")
                    if connection.getresponse().status == 200:
                        break
                except OSError:
                    pass
                if server.poll() is not None:
                    sys.exit(open(f"{folder}/log").read())
                time.sleep(0.1)
            workers = [Worker(number, stop) for number in range(WORKERS)]
            for worker in workers:
                worker.start()
            begun = time.monotonic()
            for number in range(1, 49):
                time.sleep(max(0, begun + minutes * 60 * number / 48 - time.monotonic()))
                if server.poll() is not None:
                    sys.exit(f"The server ended with {server.returncode}:\n" + open(f"{folder}/log").read()[-2_000:])
                samples.append(sample(server, f"{folder}/db/countersign.sqlite"))
                if number % 4 == 0:
                    print(f"{minutes * number / 48 * speed / 60:5.1f} h: {samples[-1]['MiB resident']:.0f} MiB, "
                          f"{samples[-1]['open files']} open files", flush=True)
            stop.set()
            counts = {}
            for worker in workers:
                worker.join()
                for outcome, count in worker.counts.items():
                    counts[outcome] = counts.get(outcome, 0) + count
            print("steps and statuses:", ", ".join(f"{outcome}: {count}" for outcome, count in sorted(counts.items())))
        finally:
            stop.set()
            server.send_signal(signal.SIGTERM)
            server.wait(30)
        sys.exit(1 if judge(samples) else 0)


if __name__ == "__main__":
    main()
