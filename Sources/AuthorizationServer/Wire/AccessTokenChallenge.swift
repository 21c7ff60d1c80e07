internal import IdentityEngine
internal import JOSE

/// The values of `WWW-Authenticate` that answer a request without a good access token (RFC 6750 section 3, RFC 9449 section 7.1).
///
/// Descriptions are quoted and hold printable ASCII only, as the grammar asks.
enum AccessTokenChallenge {
    /// Asks for a bearer token.
    ///
    /// - Parameter refusal: Why; nil when there was no token, which is no error and has no code.
    /// - Returns: The header's value.
    static func bearer(_ refusal: Refusal?) -> String {
        refusal.map { "Bearer " + error($0) } ?? #"Bearer realm="countersign""#
    }

    /// Asks for a token that is bound to a key, and a proof.
    ///
    /// - Parameter refusal: Why; nil when there was no token.
    /// - Returns: The header's value.
    static func dpop(_ refusal: Refusal?) -> String {
        "DPoP " + (refusal.map { error($0) + ", " } ?? "") + algorithms
    }

    private static let algorithms = #"algs="\#(DPoPProof.algorithms.map(\.rawValue).joined(separator: " "))""#

    private static func error(_ refusal: Refusal) -> String {
        let description = String(
            String.UnicodeScalarView(
                refusal.description.unicodeScalars.filter { (0x20...0x7E).contains($0.value) && $0 != "\"" && $0 != "\\" }))
        return #"error="\#(refusal.code.rawValue)", error_description="\#(description)""#
    }
}
