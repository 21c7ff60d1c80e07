import CountersignSandbox
import JOSE
import Testing
import WebAuthn

@Suite("Hostile passkey responses")
struct HostileResponseTests {
    /// Returns the response with changed bytes in one member.
    private func changed(_ response: JSONValue, _ member: String, _ change: (inout [UInt8]) -> Void) throws -> JSONValue {
        var bytes = try bytes(of: response, member)
        change(&bytes)
        var response = response
        response.set("response", member, to: .string(Base64URL.encode(bytes)))
        return response
    }

    private func bytes(of response: JSONValue, _ member: String) throws -> [UInt8] {
        try Base64URL.decode(#require(response["response"]?[member]?.stringValue))
    }

    @Test(
        "A registration with a signed attestation is rejected after any byte of its attestation object or client data is changed or cut",
        arguments: ["attestationObject", "clientDataJSON"])
    func registration(member: String) async throws {
        var scene = RegistrationScene()
        scene.authenticator.algorithm = .edDSA
        let response = try scene.response()
        #expect(await scene.rejection(of: response) == nil)
        for index in try bytes(of: response, member).indices {
            for mask in [0x01, 0x20, 0x80, 0xFF] as [UInt8] {
                #expect(await scene.rejection(of: try changed(response, member) { $0[index] ^= mask }) != nil, "\(index) \(mask)")
            }
            #expect(await scene.rejection(of: try changed(response, member) { $0.removeSubrange(index...) }) != nil, "\(index)")
            #expect(await scene.rejection(of: try changed(response, member) { $0.remove(at: index) }) != nil, "\(index)")
        }
    }

    @Test("A registration with a trusted certificate is rejected after any byte of the attestation object is changed or cut")
    func certificates() async throws {
        var generator = SeededGenerator(12)
        let authority = try AttestationAuthority(using: &generator)
        for attestation in [SoftwareAuthenticator.Attestation.packed(authority), .apple(authority)] {
            var scene = RegistrationScene(attestation: attestation)
            scene.verifier.attestation = AttestationPolicy(requirement: .trusted, roots: try AttestationRoots(der: [authority.root]))
            let response = try scene.response()
            #expect(await scene.rejection(of: response) == nil)
            for index in try bytes(of: response, "attestationObject").indices {
                // A certificate's signature does not cover the number of its own unused bits: 1 is read like 0 if the last bit is 0.
                let flipped = try changed(response, "attestationObject") { $0[index] ^= 0x80 }
                #expect(await scene.rejection(of: flipped) != nil, "\(index)")
                let cut = try changed(response, "attestationObject") { $0.removeSubrange(index...) }
                #expect(await scene.rejection(of: cut) != nil, "\(index)")
            }
        }
    }

    @Test(
        "An authentication is rejected after any byte of the signed data or of the signature is changed or cut",
        arguments: ["authenticatorData", "clientDataJSON", "signature"], [COSEAlgorithm.es256, .edDSA])
    func authentication(member: String, algorithm: COSEAlgorithm) async throws {
        var scene = try await AuthenticationScene(algorithm)
        let response = try scene.response()
        #expect(scene.rejection(of: response) == nil)
        for index in try bytes(of: response, member).indices {
            for bit in 0..<8 {
                #expect(scene.rejection(of: try changed(response, member) { $0[index] ^= 1 << bit }) != nil, "\(index) \(bit)")
            }
            #expect(scene.rejection(of: try changed(response, member) { $0.removeSubrange(index...) }) != nil, "\(index)")
            #expect(scene.rejection(of: try changed(response, member) { $0.remove(at: index) }) != nil, "\(index)")
        }
    }

    @Test("Pseudorandom bytes in each member of a response are rejected without a crash")
    func arbitrary() async throws {
        var registration = RegistrationScene()
        let created = try registration.response()
        var authentication = try await AuthenticationScene()
        let asserted = try authentication.response()
        var generator = SeededGenerator(13)
        for _ in 0..<200 {
            let noise = generator.bytes(Int(generator.next() % 200))
            for member in ["attestationObject", "clientDataJSON"] {
                #expect(await registration.rejection(of: try changed(created, member) { $0 = noise }) != nil)
            }
            for member in ["authenticatorData", "clientDataJSON", "signature"] {
                #expect(authentication.rejection(of: try changed(asserted, member) { $0 = noise }) != nil)
            }
        }
    }

    @Test("A registration response is not accepted as an authentication, nor the reverse")
    func crossed() async throws {
        var authentication = try await AuthenticationScene()
        let asserted = try authentication.response()
        var registration = RegistrationScene()
        let created = try registration.response()
        #expect(authentication.rejection(of: created) == .responseMember(.authenticatorData))
        #expect(await registration.rejection(of: asserted) == .responseMember(.attestationObject))
    }

    @Test("Response text that is no JSON, too deep or longer than 128 KiB is rejected")
    func texts() throws {
        let long = #"{"id":""# + String(repeating: "A", count: 128 << 10) + #""}"#
        for text in ["", "{", "null", "[]", #"{"id":"A","id":"A"}"#, String(repeating: "[", count: 1000), long] {
            #expect(throws: WebAuthnError.responseNotJSON) { _ = try RegistrationResponse(parsing: text.utf8) }
            #expect(throws: WebAuthnError.responseNotJSON) { _ = try AuthenticationResponse(parsing: text.utf8) }
        }
    }

    @Test("The longest credential id and user handle are read, and longer ones are rejected")
    func lengths() async throws {
        var scene = try await AuthenticationScene()
        var response = try scene.response()
        for (count, isRead) in [(1023, true), (1024, false)] {
            let id = JSONValue.string(Base64URL.encode([UInt8](repeating: 1, count: count)))
            response.set("id", to: id)
            response.set("rawId", to: id)
            #expect(scene.rejection(of: response) == (isRead ? .otherPasskey : .responseMember(.id)))
        }
    }
}
