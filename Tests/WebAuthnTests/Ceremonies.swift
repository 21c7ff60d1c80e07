import CountersignSandbox
import Foundation
import JOSE
import WebAuthn

/// A generator of reproducible random numbers (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// The values that the tests use.
enum Example {
    static let origin = "https://login.example.org"
    static let relyingParty = RelyingParty(
        id: "example.org", name: "Example", origins: [origin, "android:apk-key-hash:" + Base64URL.encode([UInt8](repeating: 7, count: 32))])
    static let userHandle = Array("user-handle-0001".utf8)
    static let challenge = Array("a challenge of a registration".utf8)
    static let secondChallenge = Array("a challenge of an authentication".utf8)
    static let now = Date(timeIntervalSince1970: 1_790_000_000)
    static let aaguid = AAGUID("0ea242b4-43c4-4a1b-8b17-dd6d0b6baec6") ?? .zero

    static func creationOptions() throws -> CreationOptions {
        try CreationOptions(
            relyingParty: relyingParty, userHandle: userHandle, userName: "jane@example.org", userDisplayName: "Jane", challenge: challenge)
    }

    static func requestOptions(allowed: [CredentialDescriptor] = []) throws -> RequestOptions {
        try RequestOptions(relyingPartyID: relyingParty.id, challenge: secondChallenge, allowed: allowed)
    }
}

/// A registration: what the authenticator does, and what the server expects. By default both agree. The attestation is signed by the
/// credential's own key, so that the signature covers all authenticator data.
struct RegistrationScene: Sendable {
    var authenticator = SoftwareAuthenticator(aaguid: Example.aaguid)
    var verifier = RegistrationVerifier(relyingParty: Example.relyingParty, algorithms: COSEAlgorithm.allCases)
    var origin = Example.origin
    var challenge = Example.challenge
    var isRegistered = false
    var now = Example.now
    var generator = SeededGenerator(1)

    init(attestation: SoftwareAuthenticator.Attestation = .packedSelf) { authenticator.attestation = attestation }

    /// Creates the response of the client.
    mutating func response() throws -> JSONValue {
        try authenticator.create(Example.creationOptions(), origin: origin, using: &generator)
    }

    /// Reads and verifies a response.
    func verify(_ response: JSONValue) async throws(WebAuthnError) -> VerifiedRegistration {
        try await verifier.verify(RegistrationResponse(response), challenge: challenge, isRegistered: isRegistered, now: now)
    }

    /// Returns the check that rejects a response, or `nil` if the response is valid.
    func rejection(of response: JSONValue) async -> WebAuthnError? {
        do throws(WebAuthnError) {
            _ = try await verify(response)
            return nil
        } catch {
            return error
        }
    }

    mutating func run() async throws -> VerifiedRegistration { try await verify(response()) }
}

/// An authentication with a passkey that was just registered.
struct AuthenticationScene: Sendable {
    var authenticator: SoftwareAuthenticator
    var passkey: StoredPasskey
    var verifier = AuthenticationVerifier(relyingParty: Example.relyingParty)
    var origin = Example.origin
    var challenge = Example.secondChallenge
    var requested: [[UInt8]] = []
    var account = AuthenticationVerifier.Account.discovered(userHandle: Example.userHandle)

    init(_ algorithm: COSEAlgorithm = .es256, counts: Bool = true) async throws {
        var registration = RegistrationScene()
        registration.authenticator.algorithm = algorithm
        registration.authenticator.counts = counts
        passkey = try await registration.run().passkey
        authenticator = registration.authenticator
    }

    /// Creates the response of the client.
    mutating func response() throws -> JSONValue { try authenticator.get(Example.requestOptions(), origin: origin) }

    /// Reads and verifies a response.
    func verify(_ response: JSONValue) throws(WebAuthnError) -> VerifiedAuthentication {
        try verifier.verify(
            AuthenticationResponse(response), challenge: challenge, requested: requested, passkey: passkey, account: account)
    }

    /// Returns the check that rejects a response, or `nil` if the response is valid.
    func rejection(of response: JSONValue) -> WebAuthnError? {
        do throws(WebAuthnError) {
            _ = try verify(response)
            return nil
        } catch {
            return error
        }
    }

    mutating func run() throws -> VerifiedAuthentication { try verify(response()) }
}

extension JSONValue {
    /// Changes a member of an object in the value.
    mutating func set(_ path: String..., to value: JSONValue?) { set(path[...], to: value) }

    private mutating func set(_ path: ArraySlice<String>, to value: JSONValue?) {
        guard let name = path.first else { return }
        if path.count == 1 {
            self[name] = value
        } else {
            var inner = self[name] ?? [:]
            inner.set(path.dropFirst(), to: value)
            self[name] = inner
        }
    }
}

extension CBORValue {
    /// Changes a member of a map.
    mutating func set(_ name: String, to value: CBORValue?) { set(.text(name), to: value) }

    mutating func set(_ key: CBORKey, to value: CBORValue?) {
        var members = mapValue ?? [:]
        members[key] = value
        self = .map(members)
    }
}
