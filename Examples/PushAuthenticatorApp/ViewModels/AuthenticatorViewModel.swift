public import AuthFoundation
internal import DeviceAuthenticator
public import Foundation
public import Observation
internal import Wording

/// The view model of the phone: its accounts and its pending requests.
@Observable
@MainActor
public final class AuthenticatorViewModel {
    /// A change that needs a fresh sign-in in a form.
    public enum Change: Sendable, Equatable {
        /// This device is enrolled.
        case enroll
        /// User verification is turned on or off.
        case userVerification(Bool, of: Account.ID)
        /// An account is removed at the organization and on this device.
        case remove(Account.ID)
    }

    /// The progress of the sign-in for a change.
    public enum Progress: Sendable, Equatable {
        /// A request is in progress.
        case signingIn
        /// The user must approve on a phone, with this number; `nil` without a number. If it is this phone, the request is in ``requests``.
        case waitingForApproval(number: String?)
    }

    /// The accounts on this device.
    public private(set) var accounts: [Account] = []
    /// The pending requests, oldest first.
    public private(set) var requests: [ApprovalRequest] = []
    /// The request that the user has tapped, which is shown first; `nil` for none.
    public private(set) var presented: ApprovalRequest.ID?
    /// The account whose settings are open; `nil` for none.
    public var openAccount: Account.ID?
    /// The change whose form is open; `nil` for none.
    public private(set) var change: Change?
    /// The number of forms that were opened. It distinguishes the forms.
    public private(set) var formsOpened = 0
    /// The form of the change.
    public var form = SignInForm()
    /// The content of a sign-in page's QR code. It enrolls this device without a sign-in on it.
    public var link = ""
    /// Whether a new account verifies the user.
    public var wantsUserVerification = false
    /// The progress of the open change; `nil` before it is sent.
    public private(set) var progress: Progress?
    /// The account that will be removed from this device only, after the user's confirmation; `nil` for none.
    public var removing: Account.ID?
    /// Whether an action other than an answer or a change is in progress.
    public private(set) var isLoading = false
    /// The request whose answer is in progress; `nil` for none.
    public private(set) var answering: ApprovalRequest.ID?
    /// The temporary message of the last action; `nil` for none. Set it to `nil` to dismiss the message.
    public var notice: String?
    /// The error message of an alert; `nil` for none. Set it to `nil` to close the alert.
    public var errorMessage: String?
    /// The prompt that asks for the PIN where the system does not verify the user.
    public let pin: PINPrompt

    @ObservationIgnored private let service: any AuthenticatorServicing
    @ObservationIgnored private let clock: any OAuth2Clock
    @ObservationIgnored private var changing: Task<Void, any Error>?
    /// The completed requests. A late push must not show them again.
    @ObservationIgnored private var over: Set<ApprovalRequest.ID> = []

    /// Creates a view model that shows the stored state.
    ///
    /// - Parameters:
    ///   - service: The authenticator service.
    ///   - pin: The PIN prompt of the service's device.
    ///   - clock: The clock for the expiration of requests and for the wait between fetches.
    public init(service: any AuthenticatorServicing, pin: PINPrompt = PINPrompt(), clock: any OAuth2Clock = DeviceClock()) {
        self.service = service
        self.pin = pin
        self.clock = clock
        updateAccounts()
    }

    private func updateAccounts() {
        do { accounts = try service.accounts() } catch { errorMessage = error.explanation }
        if let id = openAccount, account(id) == nil { openAccount = nil }
    }

    /// Returns the account with an id; `nil` if it is not on this device.
    public func account(_ id: Account.ID) -> Account? { accounts.first { $0.id == id } }

    // MARK: - Changes that need a sign-in

    /// Opens the form of a change.
    public func begin(_ change: Change) {
        guard self.change == nil else { return }
        notice = nil
        errorMessage = nil
        self.change = change
        formsOpened += 1
        form = SignInForm()
        link = ""
        wantsUserVerification = false
        switch change {
        case .enroll: break
        case .userVerification(_, let id), .remove(let id): form.username = account(id)?.name ?? ""
        }
    }

    /// Whether the open form is complete.
    public var canSubmit: Bool { change != nil && progress == nil && form.isComplete }

    /// Whether the QR code of a sign-in page can be used.
    public var canUseLink: Bool { change == .enroll && progress == nil && !link.isEmpty }

    /// Signs in and makes the open change.
    public func submit() async {
        guard canSubmit, let change else { return }
        let (form, verifies) = (form, wantsUserVerification)
        await carryOut { [service] waiting in
            switch change {
            case .enroll:
                let account = try await service.enroll(form, userVerification: verifies, waiting: waiting)
                return words("%@ was added.", account.name)
            case .userVerification(let isOn, let id):
                try await service.setUserVerification(isOn, of: id, form, waiting: waiting)
                return isOn ? words("User verification is on.") : words("User verification is off.")
            case .remove(let id):
                try await service.remove(id, form, waiting: waiting)
                return words("The account was removed.")
            }
        }
    }

    /// Enrolls with the QR code of a sign-in page.
    public func submitLink() async {
        guard canUseLink else { return }
        let (link, verifies) = (link, wantsUserVerification)
        await carryOut { [service] _ in words("%@ was added.", try await service.enroll(link: link, userVerification: verifies).name) }
    }

    /// Closes the form of a change. A change in progress is cancelled, and its request is withdrawn from the phones.
    public func cancelChange() {
        changing?.cancel()
        guard progress == nil else { return }
        errorMessage = nil
        closeChange()
    }

    /// Cancels a change in progress, and waits until its request is withdrawn. The app calls this function before it exits.
    public func leave() async {
        changing?.cancel()
        _ = await changing?.result
        await service.settled()
    }

    private func closeChange() {
        change = nil
        form = SignInForm()
        link = ""
    }

    private func carryOut(_ work: @escaping @Sendable (@escaping WaitingForApproval) async throws -> String) async {
        progress = .signingIn
        errorMessage = nil
        let task = Task { [weak self] in
            let done = try await work { number in self?.progress = .waitingForApproval(number: number) }
            self?.notice = done
        }
        changing = task
        let result = await task.result
        changing = nil
        progress = nil
        form.password = ""
        form.code = ""
        switch result {
        case .success: closeChange()
        case .failure(let error):
            if task.isCancelled { closeChange() } else { errorMessage = error.explanation }
        }
        updateAccounts()
    }

    // MARK: - Changes that need no sign-in

    /// Turns requests without a sign-in on or off.
    ///
    /// - Parameters:
    ///   - isOn: Whether requests without a sign-in are allowed.
    ///   - id: The account's id.
    public func setCIBA(_ isOn: Bool, of id: Account.ID) async {
        await load { try await self.service.setCIBA(isOn, of: id) }
    }

    /// Removes an account from this device only, after the user's confirmation.
    ///
    /// - Parameter id: The account's id. The id is not read from ``removing``, because the alert may be closed before the action of its
    ///   button runs.
    public func removeFromDevice(_ id: Account.ID) async {
        guard !isLoading else { return }
        removing = nil
        await load {
            try await self.service.removeFromDevice(id)
            self.requests.removeAll { $0.accountID == id }
            self.notice = words("The account was removed from this device.")
        }
    }

    /// Sends this device's new push token to the organizations.
    ///
    /// - Parameter token: The token from the system.
    public func updatePushToken(_ token: Data) async {
        do { try await service.updatePushToken(token) } catch { errorMessage = error.explanation }
    }

    private func load(_ work: () async throws -> Void) async {
        guard !isLoading else { return }
        isLoading = true
        notice = nil
        errorMessage = nil
        defer {
            isLoading = false
            updateAccounts()
        }
        do { try await work() } catch is CancellationError {} catch { errorMessage = error.explanation }
    }

    // MARK: - Requests

    /// Fetches the pending requests on demand. A failure for some accounts is shown even if other accounts have requests.
    public func retrieve() async {
        await load {
            if let failure = await self.fetch() { throw failure }
            if self.requests.isEmpty { self.notice = words("No requests") }
        }
    }

    /// Fetches pending requests, because pushes may have been missed. If there are no requests or the fetch fails, shows no message.
    public func didBecomeActive() async {
        updateAccounts()
        guard !accounts.isEmpty, !isLoading else { return }
        // A failure is ignored. The next fetch tries again, and a fetch on demand shows the reason.
        await fetch()
    }

    /// Fetches the pending requests repeatedly, for a device without pushes. Returns when the task is cancelled.
    ///
    /// - Parameter interval: The seconds between two fetches, at least one.
    public func listen(every interval: TimeInterval = 2) async {
        while !Task.isCancelled {
            await didBecomeActive()
            do { try await clock.sleep(for: max(interval, 1)) } catch { return }
        }
    }

    /// Fetches the pending requests.
    ///
    /// - Returns: The failure if some accounts could not be fetched; `nil` without a failure.
    @discardableResult
    private func fetch() async -> (any Error)? {
        let known = Set(requests.map(\.id))
        let retrieved = await service.retrieve()
        let fetched = retrieved.requests.filter { !over.contains($0.id) && $0.expiresAt > clock.now }
        let ids = Set(fetched.map(\.id))
        if !ids.isSubset(of: known) { notice = nil }
        // Requests that a push delivered during the fetch stay. Requests that are no longer pending are removed.
        requests = (requests.filter { !known.contains($0.id) && !ids.contains($0.id) } + fetched).sorted { $0.time < $1.time }
        dropOver()
        return retrieved.failure
    }

    private func dropOver() {
        requests.removeAll { $0.expiresAt <= clock.now }
        if let presented, !waits(presented) { self.presented = nil }
    }

    /// Handles a push that arrived while the app is in the foreground.
    ///
    /// - Parameter push: The payload of the push.
    /// - Returns: Whether the push was a request, which is then shown. The rest of the app handles other pushes.
    @discardableResult
    public func didReceive(_ push: PushPayload) async -> Bool {
        await admit(push) != nil
    }

    /// Handles a notification that the user tapped, or whose action the user chose.
    ///
    /// Approve and Deny answer the request; an approval with a number challenge requires a selection in the app. A request that is still
    /// pending is shown: open settings and forms are closed, except for a form in progress, which shows the request itself.
    ///
    /// - Parameter push: The payload of the push, with the action.
    /// - Returns: Whether the push was a request.
    @discardableResult
    public func didRespond(to push: PushPayload) async -> Bool {
        guard let request = await admit(push) else { return false }
        errorMessage = nil
        switch push.action {
        case PushAction.approve where request.numbers == nil: await answer(request.id, .approve())
        case PushAction.deny: await answer(request.id, .deny())
        default: if !waits(request.id) { errorMessage = SignInTrouble.noSuchRequest.explanation }
        }
        if waits(request.id) { present(request.id) }
        return true
    }

    private func waits(_ id: ApprovalRequest.ID) -> Bool { requests.contains { $0.id == id } }

    private func present(_ id: ApprovalRequest.ID) {
        presented = id
        guard progress == nil else { return }
        closeChange()
        openAccount = nil
        removing = nil
    }

    private func admit(_ push: PushPayload) async -> ApprovalRequest? {
        do {
            guard let request = try await service.read(push: push) else { return nil }
            if !over.contains(request.id), request.expiresAt > clock.now {
                requests = (requests.filter { $0.id != request.id } + [request]).sorted { $0.time < $1.time }
            }
            dropOver()
            return request
        } catch {
            errorMessage = error.explanation
            return nil
        }
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - id: The request's id.
    ///   - answer: The answer; an approval contains the number of a number challenge.
    public func answer(_ id: ApprovalRequest.ID, _ answer: Answer) async {
        guard answering == nil else { return }
        guard let request = requests.first(where: { $0.id == id }) else {
            errorMessage = SignInTrouble.noSuchRequest.explanation
            return
        }
        if case .approve(nil) = answer, request.numbers != nil { return }
        answering = id
        errorMessage = nil
        defer { answering = nil }
        do {
            let trouble = try await service.answer(id, answer)
            end(id)
            let done =
                switch answer {
                case .approve: words("Approved.")
                case .deny(isSuspicious: false): words("Denied.")
                case .deny(isSuspicious: true): words("Denied, and reported as suspicious.")
                }
            notice = [done, trouble].compactMap(\.self).joined(separator: " ")
        } catch {
            errorMessage = error.explanation
            if Self.endsRequest(error) { end(id) }
        }
    }

    private func end(_ id: ApprovalRequest.ID) {
        over.insert(id)
        requests.removeAll { $0.id == id }
        dropOver()
    }

    /// Whether an error means that the request is no longer pending.
    private static func endsRequest(_ error: any Error) -> Bool {
        switch (error as? DeviceAuthenticatorError)?.reason {
        case nil, .network, .tooManyRequests, .numberNotPicked, .notAnswered: false
        default: true
        }
    }
}
