import CountersignSandbox
import Foundation
import JOSE
import Testing
import WebAuthn

/// A registration and an authentication from the section "Test Vectors" of WebAuthn Level 3. The RP ID is `example.org`.
struct PasskeyVector: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let challenge: String
    let clientData: String
    let attestationObject: String
    let credentialID: String
    let secondChallenge: String
    let secondClientData: String
    let authenticatorData: String
    let signature: String
    let algorithm: COSEAlgorithm
    let trust: AttestationTrust

    static let all = [
        PasskeyVector(
            testDescription: "ES256 without attestation",
            challenge: "AMMPt4UxxGTStncdq417YDwBFi8vpIa-pw8oOuVW4TA",
            clientData: #"""
                {"type":"webauthn.create","challenge":"AMMPt4UxxGTStncdq417YDwBFi8vpIa-pw8oOuVW4TA","origin":"https://example.org",\#
                "crossOrigin":false,"extraData":"clientDataJSON may be extended with additional fields in the future, such as this: \#
                BkQeDjdcTBrXBiAwJTLE5Q"}
                """#,
            attestationObject: """
                a363666d74646e6f6e656761747453746d74a068617574684461746158a4bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b5\
                59000000008446ccb9ab1db374750b2367ff6f3a1f0020f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33ad94ff3ec330084be4a5010203262001\
                215820afefa16f97ca9b2d23eb86ccb64098d20db90856062eb249c33a9b672f26df61225820930a56b87a2fca66334b03458abf879717c12cc68ed73290\
                af2e2664796b9220
                """,
            credentialID: "f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33ad94ff3ec330084be4",
            secondChallenge: "OcDnUhQXulTUPo3JUXT0I97pvzzYBP9tZchXyav01Ag",
            secondClientData: #"""
                {"type":"webauthn.get","challenge":"OcDnUhQXulTUPo3JUXT0I97pvzzYBP9tZchXyav01Ag","origin":"https://example.org",\#
                "crossOrigin":false}
                """#,
            authenticatorData: "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b51900000000",
            signature: """
                3046022100f50a4e2e4409249c4a853ba361282f09841df4dd4547a13a87780218deffcd380221008480ac0f0b93538174f575bf11a1dd5d78c6e486013f\
                937295ea13653e331e87
                """,
            algorithm: .es256, trust: .none),
        PasskeyVector(
            testDescription: "ES256 with self attestation",
            challenge: "eGnCt3LUtY66k3jPjynibPk1qnffDaifqZwL3Ap29-U",
            clientData: #"""
                {"type":"webauthn.create","challenge":"eGnCt3LUtY66k3jPjynibPk1qnffDaifqZwL3Ap29-U","origin":"https://example.org",\#
                "crossOrigin":false,"extraData":"clientDataJSON may be extended with additional fields in the future, such as this: \#
                U9hTXvKE2URkMnb_0xYHVg"}
                """#,
            attestationObject: """
                a363666d74667061636b65646761747453746d74a263616c672663736967584630440220067a20754ab925005dbf378097c92120031581c73228d1fb4f5b\
                881bcd7da98302207fc7b147558c7c0eba3af18bd9d121fa3d3a26d17fe3f220272178f473b6006d68617574684461746158a4bfabc37432958b063360d3\
                ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b55d00000000df850e09db6afbdfab51697791506cfc0020455ef34e2043a87db3d4afeb39bbcb6cc32d\
                f9347c789a865ecdca129cbef58ca5010203262001215820eb151c8176b225cc651559fecf07af450fd85802046656b34c18f6cf193843c5225820927b8a\
                a427a2be1b8834d233a2d34f61f13bfd44119c325d5896e183fee484f2
                """,
            credentialID: "455ef34e2043a87db3d4afeb39bbcb6cc32df9347c789a865ecdca129cbef58c",
            secondChallenge: "RHihCxNSNI3RYME1Ow1Gm12xnrkcJ_ffpv7Tn-Jq8gs",
            secondClientData: #"""
                {"type":"webauthn.get","challenge":"RHihCxNSNI3RYME1Ow1Gm12xnrkcJ_ffpv7Tn-Jq8gs","origin":"https://example.org",\#
                "crossOrigin":false,"extraData":"clientDataJSON may be extended with additional fields in the future, such as this: \#
                gTb53rz6EhSWomXGzimC1Q"}
                """#,
            authenticatorData: "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b50900000000",
            signature: """
                304402203310b9431903c401f1be2bdc8d23a4007682dbbddcf846994947b7f465daf84002204e94dd00047b316061b3b99772b7efd95994a83ef584b3b6\
                b825ea3550251b66
                """,
            algorithm: .es256, trust: .selfAttested),
        PasskeyVector(
            testDescription: "Ed25519 with a certificate",
            challenge: "qKv52r3GsN9jRms5vanoo0o04YUzelnxxXmZBnbTs70",
            clientData: #"""
                {"type":"webauthn.create","challenge":"qKv52r3GsN9jRms5vanoo0o04YUzelnxxXmZBnbTs70","origin":"https://example.org",\#
                "crossOrigin":false,"extraData":"clientDataJSON may be extended with additional fields in the future, such as this: \#
                B_DT5g7ZD_-9OTLYX5IvEQ"}
                """#,
            attestationObject: """
                a363666d74667061636b65646761747453746d74a363616c67266373696758483046022100d83f60bd80269537583218858aefb03ac57d45fa06e42feaae\
                332d187f62da9f022100a02bd3cb6f7e1d283c93bad1f3f4b5a4c0494463da7fdbf256949116754d1f17637835638159022730820223308201c8a0030201\
                02021100b2cfc9ea33c8643b0e1a760463eaf164300a06082a8648ce3d0403023062311e301c06035504030c15576562417574686e207465737420766563\
                746f7273310c300a060355040a0c0357334331253023060355040b0c1c41757468656e74696361746f72204174746573746174696f6e204341310b300906\
                03550406130241413020170d3234303130313030303030305a180f33303234303130313030303030305a305f311e301c06035504030c1557656241757468\
                6e207465737420766563746f7273310c300a060355040a0c0357334331223020060355040b0c1941757468656e74696361746f7220417474657374617469\
                6f6e310b30090603550406130241413059301306072a8648ce3d020106082a8648ce3d03010703420004dd2b7a564b73b8c0b81c4c62e521925c4d1198ec\
                9f583dbf1eebe364b65cd9c29a9bdf346aaa81fb6b9507e5249a52fdaf8e39e26b0b7dc45992a7e233b70f70a360305e300c0603551d130101ff04023000\
                300e0603551d0f0101ff040403020780301d0603551d0e041604140ae27546bc7eccb1b4b597bd354f0c0b1f1f8f8e301f0603551d2304183016801445af\
                f715b0dd786741fee996ebc16547a3931b1e300a06082a8648ce3d0403020349003046022100a0d434ecb5fc3bfd7da5f41904517ad2836249f561bd834b\
                a7a438a8ab7a4ce8022100fac845bb7a02513b58e9f319654dbe49b0f02b95835bac568c71f8a18cdde9ab6861757468446174615881bfabc37432958b06\
                3360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b54100000000d5aa33581e8ca478e20fe713f5d32ff20020ce9f840ed96599580cd140fbc7bb32\
                30633f50f61041aff73308ae71caa8a2bda401010327200621582044e06ddd331c36a8dc667bab52bcae63486c916aa5e339e6acebaa84934bf832
                """,
            credentialID: "ce9f840ed96599580cd140fbc7bb3230633f50f61041aff73308ae71caa8a2bd",
            secondChallenge: "iVlX4BxjOmmDSKLYoxpUt9sn6MHEOyCA15riGQJnv9I",
            secondClientData: #"""
                {"type":"webauthn.get","challenge":"iVlX4BxjOmmDSKLYoxpUt9sn6MHEOyCA15riGQJnv9I","origin":"https://example.org",\#
                "crossOrigin":false}
                """#,
            authenticatorData: "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b50100000000",
            signature: """
                f5c59c7e46c34f6f8cc197101ddf9934fa2595f68eb1913a637e8419eb9ba4cfdfc48f85393bc0d40b011f0d6fecb097d6607525713223a0dc0d453993da\
                e00b
                """,
            algorithm: .edDSA, trust: .unverified),
    ]

    static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static func text(_ hexadecimal: String) -> JSONValue { .string(Base64URL.encode(bytes(hexadecimal))) }

    /// The response to the creation options.
    var registration: JSONValue {
        [
            "type": "public-key", "id": Self.text(credentialID), "rawId": Self.text(credentialID),
            "response": [
                "clientDataJSON": .string(Base64URL.encode(Array(clientData.utf8))), "attestationObject": Self.text(attestationObject),
            ],
        ]
    }

    /// The response to the request options.
    var authentication: JSONValue {
        [
            "type": "public-key", "id": Self.text(credentialID), "rawId": Self.text(credentialID),
            "response": [
                "clientDataJSON": .string(Base64URL.encode(Array(secondClientData.utf8))),
                "authenticatorData": Self.text(authenticatorData), "signature": Self.text(signature),
            ],
        ]
    }
}

@Suite("Vectors of WebAuthn Level 3")
struct PasskeyVectorTests {
    private let relyingParty = RelyingParty(id: "example.org", name: "Example", origins: ["https://example.org"])

    @Test("The registration and the authentication of each vector are accepted", arguments: PasskeyVector.all)
    func accepts(vector: PasskeyVector) async throws {
        let verifier = RegistrationVerifier(relyingParty: relyingParty, userVerification: .preferred)
        let result = try await verifier.verify(
            RegistrationResponse(vector.registration), challenge: Base64URL.decode(vector.challenge), isRegistered: false,
            now: Example.now)
        #expect(result.attestation == vector.trust)
        #expect(result.passkey.id == PasskeyVector.bytes(vector.credentialID))
        #expect(try COSEPublicKey(result.passkey.publicKey).algorithm == vector.algorithm)
        let authentication = try AuthenticationVerifier(relyingParty: relyingParty, userVerification: .preferred).verify(
            AuthenticationResponse(vector.authentication), challenge: Base64URL.decode(vector.secondChallenge), requested: [],
            passkey: result.passkey, account: .identified(userHandle: [1]))
        #expect(authentication.passkey.signCount == 0)
    }
}
