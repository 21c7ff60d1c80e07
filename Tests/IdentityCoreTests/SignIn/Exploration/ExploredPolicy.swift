import Foundation

@testable import IdentityCore

/// The rules of one exploration: the requirements of the organization, the client and the protocol module, and the existing factors.
struct ExploredPolicy: Sendable, CustomStringConvertible {
    static let start = Date(timeIntervalSince1970: 1_700_000_000)
    /// The lifetime of a challenge in seconds. It is shorter than the lifetime of a transaction, so that a challenge can expire first.
    static let challengeLifetime = 120

    var name: String
    var assurance = SignOnRule.Assurance.oneFactor
    var reauthenticateAfter: Int?
    /// The protocol module of the sign-in.
    enum Door: Sendable {
        case direct, pages, classic

        /// The rules of the module. Another test compares them with the rules in the module's code.
        var rules: DoorRules {
            switch self {
            case .direct: []
            case .pages: [.retriesFirstFactor, .asksForPasswordLater, .isInBrowser, .changesPassword, .enrollsFactors, .offersSetup]
            case .classic: [.changesPassword, .enrollsFactors, .countsEnrolledPhone, .countsRecollection, .outlivesChallenges]
            }
        }

        /// An example of the module's own state, which no step changes; `nil` for direct authentication.
        var state: DoorState? { self == .direct ? nil : try? DoorState("explored", ["login": "jane"]) }
    }

    /// Whether the user has a second factor that the client supports.
    var canAddFactor = true
    /// Whether one of the devices has a key for user verification.
    var canVerifyUser = true
    var contextClass: String?
    var demandsTwoFactors = false
    var hasNumbers = false
    var purpose = SignInTransaction.Purpose.signIn
    var door = Door.direct
    /// Whether passwords are valid for a day. All have then expired, except one that was set during the exploration.
    var passwordsEnd = false
    /// Whether the password expires in a day and the client asks for a warning.
    var warnsOfPassword = false
    /// Whether the user, who has no second factor, may enroll one.
    var canEnroll = false
    /// The user verification that challenges require of the two devices.
    var verification: [PushChallenge.UserVerification] = [.preferred, .required]

    var description: String { name }

    var isHosted: Bool { door == .pages }
    var isClassic: Bool { door == .classic }
    /// Whether users can set a new password during the sign-in.
    var changesPassword: Bool { door != .direct }

    /// The lifetime of the transaction in seconds. A back-channel request specifies its own.
    var lifetime: Int { purpose == .backchannel ? 200 : 300 }

    /// Whether two factors are required.
    var asksForTwo: Bool { assurance == .twoFactors || demandsTwoFactors || contextClass == "urn:okta:loa:2fa:any" }

    static let all: [ExploredPolicy] = [
        .init(name: "one factor"),
        .init(name: "one factor, number challenge", hasNumbers: true),
        .init(name: "one factor, re-authentication at once", reauthenticateAfter: 0, verification: [.discouraged, .preferred]),
        .init(name: "two factors", assurance: .twoFactors),
        .init(name: "two factors, simple devices", assurance: .twoFactors, canVerifyUser: false, verification: [.discouraged, .preferred]),
        .init(name: "two factors, number challenge", assurance: .twoFactors, hasNumbers: true),
        .init(name: "two factors, no second one", assurance: .twoFactors, canAddFactor: false),
        .init(name: "enrollment of a device", demandsTwoFactors: true),
        .init(name: "enrollment of a device, no usable second factor", canAddFactor: false, demandsTwoFactors: true),
        .init(name: "acr 1fa:any", contextClass: "urn:okta:loa:1fa:any"),
        .init(name: "acr 1fa:pwd", contextClass: "urn:okta:loa:1fa:pwd"),
        .init(name: "acr 1fa:pwd, two factors", assurance: .twoFactors, contextClass: "urn:okta:loa:1fa:pwd"),
        .init(name: "acr 2fa:any", contextClass: "urn:okta:loa:2fa:any"),
        .init(name: "acr 2fa:any, no second one", canAddFactor: false, contextClass: "urn:okta:loa:2fa:any"),
        .init(name: "acr 2fa:any:ifpossible", contextClass: "urn:okta:loa:2fa:any:ifpossible"),
        .init(name: "acr 2fa:any:ifpossible, not possible", canAddFactor: false, contextClass: "urn:okta:loa:2fa:any:ifpossible"),
        .init(name: "unknown acr", contextClass: "urn:example:loa:9"),
        .init(name: "denied", assurance: .deny),
        .init(name: "back channel, one factor", purpose: .backchannel),
        .init(name: "back channel, two factors, number challenge", assurance: .twoFactors, hasNumbers: true, purpose: .backchannel),
        .init(name: "pages, one factor", door: .pages),
        .init(name: "classic, one factor", door: .classic),
        .init(name: "classic, two factors", assurance: .twoFactors, door: .classic),
        .init(name: "classic, two factors, number challenge", assurance: .twoFactors, hasNumbers: true, door: .classic),
        .init(name: "pages, two factors", assurance: .twoFactors, door: .pages),
        .init(name: "pages, two factors, no second one", assurance: .twoFactors, canAddFactor: false, door: .pages),
        .init(name: "pages, acr 1fa:pwd", contextClass: "urn:okta:loa:1fa:pwd", door: .pages),
        .init(name: "one factor, old password", passwordsEnd: true),
        .init(name: "two factors, old password", assurance: .twoFactors, passwordsEnd: true),
        .init(name: "pages, one factor, old password", door: .pages, passwordsEnd: true),
        .init(name: "pages, two factors, old password", assurance: .twoFactors, door: .pages, passwordsEnd: true),
        .init(name: "classic, two factors, old password", assurance: .twoFactors, door: .classic, passwordsEnd: true),
        .init(name: "classic, one factor, warning", door: .classic, warnsOfPassword: true),
        .init(name: "pages, two factors, enrollment", assurance: .twoFactors, canAddFactor: false, door: .pages, canEnroll: true),
        .init(name: "classic, two factors, enrollment", assurance: .twoFactors, canAddFactor: false, door: .classic, canEnroll: true),
    ]

    static func time(_ seconds: Int) -> Date { start.addingTimeInterval(TimeInterval(seconds)) }

    /// Returns the transaction before the first input.
    func transaction() -> SignInTransaction {
        let application = Application(id: "app", name: "App", kind: .native, signOnPolicy: "any")
        let request = SignInRequest(
            application: application, server: "default", scopes: ["openid"],
            contextClasses: ["urn:example:unknown"] + (contextClass.map { [$0] } ?? []))
        var transaction = SignInTransaction(
            id: "txn1", purpose: purpose, request: request, now: Self.start, lifetime: TimeInterval(lifetime))
        transaction.rules = door.rules.union(warnsOfPassword ? [.warnsOfPassword] : [])
        transaction.door = door.state
        return transaction
    }

    /// Returns the stored user with the requirements for this user, by the rules of ``SignInTransaction/Subject``.
    func subject(_ person: ExploredPerson) -> SignInTransaction.Subject {
        var age = PasswordPolicy.Age()
        if passwordsEnd { age = .init(maximumDays: 1) }
        if warnsOfPassword { age = .init(maximumDays: 2, warningDays: 1) }
        return SignInTransaction.Subject(
            user: person.user,
            decision: SignOnDecision(
                assurance: person == .janeUnassigned ? .deny : assurance, reauthenticateAfter: reauthenticateAfter, reason: "rule"),
            passwordPolicy: PasswordPolicy(lockoutAttempts: 3, lockoutMinutes: 15, age: age), origin: person.origin,
            secondFactors: canAddFactor ? [.push, .totp] : [],
            verifyingFactors: canAddFactor && canVerifyUser ? [.push] : [], demandsTwoFactors: demandsTwoFactors,
            canChangePassword: door.rules.contains(.changesPassword), warnsOfPassword: warnsOfPassword,
            canEnroll: canEnroll && door.rules.contains(.enrollsFactors))
    }

    /// Returns a challenge to both devices. It is the transaction's challenge with this number.
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
