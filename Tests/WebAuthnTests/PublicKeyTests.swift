import CountersignSandbox
import Crypto
import Foundation
import JOSE
import Testing
import WebAuthn

@Suite("COSE public keys and AAGUIDs")
struct PublicKeyTests {
    private func error(_ key: CBORValue) -> COSEKeyError? { error(key.encoded) }

    private func error(_ bytes: [UInt8]) -> COSEKeyError? {
        do throws(COSEKeyError) {
            _ = try COSEPublicKey(bytes)
            return nil
        } catch {
            return error
        }
    }

    private func key(_ algorithm: COSEAlgorithm, _ change: (inout CBORValue) -> Void = { _ in }) throws -> CBORValue {
        var generator = SeededGenerator(5)
        var key = try CredentialKey(algorithm, using: &generator).publicKey(algorithm)
        change(&key)
        return key
    }

    @Test("A key is read with each supported algorithm and keeps its bytes", arguments: COSEAlgorithm.allCases)
    func accepts(algorithm: COSEAlgorithm) throws {
        let bytes = try key(algorithm).encoded
        let read = try COSEPublicKey(bytes)
        #expect(read.algorithm == algorithm)
        #expect(read.encoded == bytes)
    }

    @Test(
        "A fully specified algorithm number denotes the same key and signatures as the older number",
        arguments: [(COSEAlgorithm.esp256, COSEAlgorithm.es256), (.esp384, .es384), (.ed25519, .edDSA)])
    func fullySpecified(new: COSEAlgorithm, old: COSEAlgorithm) throws {
        #expect(new.polymorphic == old)
        var generator = SeededGenerator(6)
        let key = try CredentialKey(old, using: &generator)
        let signature = try key.signature(for: [1, 2, 3])
        for algorithm in [new, old] {
            #expect(try COSEPublicKey(key.publicKey(algorithm).encoded).isValidSignature(signature, for: [1, 2, 3]))
        }
    }

    @Test("A key with a wrong type, curve, length or point is rejected with the reason")
    func rejects() throws {
        for algorithm in [COSEAlgorithm.es256, .es384, .edDSA, .rs256] {
            #expect(error(try key(algorithm) { $0.set(.integer(1), to: nil) }) == .type)
            #expect(error(try key(algorithm) { $0.set(.integer(1), to: .integer(4)) }) == .type)
            #expect(error(try key(algorithm) { $0.set(.integer(3), to: nil) }) == .algorithm)
            #expect(error(try key(algorithm) { $0.set(.integer(3), to: .integer(-36)) }) == .algorithm)
            #expect(error(try key(algorithm) { $0.set(.integer(-2), to: nil) }) == .parameter)
            #expect(error(try key(algorithm) { $0.set(.integer(-2), to: .text("x")) }) == .parameter)
            // An optional parameter, and the private part.
            #expect(error(try key(algorithm) { $0.set(.integer(4), to: .array([.integer(2)])) }) == .parameter)
            #expect(error(try key(algorithm) { $0.set(.integer(-4), to: .bytes([1])) }) == .parameter)
        }
        for algorithm in [COSEAlgorithm.es256, .es384, .edDSA] {
            #expect(error(try key(algorithm) { $0.set(.integer(-1), to: .integer(3)) }) == .type)
            #expect(error(try key(algorithm) { $0.set(.integer(-2), to: .bytes([UInt8](repeating: 1, count: 31))) }) == .parameter)
        }
        for algorithm in [COSEAlgorithm.es256, .es384] {
            // A compressed point, a point at the origin and a point that is not on the curve.
            #expect(error(try key(algorithm) { $0.set(.integer(-3), to: .bool(true)) }) == .parameter)
            let size = algorithm == .es256 ? 32 : 48
            let zero = CBORValue.bytes([UInt8](repeating: 0, count: size))
            #expect(
                error(
                    try key(algorithm) {
                        $0.set(.integer(-2), to: zero)
                        $0.set(.integer(-3), to: zero)
                    }) == .point)
            #expect(error(try key(algorithm) { $0.set(.integer(-3), to: $0[-2]) }) == .point)
        }
        #expect(error([]) == .notCBOR(.truncated))
        #expect(error(.array([])) == .notMap)
        #expect(error(try key(.es256).encoded + [0]) == .notCBOR(.trailingBytes(count: 1)))
    }

    @Test("An RSA key with a weak or malformed number is rejected with the reason")
    func rsa() throws {
        func modulus(_ bytes: [UInt8]) throws -> COSEKeyError? { error(try key(.rs256) { $0.set(.integer(-1), to: .bytes(bytes)) }) }
        func exponent(_ bytes: [UInt8]) throws -> COSEKeyError? { error(try key(.rs256) { $0.set(.integer(-2), to: .bytes(bytes)) }) }
        let ones = [UInt8](repeating: 0xFF, count: 255)
        #expect(try modulus([0xFF] + ones) == nil)
        #expect(try modulus([0x7F] + ones) == .modulus)
        #expect(try modulus([0xFF] + [UInt8](repeating: 0xFF, count: 1024)) == .modulus)
        #expect(try modulus([0x00, 0xFF] + ones) == .parameter)
        #expect(try modulus([]) == .parameter)
        #expect(try exponent([3]) == nil)
        #expect(try exponent([1]) == .exponent)
        #expect(try exponent([2]) == .exponent)
        #expect(try exponent([1, 0, 0]) == .exponent)
        #expect(try exponent([1, 0, 0, 0, 1]) == .exponent)
        #expect(try exponent([0, 1, 0, 1]) == .parameter)
        #expect(try exponent([0]) == .parameter)
        #expect(try exponent([]) == .parameter)
    }

    @Test("An ECDSA signature in the format of JWS, or DER with changes, is not valid", arguments: [COSEAlgorithm.es256, .es384])
    func signatureForms(algorithm: COSEAlgorithm) throws {
        var generator = SeededGenerator(11)
        let key = try CredentialKey(algorithm, using: &generator)
        let read = try COSEPublicKey(key.publicKey(algorithm).encoded)
        let message: [UInt8] = [1, 2, 3]
        let der = try key.signature(for: message)
        #expect(read.isValidSignature(der, for: message))
        let plain: [UInt8]
        switch key {
        case .es256(let key): plain = Array(try key.signature(for: message).rawRepresentation)
        case .es384(let key): plain = Array(try key.signature(for: message).rawRepresentation)
        default: plain = []
        }
        for signature in [plain, der + [0], [0] + der, Array(der.dropLast()), [], [0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00]] {
            #expect(!read.isValidSignature(signature, for: message))
        }
    }

    @Test("An AAGUID has one text in lower case, which is read in both cases and coded")
    func aaguids() throws {
        let text = "0ea242b4-43c4-4a1b-8b17-dd6d0b6baec6"
        let aaguid = try #require(AAGUID(text))
        #expect(aaguid.description == text)
        #expect(AAGUID(text.uppercased()) == aaguid)
        #expect(try JSONDecoder().decode([AAGUID].self, from: JSONEncoder().encode([aaguid])) == [aaguid])
        #expect(AAGUID(bytes: aaguid.bytes) == aaguid)
        #expect(AAGUID(bytes: [1, 2, 3]) == nil)
        for wrong in ["", "0ea242b443c44a1b8b17dd6d0b6baec6", text + "-", "0ea242b4-43c4-4a1b-8b17-dd6d0b6baecg", "é" + text.dropFirst(2)] {
            #expect(AAGUID(wrong) == nil)
        }
        #expect(AAGUID.zero.description == "00000000-0000-0000-0000-000000000000")
    }
}
