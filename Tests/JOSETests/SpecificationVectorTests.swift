import JOSE
import Testing

@Suite("Vectors of RFC 7515, 7517, 7520, 7638 and 8037")
struct SpecificationVectorTests {
    @Test("The signature of each RFC example is valid with the example's public key", arguments: SignatureVector.all)
    func verifies(vector: SignatureVector) throws {
        let key = try JSONWebKey(parsing: vector.key.utf8)
        var verification = key.publicKey ?? key
        // RFC 7520 uses the key of its section 3.4 with two algorithms.
        verification.algorithm = nil
        let signature = try JSONWebSignature(parsing: vector.token)
        #expect(signature.algorithm == vector.algorithm)
        try signature.verify(with: VerificationKey(verification, algorithm: vector.algorithm))
    }

    @Test("The signature of each RFC example is invalid for another payload", arguments: SignatureVector.all)
    func refusesChanges(vector: SignatureVector) throws {
        let key = try JSONWebKey(parsing: vector.key.utf8)
        let parts = vector.token.split(separator: ".")
        let changed = try JSONWebSignature(parsing: "\(parts[0]).\(Base64URL.encode(Array("{}".utf8))).\(parts[2])")
        #expect(throws: JOSEError(.badSignature, "")) {
            try changed.verify(with: VerificationKey(key, algorithm: vector.algorithm))
        }
    }

    @Test(
        "Signing an RFC example with a deterministic algorithm reproduces the example's exact signature",
        arguments: SignatureVector.all.filter { [.hs256, .rs256, .edDSA].contains($0.algorithm) })
    func signsAlike(vector: SignatureVector) throws {
        let key = try SigningKey(JSONWebKey(parsing: vector.key.utf8), algorithm: vector.algorithm)
        let expected = try JSONWebSignature(parsing: vector.token)
        #expect(try key.signature(for: expected.signingInput) == expected.signature)
    }

    @Test(
        "The key sets of RFC 7517 appendix A can be decoded and encoded without a change",
        arguments: [
            KeySetVector.publicKeys, KeySetVector.privateKeys, KeySetVector.symmetricKeys,
        ])
    func keySets(text: String) throws {
        let original = try #require(try JSONValue(parsing: text)["keys"]?.arrayValue)
        let keys = try JSONWebKeySet(parsing: text.utf8).keys
        // One of the symmetric keys is for encryption. It is read like any other key.
        #expect(keys.map { $0.json(includingPrivateMembers: true) } == original)
    }

    @Test("A key's thumbprint equals the example of RFC 7638 section 3.1")
    func rsaThumbprint() throws {
        let keys = try JSONWebKeySet(parsing: KeySetVector.publicKeys.utf8)
        #expect(keys[keyID: "2011-04-29"]?.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    @Test("A key's thumbprint equals the example of RFC 8037 appendix A.3")
    func edwardsThumbprint() throws {
        let vector = try #require(SignatureVector.all.last)
        #expect(try JSONWebKey(parsing: vector.key.utf8).thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    }
}
