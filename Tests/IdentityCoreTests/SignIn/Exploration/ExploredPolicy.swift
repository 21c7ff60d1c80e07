import Foundation

@testable import AuthnAPI
@testable import IdentityCore
@testable import SignInPages

/// What is asked of the people in one exploration, and with what they can answer.
struct ExploredPolicy: Sendable, CustomStringConvertible {
    static let start = Date(timeIntervalSince1970: 1_700_000_000)
    /// Seconds that a challenge is open here: less than a transaction, so that there is a time after the one and before the other.
    static let challengeLifetime = 120

    var name: String
    var assurance = SignOnRule.Assurance.oneFactor
    var reauthenticateAfter: Int?
    /// Whether the person and the client have a second factor that can be asked for.
    var canAddFactor = true
    /// Whether one of the devices has a key that the person unlocks.
    var canVerifyUser = true
    var contextClass: String?
    var demandsTwoFactors = false
    var hasNumbers = false
    var purpose = SignInTransaction.Purpose.signIn
    /// Whether it goes on on the hosted pages.
    var isHosted = false
    /// Whether passwords are good for a day, as old as they all are but the one that was set since.
    var passwordsEnd = false
    /// Whether it goes on by the classic API.
    var isClassic = false
    /// What the challenges ask of the person's two devices.
    var verification: [PushChallenge.UserVerification] = [.preferred, .required]

    var description: String { name }

    /// Seconds that the transaction is open; a request in the back channel says how long.
    var lifetime: Int { purpose == .backchannel ? 200 : 300 }

    /// Whether one factor is not enough.
    var asksForTwo: Bool { assurance == .twoFactors || demandsTwoFactors || contextClass == "urn:okta:loa:2fa:any" }

    static let all: [ExploredPolicy] = [
        .init(name: "one factor"),
        .init(name: "one factor, number challenge", hasNumbers: true),
        .init(name: "one factor, re-authentication at once", reauthenticateAfter: 0, verification: [.discouraged, .preferred]),
        .init(name: "two factors", assurance: .twoFactors),
        .init(name: "two factors, simple devices", assurance: .twoFactors, canVerifyUser: false, verification: [.discouraged, .preferred]),
        .init(name: "two factors, number challenge", assurance: .twoFactors, hasNumbers: true),
        .init(name: "two factors, no second one", assurance: .twoFactors, canAddFactor: false),
        .init(name: "enrolment of a device", demandsTwoFactors: true),
        .init(name: "enrolment of a device, no usable second factor", canAddFactor: false, demandsTwoFactors: true),
        .init(name: "acr 1fa:any", contextClass: "urn:okta:loa:1fa:any"),
        .init(name: "acr 1fa:pwd", contextClass: "urn:okta:loa:1fa:pwd"),
        .init(name: "acr 1fa:pwd, two factors", assurance: .twoFactors, contextClass: "urn:okta:loa:1fa:pwd"),
        .init(name: "acr 2fa:any", contextClass: "urn:okta:loa:2fa:any"),
        .init(name: "acr 2fa:any, no second one", canAddFactor: false, contextClass: "urn:okta:loa:2fa:any"),
        .init(name: "acr 2fa:any:ifpossible", contextClass: "urn:okta:loa:2fa:any:ifpossible"),
        .init(name: "acr 2fa:any:ifpossible, not possible", canAddFactor: false, contextClass: "urn:okta:loa:2fa:any:ifpossible"),
        .init(name: "acr that nobody knows", contextClass: "urn:example:loa:9"),
        .init(name: "denied", assurance: .deny),
        .init(name: "back channel, one factor", purpose: .backchannel),
        .init(name: "back channel, two factors, number challenge", assurance: .twoFactors, hasNumbers: true, purpose: .backchannel),
        .init(name: "pages, one factor", isHosted: true),
        .init(name: "classic, one factor", isClassic: true),
        .init(name: "classic, two factors", assurance: .twoFactors, isClassic: true),
        .init(name: "classic, two factors, number challenge", assurance: .twoFactors, hasNumbers: true, isClassic: true),
        .init(name: "pages, two factors", assurance: .twoFactors, isHosted: true),
        .init(name: "pages, two factors, no second one", assurance: .twoFactors, canAddFactor: false, isHosted: true),
        .init(name: "pages, acr 1fa:pwd", contextClass: "urn:okta:loa:1fa:pwd", isHosted: true),
        .init(name: "one factor, old password", passwordsEnd: true),
        .init(name: "two factors, old password", assurance: .twoFactors, passwordsEnd: true),
        .init(name: "pages, one factor, old password", isHosted: true, passwordsEnd: true),
        .init(name: "pages, two factors, old password", assurance: .twoFactors, isHosted: true, passwordsEnd: true),
    ]

    static func time(_ seconds: Int) -> Date { start.addingTimeInterval(TimeInterval(seconds)) }

    /// The transaction before anything happened.
    func transaction() -> SignInTransaction {
        let application = Application(id: "app", name: "App", kind: .native, signOnPolicy: "any")
        let request = SignInRequest(
            application: application, server: "default", scopes: ["openid"],
            contextClasses: ["urn:example:unknown"] + (contextClass.map { [$0] } ?? []))
        var transaction = SignInTransaction(
            id: "txn1", purpose: purpose, request: request, now: Self.start, lifetime: TimeInterval(lifetime))
        if isClassic { transaction.rules = .classic }
        if isHosted { transaction.rules = .pages }
        return transaction
    }

    /// The person as the store holds them, and what is asked of them.
    func subject(_ person: ExploredPerson) -> SignInTransaction.Subject {
        SignInTransaction.Subject(
            user: person.user,
            decision: SignOnDecision(
                assurance: person == .janeUnassigned ? .deny : assurance, reauthenticateAfter: reauthenticateAfter, reason: "rule"),
            passwordPolicy: passwordsEnd ? ExploredPerson.policyWithAge : ExploredPerson.policy, origin: person.origin,
            secondFactors: canAddFactor ? [.push, .totp] : [],
            verifyingFactors: canAddFactor && canVerifyUser ? [.push] : [], demandsTwoFactors: demandsTwoFactors,
            canChangePassword: isHosted)
    }

    /// A challenge to both devices, the `number`th of the transaction.
    func challenge(_ number: Int, at seconds: Int) -> PushChallenge {
        PushChallenge(
            transactionType: purpose == .backchannel ? .ciba : .login,
            targets: ExploredDevice.allCases.map { device in
                PushChallenge.Target(
                    id: device.target(of: number), enrollmentID: "enr-\(device.rawValue)", methodID: "opf-\(device.rawValue)",
                    nonce: "n", userVerification: verification[device.rawValue], methods: device.methods)
            },
            numbers: hasNumbers ? .init(choices: ["17", "42", "95"], right: "42") : nil, origin: .init(applicationName: "App"),
            askedFrom: .unknown,
            createdAt: Self.time(seconds), expiresAt: Self.time(seconds + Self.challengeLifetime))
    }
}
