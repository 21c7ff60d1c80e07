package import Foundation

/// What a sign-in by the classic API knows beside its proofs; a part of its ``SignInTransaction``.
package struct ClassicSignIn: Sendable, Equatable, Codable {
    /// Seconds without a request after which it is over; each request begins them anew.
    package static let idleLifetime: TimeInterval = 300
    /// Seconds after which it is over, however often it is asked for.
    package static let lifetime: TimeInterval = 3_600
    /// How much later an end must become to be written: who polls must not write each time.
    static let extensionStep: TimeInterval = 60
    /// The longest `relayState`, in characters.
    static let longestRelayState = 2_048

    /// Given back with every answer.
    package var relayState: String?
    /// Whether the client wants to be offered what can be set up, one after the other.
    package var enrollsOptional = false
    /// Whether the client shows that a password will expire.
    package var warnsBeforeExpiry = false
    /// The digest of the device's token; nil if it brings none.
    package var device: [UInt8]?
    /// Whether a token that this device brings is remembered only if this server gave it for this person; nil for no.
    package var renewsDevice: Bool?
    /// The push factors that the client asks by itself on this device; nil for none.
    package var autoPush: [String]?
    /// What the person wants of that from now on; nil for as it is. Counts once the push is approved.
    package var autoPushChoice: Bool?
    /// The factor that is asked for; nil as long as none was chosen.
    package var selected: String?
    /// The number of the challenge whose approval is among the proofs; 0 for none.
    var countedChallenge = 0
    /// The number of the challenge whose failure the client was told; 0 for none.
    package var reportedChallenge = 0
    /// The factor that is being set up, and waits to be shown to work.
    package var enrolling: String?
    /// The phone that is being set up, in place of it.
    package var phone: PhoneTicket?
    /// What the push of the phone is called that was set up last, for who looks whether it was.
    package var enrolledPhone: String?
    /// How many were set up in this sign-in.
    package var enrolled = 0
    /// Whether the person goes on without what is only offered.
    package var skipsEnrollment = false
    /// The recovery that it is until a password is set; nil for a sign-in.
    package var recovery: ClassicRecovery?
    /// What it knows beside where it goes on on the hosted pages; nil at the API.
    package var page: RecoveryPage?

    package init(
        relayState: String? = nil, enrollsOptional: Bool = false, warnsBeforeExpiry: Bool = false, device: [UInt8]? = nil,
        renewsDevice: Bool? = nil, autoPush: [String]? = nil, autoPushChoice: Bool? = nil, selected: String? = nil,
        countedChallenge: Int = 0, reportedChallenge: Int = 0, enrolling: String? = nil, phone: PhoneTicket? = nil,
        enrolledPhone: String? = nil, enrolled: Int = 0, skipsEnrollment: Bool = false, recovery: ClassicRecovery? = nil,
        page: RecoveryPage? = nil
    ) {
        self.relayState = relayState
        self.enrollsOptional = enrollsOptional
        self.warnsBeforeExpiry = warnsBeforeExpiry
        self.device = device
        self.renewsDevice = renewsDevice
        self.autoPush = autoPush
        self.autoPushChoice = autoPushChoice
        self.selected = selected
        self.countedChallenge = countedChallenge
        self.reportedChallenge = reportedChallenge
        self.enrolling = enrolling
        self.phone = phone
        self.enrolledPhone = enrolledPhone
        self.enrolled = enrolled
        self.skipsEnrollment = skipsEnrollment
        self.recovery = recovery
        self.page = page
    }
}

extension SignInTransaction {
    /// Where a sign-in can go on after an approval: the number of the challenge that was counted last. Nil for those of clients that
    /// ask by themselves, which end with it.
    var countedChallenge: Int? {
        get { hosted?.countedChallenge ?? classic?.countedChallenge }
        set {
            guard let newValue else { return }
            hosted?.countedChallenge = newValue
            classic?.countedChallenge = newValue
        }
    }

    /// The transaction with its end put off, if that is worth a write; nil if not.
    package func extended(now: Date) -> SignInTransaction? {
        let latest = createdAt.addingTimeInterval(ClassicSignIn.lifetime)
        let wanted = min(now.addingTimeInterval(ClassicSignIn.idleLifetime), latest)
        guard end == nil, wanted.timeIntervalSince(expiresAt) >= ClassicSignIn.extensionStep else { return nil }
        var next = self
        next.expiresAt = wanted
        return next
    }

    /// Takes back what the person's devices were asked: nobody can answer it any more. It still counts as asked.
    package mutating func withdrawChallenge(now: Date) {
        guard let challenge, challenge.isOpen(at: now) else { return }
        keepReplacedChallenge(now: now)
        self.challenge?.expiresAt = now
    }
}
