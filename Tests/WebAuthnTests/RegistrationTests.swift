import CountersignSandbox
import Foundation
import JOSE
import Testing
import WebAuthn

/// A change of a registration that the server must reject, and the check that rejects it.
struct RejectedRegistration: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: WebAuthnError
    let change: @Sendable (inout RegistrationScene) throws -> Void

    init(_ description: String, _ error: WebAuthnError, _ change: @escaping @Sendable (inout RegistrationScene) throws -> Void) {
        testDescription = description
        self.error = error
        self.change = change
    }

    /// A change of the response's JSON, after the authenticator signed.
    static func response(
        _ description: String, _ error: WebAuthnError, _ change: @escaping @Sendable (inout JSONValue) -> Void
    ) -> RejectedRegistration { RejectedRegistration(description, error) { $0.authenticator.changes.response = change } }

    /// A change of the client data, which the authenticator signs.
    static func clientData(
        _ description: String, _ error: WebAuthnError, _ change: @escaping @Sendable (inout JSONValue) -> Void
    ) -> RejectedRegistration { RejectedRegistration(description, error) { $0.authenticator.changes.clientData = change } }

    /// A change of the authenticator data, which the authenticator signs.
    static func data(
        _ description: String, _ error: WebAuthnError, _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> RejectedRegistration { RejectedRegistration(description, error) { $0.authenticator.changes.authenticatorData = change } }

    static let all: [RejectedRegistration] = form + clientDataChanges + dataChanges + policies + objects

    private static let form: [RejectedRegistration] = [
        response("a string", .responseNotJSON) { $0 = "response" },
        response("no response member", .responseMember(.response)) { $0.set("response", to: nil) },
        response("no type", .responseMember(.type)) { $0.set("type", to: nil) },
        response("another type", .wrongCredentialType) { $0.set("type", to: "password") },
        response("no id", .responseMember(.id)) { $0.set("id", to: nil) },
        response("an empty id", .responseMember(.id)) { $0.set("id", to: "") },
        response("an id with padding", .responseMember(.id)) { $0.set("id", to: "AAAA==") },
        response("an id of 1024 bytes", .responseMember(.id)) {
            $0.set("id", to: .string(Base64URL.encode([UInt8](repeating: 1, count: 1024))))
        },
        response("no rawId", .responseMember(.rawID)) { $0.set("rawId", to: nil) },
        response("id and rawId differ", .idsDiffer) { $0.set("rawId", to: "AAAA") },
        response("no client data", .responseMember(.clientDataJSON)) { $0.set("response", "clientDataJSON", to: nil) },
        response("client data of 17 KiB", .responseMember(.clientDataJSON)) {
            $0.set("response", "clientDataJSON", to: .string(Base64URL.encode([UInt8](repeating: 32, count: 17 << 10))))
        },
        response("no attestation object", .responseMember(.attestationObject)) { $0.set("response", "attestationObject", to: 1) },
        response("transports that are no array", .responseMember(.transports)) { $0.set("response", "transports", to: "usb") },
        response("a transport with spaces", .responseMember(.transports)) { $0.set("response", "transports", to: ["u s b"]) },
        response("17 transports", .responseMember(.transports)) {
            $0.set("response", "transports", to: JSONValue((0..<17).map { "t\($0)" }))
        },
        response("an attachment that is no text", .responseMember(.authenticatorAttachment)) {
            $0.set("authenticatorAttachment", to: 1)
        },
        response("extension results that are no object", .responseMember(.clientExtensionResults)) {
            $0.set("clientExtensionResults", to: [])
        },
    ]

    private static let clientDataChanges: [RejectedRegistration] = [
        RejectedRegistration("client data that is no JSON", .clientDataNotJSON) {
            $0.authenticator.changes.clientDataText = { $0.removeLast() }
        },
        RejectedRegistration("client data with two byte order marks", .clientDataNotJSON) {
            $0.authenticator.changes.clientDataText = { $0 = [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF] + $0 }
        },
        RejectedRegistration("client data with two origins", .clientDataNotJSON) {
            $0.authenticator.changes.clientDataText = { $0 = Array(#"{"origin":"https://evil.example","#.utf8) + $0.dropFirst() }
        },
        RejectedRegistration("client data that is an array", .clientDataNotJSON) {
            $0.authenticator.changes.clientDataText = { $0 = Array("[]".utf8) }
        },
        clientData("client data without type", .clientDataMember(.type)) { $0["type"] = nil },
        clientData("client data without challenge", .clientDataMember(.challenge)) { $0["challenge"] = nil },
        clientData("client data without origin", .clientDataMember(.origin)) { $0["origin"] = nil },
        clientData("client data with crossOrigin as text", .clientDataMember(.crossOrigin)) { $0["crossOrigin"] = "false" },
        clientData("client data with topOrigin as number", .clientDataMember(.topOrigin)) { $0["topOrigin"] = 1 },
        clientData("client data of an authentication", .wrongClientDataType) { $0["type"] = "webauthn.get" },
        clientData("another challenge", .wrongChallenge) { $0["challenge"] = .string(Base64URL.encode(Example.secondChallenge)) },
        clientData("a challenge with padding", .wrongChallenge) { $0["challenge"] = .string(($0["challenge"]?.stringValue ?? "") + "=") },
        RejectedRegistration("another expected challenge", .wrongChallenge) { $0.challenge = Example.secondChallenge },
        RejectedRegistration("another origin", .originNotAllowed) { $0.origin = "https://evil.example" },
        RejectedRegistration("a subdomain of the origin", .originNotAllowed) { $0.origin = "https://a.login.example.org" },
        RejectedRegistration("the origin with a path", .originNotAllowed) { $0.origin = Example.origin + "/" },
        RejectedRegistration("the origin with a port", .originNotAllowed) { $0.origin = Example.origin + ":443" },
        RejectedRegistration("the origin with http", .originNotAllowed) { $0.origin = "http://login.example.org" },
        RejectedRegistration("the origin in upper case", .originNotAllowed) { $0.origin = Example.origin.uppercased() },
        RejectedRegistration("the Kelvin sign for K in the origin", .originNotAllowed) {
            $0.verifier.relyingParty.origins = ["https://login.example.org/K"]
            $0.origin = "https://login.example.org/\u{212A}"
        },
        clientData("a frame of another origin", .crossOriginNotAllowed) { $0["crossOrigin"] = true },
        clientData("a frame that names the top page", .crossOriginNotAllowed) { $0["topOrigin"] = "https://shop.example" },
        RejectedRegistration("a frame in another top page", .topOriginNotAllowed) {
            $0.verifier.relyingParty.crossOrigin = .allow(topOrigins: ["https://shop.example"])
            $0.authenticator.changes.clientData = { ($0["crossOrigin"], $0["topOrigin"]) = (true, "https://evil.example") }
        },
    ]

    private static let dataChanges: [RejectedRegistration] = [
        data("authenticator data of 36 bytes", .authenticatorDataTruncated) { $0 = Array($0.prefix(36)) },
        data("authenticator data that ends in the AAGUID", .authenticatorDataTruncated) { $0 = Array($0.prefix(50)) },
        data("authenticator data that ends in the length", .authenticatorDataTruncated) { $0 = Array($0.prefix(54)) },
        data("authenticator data that ends in the id", .authenticatorDataTruncated) { $0 = Array($0.prefix(80)) },
        data("authenticator data that ends in the key", .publicKey(.notCBOR(.truncated))) { $0.removeLast() },
        data("authenticator data with a byte too many", .authenticatorDataTrailingBytes) { $0.append(0) },
        data("the flag ED without extensions", .extensionsInvalid) { $0[32] |= 0x80 },
        data("extensions that are no map", .extensionsInvalid) {
            $0[32] |= 0x80
            $0.append(0x80)
        },
        data("extensions with number keys", .extensionsInvalid) {
            $0[32] |= 0x80
            $0 += [0xA1, 0x01, 0x01]
        },
        data("another RP ID", .wrongRelyingPartyID) { $0[0] ^= 1 },
        RejectedRegistration("another expected RP ID", .wrongRelyingPartyID) { $0.verifier.relyingParty.id = "login.example.org" },
        RejectedRegistration("no user present", .userNotPresent) { $0.authenticator.flags.remove(.userPresent) },
        RejectedRegistration("no user verified", .userNotVerified) { $0.authenticator.flags.remove(.userVerified) },
        RejectedRegistration("backed up without eligibility", .backupStateWithoutEligibility) {
            $0.authenticator.flags.remove(.backupEligible)
        },
        data("no credential", .credentialMissing) {
            $0[32] &= ~0x40
            $0 = Array($0.prefix(37))
        },
    ]

    private static let policies: [RejectedRegistration] = [
        RejectedRegistration("a passkey that can be backed up", .backupEligible) { $0.verifier.backup = .ineligible },
        RejectedRegistration("a passkey that cannot be backed up", .backupIneligible) {
            $0.verifier.backup = .eligible
            $0.authenticator.flags.subtract([.backupEligible, .backupState])
        },
        RejectedRegistration("an algorithm that was not offered", .algorithmNotOffered) { $0.verifier.algorithms = [.rs256] },
        RejectedRegistration("the fully specified number of an algorithm that was offered", .algorithmNotOffered) {
            $0.verifier.algorithms = [.es256]
            $0.authenticator.algorithm = .esp256
        },
        RejectedRegistration("another authenticator", .authenticatorNotAllowed) { $0.verifier.allowedAuthenticators = [.zero] },
        RejectedRegistration("an empty credential id", .credentialIDEmpty) {
            $0.authenticator.changes.credentialID = { $0 = [] }
            $0.authenticator.changes.response = {
                $0.set("id", to: "AAAA")
                $0.set("rawId", to: "AAAA")
            }
        },
        RejectedRegistration("a credential id of 1024 bytes", .credentialIDTooLong) {
            $0.authenticator.changes.credentialID = { $0 = [UInt8](repeating: 1, count: 1024) }
            $0.authenticator.changes.response = {
                $0.set("id", to: "AAAA")
                $0.set("rawId", to: "AAAA")
            }
        },
        response("another id in the response", .credentialIDsDiffer) {
            $0.set("id", to: "AAAA")
            $0.set("rawId", to: "AAAA")
        },
        RejectedRegistration("a credential that is registered", .credentialRegistered) { $0.isRegistered = true },
    ]

    private static let objects: [RejectedRegistration] = [
        response("an attestation object that is no CBOR", .attestationObjectNotCBOR(.truncated)) {
            $0.set("response", "attestationObject", to: "owAA")
        },
        RejectedRegistration("an attestation object without format", .attestationObjectMember(.format)) {
            $0.authenticator.changes.attestationObject = { $0.set("fmt", to: nil) }
        },
        RejectedRegistration("a format of 33 bytes", .attestationObjectMember(.format)) {
            $0.authenticator.changes.attestationObject = { $0.set("fmt", to: .text(String(repeating: "x", count: 33))) }
        },
        RejectedRegistration("an attestation object without statement", .attestationObjectMember(.statement)) {
            $0.authenticator.changes.attestationObject = { $0.set("attStmt", to: .array([])) }
        },
        RejectedRegistration("an attestation object without authenticator data", .attestationObjectMember(.authenticatorData)) {
            $0.authenticator.changes.attestationObject = { $0.set("authData", to: .text("")) }
        },
        response("a byte after the attestation object", .attestationObjectNotCBOR(.trailingBytes(count: 1))) {
            let bytes = $0["response"]?["attestationObject"]?.stringValue.flatMap { try? Base64URL.decode($0) } ?? []
            $0.set("response", "attestationObject", to: .string(Base64URL.encode(bytes + [0])))
        },
    ]
}

@Suite("Registration of passkeys")
struct RegistrationTests {
    @Test("A registration that fails one check is rejected with the name of this check", arguments: RejectedRegistration.all)
    func rejects(_ row: RejectedRegistration) async throws {
        var scene = RegistrationScene()
        try row.change(&scene)
        let response = try scene.response()
        #expect(await scene.rejection(of: response) == row.error)
    }

    @Test(
        "A registration with each supported algorithm is accepted and gives the passkey that the authenticator created",
        arguments: COSEAlgorithm.allCases)
    func accepts(algorithm: COSEAlgorithm) async throws {
        var scene = RegistrationScene()
        scene.authenticator.algorithm = algorithm
        let result = try await scene.run()
        let credential = try #require(scene.authenticator.credentials.last)
        #expect(
            result.passkey
                == StoredPasskey(
                    id: credential.id, relyingPartyID: "example.org", publicKey: credential.key.publicKey(algorithm).encoded,
                    aaguid: Example.aaguid, transports: ["hybrid", "internal"], isDiscoverable: true, isBackupEligible: true,
                    isBackedUp: true, signCount: 1, isUserVerificationInitialized: true, createdAt: Example.now))
        #expect(result.isUserVerified)
        #expect(result.attestationFormat == "packed")
        #expect(result.attestation == .selfAttested)
    }

    @Test("A registration without user verification is accepted if verification is not required, and is stored as not verified")
    func unverified() async throws {
        for verification in [UserVerification.preferred, .discouraged] {
            var scene = RegistrationScene()
            scene.verifier.userVerification = verification
            scene.authenticator.flags.remove(.userVerified)
            let result = try await scene.run()
            #expect(!result.isUserVerified)
            #expect(!result.passkey.isUserVerificationInitialized)
        }
    }

    @Test("A conditional registration is accepted without the user's presence")
    func conditional() async throws {
        var scene = RegistrationScene()
        scene.verifier.isConditional = true
        scene.authenticator.flags.remove(.userPresent)
        _ = try await scene.run()
    }

    @Test("A registration in a frame is accepted if the policy allows the origin of the top page, or the client does not name it")
    func frames() async throws {
        for topOrigin in ["https://shop.example", nil] as [JSONValue?] {
            var scene = RegistrationScene()
            scene.verifier.relyingParty.crossOrigin = .allow(topOrigins: ["https://shop.example"])
            scene.authenticator.changes.clientData = { ($0["crossOrigin"], $0["topOrigin"]) = (true, topOrigin) }
            _ = try await scene.run()
        }
    }

    @Test("A registration by an Android app with an allowed key hash is accepted")
    func android() async throws {
        var scene = RegistrationScene()
        scene.origin = Example.relyingParty.origins[1]
        _ = try await scene.run()
    }

    @Test("Client data with a byte order mark, unknown members or without crossOrigin is accepted")
    func clientData() async throws {
        var scene = RegistrationScene()
        scene.authenticator.changes.clientData = { ($0["crossOrigin"], $0["tokenBinding"]) = (nil, ["status": "supported"]) }
        scene.authenticator.changes.clientDataText = { $0 = [0xEF, 0xBB, 0xBF] + $0 }
        _ = try await scene.run()
    }

    @Test("Unsolicited extension outputs, unknown transports and unknown members of a response are ignored")
    func unsolicited() async throws {
        var scene = RegistrationScene()
        scene.authenticator.changes.authenticatorData = {
            $0[32] |= 0x80
            $0 += CBORValue.map([.text("hmac-secret"): .bool(true), .text("other"): .map([.integer(1): .float([0, 0])])]).encoded
        }
        scene.authenticator.changes.response = {
            $0.set("clientExtensionResults", to: ["prf": ["enabled": true]])
            $0.set("response", "transports", to: ["telepathy", "usb", "usb"])
            $0.set("response", "publicKeyAlgorithm", to: -7)
            $0.set("authenticatorAttachment", to: "implant")
        }
        let passkey = try await scene.run().passkey
        #expect(passkey.transports == ["telepathy", "usb"])
        #expect(passkey.isDiscoverable == nil)
    }

    @Test("A credential id of 1023 bytes is accepted")
    func longestID() async throws {
        var scene = RegistrationScene()
        scene.authenticator.changes.credentialID = { $0 = [UInt8](repeating: 1, count: 1023) }
        #expect(try await scene.run().passkey.id.count == 1023)
    }

    @Test("A passkey of an allowed authenticator is accepted")
    func allowedAuthenticator() async throws {
        var scene = RegistrationScene()
        scene.verifier.allowedAuthenticators = [Example.aaguid, .zero]
        #expect(try await scene.run().passkey.aaguid == Example.aaguid)
    }
}
