import CountersignSandbox
import Foundation
import JOSE
import Testing
import WebAuthn

/// A change of an authentication that the server must reject, and the check that rejects it.
struct RejectedAuthentication: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: WebAuthnError
    let change: @Sendable (inout AuthenticationScene) -> Void

    init(_ description: String, _ error: WebAuthnError, _ change: @escaping @Sendable (inout AuthenticationScene) -> Void) {
        testDescription = description
        self.error = error
        self.change = change
    }

    /// A change of the response's JSON, after the authenticator signed.
    static func response(
        _ description: String, _ error: WebAuthnError, _ change: @escaping @Sendable (inout JSONValue) -> Void
    ) -> RejectedAuthentication { RejectedAuthentication(description, error) { $0.authenticator.changes.response = change } }

    /// A change of the client data, which the authenticator signs.
    static func clientData(
        _ description: String, _ error: WebAuthnError, _ change: @escaping @Sendable (inout JSONValue) -> Void
    ) -> RejectedAuthentication { RejectedAuthentication(description, error) { $0.authenticator.changes.clientData = change } }

    /// A change of the authenticator data, which the authenticator signs.
    static func data(
        _ description: String, _ error: WebAuthnError, _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> RejectedAuthentication { RejectedAuthentication(description, error) { $0.authenticator.changes.authenticatorData = change } }

    static let all: [RejectedAuthentication] = form + owners + clientDataChanges + dataChanges + signatures

    private static let form: [RejectedAuthentication] = [
        response("an array", .responseNotJSON) { $0 = [] },
        response("no type", .responseMember(.type)) { $0.set("type", to: nil) },
        response("another type", .wrongCredentialType) { $0.set("type", to: "Public-Key") },
        response("id and rawId differ", .idsDiffer) { $0.set("id", to: "AAAA") },
        response("no client data", .responseMember(.clientDataJSON)) { $0.set("response", "clientDataJSON", to: nil) },
        response("no authenticator data", .responseMember(.authenticatorData)) { $0.set("response", "authenticatorData", to: nil) },
        response("no signature", .responseMember(.signature)) { $0.set("response", "signature", to: nil) },
        response("a signature of 1025 bytes", .responseMember(.signature)) {
            $0.set("response", "signature", to: .string(Base64URL.encode([UInt8](repeating: 1, count: 1025))))
        },
        response("an empty user handle", .responseMember(.userHandle)) { $0.set("response", "userHandle", to: "") },
        response("a user handle of 65 bytes", .responseMember(.userHandle)) {
            $0.set("response", "userHandle", to: .string(Base64URL.encode([UInt8](repeating: 1, count: 65))))
        },
    ]

    private static let owners: [RejectedAuthentication] = [
        RejectedAuthentication("a passkey that was not requested", .credentialNotRequested) { $0.requested = [[1, 2, 3]] },
        response("the id of another passkey", .otherPasskey) {
            $0.set("id", to: "AAAA")
            $0.set("rawId", to: "AAAA")
        },
        RejectedAuthentication("a passkey of another RP ID", .passkeyOfOtherRelyingParty) {
            $0.passkey = StoredPasskey(
                id: $0.passkey.id, relyingPartyID: "login.example.org", publicKey: $0.passkey.publicKey, aaguid: .zero, transports: [],
                isDiscoverable: nil, isBackupEligible: true, isBackedUp: true, signCount: 0, isUserVerificationInitialized: true,
                createdAt: Example.now)
        },
        response("no user handle from an unknown user", .userHandleMissing) { $0.set("response", "userHandle", to: nil) },
        response("a null user handle from an unknown user", .userHandleMissing) { $0.set("response", "userHandle", to: .null) },
        RejectedAuthentication("the user handle of another user", .wrongUserHandle) { $0.account = .discovered(userHandle: [1]) },
        RejectedAuthentication("the user handle of another than the known user", .wrongUserHandle) {
            $0.account = .identified(userHandle: [1])
        },
    ]

    private static let clientDataChanges: [RejectedAuthentication] = [
        RejectedAuthentication("client data that is no JSON", .clientDataNotJSON) {
            $0.authenticator.changes.clientDataText = { $0 += [0x7D] }
        },
        clientData("client data of a registration", .wrongClientDataType) { $0["type"] = "webauthn.create" },
        clientData("client data of a payment", .wrongClientDataType) { $0["type"] = "payment.get" },
        clientData("the challenge of the registration", .wrongChallenge) { $0["challenge"] = .string(Base64URL.encode(Example.challenge)) },
        RejectedAuthentication("another expected challenge", .wrongChallenge) { $0.challenge = Example.challenge },
        RejectedAuthentication("another origin", .originNotAllowed) { $0.origin = "https://example.org" },
        clientData("a frame of another origin", .crossOriginNotAllowed) { $0["crossOrigin"] = true },
        RejectedAuthentication("a frame in another top page", .topOriginNotAllowed) {
            $0.verifier.relyingParty.crossOrigin = .allow(topOrigins: [])
            $0.authenticator.changes.clientData = { ($0["crossOrigin"], $0["topOrigin"]) = (true, "https://evil.example") }
        },
    ]

    private static let dataChanges: [RejectedAuthentication] = [
        data("authenticator data of 36 bytes", .authenticatorDataTruncated) { $0.removeLast() },
        data("authenticator data with a byte too many", .authenticatorDataTrailingBytes) { $0.append(0) },
        data("extensions that are no map", .extensionsInvalid) {
            $0[32] |= 0x80
            $0.append(0)
        },
        data("another RP ID", .wrongRelyingPartyID) { $0[31] ^= 0x80 },
        RejectedAuthentication("no user present", .userNotPresent) { $0.authenticator.flags.remove(.userPresent) },
        RejectedAuthentication("no user verified", .userNotVerified) { $0.authenticator.flags.remove(.userVerified) },
        RejectedAuthentication("backed up without eligibility", .backupStateWithoutEligibility) {
            $0.authenticator.flags.remove(.backupEligible)
        },
        RejectedAuthentication("eligibility that disappeared", .backupEligibilityChanged) {
            $0.authenticator.flags.subtract([.backupEligible, .backupState])
        },
    ]

    private static let signatures: [RejectedAuthentication] = [
        RejectedAuthentication("a stored key that is damaged", .publicKey(.notCBOR(.truncated))) {
            $0.passkey = StoredPasskey(
                id: $0.passkey.id, relyingPartyID: "example.org", publicKey: [0xA1], aaguid: .zero, transports: [], isDiscoverable: nil,
                isBackupEligible: true, isBackedUp: true, signCount: 0, isUserVerificationInitialized: true, createdAt: Example.now)
        },
        RejectedAuthentication("a damaged signature", .signature) { $0.authenticator.changes.signature = { $0[10] ^= 1 } },
        RejectedAuthentication("an empty signature", .signature) { $0.authenticator.changes.signature = { $0 = [] } },
        RejectedAuthentication("a signature with a byte too many", .signature) { $0.authenticator.changes.signature = { $0.append(0) } },
        response("authenticator data that was not signed", .signature) {
            var bytes = $0["response"]?["authenticatorData"]?.stringValue.flatMap { try? Base64URL.decode($0) } ?? []
            bytes[36] += 1
            $0.set("response", "authenticatorData", to: .string(Base64URL.encode(bytes)))
        },
        RejectedAuthentication("a sign count that stays the same", .signCountNotIncreased(stored: 2, received: 2)) {
            $0.passkey.signCount = 2
        },
        RejectedAuthentication("a sign count that decreases", .signCountNotIncreased(stored: 9, received: 2)) { $0.passkey.signCount = 9 },
        RejectedAuthentication("a sign count that returns to zero", .signCountNotIncreased(stored: 1, received: 0)) {
            $0.authenticator.counts = false
            $0.authenticator.changes.authenticatorData = { $0.replaceSubrange(33..<37, with: [0, 0, 0, 0]) }
        },
    ]
}

@Suite("Authentication with passkeys")
struct AuthenticationTests {
    @Test("An authentication that fails one check is rejected with the name of this check", arguments: RejectedAuthentication.all)
    func rejects(_ row: RejectedAuthentication) async throws {
        var scene = try await AuthenticationScene()
        row.change(&scene)
        #expect(scene.rejection(of: try scene.response()) == row.error)
    }

    @Test("An authentication with each supported algorithm is accepted and updates the sign count", arguments: COSEAlgorithm.allCases)
    func accepts(algorithm: COSEAlgorithm) async throws {
        var scene = try await AuthenticationScene(algorithm)
        for count in 2...3 as ClosedRange<UInt32> {
            let result = try scene.run()
            #expect(result.isUserVerified)
            #expect(result.hasSignCountIncreased)
            #expect(result.passkey.signCount == count)
            scene.passkey = result.passkey
        }
    }

    @Test("A signature of another passkey is rejected, for each algorithm", arguments: COSEAlgorithm.allCases)
    func otherKey(algorithm: COSEAlgorithm) async throws {
        var scene = try await AuthenticationScene(algorithm)
        var other = RegistrationScene()
        other.generator = SeededGenerator(2)
        other.authenticator.algorithm = algorithm
        _ = try await other.run()
        var response = try scene.response()
        let forged = try other.authenticator.get(Example.requestOptions(), origin: Example.origin)
        response.set("response", "signature", to: forged["response"]?["signature"])
        #expect(scene.rejection(of: response) == .signature)
    }

    @Test("An identified user can authenticate without a user handle, with a requested passkey")
    func identified() async throws {
        var scene = try await AuthenticationScene()
        scene.account = .identified(userHandle: Example.userHandle)
        scene.requested = [[1, 2, 3], scene.passkey.id]
        scene.authenticator.changes.response = { $0.set("response", "userHandle", to: nil) }
        _ = try scene.run()
    }

    @Test("An authenticator that does not count signatures is accepted each time")
    func noCounter() async throws {
        var scene = try await AuthenticationScene(counts: false)
        for _ in 0..<2 {
            let result = try scene.run()
            #expect(result.hasSignCountIncreased)
            #expect(result.passkey.signCount == 0)
            scene.passkey = result.passkey
        }
    }

    @Test("With the policy to signal, a sign count that decreases is reported, and the greater count stays stored")
    func signals() async throws {
        var scene = try await AuthenticationScene()
        scene.verifier.signCount = .signal
        scene.passkey.signCount = 9
        let result = try scene.run()
        #expect(!result.hasSignCountIncreased)
        #expect(result.passkey.signCount == 9)
    }

    @Test("An authentication updates the backup state, but never the record that user verification is initialized")
    func backupState() async throws {
        var scene = try await AuthenticationScene()
        scene.passkey.isUserVerificationInitialized = false
        scene.authenticator.flags.remove(.backupState)
        let result = try scene.run()
        #expect(result.isUserVerified)
        #expect(!result.passkey.isBackedUp)
        #expect(result.passkey.isBackupEligible)
        #expect(!result.passkey.isUserVerificationInitialized)
    }

    @Test("An authentication without user verification is accepted if verification is not required, and says so")
    func unverified() async throws {
        var scene = try await AuthenticationScene()
        scene.verifier.userVerification = .preferred
        scene.authenticator.flags.remove(.userVerified)
        #expect(try !scene.run().isUserVerified)
    }

    @Test("Extension outputs of an authentication are ignored")
    func extensions() async throws {
        var scene = try await AuthenticationScene()
        scene.authenticator.changes.authenticatorData = {
            $0[32] |= 0x80
            $0 += CBORValue.map([.text("hmac-secret"): .bytes([1, 2, 3])]).encoded
        }
        scene.authenticator.changes.response = { $0.set("clientExtensionResults", to: ["appid": true]) }
        _ = try scene.run()
    }
}
