internal import Foundation
internal import HTTPTypes
package import IdentityCore
package import JOSE
package import ServerHTTP

/// The unchecked proof of possession of a request (RFC 9449 section 4.1), and the method and URL that the proof must name. A request has
/// one if it has a `DPoP` header, or if its access token uses the scheme `DPoP`.
package struct PresentedProof: Sendable {
    /// The values of the `DPoP` header fields. The request is rejected unless there is exactly one.
    package var values: [String]
    package var method: String
    /// The request's URL, built from the organization's configured origin and the path. The `Host` header is ignored.
    package var url: String
}

extension PresentedProof: Redacted {
    package var description: String { "PresentedProof(\(method) \(url))" }
}

extension Endpoint.Call {
    /// The proof of a request that has a `DPoP` header; `nil` for other requests.
    package var proof: PresentedProof? {
        request.head.headerFields.contains(.dpop) ? requiredProof : nil
    }

    /// The proof of a request that must have one. Without a `DPoP` header, its `values` are empty.
    package var requiredProof: PresentedProof {
        PresentedProof(
            values: request.head.headerFields[values: .dpop], method: request.head.method.rawValue,
            url: snapshot.origin + request.path)
    }
}

extension ClaimSet {
    /// The thumbprint of the key that an access token is bound to (`cnf.jkt`; RFC 9449 section 6.1); `nil` for a bearer token.
    package var keyThumbprint: String? { self["cnf"]?["jkt"]?.stringValue }

    /// Checks that a bound token was sent with a proof by its key, and that an unbound token was sent without a proof. Throws ``Refusal``
    /// with `invalid_token` otherwise.
    /// - Parameter possession: The proof of a request with the scheme `DPoP`; `nil` for the scheme `Bearer`.
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

extension AccessTokenChallenge {
    /// Returns a challenge for a bearer token. If `refusal` is `nil`, the request had no token, and the challenge has no error code.
    package static func bearer(_ refusal: Refusal?) -> String {
        value(.bearer, realm: refusal == nil ? "countersign" : nil, error: refusal?.code.wireName, description: refusal?.description)
    }

    /// Returns a challenge for a token that is bound to a key. If `refusal` is `nil`, the request had no token, and the challenge has no
    /// error code.
    package static func dpop(_ refusal: Refusal?) -> String {
        value(.dpop, error: refusal?.code.wireName, description: refusal?.description)
    }
}
