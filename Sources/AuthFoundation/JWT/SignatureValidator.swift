import Foundation
import JOSE

/// Verifies signatures of all asymmetric algorithms: RS, PS, ES and EdDSA. Shared secrets are not supported.
struct SignatureValidator: JWKValidator, Sendable {
    func validate(token: JWT, using keySet: JWKS) throws -> Bool {
        let candidates = keySet.all.filter { key in
            guard key["use"]?.stringValue ?? "sig" == "sig" else { return false }
            // Without a key identifier, try every key (OpenID Connect Core, 10.1).
            return token.header.keyId.isEmpty || key["kid"]?.stringValue == token.header.keyId
        }
        guard !candidates.isEmpty else { throw JWTError.invalidKey }
        var failure: (any Error)?
        for key in candidates {
            do {
                if try verify(token, with: key) { return true }
            } catch {
                failure = error
            }
        }
        if let failure, candidates.count == 1 { throw failure }
        return false
    }

    func verify(_ token: JWT, with key: JSON) throws -> Bool {
        guard let algorithm = JWSAlgorithm(rawValue: token.header.algorithm.rawValue), JWSAlgorithm.asymmetric.contains(algorithm) else {
            throw JWTError.unsupportedAlgorithm(token.header.algorithm)
        }
        guard let end = token.rawValue.lastIndex(of: "."), let text = key.text,
            let signature = Data(base64URLEncoded: token.rawValue[token.rawValue.index(after: end)...])
        else { throw JWTError.badTokenStructure }
        let verificationKey: VerificationKey
        do {
            verificationKey = try VerificationKey(JSONWebKey(parsing: [UInt8](text)), algorithm: algorithm)
        } catch {
            throw JWTError.invalidKey
        }
        return verificationKey.isValidSignature([UInt8](signature), for: Array(token.rawValue[..<end].utf8))
    }
}
