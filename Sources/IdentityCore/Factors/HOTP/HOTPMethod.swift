internal import Foundation
internal import JOSE
internal import Store

/// The stored state of an HOTP device (RFC 4226).
package struct HOTPMethod: Sendable, Equatable, Codable, Redacted {
    /// The number of unused codes that are accepted, because the button may have been pressed without a sign-in (RFC 4226 section 7.4).
    static let lookAhead: Int64 = 10
    /// The number of unused codes among which two consecutive codes are accepted, to resynchronize the counter.
    static let resynchronization: Int64 = 100
    /// The number of earlier codes that are recognized as used.
    static let remembered: Int64 = 10

    /// The shared secret, encrypted for its enrollment.
    var sealedSecret: [UInt8]
    /// The name of the seed, which does not reveal it; `nil` in records of earlier versions.
    var seed: String?
    /// The identifier of the device for users and administrators.
    package var credentialID: String
    /// The counter of the first unused code; earlier codes are rejected.
    var counter: Int64
    /// The counter of the last entered code that was too far ahead; `nil` for none. The code after it is accepted.
    var aheadCounter: Int64?

    init(
        sealing secret: [UInt8], forEnrollment id: String, credentialID: String, counter: Int64, environment: EngineEnvironment,
        derivedKeys: DerivedKeys
    ) throws {
        sealedSecret = try RecordCoding.seal(secret, for: RecordReference(.enrollment, id), environment: environment)
        seed = derivedKeys.name(ofSeed: secret)
        self.credentialID = credentialID
        self.counter = counter
    }

    /// The classification of an entered code.
    package enum Match: Equatable {
        /// The code is correct; `next` is the new counter.
        case right(next: Int64)
        /// The code is too far ahead to be accepted alone. The response does not reveal this, because the code becomes valid later.
        case ahead(Int64)
        /// The code was used before.
        case used
        case wrong
    }

    /// Classifies a code. All counters are compared, so that the time reveals nothing.
    func match(_ typed: String, secret: [UInt8]) -> Match {
        let typed = Array(typed.utf8.prefix(64)).filter { $0 != UInt8(ascii: " ") }
        var matches: [Int64] = []
        for step in max(0, counter - Self.remembered)..<counter + Self.resynchronization
        where typed.isSameSecret(as: TimeBasedCode.code(secret: secret, step: step).utf8) { matches.append(step) }
        let first = matches.first { $0 >= counter }
        if let first, first < counter + Self.lookAhead { return .right(next: first + 1) }
        if let aheadCounter, matches.contains(aheadCounter + 1) { return .right(next: aheadCounter + 2) }
        if let first { return .ahead(first) }
        return matches.isEmpty ? .wrong : .used
    }
}
