import CountersignSandbox
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing
import WebAuthn

/// A browser with an authenticator in software, for the options and challenges of the classic API (Documentation/Protocol/Authn.md §5.10
/// and §5.11).
struct ClassicAuthenticator: Sendable {
    var device = SoftwareAuthenticator()
    /// The origin that the browser signs.
    var origin = RunningServer.origin
    /// Whether the client sends standard base64 with padding in place of base64url.
    var sendsStandardBase64 = false

    /// Creates a passkey for the options of `MFA_ENROLL_ACTIVATE`. Returns the members of the activation.
    mutating func create(_ status: ClassicStatus) throws -> [String: JSONValue] {
        let activation = try #require(Self.activation(status))
        func text(_ object: String, _ name: String) throws -> String { try #require(activation[object]?[name]?.stringValue) }
        let options = try CreationOptions(
            relyingParty: RelyingParty(id: text("rp", "id"), name: text("rp", "name"), origins: [origin]),
            userHandle: Base64URL.decode(text("user", "id")), userName: text("user", "name"), userDisplayName: text("user", "displayName"),
            challenge: Base64URL.decode(#require(activation["challenge"]?.stringValue)))
        var random = SystemRandomNumberGenerator()
        let response = try device.create(options, origin: origin, using: &random)["response"]
        return ["attestation": try bytes(response?["attestationObject"]), "clientData": try bytes(response?["clientDataJSON"])]
    }

    /// Signs a challenge of `MFA_CHALLENGE`. Returns the members of the verification.
    mutating func sign(_ challenge: JSONValue?) throws -> [String: JSONValue] {
        let options = try RequestOptions(
            relyingPartyID: #require(challenge?["rpId"]?.stringValue),
            challenge: Base64URL.decode(#require(challenge?["challenge"]?.stringValue)))
        let response = try device.get(options, origin: origin)["response"]
        return [
            "clientData": try bytes(response?["clientDataJSON"]), "authenticatorData": try bytes(response?["authenticatorData"]),
            "signatureData": try bytes(response?["signature"]),
        ]
    }

    private func bytes(_ value: JSONValue?) throws -> JSONValue {
        let text = try #require(value?.stringValue)
        return .string(sendsStandardBase64 ? Data(try Base64URL.decode(text)).base64EncodedString() : text)
    }

    /// The creation options in `MFA_ENROLL_ACTIVATE`.
    static func activation(_ status: ClassicStatus) -> JSONValue? { status.embedded["factor"]?["_embedded"]?["activation"] }

    /// The challenge for one factor in `MFA_CHALLENGE`.
    static func challenge(_ status: ClassicStatus) -> JSONValue? { status.embedded["factor"]?["_embedded"]?["challenge"] }

    /// Gives a user a passkey on this authenticator without a sign-in.
    mutating func register(_ server: PushServer, _ login: String = PushOrganization.jane) async throws {
        let id = try #require(try await server.engine.user(login: login)?.id)
        let context = RequestContext(now: server.clock.now, requestID: "enrollment")
        var (device, random) = (device, SystemRandomNumberGenerator())
        let passkey = try await server.engine.grantPasskey(toUser: id, name: "Phone", context: context) { options, origin in
            try device.create(options, origin: origin, using: &random)
        }
        _ = try #require(passkey)
        self.device = device
    }
}

extension ClassicClient {
    static let passkey: [String: JSONValue] = ["factorType": "webauthn", "provider": "FIDO"]

    /// Runs a test against a server whose organization offers passkeys.
    static func withPasskeys(
        _ policy: ClassicPolicy = ClassicPolicy(signOnPolicy: "two factors"), passkeys: PasskeyPolicy? = PasskeyPolicy(),
        savedCodes: SavedCodesPolicy? = nil, _ body: @Sendable (ClassicClient, PushServer) async throws -> Void
    ) async throws {
        try await PushServer.with(PushOrganization(passkeys: passkeys, savedCodes: savedCodes, classic: policy)) { server in
            try await body(ClassicClient(server), server)
        }
    }

    /// Starts the enrollment of a passkey in `MFA_ENROLL`.
    func enrollPasskey(_ status: ClassicStatus) async throws -> ClassicStatus {
        let activating = try ClassicStatus(try await follow(status.factor("webauthn")["_links"]?["enroll"], of: status, Self.passkey))
        try #require(activating.name == "MFA_ENROLL_ACTIVATE", "\(activating.json)")
        return activating
    }

    /// Starts the challenge of the first passkey in `MFA_REQUIRED`.
    func challengePasskey(_ status: ClassicStatus) async throws -> ClassicStatus {
        let challenged = try ClassicStatus(try await follow(status.factor("webauthn")["_links"]?["verify"], of: status))
        try #require(challenged.name == "MFA_CHALLENGE", "\(challenged.json)")
        return challenged
    }

    /// Starts a sign-in of Jane, and the challenge of her first passkey.
    func beginWithPasskey() async throws -> ClassicStatus { try await challengePasskey(try await begin()) }

    /// Reads the state of a sign-in.
    func state(of status: ClassicStatus) async throws -> ClassicStatus {
        try ClassicStatus(try await post("", ["stateToken": .string(try #require(status.token))]))
    }
}
