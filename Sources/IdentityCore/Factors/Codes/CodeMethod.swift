internal import Crypto
package import Foundation

/// What the server keeps of a telephone or a mailbox that codes are sent to.
package struct CodeMethod: Sendable, Equatable, Codable {
    /// Digits of a code.
    static let digits = 6
    /// Seconds that a code is good for (authn reference 6.1).
    static let lifetime: TimeInterval = 300
    /// Seconds in which so many wrong answers close the factor, for codes that are open and for new ones (authn reference 4.6).
    static let answeringWindow: TimeInterval = 300
    /// The most wrong answers in that time.
    static let mostWrongAnswers = 5
    /// Seconds in which so many wrong answers close what anybody can ask for.
    static let recoveryWindow: TimeInterval = 86_400
    /// The most wrong answers in that time: who guesses at recoveries every day is right once in three centuries.
    static let mostWrongRecoveries = 10
    /// Seconds in which so many messages can be sent without a right answer to one of them.
    static let sendingWindow: TimeInterval = 600
    /// The most messages in that time.
    static let mostSent = 5

    /// A code that was sent and not yet used.
    package struct OpenCode: Sendable, Equatable, Codable {
        /// The keyed digest of the code, of its enrolment and of what it is for.
        var digest: [UInt8]
        /// The id of the transaction, or of the enrolment, that it was sent for: it is good for nothing else.
        package var owner: String
        package var sentAt: Date
        package var expiresAt: Date
        /// The digest of the link that came with it; nil for none.
        package var link: [UInt8]?
        /// When the person said by the link that it is them.
        package var approvedAt: Date?
        /// Where it was asked for, which the page of the link shows; nil without a link.
        var origin: Origin?
    }

    /// The request that a code with a link was sent for.
    struct Origin: Sendable, Equatable, Codable {
        var applicationName: String?
        var address: String?
        var userAgent: String?
    }

    /// Who can ask for a message. What anybody can ask for is kept apart: it replaces no code of a sign-in, and neither its messages nor
    /// wrong answers to it close the factor for one.
    package enum Occasion: String, Sendable {
        /// Who signs in, or sets something up.
        case known
        /// Whoever knows a name: recovery and unlocking.
        case anybody
    }

    /// What is kept of one occasion.
    struct Lane: Sendable, Equatable, Codable {
        /// The one code that is good; the next one takes its place.
        var open: OpenCode?
        /// When messages were sent since the last right answer, the last one last.
        var sent: [Date] = []
        /// When answers were wrong since the last right one, whichever code they were for.
        var wrong: [Date] = []
    }

    package var channel: CodeChannel
    package var destination: CodeDestination
    /// The one code that is good; the next one takes its place.
    package var open: OpenCode?
    /// When messages were sent since the last right answer, the last one last.
    var sent: [Date] = []
    /// When answers were wrong since the last right one, whichever code they were for.
    var wrong: [Date] = []
    /// The same of what anybody can ask for; nil as long as nobody did.
    var recovery: Lane?

    init(channel: CodeChannel, destination: CodeDestination) {
        self.channel = channel
        self.destination = destination
    }
}

extension CodeMethod {
    /// What is kept of an occasion.
    subscript(occasion: Occasion) -> Lane {
        get { occasion == .anybody ? recovery ?? Lane() : Lane(open: open, sent: sent, wrong: wrong) }
        set {
            if occasion == .anybody { recovery = newValue } else { (open, sent, wrong) = (newValue.open, newValue.sent, newValue.wrong) }
        }
    }

    /// When the factor takes answers again, after too many wrong ones; nil if it does.
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

    /// Why the next message must not be sent now; nil if it may.
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

/// Codes, and what is kept of them.
extension EngineEnvironment {
    /// Six digits, each as likely as any other.
    ///
    /// - Throws: What the random source throws.
    package func makeCode() throws -> String {
        while true {
            let number = try random.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            // The largest multiple of a million below 2^32: what lies above would favour small numbers.
            guard number < 4_294_000_000 else { continue }
            let text = String(number % 1_000_000)
            return String(repeating: "0", count: CodeMethod.digits - text.count) + text
        }
    }

    /// The digest by which a code is kept. Keyed: of six digits everybody could try all.
    package func digest(ofCode code: String, enrollment: String, owner: String) -> [UInt8] {
        OperationMeter.note(.hmac)
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: masterKey, info: Data("countersign codes".utf8), outputByteCount: 32)
        return Array(HMAC<SHA256>.authenticationCode(for: Data("\(enrollment)\u{0}\(owner)\u{0}\(code)".utf8), using: key))
    }
}
