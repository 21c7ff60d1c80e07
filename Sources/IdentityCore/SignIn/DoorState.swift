internal import Foundation

/// The rules of a protocol module for its sign-ins. They decide which steps a sign-in can take.
package struct DoorRules: OptionSet, Sendable, Hashable, Codable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The user can correct the user name: a wrong first factor neither ends the sign-in nor binds it to a user.
    package static let retriesFirstFactor = DoorRules(rawValue: 1 << 0)
    /// The user can be asked for the password after other proofs.
    package static let asksForPasswordLater = DoorRules(rawValue: 1 << 1)
    /// Requests come from the user's own browser, even if the client is confidential.
    package static let isInBrowser = DoorRules(rawValue: 1 << 2)
    /// The user can change an expired password. Without this rule, an expired password refuses the sign-in.
    package static let changesPassword = DoorRules(rawValue: 1 << 3)
    /// The user is asked to change a password that expires soon.
    package static let warnsOfPassword = DoorRules(rawValue: 1 << 4)
    /// A user without a second factor can enroll one.
    package static let enrollsFactors = DoorRules(rawValue: 1 << 5)
    /// After a required enrollment, the user is offered the optional factors too.
    package static let offersOptionalFactors = DoorRules(rawValue: 1 << 6)
    /// The enrollment of a phone proves the phone. Without this rule, a push to it follows.
    package static let countsEnrolledPhone = DoorRules(rawValue: 1 << 7)
    /// The answer to the security question counts as a second factor.
    package static let countsRecollection = DoorRules(rawValue: 1 << 8)
    /// A denied or unanswered push does not end the sign-in, even before the first proof.
    package static let outlivesChallenges = DoorRules(rawValue: 1 << 9)

    /// After the required proofs, the user is offered a passkey and recovery codes, once each.
    package static let offersSetup = DoorRules(rawValue: 1 << 10)

    package init(from decoder: any Decoder) throws { self.init(rawValue: try decoder.singleValueContainer().decode(Int.self)) }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// The state that a protocol module keeps in a sign-in. Only this module encodes and decodes the bytes.
package struct DoorState: Sendable, Equatable, Codable {
    /// The kind of the content, unique to the module.
    package let kind: String
    private let bytes: Data

    /// Encodes a value. Throws `EncodingError`, which values of plain Swift types never cause.
    package init(_ kind: String, _ value: some Encodable) throws {
        self.kind = kind
        bytes = Data(try RecordCoding.encode(value))
    }

    /// Returns the value; `nil` if the state has another kind.
    package func value<Value: Decodable>(_ type: Value.Type, of kind: String) -> Value? {
        guard kind == self.kind else { return nil }
        return try? RecordCoding.decode(type, from: [UInt8](bytes))
    }
}
