import CountersignSandbox
import Crypto
import Foundation
import JOSE
import Testing
import WebAuthn
import X509

/// A change of an attestation that the server must reject, and the check that rejects it.
struct RejectedAttestation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: WebAuthnError
    let attestation: SoftwareAuthenticator.Attestation
    let change: @Sendable (inout RegistrationScene) -> Void

    init(
        _ description: String, _ error: WebAuthnError, _ attestation: SoftwareAuthenticator.Attestation = .packedSelf,
        _ change: @escaping @Sendable (inout RegistrationScene) -> Void = { _ in }
    ) {
        (testDescription, self.error, self.attestation, self.change) = (description, error, attestation, change)
    }

    static let selfAttested: [RejectedAttestation] = [
        RejectedAttestation("a statement in the format none", .attestationStatementInvalid, .none) {
            $0.authenticator.changes.statement = { $0.set("alg", to: .integer(-7)) }
        },
        RejectedAttestation("a format that is not supported", .attestationFormatUnsupported, .other(format: "tpm", statement: .map([:]))),
        RejectedAttestation("a format in upper case", .attestationFormatUnsupported, .other(format: "None", statement: .map([:]))),
        RejectedAttestation("no signature", .attestationStatementInvalid) {
            $0.authenticator.changes.statement = { $0.set("sig", to: nil) }
        },
        RejectedAttestation("a signature that is no byte string", .attestationStatementInvalid) {
            $0.authenticator.changes.statement = { $0.set("sig", to: .text("")) }
        },
        RejectedAttestation("no algorithm", .attestationStatementInvalid) {
            $0.authenticator.changes.statement = { $0.set("alg", to: nil) }
        },
        RejectedAttestation("an ECDAA key", .attestationStatementInvalid) {
            $0.authenticator.changes.statement = { $0.set("ecdaaKeyId", to: .bytes([1])) }
        },
        RejectedAttestation("an unknown algorithm", .attestationAlgorithm) {
            $0.authenticator.changes.statement = { $0.set("alg", to: .integer(-65535)) }
        },
        RejectedAttestation("another algorithm than the key's", .attestationAlgorithm) {
            $0.authenticator.changes.statement = { $0.set("alg", to: .integer(-257)) }
        },
        RejectedAttestation("another number of the key's algorithm", .attestationAlgorithm) {
            $0.authenticator.changes.statement = { $0.set("alg", to: .integer(-9)) }
        },
        RejectedAttestation("a damaged signature", .attestationSignature) { $0.authenticator.changes.signature = { $0[10] ^= 1 } },
        RejectedAttestation("an AAGUID that was not signed", .attestationSignature) {
            $0.authenticator.changes.attestationObject = {
                var data = $0["authData"]?.bytesValue ?? []
                data[40] ^= 1
                $0.set("authData", to: .bytes(data))
            }
        },
        RejectedAttestation("no trust, although it is required", .attestationNotTrusted) {
            $0.verifier.attestation.requirement = .trusted
        },
        RejectedAttestation("no attestation, although trust is required", .attestationNotTrusted, .none) {
            $0.verifier.attestation.requirement = .trusted
        },
    ]
}

@Suite("Attestation of passkeys")
struct AttestationTests {
    private var generator = SeededGenerator(7)
    private let authority: AttestationAuthority

    init() throws { authority = try AttestationAuthority(using: &generator) }

    private func rejection(
        of attestation: SoftwareAuthenticator.Attestation, _ change: (inout RegistrationScene) -> Void = { _ in }
    ) async throws -> WebAuthnError? {
        var scene = RegistrationScene(attestation: attestation)
        change(&scene)
        return await scene.rejection(of: try scene.response())
    }

    /// The authority with changed certificates.
    private func authority(_ change: (inout AttestationAuthority.Changes) -> Void) -> AttestationAuthority {
        var authority = authority
        change(&authority.changes)
        return authority
    }

    @Test(
        "A self attestation or missing attestation that fails one check is rejected with the name of this check",
        arguments: RejectedAttestation.selfAttested)
    func rejects(_ row: RejectedAttestation) async throws {
        #expect(try await rejection(of: row.attestation, row.change) == row.error)
    }

    @Test("A registration without attestation is accepted and its trust is none")
    func none() async throws {
        var scene = RegistrationScene(attestation: .none)
        let result = try await scene.run()
        #expect(result.attestation == .none)
        #expect(result.attestationFormat == "none")
    }

    @Test("An unsupported format is treated as no attestation if the policy says so")
    func unsupported() async throws {
        var scene = RegistrationScene(attestation: .other(format: "tpm", statement: .map([.text("ver"): .text("2.0")])))
        scene.verifier.attestation.unsupportedFormat = .treatAsNone
        let result = try await scene.run()
        #expect(result.attestation == .none)
        #expect(result.attestationFormat == "tpm")
    }

    @Test("A certificate's attestation is unverified without roots, trusted with its root, and untrusted with another root")
    func trust() async throws {
        var generator = SeededGenerator(8)
        let other = try AttestationAuthority(name: "Other root", using: &generator)
        // The same name, but another key.
        let impostor = try AttestationAuthority(using: &generator)
        let digest = Array(SHA256.hash(data: authority.root))
        for attestation in [SoftwareAuthenticator.Attestation.packed(authority), .apple(authority)] {
            for (roots, trust) in [
                ([], AttestationTrust.unverified), ([authority.root], .trusted(root: digest)),
                ([other.root, authority.root], .trusted(root: digest)), ([other.root], .untrusted), ([impostor.root], .untrusted),
            ] {
                var scene = RegistrationScene(attestation: attestation)
                scene.verifier.attestation.roots = try AttestationRoots(der: roots)
                #expect(try await scene.run().attestation == trust)
            }
        }
    }

    @Test("With the policy to require trust, only a certificate that chains to a root is accepted")
    func required() async throws {
        var generator = SeededGenerator(9)
        let other = try AttestationAuthority(name: "Other root", using: &generator)
        for (roots, error) in [([], WebAuthnError.attestationNotTrusted), ([other.root], .attestationNotTrusted), ([authority.root], nil)] {
            let roots = try AttestationRoots(der: roots)
            let result = try await rejection(of: .packed(authority)) {
                $0.verifier.attestation = AttestationPolicy(requirement: .trusted, roots: roots)
            }
            #expect(result == error)
        }
    }

    @Test("An attestation certificate that has expired or is not valid yet is untrusted")
    func expired() async throws {
        let roots = try AttestationRoots(der: [authority.root])
        for seconds in [1_550_000_000, 2_000_000_001] as [Double] {
            var scene = RegistrationScene(attestation: .packed(authority))
            scene.verifier.attestation.roots = roots
            scene.now = Date(timeIntervalSince1970: seconds)
            #expect(try await scene.run().attestation == .untrusted)
        }
    }

    @Test("A root that is no certificate is rejected with its position")
    func roots() {
        let error = #expect(throws: AttestationRoots.NotCertificate.self) { _ = try AttestationRoots(der: [authority.root, [1, 2, 3]]) }
        #expect(error?.index == 1)
    }

    @Test("A packed attestation whose certificate violates a rule is rejected with the name of the rule")
    func certificateRules() async throws {
        let rows: [(WebAuthnError.CertificateRule, AttestationAuthority)] = [
            (.subject, authority { $0.country = nil }), (.subject, authority { $0.country = "USA" }),
            (.subject, authority { $0.unit = "authenticator attestation" }), (.subject, authority { $0.commonName = nil }),
            (.authority, authority { $0.isAuthority = true }), (.authority, authority { $0.isAuthority = nil }),
            (.version, authority { $0.version = .v1 }), (.aaguid, authority { $0.aaguid = .zero }),
            (.aaguid, authority { $0.isAAGUIDCritical = true }),
        ]
        for (rule, authority) in rows {
            #expect(try await rejection(of: .packed(authority)) == .attestationCertificate(rule))
        }
    }

    @Test("A packed attestation with a certificate but a wrong signature, algorithm or list of certificates is rejected")
    func packed() async throws {
        #expect(
            try await rejection(of: .packed(authority)) { $0.authenticator.changes.signature = { $0[10] ^= 1 } } == .attestationSignature)
        // The first is an algorithm for other keys, the second is unknown.
        for number in [-35, -257, -65535] as [Int64] {
            #expect(
                try await rejection(of: .packed(authority)) {
                    $0.authenticator.changes.statement = { $0.set("alg", to: .integer(number)) }
                } == .attestationAlgorithm)
        }
        let root = authority.root
        let lists: [(CBORValue, WebAuthnError)] = [
            (.array([]), .attestationStatementInvalid), (.bytes(root), .attestationStatementInvalid),
            (.array([.text("")]), .attestationStatementInvalid), (.array([.bytes([0x30, 0x00])]), .attestationCertificate(.form)),
            (.array(Array(repeating: .bytes(root), count: 9)), .attestationCertificate(.form)),
            // The root's key did not sign.
            (.array([.bytes(root)]), .attestationSignature),
        ]
        for (list, error) in lists {
            #expect(
                try await rejection(of: .packed(authority)) { $0.authenticator.changes.statement = { $0.set("x5c", to: list) } } == error)
        }
    }

    @Test("An Apple attestation with another nonce, key or member is rejected")
    func apple() async throws {
        #expect(try await rejection(of: .apple(authority)) == nil)
        #expect(
            try await rejection(of: .apple(authority { $0.nonce = [UInt8](repeating: 0, count: 32) })) == .attestationNonce)
        #expect(
            try await rejection(of: .apple(authority)) {
                $0.authenticator.changes.attestationObject = {
                    var data = $0["authData"]?.bytesValue ?? []
                    data[40] ^= 1
                    $0.set("authData", to: .bytes(data))
                }
            } == .attestationNonce)
        var generator = SeededGenerator(10)
        let key = try CredentialKey(.es256, using: &generator)
        #expect(try await rejection(of: .apple(authority { $0.key = key })) == .attestationKey)
        #expect(
            try await rejection(of: .apple(authority)) {
                $0.authenticator.changes.statement = { $0.set("alg", to: .integer(-7)) }
            } == .attestationStatementInvalid)
        // A certificate without the nonce.
        let root = authority.root
        #expect(
            try await rejection(of: .apple(authority)) {
                $0.authenticator.changes.statement = { $0.set("x5c", to: .array([.bytes(root)])) }
            } == .attestationNonce)
    }
}
