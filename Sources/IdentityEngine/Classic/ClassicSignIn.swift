internal import Foundation

/// What a sign-in by the classic API knows beside its proofs; a part of its ``SignInTransaction``.
struct ClassicSignIn: Sendable, Equatable, Codable {
    /// Seconds without a request after which it is over; each request begins them anew.
    static let idleLifetime: TimeInterval = 300
    /// Seconds after which it is over, however often it is asked for.
    static let lifetime: TimeInterval = 3_600
    /// How much later an end must become to be written: who polls must not write each time.
    static let extensionStep: TimeInterval = 60
    /// The longest `relayState`, in characters.
    static let longestRelayState = 2_048

    /// Given back with every answer.
    var relayState: String?
    /// Whether the client wants to be offered what can be set up, one after the other.
    var enrollsOptional = false
    /// Whether the client shows that a password will expire.
    var warnsBeforeExpiry = false
    /// The digest of the device's token; nil if it brings none.
    var device: [UInt8]?
    /// Whether a token that this device brings is remembered only if this server gave it for this person; nil for no.
    var renewsDevice: Bool?
    /// The push factors that the client asks by itself on this device; nil for none.
    var autoPush: [String]?
    /// What the person wants of that from now on; nil for as it is. Counts once the push is approved.
    var autoPushChoice: Bool?
    /// The factor that is asked for; nil as long as none was chosen.
    var selected: String?
    /// The number of the challenge whose approval is among the proofs; 0 for none.
    var countedChallenge = 0
    /// The number of the challenge whose failure the client was told; 0 for none.
    var reportedChallenge = 0
    /// The factor that is being set up, and waits to be shown to work.
    var enrolling: String?
    /// The phone that is being set up, in place of it.
    var phone: PhoneTicket?
    /// What the push of the phone is called that was set up last, for who looks whether it was.
    var enrolledPhone: String?
    /// How many were set up in this sign-in.
    var enrolled = 0
    /// Whether the person goes on without what is only offered.
    var skipsEnrollment = false
    /// The recovery that it is until a password is set; nil for a sign-in.
    var recovery: ClassicRecovery?
    /// What it knows beside where it goes on on the hosted pages; nil at the API.
    var page: RecoveryPage?
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
    func extended(now: Date) -> SignInTransaction? {
        let latest = createdAt.addingTimeInterval(ClassicSignIn.lifetime)
        let wanted = min(now.addingTimeInterval(ClassicSignIn.idleLifetime), latest)
        guard end == nil, wanted.timeIntervalSince(expiresAt) >= ClassicSignIn.extensionStep else { return nil }
        var next = self
        next.expiresAt = wanted
        return next
    }

    /// Takes back what the person's devices were asked: nobody can answer it any more. It still counts as asked.
    mutating func withdrawChallenge(now: Date) {
        guard let challenge, challenge.isOpen(at: now) else { return }
        keepReplacedChallenge(now: now)
        self.challenge?.expiresAt = now
    }
}
