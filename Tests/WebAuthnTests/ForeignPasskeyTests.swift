import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing
import WebAuthn

@Suite(
    "Passkeys of and for other implementations",
    .enabled(if: OutsidePart.python.isEnabled, Comment(rawValue: OutsidePart.python.missingNote)))
struct ForeignPasskeyTests {
    private let request: JSONValue = [
        "rpId": .string(Example.relyingParty.id), "origin": .string(Example.origin),
        "userHandle": .string(Base64URL.encode(Example.userHandle)), "challenge": .string(Base64URL.encode(Example.challenge)),
        "secondChallenge": .string(Base64URL.encode(Example.secondChallenge)),
    ]

    private func run(_ command: String, _ request: JSONValue) async throws -> (status: Int32, output: String, errors: String) {
        let script = OutsidePart.scripts.appending(path: "passkeys.py").path
        let ended = try await ForeignProgram.run(.python, [script, command], input: request.serializedString)
        return (ended.status, ended.output, ended.errors)
    }

    @Test("The responses of soft-webauthn and of python-fido2, with each algorithm and attestation, are accepted")
    func accepts() async throws {
        let ended = try await run("create", request)
        try #require(ended.status == 0, "\(ended.errors)")
        let json = try JSONValue(parsing: ended.output)
        let root = try Base64URL.decode(#require(json["root"]?.stringValue))
        let passkeys = try #require(json["passkeys"]?.arrayValue)
        #expect(passkeys.count == 9)
        for passkey in passkeys {
            let name = try #require(passkey["name"]?.stringValue)
            // soft-webauthn never verifies the user.
            let verification = name == "soft-webauthn" ? UserVerification.preferred : .required
            let registration = RegistrationVerifier(
                relyingParty: Example.relyingParty, algorithms: COSEAlgorithm.allCases, userVerification: verification,
                attestation: AttestationPolicy(roots: try AttestationRoots(der: [root])))
            let registered = try await registration.verify(
                RegistrationResponse(#require(passkey["registration"])), challenge: Example.challenge, isRegistered: false,
                now: Example.now)
            #expect(try COSEPublicKey(registered.passkey.publicKey).algorithm.rawValue == passkey["algorithm"]?.integerValue, "\(name)")
            switch registered.attestation {
            case .none: #expect(passkey["trust"] == "none", "\(name)")
            case .selfAttested: #expect(passkey["trust"] == "self", "\(name)")
            case .trusted: #expect(passkey["trust"] == "root", "\(name)")
            case .unverified, .untrusted: Issue.record("\(name)")
            }
            let authenticated = try AuthenticationVerifier(relyingParty: Example.relyingParty, userVerification: verification).verify(
                AuthenticationResponse(#require(passkey["authentication"])), challenge: Example.secondChallenge, requested: [],
                passkey: registered.passkey, account: .discovered(userHandle: Example.userHandle))
            #expect(authenticated.passkey.signCount == registered.passkey.signCount + 1, "\(name)")
        }
    }

    /// Returns the responses of the software authenticator for a request to python-fido2.
    private func responses(
        _ algorithm: COSEAlgorithm, _ attestation: SoftwareAuthenticator.Attestation,
        change: (inout SoftwareAuthenticator.Changes) -> Void = { _ in }
    ) throws -> JSONValue {
        var generator = SeededGenerator(20)
        var authenticator = SoftwareAuthenticator(aaguid: Example.aaguid)
        authenticator.algorithm = algorithm
        authenticator.attestation = attestation
        let registration = try authenticator.create(Example.creationOptions(), origin: Example.origin, using: &generator)
        change(&authenticator.changes)
        return [
            "registration": registration, "authentication": try authenticator.get(Example.requestOptions(), origin: Example.origin),
            "algorithm": .integer(algorithm.rawValue),
        ]
    }

    @Test("python-fido2 accepts the software authenticator's responses, with each algorithm and attestation, and rejects a damaged one")
    func accepted() async throws {
        var generator = SeededGenerator(21)
        let authority = try AttestationAuthority(using: &generator)
        var passkeys: [JSONValue] = []
        for algorithm in [COSEAlgorithm.es256, .es384, .edDSA, .rs256] {
            for attestation in [SoftwareAuthenticator.Attestation.none, .packedSelf, .packed(authority)] {
                passkeys.append(try responses(algorithm, attestation))
            }
        }
        var request = request
        request["passkeys"] = .array(passkeys)
        let good = try await run("verify", request)
        #expect(good.status == 0, "\(good.errors)")
        #expect(good.output.contains("12"))
        request["passkeys"] = [try responses(.es256, .none) { $0.signature = { $0[10] ^= 1 } }]
        let bad = try await run("verify", request)
        #expect(bad.status != 0)
    }
}
