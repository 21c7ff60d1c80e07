package import Foundation
package import JOSE

/// The push part of an enrollment: the keys and the push token of the device.
package struct PushMethod: Sendable, Equatable, Codable {
    /// The environment of Apple's push gateway in which the push token is valid.
    package enum Environment: String, Sendable, Codable { case production, development }
    /// A kind of challenge.
    package enum TransactionType: String, Sendable, Codable { case login = "LOGIN", ciba = "CIBA" }
    /// The role of a key; the `keyType` of a response.
    package enum KeyRole: String, Sendable, Codable { case proofOfPossession, userVerification }

    /// The prefix of the ids of push methods.
    package static let idPrefix = "opf"

    /// ``idPrefix`` and 17 characters.
    package var id: String
    package var authenticatorID: String
    package var deviceID: String
    /// The push token in lower-case hexadecimal; empty if the app has none.
    package var pushToken: String
    /// Whether the gateway reported the push token as invalid. A new token resets this.
    package var isTokenDead = false
    /// The time when the app last confirmed its push token; `nil` if unknown. The gateway's reports about earlier times are ignored.
    package var tokenSetAt: Date?
    package var environment: Environment
    package var transactionTypes: [TransactionType]
    /// Whether the app can show three numbers and return the one that the user picked.
    package var answersNumbers: Bool
    /// The public key of a private key that never leaves the device.
    package var proofOfPossession: JSONValue
    /// The public key of a private key that the user must unlock for each use; `nil` if the device has no such key.
    package var userVerification: JSONValue?

    package init(
        id: String, authenticatorID: String, deviceID: String, pushToken: String, isTokenDead: Bool = false, tokenSetAt: Date? = nil,
        environment: Environment, transactionTypes: [TransactionType], answersNumbers: Bool, proofOfPossession: JSONValue,
        userVerification: JSONValue? = nil
    ) {
        (self.id, self.authenticatorID, self.deviceID, self.pushToken) = (id, authenticatorID, deviceID, pushToken)
        (self.isTokenDead, self.tokenSetAt, self.environment) = (isTokenDead, tokenSetAt, environment)
        (self.transactionTypes, self.answersNumbers, self.proofOfPossession) = (transactionTypes, answersNumbers, proofOfPossession)
        self.userVerification = userVerification
    }

    /// Returns the key with this `kid` and its role; `nil` for an unknown `kid`.
    package func key(id: String) -> (key: JSONValue, role: KeyRole)? {
        if proofOfPossession["kid"]?.stringValue == id { return (proofOfPossession, .proofOfPossession) }
        if let userVerification, userVerification["kid"]?.stringValue == id { return (userVerification, .userVerification) }
        return nil
    }
}
