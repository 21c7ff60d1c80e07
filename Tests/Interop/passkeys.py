"""The judges of passkeys: python-fido2 and soft-webauthn. Reads a request in JSON from the standard input.

create: registers and authenticates with soft-webauthn and with keys of python-fido2, and prints the responses.
verify: verifies the responses of an authenticator with the server of python-fido2. Ends with status 1 if it rejects one.
"""
import datetime
import json
import sys

import fido2.ctap2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from fido2.attestation import NoneAttestation, PackedAttestation
from fido2.cose import ES256, ES384, RS256, EdDSA
from fido2.server import Fido2Server
from fido2.utils import sha256, websafe_decode, websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
    PublicKeyCredentialRpEntity,
)

# Version 0.1.4 of soft-webauthn needs versions of python-fido2 and cryptography that Authlib does not work with. Version 0.1.2 works with
# all versions, but imports this name from its former module.
fido2.ctap2.AttestedCredentialData = AttestedCredentialData
from soft_webauthn import SoftWebauthnDevice  # noqa: E402

AAGUID = Aaguid(bytes(range(16)))


def credential(credential_id, response):
    name = websafe_encode(credential_id)
    members = {key: websafe_encode(value) for key, value in response.items()}
    return {"id": name, "rawId": name, "type": "public-key", "response": members, "clientExtensionResults": {}}


def soft_webauthn(request):
    device = SoftWebauthnDevice()
    options = {
        "rp": {"id": request["rpId"]},
        "user": {"id": websafe_decode(request["userHandle"])},
        "challenge": websafe_decode(request["challenge"]),
        "pubKeyCredParams": [{"alg": -7, "type": "public-key"}],
    }
    created = device.create({"publicKey": options}, request["origin"])
    requested = {"rpId": request["rpId"], "challenge": websafe_decode(request["secondChallenge"])}
    asserted = device.get({"publicKey": requested}, request["origin"])
    return {
        "name": "soft-webauthn", "algorithm": -7, "trust": "none",
        "registration": credential(created["rawId"], created["response"]),
        "authentication": credential(asserted["rawId"], asserted["response"]),
    }


def key_pairs():
    p256, p384 = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP384R1())
    edwards, modulus = ed25519.Ed25519PrivateKey.generate(), rsa.generate_private_key(65537, 2048)
    yield ES256, p256, lambda message: p256.sign(message, ec.ECDSA(hashes.SHA256()))
    yield ES384, p384, lambda message: p384.sign(message, ec.ECDSA(hashes.SHA384()))
    yield EdDSA, edwards, edwards.sign
    yield RS256, modulus, lambda message: modulus.sign(message, padding.PKCS1v15(), hashes.SHA256())


def certificate(key, issuer_key, common_name, authority):
    def name(common_name):
        parts = [("C", "US"), ("O", "Countersign"), ("OU", "Authenticator Attestation"), ("CN", common_name)]
        oids = {"C": x509.NameOID.COUNTRY_NAME, "O": x509.NameOID.ORGANIZATION_NAME,
                "OU": x509.NameOID.ORGANIZATIONAL_UNIT_NAME, "CN": x509.NameOID.COMMON_NAME}
        return x509.Name([x509.NameAttribute(oids[short], value) for short, value in parts])

    start = datetime.datetime(2020, 1, 1)
    builder = (
        x509.CertificateBuilder().subject_name(name(common_name)).issuer_name(name("root")).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(start).not_valid_after(datetime.datetime(2090, 1, 1))
        .add_extension(x509.BasicConstraints(authority, None), critical=True)
    )
    if not authority:
        value = b"\x04\x10" + bytes(AAGUID)
        builder = builder.add_extension(
            x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.45724.1.1.4"), value), critical=False)
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


def responses(request, kind, key, sign, attestation):
    """Creates the responses with the data types of python-fido2."""
    credential_id = sha256(kind.__name__.encode())
    attested = AttestedCredentialData.create(AAGUID, credential_id, kind.from_cryptography_key(key.public_key()))
    flags = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV
    rp_hash = sha256(request["rpId"].encode())
    data = AuthenticatorData.create(rp_hash, flags | AuthenticatorData.FLAG.AT, 5, attested)
    created = CollectedClientData.create("webauthn.create", request["challenge"], request["origin"])
    statement = attestation(data + created.hash)
    got = CollectedClientData.create("webauthn.get", request["secondChallenge"], request["origin"])
    second = AuthenticatorData.create(rp_hash, flags, 6)
    return {
        "registration": credential(credential_id, {
            "clientDataJSON": created, "attestationObject": AttestationObject.create("packed", data, statement)}),
        "authentication": credential(credential_id, {
            "clientDataJSON": got, "authenticatorData": second, "signature": sign(second + got.hash),
            "userHandle": websafe_decode(request["userHandle"])}),
    }


def create(request):
    passkeys = [soft_webauthn(request)]
    root_key, leaf_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root, leaf = certificate(root_key, root_key, "root", True), certificate(leaf_key, root_key, "leaf", False)
    for kind, key, sign in key_pairs():
        row = responses(request, kind, key, sign, lambda message: {"alg": kind.ALGORITHM, "sig": sign(message)})
        passkeys.append({"name": "fido2 " + kind.__name__, "algorithm": kind.ALGORITHM, "trust": "self", **row})
        row = responses(request, kind, key, sign, lambda message: {
            "alg": -7, "sig": leaf_key.sign(message, ec.ECDSA(hashes.SHA256())), "x5c": [leaf]})
        passkeys.append({"name": "fido2 x5c " + kind.__name__, "algorithm": kind.ALGORITHM, "trust": "root", **row})
    print(json.dumps({"root": websafe_encode(root), "passkeys": passkeys}))


def verify_attestation(attestation, client_data_hash):
    procedure = {"none": NoneAttestation, "packed": PackedAttestation}[attestation.fmt]()
    procedure.verify(attestation.att_stmt, attestation.auth_data, client_data_hash)


def verify(request):
    server = Fido2Server(
        PublicKeyCredentialRpEntity(id=request["rpId"], name="Example"), attestation="direct",
        verify_origin=lambda origin: origin == request["origin"], verify_attestation=verify_attestation)
    for passkey in request["passkeys"]:
        state = {"challenge": request["challenge"], "user_verification": "required"}
        registered = server.register_complete(state, passkey["registration"])
        assert registered.credential_data.public_key[3] == passkey["algorithm"]
        state = {"challenge": request["secondChallenge"], "user_verification": "required"}
        server.authenticate_complete(state, [registered.credential_data], passkey["authentication"])
    print(len(request["passkeys"]))


{"create": create, "verify": verify}[sys.argv[1]](json.load(sys.stdin))
