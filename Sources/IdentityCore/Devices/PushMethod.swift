package import Foundation
package import JOSE

/// The push part of an enrolment: the keys and the push token of the device.
package struct PushMethod: Sendable, Equatable, Codable {
    /// The environment of Apple's push gateway that issued the push token.
    package enum Environment: String, Sendable, Codable { case production, development }
    /// The kind of challenge that the device accepts.
    package enum TransactionType: String, Sendable, Codable { case login = "LOGIN", ciba = "CIBA" }
    /// The role of a key; the `keyType` of a response.
    package enum KeyRole: String, Sendable, Codable { case proofOfPossession, userVerification }

    /// `opf` and 17 characters.
    package var id: String
    package var authenticatorID: String
    package var deviceID: String
    /// Lower-case hexadecimal; empty while the app has none.
    package var pushToken: String
    /// Whether the gateway reported the push token as invalid. A new token resets this.
    package var isTokenDead = false
    /// When the app last confirmed its push token. Gateway reports about earlier times are ignored.
    package var tokenSetAt: Date?
    package var environment: Environment
    package var transactionTypes: [TransactionType]
    /// Whether the app can show three numbers and return the one that the user picked.
    package var answersNumbers: Bool
    /// The public key; its private key never leaves the device.
    package var proofOfPossession: JSONValue
    /// The public key whose private key requires the user to unlock it; `nil` without one.
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

    /// Returns the key with an id, and its role.
    package func key(id: String) -> (key: JSONValue, role: KeyRole)? {
        if proofOfPossession["kid"]?.stringValue == id { return (proofOfPossession, .proofOfPossession) }
        if let userVerification, userVerification["kid"]?.stringValue == id { return (userVerification, .userVerification) }
        return nil
    }
}
