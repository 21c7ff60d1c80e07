#!/usr/bin/env python3
"""Measures push sign-ins over HTTP on loopback: the time of an approval while 100 challenges are open, and the effect of 1,000 polling
sign-ins on the refresh grant.

    HTTP/push.py [SECONDS]      COUNTERSIGN=path of a release build of the command

Needs wrk and the Python package cryptography (the project's .venv has it). Sends requests only to 127.0.0.1.
"""
import base64, http.client, json, os, signal, subprocess, sys, tempfile, threading, time, urllib.parse, uuid

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

PORT = 8089
PEOPLE = 1_000
PASSWORD = "Correct-Staple-77"
MANAGE = "okta.myAccount.appAuthenticator.manage"
JSON = "application/json; okta-version=1.0.0"
OOB = "urn:okta:params:oauth:grant-type:oob"
seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 10


def organization(people=PEOPLE):
    limits = "{ per_client: 100000000, per_address: 100000000, per_address_sign_ins: 100000000, per_user: 100000000 }"
    users = "\n".join(f"  - {{ login: p{n}@example.com, password: {PASSWORD} }}" for n in range(people))
    return f"""
name: Benchmark
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
    access_policies:
      - name: Everybody
        rules: [{{ name: People, grant_types: [password, refresh_token, oob] }}]
applications:
  - id: phone-app
    name: Phone
    type: native
    grant_types: [password, jwt-bearer]
    granted_api_scopes: [{MANAGE}]
    sign_on_policy: one-factor
    assignment: everyone
  - id: bench-app
    name: Refreshes
    type: native
    grant_types: [password, refresh_token]
    sign_on_policy: one-factor
    assignment: everyone
  - id: direct-app
    name: Direct authentication
    type: native
    grant_types: [oob, refresh_token]
    sign_on_policy: one-factor
    assignment: everyone
authenticators:
  - id: autbench
    type: custom_app
    name: Phone
    client: phone-app
    number_challenge: never
users:
{users}
"""


class Wire:
    """A persistent connection to one of the servers. The origin is that of the first."""

    def __init__(self, port=PORT):
        self.connection = http.client.HTTPConnection("127.0.0.1", port)

    def ask(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body, {"Host": f"127.0.0.1:{PORT}"} | (headers or {}))
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def form(self, path, **fields):
        status, body = self.ask("POST", path, urllib.parse.urlencode(fields), {"Content-Type": "application/x-www-form-urlencoded"})
        return status, json.loads(body or b"{}")


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Phone:
    def __init__(self, wire, login):
        self.key, self.kid, self.login = ec.generate_private_key(ec.SECP256R1()), str(uuid.uuid4()).upper(), login
        instance = ec.generate_private_key(ec.SECP256R1())
        status, tokens = wire.form(
            "/oauth2/v1/token", grant_type="password", client_id="phone-app", username=login, password=PASSWORD, scope=f"openid {MANAGE}")
        assert status == 200, tokens
        self.authorization = {"Authorization": "Bearer " + tokens["access_token"], "Accept": JSON, "Content-Type": "application/json"}
        body = {
            "authenticatorId": "autbench",
            "device": {
                "displayName": "Phone", "platform": "IOS", "manufacturer": "APPLE", "model": "iPhone15,3", "osVersion": "17.4.0",
                "clientInstanceBundleId": "Bench", "clientInstanceVersion": "1", "clientInstanceDeviceSdkVersion": "DeviceAuthenticator 1.1.0",
                "secureHardwarePresent": False, "screenLockType": "NONE", "clientInstanceKey": self.jwk(instance, str(uuid.uuid4()).upper()),
            },
            "methods": {"push": {
                "pushToken": "", "apsEnvironment": "development", "capabilities": {"transactionTypes": ["LOGIN"]},
                "keys": {"proofOfPossession": self.jwk(self.key, self.kid)}}},
        }
        status, answer = wire.ask("POST", "/idp/myaccount/app-authenticators", json.dumps(body), self.authorization)
        assert status == 200, answer
        self.enrollment = json.loads(answer)

    @staticmethod
    def jwk(key, kid):
        numbers = key.public_key().public_numbers()
        return {
            "kty": "EC", "crv": "P-256", "kid": kid, "okta:kpr": "SOFTWARE", "x": base64url(numbers.x.to_bytes(32, "big")),
            "y": base64url(numbers.y.to_bytes(32, "big"))}

    def answer(self, wire):
        """Returns the path and the body of an approval of the pending challenge."""
        path = f"/idp/myaccount/app-authenticators/{self.enrollment['id']}/push/notifications"
        status, body = wire.ask("GET", path, None, self.authorization)
        assert status == 200, body
        payload = json.loads(body)[0]["challenge"].split(".")[1]
        challenge = json.loads(base64.urlsafe_b64decode(payload + "=="))
        now = int(time.time())
        claims = {
            "iss": self.enrollment["id"], "aud": challenge["iss"], "sub": self.enrollment["user"]["id"], "iat": now, "exp": now + 300,
            "nbf": now - 300, "jti": str(uuid.uuid4()).upper(), "tx": challenge["transactionId"], "nonce": challenge["nonce"],
            "methodEnrollmentId": self.enrollment["methods"]["push"]["id"], "keyType": "proofOfPossession", "amr": [],
            "challengeResponseContext": {"userConsent": "APPROVED_CONSENT_PROMPT", "transactionType": "LOGIN"}}
        header = {"alg": "ES256", "typ": "okta-pushbind+jwt", "kid": self.kid}
        message = base64url(json.dumps(header).encode()) + "." + base64url(json.dumps(claims).encode())
        r, s = utils.decode_dss_signature(self.key.sign(message.encode(), ec.ECDSA(hashes.SHA256())))
        token = message + "." + base64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
        return urllib.parse.urlparse(challenge["verificationUri"]).path, json.dumps({"method": "push", "challengeResponse": token})


def open_sign_in(wire, phone):
    """Starts a sign-in by push alone, because the benchmark does not measure password hashing."""
    status, challenge = wire.form(
        "/oauth2/default/v1/primary-authenticate", client_id="direct-app", login_hint=phone.login, challenge_hint=OOB, channel_hint="push")
    assert status == 200, challenge
    return {"grant_type": OOB, "client_id": "direct-app", "oob_code": challenge["oob_code"], "scope": "openid"}


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def approvals(wire, phones):
    times = []
    for start in range(0, 1_000, 100):
        some = phones[start:start + 100]
        codes = [open_sign_in(wire, phone) for phone in some]
        answers = [phone.answer(wire) for phone in some]
        for path, body in answers:
            begun = time.perf_counter()
            status, answer = wire.ask("POST", path, body, {"Content-Type": "application/json", "Accept": JSON})
            times.append((time.perf_counter() - begun) * 1_000)
            assert status == 200, answer
        for code in codes[:5]:
            status, answer = wire.form("/oauth2/default/v1/token", **code)
            assert status == 200, answer
    print(f"approval, 100 challenges open: p50 {percentile(times, .5):.2f} ms   p99 {percentile(times, .99):.2f} ms   of {len(times)}")


def refreshes(wire, folder, title):
    """Measures refreshes on one connection, so that the polls and not the refreshes are the main load."""
    with open(f"{folder}/tokens", "w") as file:
        for _ in range(16):
            _, tokens = wire.form(
                "/oauth2/default/v1/token", grant_type="password", client_id="bench-app", username="p0@example.com", password=PASSWORD,
                scope="openid offline_access")
            file.write(tokens["refresh_token"] + "\n")
    result = subprocess.run(
        ["wrk", "-t1", "-c1", f"-d{seconds}s", "--latency", "-s", "refresh.lua", f"http://127.0.0.1:{PORT}", "--",
         "/oauth2/default/v1/token", f"{folder}/tokens", "16", "bench-app"], capture_output=True, text=True).stdout
    found = {line.split()[0]: line.split()[-1] for line in result.splitlines() if line.strip()}
    print(f"{title}: p50 {found.get('50%')}   p99 {found.get('99%')}   {found.get('Requests/sec:')} requests/s   refused "
          f"{next((line.split()[-1] for line in result.splitlines() if 'Non-2xx' in line), 0)}")


def poll(codes, stop, counts):
    wires = [Wire()]
    while not stop.is_set():
        begun = time.monotonic()
        for number, code in enumerate(codes):
            if stop.is_set():
                return
            _, answer = wires[0].form("/oauth2/default/v1/token", **code)
            counts[answer.get("error", "tokens")] = counts.get(answer.get("error", "tokens"), 0) + 1
            # Spreads the polls over the interval, as if the clients had started at different times.
            stop.wait(max(0, begun + 5 * (number + 1) / len(codes) - time.monotonic()))


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    command = os.environ.get("COUNTERSIGN") or subprocess.check_output("../../scripts/release").decode().splitlines()[-1]
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/org.yaml", "w") as file:
            file.write(organization())
        server = subprocess.Popen(
            [command, "serve", "--config", f"{folder}/org.yaml", "--data", f"{folder}/db", "--port", str(PORT), "--log-level", "error"])
        try:
            for _ in range(600):
                try:
                    if Wire().ask("GET", "/oauth2/default/v1/keys")[0] == 200:
                        break
                except OSError:
                    time.sleep(0.1)
            wire = Wire()
            phones = [Phone(wire, f"p{number}@example.com") for number in range(PEOPLE)]
            approvals(wire, phones)
            refreshes(wire, folder, "refresh, without polls")
            refreshes(wire, folder, "refresh, without polls")
            codes = [open_sign_in(wire, phone) for phone in phones]
            stop, counts = threading.Event(), {}
            threads = [threading.Thread(target=poll, args=(codes[part::4], stop, counts)) for part in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(1)
            refreshes(wire, folder, f"refresh, {len(codes)} sign-ins poll")
            refreshes(wire, folder, f"refresh, {len(codes)} sign-ins poll")
            stop.set()
            for thread in threads:
                thread.join()
            print("polls answered:", counts)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


if __name__ == "__main__":
    main()
