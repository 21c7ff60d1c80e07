internal import AuthFoundation
internal import OktaDirectAuth

/// A sign-in in progress. Only the session uses it.
@MainActor
final class SignInAttempt {
    /// The number of wrong codes after which the sign-in must start again. After five, the server ends the sign-in, but its response is the
    /// same as for other wrong codes.
    static let maximumWrongCodes = 5

    /// The direct authentication; `nil` in a browser.
    let flow: DirectAuthenticationFlow?
    let client: OAuth2Client
    private(set) var step: SignInStep
    /// The second factor that the user has chosen or that is the only one.
    var factor: SignInFactor?
    /// The second factors that the server accepts; empty before the first factor is proved.
    var factors: [SignInFactor] = []
    var wrongCodes = 0
    /// The number of the current call. The result of an earlier call is ignored.
    private(set) var call = 0
    var task: Task<Void, Never>?
    /// Whether the user has left the call's step for the list of factors. An approval still signs the user in; an error is ignored.
    private(set) var isInBackground = false
    /// The password until it is sent.
    private(set) var password: String?
    /// Whether the system asks for a passkey, and no request is in progress.
    var isSigning = false

    init(flow: DirectAuthenticationFlow?, client: OAuth2Client, step: SignInStep.Kind) {
        self.flow = flow
        self.client = client
        self.step = SignInStep(step)
    }

    /// Keeps the password for the first request.
    func keep(password: String) { self.password = password }

    /// Returns the password, and forgets it, so that it is not in memory while a push waits.
    func takePassword() -> String {
        defer { password = nil }
        return password ?? ""
    }

    /// Begins a call, whose results replace those of earlier calls.
    func beginCall() -> Int {
        call += 1
        isInBackground = false
        return call
    }

    /// Shows a step, unless the user has left the call.
    func show(_ kind: SignInStep.Kind, number: String? = nil) {
        guard !isInBackground else { return }
        step = SignInStep(kind, factor: factor, factors: factors, number: number)
    }

    /// Shows a step that waits for the user, and leaves the current call in the background.
    func leave(to kind: SignInStep.Kind, factor: SignInFactor? = nil) {
        self.factor = factor
        isInBackground = false
        show(kind)
        isInBackground = true
    }

    /// The factor that needs no choice: the only one apart from recovery codes.
    var onlyFactor: SignInFactor? {
        let usual = factors.filter { $0 != .recoveryCode }
        return usual.count > 1 ? nil : usual.first ?? factors.first
    }

    /// Whether the first factor is proved.
    var isAtSecondFactor: Bool { !factors.isEmpty }

    /// Ends the sign-in. In the background, the server withdraws its request from the user's devices.
    func end(in background: BackgroundWork) {
        call += 1
        password = nil
        task?.cancel()
        guard let flow else { return }
        background.begin {
            await flow.reset()
            await flow.settled()
        }
    }
}
