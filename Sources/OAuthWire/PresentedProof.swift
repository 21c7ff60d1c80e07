internal import Foundation
internal import HTTPTypes
package import IdentityCore
package import JOSE
package import ServerHTTP

/// What a request carried to show that its sender has a key (RFC 9449 section 4.1), and what it has to be for; not yet checked.
///
/// A front door makes one where there is a `DPoP` header, or where the access token came by the scheme `DPoP`.
package struct PresentedProof: Sendable {
    /// The values of the `DPoP` header fields: exactly one, or the request is refused.
    package var values: [String]
    /// The method of the request.
    package var method: String
    /// The URL of the request as clients know it: the organization's origin and the path, whatever the `Host` header says.
    package var url: String

    /// Collects what a request carried.
    ///
    /// - Parameters:
    ///   - values: The values of the `DPoP` header fields.
    ///   - method: The method of the request.
    ///   - url: Its URL, of the configured origin.
    package init(values: [String], method: String, url: String) {
        self.values = values
        self.method = method
        self.url = url
    }
}

extension PresentedProof: Redacted {
    /// What it has to be for; never the proof.
    package var description: String { "PresentedProof(\(method) \(url))" }
}

extension Endpoint.Call {
    /// The proof of a request that has a `DPoP` header; nil for all others.
    package var proof: PresentedProof? {
        request.head.headerFields.contains(.dpop) ? requiredProof : nil
    }

    /// The proof of a request that must have one, whether or not it does.
    package var requiredProof: PresentedProof {
        PresentedProof(
            values: request.head.headerFields[values: .dpop], method: request.head.method.rawValue,
            url: snapshot.origin + request.path)
    }
}

extension ClaimSet {
    /// The thumbprint of the key that an access token is bound to (`cnf.jkt`; RFC 9449 section 6.1); nil for a bearer token.
    package var keyThumbprint: String? { self["cnf"]?["jkt"]?.stringValue }

    /// Sees to it that the token came as it must: one that is bound with a proof by its key, one that is not without.
    ///
    /// - Parameter possession: The proof that it came with by the scheme `DPoP`; nil for the scheme `Bearer`.
    /// - Throws: ``Refusal`` with `invalid_token`, whichever it is.
    package func requireBinding(to possession: ProofOfPossession?) throws(Refusal) {
        switch (keyThumbprint, possession) {
        case (nil, nil): return
        case (let bound?, let possession?):
            guard bound == possession.thumbprint else {
                throw Refusal(
                    .invalidToken, "The access token is bound to another key than the one that made the proof.", reason: "dpop: another key"
                )
            }
        case (_?, nil):
            var refusal = Refusal(
                .invalidToken, "The access token is bound to a key: send it with the scheme DPoP and a proof.",
                reason: "dpop: bound token as bearer")
            refusal.asksForProof = true
            throw refusal
        case (nil, _?):
            throw Refusal(
                .invalidToken, "The access token is bound to no key: send it with the scheme Bearer.",
                reason: "dpop: bearer token with a proof")
        }
    }
}

/// The values of `WWW-Authenticate` that answer a request without a good access token (RFC 6750 section 3, RFC 9449 section 7.1).
///
/// Descriptions are quoted and hold printable ASCII only, as the grammar asks.
package enum AccessTokenChallenge {
    /// Asks for a bearer token.
    ///
    /// - Parameter refusal: Why; nil when there was no token, which is no error and has no code.
    /// - Returns: The header's value.
    package static func bearer(_ refusal: Refusal?) -> String {
        refusal.map { "Bearer " + error($0) } ?? #"Bearer realm="countersign""#
    }

    /// Asks for a token that is bound to a key, and a proof.
    ///
    /// - Parameter refusal: Why; nil when there was no token.
    /// - Returns: The header's value.
    package static func dpop(_ refusal: Refusal?) -> String {
        "DPoP " + (refusal.map { error($0) + ", " } ?? "") + algorithms
    }

    private static let algorithms = #"algs="\#(DPoPProof.algorithms.map(\.rawValue).joined(separator: " "))""#

    private static func error(_ refusal: Refusal) -> String {
        let description = String(
            String.UnicodeScalarView(
                refusal.description.unicodeScalars.filter { (0x20...0x7E).contains($0.value) && $0 != "\"" && $0 != "\\" }))
        return #"error="\#(refusal.code.wireName)", error_description="\#(description)""#
    }
}
