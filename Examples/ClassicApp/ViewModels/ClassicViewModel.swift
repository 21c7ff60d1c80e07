public import AuthFoundation
internal import Foundation
public import Observation
public import OktaAuthSdk
internal import Wording

/// Leads a person through the classic state machine: shows each state, and offers what it allows.
@Observable
@MainActor
public final class ClassicViewModel {
    /// Where the person stands.
    public enum Stage: Sendable, Equatable {
        /// The sign-in form.
        case start
        /// A state of a transaction.
        case transaction(AuthStatus)
        /// The transaction ended well. `hasTokens` says whether its session token was traded for tokens, which are stored.
        case done(hasTokens: Bool)
    }

    /// Where the person stands.
    public private(set) var stage = Stage.start
    /// The state as a sentence.
    public private(set) var headline = ""
    /// The details of the state, one per line.
    public private(set) var details: [String] = []
    /// The content of the QR code; `nil` without one.
    public private(set) var symbolText: String?
    /// The accessibility text of the code: the alternative to scanning.
    public private(set) var symbolLabel = ""
    /// Whether that code has the screen to itself, where it has no place beside the rest.
    public private(set) var isSymbolOpen = false
    /// The possible actions, in order.
    public private(set) var actions: [ClassicAction] = []
    /// The action whose fields are asked for; nil if none is.
    public private(set) var openAction: ClassicAction?
    /// Its fields.
    public private(set) var fields: [ClassicField] = []
    /// The input of the fields, by their names.
    public var values: [String: String] = [:]
    /// The name, of the sign-in form.
    public var username = ""
    /// The password, of the sign-in form.
    public var password = ""
    /// Whether something is under way: then nothing else begins.
    public private(set) var isLoading = false
    /// Whether a device has to answer; it is asked for again and again, and the state changes by itself.
    public private(set) var isWaiting = false
    /// The error message; set it to `nil` to dismiss it.
    public var errorMessage: String?

    @ObservationIgnored private let service: any ClassicServicing
    @ObservationIgnored private let clock: any OAuth2Clock
    @ObservationIgnored private var status: OktaAuthStatus?
    @ObservationIgnored private var wait: Task<Void, Never>?
    /// The message of the last action, until the next one.
    @ObservationIgnored private var note: String?
    /// The texts of QR code pictures, by their addresses.
    @ObservationIgnored private var pictures: [URL: String] = [:]

    /// How many seconds are between two questions for what a device answered.
    private static let pollInterval = 3.0

    /// Shows at once who is signed in.
    ///
    /// - Parameters:
    ///   - service: What begins and ends.
    ///   - clock: What waits between two questions for an answer.
    public init(service: any ClassicServicing, clock: any OAuth2Clock = DeviceClock()) {
        self.service = service
        self.clock = clock
        if service.signedInUser == nil { showStart() } else { showDone(hasTokens: true) }
    }

    // MARK: - The sign-in form

    /// Whether the sign-in form can be sent.
    public var canSignIn: Bool { stage == .start && !isLoading && !username.isEmpty && !password.isEmpty }

    /// Sends the sign-in form.
    public func signIn() async {
        guard canSignIn else { return }
        let (name, secret) = (username, password)
        password = ""
        await load { try await self.service.signIn(username: name, password: secret) }
    }

    // MARK: - Actions

    /// Begins an action: does it, or opens its fields if it has some.
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

    /// Whether all is given that the open action needs.
    public var canSubmit: Bool {
        openAction != nil && !isLoading && fields.allSatisfy { $0.isOptional || !values.text($0.id).isEmpty }
    }

    /// Does the open action with what was given. What was refused stays open, without its secrets.
    public func submit() async {
        guard canSubmit, let action = openAction else { return }
        await perform(action, values)
    }

    /// Closes the open fields, and forgets what was typed.
    public func closeForm() {
        openAction = nil
        fields = []
        values = [:]
    }

    /// Gives the code to scan the screen to itself, if there is one.
    public func openSymbol() { isSymbolOpen = symbolText != nil }

    /// Leads back from there.
    public func closeSymbol() { isSymbolOpen = false }

    /// Revokes and removes the tokens, and begins anew.
    public func signOut() async {
        await attempt { try await service.signOut() }
        if service.signedInUser == nil { showStart() }
    }

    /// Cancels the transaction under way, for when the app is left. What fails then ends by itself soon.
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

    /// Does something that leads to another status; nil leads to the start.
    ///
    /// - Returns: Whether it worked.
    @discardableResult
    private func load(_ step: @escaping @MainActor () async throws -> OktaAuthStatus?) async -> Bool {
        guard !isLoading else { return false }
        stopWaiting()
        let isDone = await attempt {
            if let next = try await step() { try await enter(next) } else { showStart() }
        }
        // What a refusal interrupted goes on.
        if !isDone, let status, wait == nil { waitForDevice(status) }
        return isDone
    }

    /// Does one thing at a time, and shows why it failed.
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
            errorMessage = error.localizedDescription
        default: errorMessage = error.localizedDescription
        }
    }

    /// Whether nothing is left of the transaction: its time was over, or there were too many attempts.
    private static func endsTransaction(_ refusal: OktaAPIErrorResponse) -> Bool {
        ["E0000011", "E0000069"].contains(refusal.errorCode)
    }

    // MARK: - States

    private func enter(_ next: OktaAuthStatus) async throws {
        guard let success = next as? OktaAuthStatusSuccess else { return show(next) }
        guard let sessionToken = success.sessionToken else { return showDone(hasTokens: false) }
        // The session token is good once: whatever comes of it, there is nothing to come back to.
        showStart()
        showDone(hasTokens: try await service.finish(sessionToken: sessionToken))
    }

    private func show(_ next: OktaAuthStatus) {
        status = next
        stage = .transaction(next.statusType)
        headline = StatusText.headline(of: next)
        isSymbolOpen = false
        note = nil
        // Its action would be the former status's.
        closeForm()
        showDetails(of: next)
        actions = StatusActions.actions(in: next, username: username)
        waitForDevice(next)
        fetchPicture(of: next)
    }

    private func showDetails(of status: OktaAuthStatus) {
        let code = EnrolmentCode(status, pictures: pictures)
        details = StatusText.details(of: status) + (code?.lines ?? []) + (note.map { [$0] } ?? [])
        symbolText = code?.symbolText
        symbolLabel = code?.spoken ?? ""
        if symbolText == nil { isSymbolOpen = false }
    }

    /// Asks what the picture of a code to scan says. Until it is known, and where it can't be known, its address is shown.
    private func fetchPicture(of status: OktaAuthStatus) {
        guard let picture = EnrolmentCode(status, pictures: pictures)?.picture else { return }
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
            ClassicAction(words("Go on with a token"), .tokenKind, .token) { [service] in
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

    /// Asks for what came of a push until it is decided, or something else is done.
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
