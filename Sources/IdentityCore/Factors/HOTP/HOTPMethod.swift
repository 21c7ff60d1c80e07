internal import Foundation
internal import JOSE
internal import Store

/// What the server keeps of a device whose codes follow a counter (RFC 4226).
package struct HOTPMethod: Sendable, Equatable, Codable, Redacted {
    /// Codes that can be right at a time, from the first that was not used on: as often the button can have been pressed for nothing
    /// (RFC 4226 section 7.4).
    static let lookAhead: Int64 = 10
    /// How far ahead a code sets the device right again, together with the next one.
    static let resynchronization: Int64 = 100
    /// Codes before, of which it is told that they were used.
    static let remembered: Int64 = 10

    /// The shared secret, sealed for its enrolment.
    var sealedSecret: [UInt8]
    /// What tells the seed from others, without saying it; nil in records of before it was kept.
    var seed: String?
    /// What people and administrators know the device by.
    package var credentialID: String
    /// The counter of the first code that was not used: neither it nor an earlier one is accepted after that.
    var counter: Int64
    /// The counter of a code that came from far ahead; the one after it is accepted, and only that.
    var aheadCounter: Int64?

    /// Seals a secret for an enrolment.
    init(
        sealing secret: [UInt8], forEnrollment id: String, credentialID: String, counter: Int64, environment: EngineEnvironment
    ) throws {
        sealedSecret = try RecordCoding.seal(secret, for: RecordReference(.enrollment, id), environment: environment)
        seed = DeviceCounters.name(ofSeed: secret, environment: environment)
        self.credentialID = credentialID
        self.counter = counter
    }

    /// What a typed code is.
    package enum Match: Equatable {
        /// The device's; the next one has this counter.
        case right(next: Int64)
        /// Of this counter, too far ahead to be accepted alone. Nobody is told: the code would be right some time.
        case ahead(Int64)
        /// Of a counter that was passed.
        case used
        case wrong
    }

    /// Judges a code. Each counter is compared in full, so that the time tells nothing.
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
