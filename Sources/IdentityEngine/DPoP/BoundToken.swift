internal import Foundation
internal import JOSE

extension ClaimSet {
    /// The thumbprint of the key that an access token is bound to (`cnf.jkt`; RFC 9449 section 6.1); nil for a bearer token.
    var keyThumbprint: String? { self["cnf"]?["jkt"]?.stringValue }

    /// Sees to it that the token came as it must: one that is bound with a proof by its key, one that is not without.
    ///
    /// - Parameter possession: The proof that it came with by the scheme `DPoP`; nil for the scheme `Bearer`.
    /// - Throws: ``Refusal`` with `invalid_token`, whichever it is.
    func requireBinding(to possession: ProofOfPossession?) throws(Refusal) {
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
