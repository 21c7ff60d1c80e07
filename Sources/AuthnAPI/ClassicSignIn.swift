internal import IdentityCore
internal import Store

/// The state that the classic API keeps in a sign-in.
struct ClassicSignIn: Sendable, Equatable, Codable {
    /// The maximum length of `relayState` in bytes.
    static let longestRelayState = 2_048
    private static let kind = "authn"

    /// The client's value, which every response repeats; `nil` for none.
    var relayState: String?
    /// The ids of the push factors that the client starts automatically on this device; `nil` for none.
    var autoPush: [String]?
    /// The user's new choice of automatic pushes, which applies once the push is approved; `nil` for no change.
    var autoPushChoice: Bool?
    /// The id of the factor that the user selected, or ``passkeysByType``; `nil` for none.
    var selected: String?
    /// The id of the enrollment that awaits its confirmation; `nil` for none, and for a phone that is enrolled for push.
    var enrolling: String?
    /// The passkey that awaits its registration; `nil` for none.
    var passkey: PendingPasskey?

    /// Reads the state of a sign-in; `nil` if the sign-in does not use the classic API.
    init?(_ door: DoorState?) {
        guard let value = door?.value(Self.self, of: Self.kind) else { return nil }
        self = value
    }

    init(relayState: String? = nil, autoPush: [String]? = nil) {
        self.relayState = relayState
        self.autoPush = autoPush
    }

    var door: DoorState? { try? DoorState(Self.kind, self) }
}

extension SignInTransaction {
    /// The state of the classic API; `nil` for a sign-in of another protocol.
    var classic: ClassicSignIn? {
        get { ClassicSignIn(door) }
        set { door = newValue?.door }
    }
}

extension SignInTransaction {
    /// Stores the client's options, device token and relay state.
    mutating func begin(
        by caller: ClassicCaller, isTrusted: Bool, relayState: String?, enrollsOptional: Bool, warnsBeforeExpiry: Bool
    ) {
        if enrollsOptional { rules.insert(.offersOptionalFactors) }
        if warnsBeforeExpiry { rules.insert(.warnsOfPassword) }
        presentedDevice = caller.device(isTrusted: isTrusted).map {
            PresentedDevice(digest: TicketDigest(of: $0).bytes, mustBeIssued: caller.isPage && !isTrusted)
        }
        let autoPush = caller.autoPush.prefix(ClassicSignIn.mostAutoPush)
        classic = ClassicSignIn(relayState: relayState, autoPush: autoPush.isEmpty ? nil : Array(autoPush))
    }
}

extension PresentedDevice {
    /// The digest of the device token if the caller may have chosen the token itself; `nil` if the token counts only if this server issued
    /// it.
    var typed: [UInt8]? { mustBeIssued ? nil : digest }
}

extension FactorKind {
    /// The second factors that the classic API offers and verifies.
    static let inClassic = Set(ClassicPolicy.Factor.allCases.map(\.kind))
}

extension SignInRequest {
    /// Creates a request for a sign-in by the classic API.
    init(classic application: Application) {
        self.init(application: application, server: nil, scopes: [], presentable: FactorKind.inClassic, rules: .classic)
    }
}

extension DoorRules {
    static let classic: DoorRules = [.changesPassword, .enrollsFactors, .countsEnrolledPhone, .countsRecollection, .outlivesChallenges]
}
