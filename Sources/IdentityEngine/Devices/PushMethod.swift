internal import Foundation
internal import JOSE

/// How an enrolled device answers pushes: the push part of an enrolment.
struct PushMethod: Sendable, Equatable, Codable {
    /// Which of Apple's gateways knows the push token.
    enum Environment: String, Sendable, Codable { case production, development }
    /// What it answers.
    enum TransactionType: String, Sendable, Codable { case login = "LOGIN", ciba = "CIBA" }
    /// The role of a key; the `keyType` of an answer.
    enum KeyRole: String, Sendable, Codable { case proofOfPossession, userVerification }

    /// `opf` and 17 characters.
    var id: String
    var authenticatorID: String
    var deviceID: String
    /// In lower-case hexadecimal; empty as long as the app has none.
    var pushToken: String
    /// Whether the gateway said that the token is dead. A new token opens it again.
    var isTokenDead = false
    /// When the app last said that this is its token; the gateway's word about earlier times does not count.
    var tokenSetAt: Date?
    var environment: Environment
    var transactionTypes: [TransactionType]
    /// Whether the app can show three numbers and say which was picked.
    var answersNumbers: Bool
    /// A public key; made on the device, never leaves it.
    var proofOfPossession: JSONValue
    /// A public key whose private part the person unlocks; nil without one.
    var userVerification: JSONValue?

    /// The key with an id, and its role.
    func key(id: String) -> (key: JSONValue, role: KeyRole)? {
        if proofOfPossession["kid"]?.stringValue == id { return (proofOfPossession, .proofOfPossession) }
        if let userVerification, userVerification["kid"]?.stringValue == id { return (userVerification, .userVerification) }
        return nil
    }
}
