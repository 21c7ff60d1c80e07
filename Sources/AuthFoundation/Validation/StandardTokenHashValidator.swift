import Crypto
import Foundation

/// The check of a token against its hash in the ID token: the left half of a digest whose size is that of the ID token's algorithm
/// (OpenID Connect Core 1.0, 3.1.3.8).
struct StandardTokenHashValidator: TokenHashValidator {
    let claim: JWTClaim

    func validate(_ string: String, idToken: JWT) throws {
        guard let expected: String = idToken[claim] else { return }
        let bytes = Data(string.utf8)
        let digest: [UInt8]
        switch idToken.header.algorithm {
        case .rs256, .ps256, .es256, .hs256: digest = Array(SHA256.hash(data: bytes))
        case .rs384, .ps384, .es384, .hs384: digest = Array(SHA384.hash(data: bytes))
        case .rs512, .ps512, .es512, .hs512, .edDSA: digest = Array(SHA512.hash(data: bytes))
        default: throw JWTError.cannotGenerateHash
        }
        guard Data(digest.prefix(digest.count / 2)).base64URLEncoded == expected else { throw JWTError.signatureInvalid }
    }
}
