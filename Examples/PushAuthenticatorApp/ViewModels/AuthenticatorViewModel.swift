public import AuthFoundation
public import CountersignUI
public import DeviceAuthenticator
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
    /// The pending requests and the answers to them.
    public let requestModel: PushRequestModel
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
    private var done: String?
    private var failure: String?
    /// The prompt that asks for the PIN where the system does not verify the user.
    public let pin: PINPrompt

    @ObservationIgnored private let service: AuthenticatorService
    @ObservationIgnored private let clock: any OAuth2Clock
    @ObservationIgnored private var changing: Task<Void, any Error>?

    /// Creates a view model that shows the stored state.
    ///
    /// - Parameters:
    ///   - device: The authenticator of this device.
    ///   - authenticator: The organization, and the client with which new accounts are enrolled.
    ///   - session: The network session of sign-ins; `nil` for the default session.
    ///   - pin: The PIN prompt of the device.
    ///   - clock: The clock for sign-ins and waits.
    public init(
        device: any DeviceAuthenticatorProtocol, authenticator: DeviceAuthenticatorConfig, session: (any URLSessionProtocol)? = nil,
        pin: PINPrompt = PINPrompt(), clock: any OAuth2Clock = DeviceClock()
    ) {
        service = AuthenticatorService(device: device, authenticator: authenticator, session: session, clock: clock)
        requestModel = PushRequestModel(device: device, clock: clock)
        self.pin = pin
        self.clock = clock
        updateAccounts()
    }

    private func updateAccounts() {
        do { accounts = try service.accounts() } catch { failure = error.explanation }
        if let id = openAccount, account(id) == nil { openAccount = nil }
    }

    // MARK: - Messages

    /// The temporary message of the last action; `nil` for none. While requests are pending, the result of the last answer is above them.
    public var notice: String? { (requestModel.requests.isEmpty ? requestModel.outcome : nil).map(texts.message(of:)) ?? done }

    /// The error message of an alert; `nil` for none.
    public var errorMessage: String? { failure ?? requestModel.problem.map(texts.message(for:)) }

    /// Closes the alert of ``errorMessage``, and removes ``notice``.
    public func clearMessages() {
        done = nil
        failure = nil
        requestModel.clearMessages()
    }

    /// Returns the account with an id; `nil` if it is not on this device.
    public func account(_ id: Account.ID) -> Account? { accounts.first { $0.id == id } }

    // MARK: - Changes that need a sign-in

    /// Opens the form of a change.
    public func begin(_ change: Change) {
        guard self.change == nil else { return }
        clearMessages()
        self.change = change
        formsOpened += 1
        form = SignInForm()
        link = ""
        wantsUserVerification = false
        switch change {
        case .enroll: break
        case .userVerification(_, let id), .remove(let id): form.userName = account(id)?.name ?? ""
        }
    }

    /// Whether the open form is complete.
    public var canSubmit: Bool { change != nil && progress == nil && !form.userName.isEmpty && !form.password.isEmpty }

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
        failure = nil
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
        clearMessages()
        let task = Task { [weak self] in
            let done = try await work { number in self?.progress = .waitingForApproval(number: number) }
            self?.clearMessages()
            self?.done = done
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
            if task.isCancelled { closeChange() } else { failure = error.explanation }
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
            // Removes the requests of the account.
            await self.requestModel.fetch(reportsProblem: false)
            self.done = words("The account was removed from this device.")
        }
    }

    /// Sends this device's new push token to the organizations.
    ///
    /// - Parameter token: The token from the system.
    public func updatePushToken(_ token: Data) async {
        do { try await service.updatePushToken(token) } catch { failure = error.explanation }
    }

    private func load(_ work: () async throws -> Void) async {
        guard !isLoading else { return }
        isLoading = true
        clearMessages()
        defer {
            isLoading = false
            updateAccounts()
        }
        do { try await work() } catch is CancellationError {} catch { failure = error.explanation }
    }

    // MARK: - Requests

    /// Fetches the pending requests on demand. A failure for some accounts is shown even if other accounts have requests.
    public func retrieve() async {
        await load {
            await self.requestModel.fetch()
            if self.requestModel.problem == nil, self.requestModel.requests.isEmpty { self.done = texts.requests.none }
        }
    }

    /// Fetches pending requests, because pushes may have been missed. If there are no requests or the fetch fails, shows no message.
    public func didBecomeActive() async {
        updateAccounts()
        guard !accounts.isEmpty, !isLoading else { return }
        let known = Set(requestModel.requests.map(\.id))
        // The next fetch tries again, and a fetch on demand shows the reason of a failure.
        await requestModel.fetch(reportsProblem: false)
        if !known.isSuperset(of: requestModel.requests.map(\.id)) { done = nil }
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

    /// Shows the request that the user selected, such as with a tap on its notification: closes open settings and forms, except for a form
    /// in progress, which shows the request itself.
    public func showSelectedRequest() {
        guard requestModel.selected != nil, progress == nil else { return }
        failure = nil
        closeChange()
        openAccount = nil
        removing = nil
    }
}
