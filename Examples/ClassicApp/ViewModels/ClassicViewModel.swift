public import AuthFoundation
internal import Foundation
public import Observation
public import OktaAuthSdk
internal import Wording

/// The view model of the classic state machine: the current state and its possible actions.
@Observable
@MainActor
public final class ClassicViewModel {
    /// The current screen.
    public enum Stage: Sendable, Equatable {
        /// The sign-in form.
        case start
        /// A state of a transaction.
        case transaction(AuthStatus)
        /// The successful end. `hasTokens` says whether the session token was exchanged for tokens.
        case done(hasTokens: Bool)
    }

    /// The current screen.
    public private(set) var stage = Stage.start
    /// The current state as a sentence.
    public private(set) var headline = ""
    /// The details of the state, one per line.
    public private(set) var details: [String] = []
    /// The content of the QR code; `nil` without a QR code.
    public private(set) var symbolText: String?
    /// The accessibility text of the QR code: the alternative to scanning.
    public private(set) var symbolLabel = ""
    /// Whether the QR code covers the screen. A terminal has no space beside it.
    public private(set) var isSymbolOpen = false
    /// The possible actions, in order.
    public private(set) var actions: [ClassicAction] = []
    /// The action whose fields are open; `nil` for none.
    public private(set) var openAction: ClassicAction?
    /// The fields of the open action.
    public private(set) var fields: [ClassicField] = []
    /// The input of the fields, by key.
    public var values: [String: String] = [:]
    /// The user name in the sign-in form.
    public var username = ""
    /// The password in the sign-in form.
    public var password = ""
    /// Whether an action is in progress, so that no other action can begin.
    public private(set) var isLoading = false
    /// Whether the app polls for the answer of a device. The answer changes the state.
    public private(set) var isWaiting = false
    /// The error message; `nil` for none. Set it to `nil` to dismiss the message.
    public var errorMessage: String?

    @ObservationIgnored private let service: any ClassicServicing
    @ObservationIgnored private let clock: any OAuth2Clock
    @ObservationIgnored private var status: OktaAuthStatus?
    @ObservationIgnored private var wait: Task<Void, Never>?
    /// The message of the last action; `nil` after the next action.
    @ObservationIgnored private var note: String?
    /// The contents of QR code pictures, by address.
    @ObservationIgnored private var pictures: [URL: String] = [:]

    /// The interval between two polls for the answer of a device, in seconds.
    private static let pollInterval = 3.0

    /// Creates a view model. It shows the signed-in user, or else the sign-in form.
    ///
    /// - Parameters:
    ///   - service: The sign-in service.
    ///   - clock: The clock for the wait between polls.
    public init(service: any ClassicServicing, clock: any OAuth2Clock = DeviceClock()) {
        self.service = service
        self.clock = clock
        if service.signedInUser == nil { showStart() } else { showDone(hasTokens: true) }
    }

    // MARK: - The sign-in form

    /// Whether the sign-in form is complete.
    public var canSignIn: Bool { stage == .start && !isLoading && !username.isEmpty && !password.isEmpty }

    /// Submits the sign-in form.
    public func signIn() async {
        guard canSignIn else { return }
        let (name, secret) = (username, password)
        password = ""
        await load { try await self.service.signIn(username: name, password: secret) }
    }

    // MARK: - Actions

    /// Begins an action: opens its fields; runs an action without fields.
    ///
    /// - Parameter action: One of ``actions``.
    public func select(_ action: ClassicAction) async {
        guard !isLoading else { return }
        var needed: [ClassicField] = []
        guard await attempt({ needed = try await action.fields() }) else { return }
        guard !needed.isEmpty else { return await perform(action, [:]) }
        fields = needed
        values = Dictionary(needed.compactMap { field in field.choices.first.map { (field.id, $0.id) } }) { first, _ in first }
        if needed.contains(where: { $0.id == ClassicField.username.id }) { values["username"] = username }
        openAction = action
    }

    /// Whether all required fields of the open action are filled in.
    public var canSubmit: Bool {
        openAction != nil && !isLoading && fields.allSatisfy { $0.isOptional || !values.text($0.id).isEmpty }
    }

    /// Runs the open action. If the server rejects it, the fields stay open, without the secrets.
    public func submit() async {
        guard canSubmit, let action = openAction else { return }
        await perform(action, values)
    }

    /// Closes the open fields and deletes the input.
    public func closeForm() {
        openAction = nil
        fields = []
        values = [:]
    }

    /// Shows the QR code on the whole screen. Does nothing without a QR code.
    public func openSymbol() { isSymbolOpen = symbolText != nil }

    /// Closes the QR code.
    public func closeSymbol() { isSymbolOpen = false }

    /// Revokes and removes the tokens, and returns to the sign-in form.
    public func signOut() async {
        await attempt { try await service.signOut() }
        if service.signedInUser == nil { showStart() }
    }

    /// Cancels the current transaction. The app calls this function before it exits. If the cancellation fails, the transaction expires
    /// soon.
    public func giveUp() async {
        stopWaiting()
        if let status, status.canCancel() { try? await status.cancelTransaction() }
    }

    private func perform(_ action: ClassicAction, _ values: [String: String]) async {
        let isDone = await load { try await action.run(values) }
        if isDone, let text = action.note, let status {
            note = text
            showDetails(of: status)
        }
        guard openAction?.id == action.id else { return }
        if isDone { closeForm() } else { for field in fields where field.isSecret { self.values[field.id] = nil } }
    }

    /// Runs a step that returns the next status; `nil` leads to the sign-in form.
    ///
    /// - Returns: Whether the action succeeded.
    @discardableResult
    private func load(_ step: @escaping @MainActor () async throws -> OktaAuthStatus?) async -> Bool {
        guard !isLoading else { return false }
        stopWaiting()
        let isDone = await attempt {
            if let next = try await step() { try await enter(next) } else { showStart() }
        }
        // Continues the polling that the failed action interrupted.
        if !isDone, let status, wait == nil { waitForDevice(status) }
        return isDone
    }

    /// Runs a step and shows its error. Only one step runs at a time. Returns whether it succeeded.
    @discardableResult
    private func attempt(_ body: () async throws -> Void) async -> Bool {
        guard !isLoading else { return false }
        isLoading = true
        errorMessage = nil
        defer { isLoading = false }
        do {
            try await body()
            return true
        } catch {
            tell(error)
            return false
        }
    }

    private func tell(_ error: any Error) {
        switch error {
        case is CancellationError: break
        case let error as Mistyped: errorMessage = error.text
        case OktaError.serverRespondedWithError(let refusal) where Self.endsTransaction(refusal):
            showStart()
            errorMessage = error.explanation
        default: errorMessage = error.explanation
        }
    }

    /// Whether the error means that the transaction has expired or that it had too many attempts.
    private static func endsTransaction(_ refusal: OktaAPIErrorResponse) -> Bool {
        ["E0000011", "E0000069"].contains(refusal.errorCode)
    }

    // MARK: - States

    private func enter(_ next: OktaAuthStatus) async throws {
        guard let success = next as? OktaAuthStatusSuccess else { return show(next) }
        guard let sessionToken = success.sessionToken else { return showDone(hasTokens: false) }
        // The session token is valid once, so the user cannot return to an earlier state.
        showStart()
        showDone(hasTokens: try await service.finish(sessionToken: sessionToken))
    }

    private func show(_ next: OktaAuthStatus) {
        status = next
        stage = .transaction(next.statusType)
        headline = StatusText.headline(of: next)
        isSymbolOpen = false
        note = nil
        // The action belongs to the previous status.
        closeForm()
        showDetails(of: next)
        actions = StatusActions.actions(in: next, username: username)
        waitForDevice(next)
        fetchPicture(of: next)
    }

    private func showDetails(of status: OktaAuthStatus) {
        let code = EnrollmentCode(status, pictures: pictures)
        details = StatusText.details(of: status) + (code?.lines ?? []) + (note.map { [$0] } ?? [])
        symbolText = code?.symbolText
        symbolLabel = code?.spoken ?? ""
        if symbolText == nil { isSymbolOpen = false }
    }

    /// Fetches the content of a QR code picture. While the content is unknown, the app shows the picture's address.
    private func fetchPicture(of status: OktaAuthStatus) {
        guard let picture = EnrollmentCode(status, pictures: pictures)?.picture else { return }
        Task { [weak self, service] in
            guard let text = await service.text(ofPicture: picture), let self else { return }
            pictures[picture] = text
            if let status = self.status { showDetails(of: status) }
        }
    }

    private func forgetStatus() {
        stopWaiting()
        status = nil
        details = []
        symbolText = nil
        isSymbolOpen = false
        pictures = [:]
        note = nil
        closeForm()
    }

    private func showStart() {
        forgetStatus()
        stage = .start
        headline = words("Sign in")
        actions = [
            ClassicAction(words("Forgot password"), .username, .recoveryWay) { [service] in
                try await service.recoverPassword(username: $0.text("username"), by: $0.recoveryWay)
            },
            ClassicAction(words("Unlock account"), .username, .recoveryWay) { [service] in
                try await service.unlockAccount(username: $0.text("username"), by: $0.recoveryWay)
            },
            ClassicAction(words("Continue with a token"), .tokenKind, .token) { [service] in
                try await service.goOn(with: $0.text("token"), of: $0.tokenKind)
            },
        ]
    }

    private func showDone(hasTokens: Bool) {
        forgetStatus()
        stage = .done(hasTokens: hasTokens)
        headline = hasTokens ? words("Signed in as %@", service.signedInUser ?? "") : words("Done.")
        actions =
            hasTokens ? [] : [ClassicAction(words("Back to sign-in"), isCancel: true, fields: { [] }) { _ in nil }]
    }

    // MARK: - Waiting for a device

    /// Polls for the answer to a push until the user answers or another action begins.
    private func waitForDevice(_ status: OktaAuthStatus) {
        guard let push = status.awaitedPush else { return }
        isWaiting = true
        wait = Task { [weak self, clock] in
            do {
                let next = try await push.pollFactorResult(every: Self.pollInterval, clock: clock) { waiting in
                    self?.showDetails(of: waiting)
                }
                guard let self, !Task.isCancelled else { return }
                self.wait = nil
                self.isWaiting = false
                await self.load { next }
            } catch {
                guard let self, !Task.isCancelled else { return }
                self.wait = nil
                self.isWaiting = false
                self.tell(error)
            }
        }
    }

    private func stopWaiting() {
        wait?.cancel()
        wait = nil
        isWaiting = false
    }
}
