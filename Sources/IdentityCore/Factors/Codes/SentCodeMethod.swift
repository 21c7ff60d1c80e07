internal import Crypto
package import Foundation
internal import JOSE

/// The stored state of a phone or a mailbox that receives codes.
package struct SentCodeMethod: Sendable, Equatable, Codable {
    static let digits = 6
    /// Seconds for which a code is valid (Documentation/Protocol/Authn.md §6.1).
    static let lifetime: TimeInterval = 300
    /// The window in seconds for counting wrong answers. Too many wrong answers close the factor for open and new codes
    /// (Documentation/Protocol/Authn.md §4.6).
    static let answeringWindow: TimeInterval = 300
    /// The maximum number of wrong answers in ``answeringWindow``.
    static let mostWrongAnswers = 5
    /// The window in seconds for counting wrong answers in recoveries.
    static let recoveryWindow: TimeInterval = 86_400
    /// The maximum number of wrong answers in ``recoveryWindow``. An attacker who guesses every day is expected to succeed once in about
    /// 270 years.
    static let mostWrongRecoveries = 10
    /// The window in seconds for counting messages without a correct answer.
    static let sendingWindow: TimeInterval = 600
    /// The maximum number of messages in ``sendingWindow``.
    static let mostSent = 5

    /// A code that was sent and not yet consumed.
    package struct OpenCode: Sendable, Equatable, Codable {
        /// The keyed digest of the code, its enrollment and its owner.
        var digest: [UInt8]
        /// The id of the only transaction or enrollment for which the code is valid.
        package var owner: String
        package var sentAt: Date
        package var expiresAt: Date
        /// The digest of the link in the same message; `nil` for none.
        package var link: [UInt8]?
        /// The time when the user confirmed the sign-in on the page of the link; `nil` before that.
        package var approvedAt: Date?
        /// The origin of the request, which the page of the link shows; `nil` without a link.
        var origin: Origin?
    }

    /// The request for which a code with a link was sent. Unknown properties are `nil`.
    struct Origin: Sendable, Equatable, Codable {
        var applicationName: String?
        var address: String?
        var userAgent: String?
    }

    /// The kind of request that causes a message. Any caller can request recovery messages, so they have their own code and limits: they
    /// cannot replace a sign-in code or close the factor for sign-ins.
    package enum Occasion: String, Sendable {
        /// A sign-in or an enrollment.
        case known
        /// Recovery and unlock, which any caller with a user name can request.
        case anybody
    }

    /// The state of one occasion.
    struct Lane: Sendable, Equatable, Codable {
        /// The only valid code, which the next code replaces; `nil` for none.
        var open: OpenCode?
        /// The times of recent messages, the latest last. A correct answer removes all except the latest.
        var sent: [Date] = []
        /// The times of recent wrong answers since the last correct answer, across all codes.
        var wrong: [Date] = []
    }

    package var channel: CodeChannel
    package var destination: CodeDestination
    /// The open code of ``Occasion/known``; `nil` for none.
    package var open: OpenCode?
    /// The times of recent messages of ``Occasion/known``, as in ``Lane/sent``.
    var sent: [Date] = []
    /// The times of recent wrong answers of ``Occasion/known``, as in ``Lane/wrong``.
    var wrong: [Date] = []
    /// The state for ``Occasion/anybody``; `nil` before the first request.
    var recovery: Lane?

    init(channel: CodeChannel, destination: CodeDestination) {
        self.channel = channel
        self.destination = destination
    }
}

extension SentCodeMethod {
    /// The state of an occasion.
    subscript(occasion: Occasion) -> Lane {
        get { occasion == .anybody ? recovery ?? Lane() : Lane(open: open, sent: sent, wrong: wrong) }
        set {
            if occasion == .anybody { recovery = newValue } else { (open, sent, wrong) = (newValue.open, newValue.sent, newValue.wrong) }
        }
    }

    /// Returns the time when the factor accepts answers again after too many wrong answers; `nil` if it accepts answers now.
    package func closedUntil(at now: Date, for occasion: Occasion = .known) -> Date? {
        let wrong = self[occasion].wrong
        func end(_ most: Int, _ window: TimeInterval) -> Date? {
            let recent = wrong.filter { $0 > now.addingTimeInterval(-window) }
            return recent.count >= most ? recent[recent.count - most].addingTimeInterval(window) : nil
        }
        let short = end(Self.mostWrongAnswers, Self.answeringWindow)
        guard occasion == .anybody, let long = end(Self.mostWrongRecoveries, Self.recoveryWindow) else { return short }
        return max(long, short ?? long)
    }

    /// Returns the reason why no message may be sent now; `nil` if a message may be sent.
    func refusal(at now: Date, for occasion: Occasion = .known) -> CodeRefusal? {
        let sent = self[occasion].sent
        if let until = closedUntil(at: now, for: occasion) { return .tooMany(channel, until: until) }
        if let last = sent.last, now < last.addingTimeInterval(channel.pause) {
            return .tooSoon(channel, until: last.addingTimeInterval(channel.pause))
        }
        let recent = sent.filter { $0 > now.addingTimeInterval(-Self.sendingWindow) }
        guard recent.count >= Self.mostSent else { return nil }
        return .tooMany(channel, until: recent[recent.count - Self.mostSent].addingTimeInterval(Self.sendingWindow))
    }
}

extension EngineEnvironment {
    /// Returns six uniformly distributed digits.
    package func makeCode() throws -> String {
        while true {
            let number = try random.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            // The largest multiple of a million below 2^32; larger values would favour small numbers.
            guard number < 4_294_000_000 else { continue }
            let text = String(number % 1_000_000)
            return String(repeating: "0", count: SentCodeMethod.digits - text.count) + text
        }
    }

    /// Returns the digest under which a code is stored. Keyed, because an attacker could try all six-digit codes.
    package func digest(ofCode code: String, enrollment: String, owner: String) -> [UInt8] {
        Self.digest(ofCode: code, enrollment: enrollment, owner: owner, masterKey: masterKeys.sealing)
    }

    /// Whether a digest is that of a code, made with any of the master keys. The time does not depend on the digest.
    func isDigest(_ digest: [UInt8], ofCode code: String, enrollment: String, owner: String) -> Bool {
        masterKeys.all.map {
            Self.digest(ofCode: code, enrollment: enrollment, owner: owner, masterKey: $0).isSameSecret(as: digest)
        }.contains(true)
    }

    private static func digest(ofCode code: String, enrollment: String, owner: String, masterKey: SymmetricKey) -> [UInt8] {
        OperationMeter.note(.hmac)
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: masterKey, info: Data("countersign codes".utf8), outputByteCount: 32)
        return Array(HMAC<SHA256>.authenticationCode(for: Data("\(enrollment)\u{0}\(owner)\u{0}\(code)".utf8), using: key))
    }
}
