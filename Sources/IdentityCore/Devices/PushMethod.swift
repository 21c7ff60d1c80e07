package import Foundation
package import JOSE

/// How an enrolled device answers pushes: the push part of an enrolment.
package struct PushMethod: Sendable, Equatable, Codable {
    /// Which of Apple's gateways knows the push token.
    package enum Environment: String, Sendable, Codable { case production, development }
    /// What it answers.
    package enum TransactionType: String, Sendable, Codable { case login = "LOGIN", ciba = "CIBA" }
    /// The role of a key; the `keyType` of an answer.
    package enum KeyRole: String, Sendable, Codable { case proofOfPossession, userVerification }

    /// `opf` and 17 characters.
    package var id: String
    package var authenticatorID: String
    package var deviceID: String
    /// In lower-case hexadecimal; empty as long as the app has none.
    package var pushToken: String
    /// Whether the gateway said that the token is dead. A new token opens it again.
    package var isTokenDead = false
    /// When the app last said that this is its token; the gateway's word about earlier times does not count.
    package var tokenSetAt: Date?
    package var environment: Environment
    package var transactionTypes: [TransactionType]
    /// Whether the app can show three numbers and say which was picked.
    package var answersNumbers: Bool
    /// A public key; made on the device, never leaves it.
    package var proofOfPossession: JSONValue
    /// A public key whose private part the person unlocks; nil without one.
    package var userVerification: JSONValue?

    package init(
        id: String, authenticatorID: String, deviceID: String, pushToken: String, isTokenDead: Bool = false, tokenSetAt: Date? = nil,
        environment: Environment, transactionTypes: [TransactionType], answersNumbers: Bool, proofOfPossession: JSONValue,
        userVerification: JSONValue? = nil
    ) {
        self.id = id
        self.authenticatorID = authenticatorID
        self.deviceID = deviceID
        self.pushToken = pushToken
        self.isTokenDead = isTokenDead
        self.tokenSetAt = tokenSetAt
        self.environment = environment
        self.transactionTypes = transactionTypes
        self.answersNumbers = answersNumbers
        self.proofOfPossession = proofOfPossession
        self.userVerification = userVerification
    }

    /// The key with an id, and its role.
    package func key(id: String) -> (key: JSONValue, role: KeyRole)? {
        if proofOfPossession["kid"]?.stringValue == id { return (proofOfPossession, .proofOfPossession) }
        if let userVerification, userVerification["kid"]?.stringValue == id { return (userVerification, .userVerification) }
        return nil
    }
}
