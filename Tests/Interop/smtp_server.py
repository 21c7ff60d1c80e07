"""A mail server that takes what is sent to it, over STARTTLS and with a password: judges our SMTP, and reads our mails as mail programs do."""
import asyncio
import json
import ssl
import sys
from email import policy
from email.parser import BytesParser

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

chain, key, mechanism = sys.argv[1:4]


def say(value):
    print(json.dumps(value), flush=True)


def authenticate(server, session, envelope, name, data):
    right = isinstance(data, LoginPassword) and (data.login, data.password) == (b"post@example.com", b"Pa\xc3\x9fwort, \"geheim\"")
    say({"auth": name, "right": right, "tls": session.ssl is not None})
    return AuthResult(success=right, handled=False)


class Mailbox:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("unknown@"):
            return "550 5.1.1 no such mailbox: " + address
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        mail = BytesParser(policy=policy.default).parsebytes(envelope.content)
        say({
            "tls": session.ssl is not None, "sender": envelope.mail_from, "recipients": envelope.rcpt_tos,
            "headers": [[name, str(value)] for name, value in mail.items()],
            "defects": [str(defect) for part in mail.walk() for defect in part.defects],
            "longest": max(len(line) for line in envelope.content.splitlines()),
            "text": mail.get_body(("plain",)).get_content(), "html": mail.get_body(("html",)).get_content(),
        })
        return "250 taken"


async def main():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(chain, key)
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(
            Mailbox(), hostname="mail.test", tls_context=context, require_starttls=True, auth_required=True, authenticator=authenticate,
            auth_exclude_mechanism=["PLAIN"] if mechanism == "LOGIN" else ["LOGIN"]),
        "127.0.0.1", 0)
    print("port", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
