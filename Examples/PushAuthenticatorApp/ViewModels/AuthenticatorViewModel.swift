public import AuthFoundation
internal import DeviceAuthenticator
public import Foundation
public import Observation
internal import Wording

/// The phone: its accounts, and the requests that wait for the person.
@Observable
@MainActor
public final class AuthenticatorViewModel {
    /// A change that needs a fresh sign-in, and so a form.
    public enum Change: Sendable, Equatable {
        /// This device becomes an authenticator.
        case enroll
        /// User verification is turned on or off.
        case userVerification(Bool, of: Account.ID)
        /// An account is removed, at the organization too.
        case remove(Account.ID)
    }

    /// How far the sign-in of a change is.
    public enum Progress: Sendable, Equatable {
        /// It is under way.
        case signingIn
        /// A phone has to confirm it, with that number if there is one. It may be this one: then the request is among ``requests``.
        case waitingForApproval(number: String?)
    }

    /// The accounts on this device.
    public private(set) var accounts: [Account] = []
    /// The pending requests, oldest first.
    public private(set) var requests: [ApprovalRequest] = []
    /// The request that is to be shown before all others, since the person has tapped it.
    public private(set) var presented: ApprovalRequest.ID?
    /// The account whose settings are open; nil if none are.
    public var openAccount: Account.ID?
    /// The change whose form is open; nil if none is.
    public private(set) var change: Change?
    /// How many forms were opened up to now: no two of them are the same one.
    public private(set) var formsOpened = 0
    /// The form of the change.
    public var form = SignInForm()
    /// The content of a sign-in page's QR code, which enrols without a sign-in here.
    public var link = ""
    /// Whether a new account is to verify the person.
    public var wantsUserVerification = false
    /// How far the open change is; nil while nothing was sent.
    public private(set) var progress: Progress?
    /// The account that is to be removed from this device alone, once the person confirms it.
    public var removing: Account.ID?
    /// Whether something but an answer or a change is under way.
    public private(set) var isLoading = false
    /// The request whose answer is under way.
    public private(set) var answering: ApprovalRequest.ID?
    /// The message of the last action, for a while; set it to `nil` to dismiss it.
    public var notice: String?
    /// The error message of an alert; set it to `nil` to close it.
    public var errorMessage: String?
    /// Asks for the PIN, where the system does not verify the person.
    public let pin: PINPrompt

    @ObservationIgnored private let service: any AuthenticatorServicing
    @ObservationIgnored private let clock: any OAuth2Clock
    @ObservationIgnored private var changing: Task<Void, any Error>?
    /// Requests that are over, so that a push that comes late shows none of them again.
    @ObservationIgnored private var over: Set<ApprovalRequest.ID> = []

    /// Shows at once what is stored.
    ///
    /// - Parameters:
    ///   - service: What enrolls and answers.
    ///   - pin: The prompt that the service's device verifies people with.
    ///   - clock: The time by which requests end.
    public init(service: any AuthenticatorServicing, pin: PINPrompt = PINPrompt(), clock: any OAuth2Clock = DeviceClock()) {
        self.service = service
        self.pin = pin
        self.clock = clock
        updateAccounts()
    }

    private func updateAccounts() {
        do { accounts = try service.accounts() } catch { errorMessage = error.localizedDescription }
        if let id = openAccount, account(id) == nil { openAccount = nil }
    }

    /// The account of that id.
    ///
    /// - Parameter id: The id.
    /// - Returns: Nil if it is not on this device.
    public func account(_ id: Account.ID) -> Account? { accounts.first { $0.id == id } }

    // MARK: - Changes that need a sign-in

    /// Opens the form of a change.
    ///
    /// - Parameter change: What is to be done.
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

    /// Whether the open form can be sent.
    public var canSubmit: Bool { change != nil && progress == nil && form.isComplete }

    /// Whether the code of a sign-in page can be used.
    public var canUseLink: Bool { change == .enroll && progress == nil && !link.isEmpty }

    /// Signs in and does the open change.
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

    /// Enrolls by the code of a sign-in page.
    public func submitLink() async {
        guard canUseLink else { return }
        let (link, verifies) = (link, wantsUserVerification)
        await carryOut { [service] _ in words("%@ was added.", try await service.enroll(link: link, userVerification: verifies).name) }
    }

    /// Closes the form of a change; one that is under way is given up, and its request is taken back from the phones.
    public func cancelChange() {
        changing?.cancel()
        guard progress == nil else { return }
        errorMessage = nil
        closeChange()
    }

    /// Gives a change that is under way up, and waits until its request is taken back; for an app that is about to end.
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
            if task.isCancelled { closeChange() } else { errorMessage = Self.text(of: error) }
        }
        updateAccounts()
    }

    // MARK: - Changes that need none

    /// Lets requests come that no sign-in has begun, or not.
    ///
    /// - Parameters:
    ///   - isOn: Whether they may.
    ///   - id: For which account.
    public func setCIBA(_ isOn: Bool, of id: Account.ID) async {
        await load { try await self.service.setCIBA(isOn, of: id) }
    }

    /// Removes an account from this device alone, once the person has confirmed it.
    ///
    /// - Parameter id: Which. Not taken from ``removing``: an alert may be closed before what its button began runs.
    public func removeFromDevice(_ id: Account.ID) async {
        guard !isLoading else { return }
        removing = nil
        await load {
            try await self.service.removeFromDevice(id)
            self.requests.removeAll { $0.accountID == id }
            self.notice = words("The account was removed from this device.")
        }
    }

    /// Tells the organizations where pushes for this device go from now on.
    ///
    /// - Parameter token: The token as the system gave it.
    public func updatePushToken(_ token: Data) async {
        do { try await service.updatePushToken(token) } catch { errorMessage = Self.text(of: error) }
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
        do { try await work() } catch is CancellationError {} catch { errorMessage = Self.text(of: error) }
    }

    // MARK: - Requests

    /// Fetches what waits, on demand. If that fails for some accounts, it is told, although requests of others are shown.
    public func retrieve() async {
        await load {
            if let failure = await self.fetch() { throw failure }
            if self.requests.isEmpty { self.notice = words("Nothing waits for you.") }
        }
    }

    /// Fetches pending requests, because pushes may have been missed. Shows no message without requests or network.
    public func didBecomeActive() async {
        updateAccounts()
        guard !accounts.isEmpty, !isLoading else { return }
        // What can't be fetched now is fetched the next time, or on demand, which tells why.
        await fetch()
    }

    /// Fetches what waits again and again, for a device without pushes. Ends when its task is cancelled.
    ///
    /// - Parameter interval: How many seconds are between two fetches, at least one.
    public func listen(every interval: TimeInterval = 2) async {
        while !Task.isCancelled {
            await didBecomeActive()
            do { try await clock.sleep(for: max(interval, 1)) } catch { return }
        }
    }

    /// - Returns: Why not all accounts could be asked for.
    @discardableResult
    private func fetch() async -> (any Error)? {
        let known = Set(requests.map(\.id))
        let retrieved = await service.retrieve()
        let fetched = retrieved.requests.filter { !over.contains($0.id) && $0.expiresAt > clock.now }
        let ids = Set(fetched.map(\.id))
        if !ids.isSubset(of: known) { notice = nil }
        // What came by push meanwhile stays; what does not wait any more is over.
        requests = (requests.filter { !known.contains($0.id) && !ids.contains($0.id) } + fetched).sorted { $0.time < $1.time }
        dropOver()
        return retrieved.failure
    }

    private func dropOver() {
        requests.removeAll { $0.expiresAt <= clock.now }
        if let presented, !waits(presented) { self.presented = nil }
    }

    /// Takes a push that came while the app is in front.
    ///
    /// - Parameter push: Its payload.
    /// - Returns: Whether it was a request, which is now shown; another push is for the rest of the app.
    @discardableResult
    public func didReceive(_ push: PushPayload) async -> Bool {
        await admit(push) != nil
    }

    /// Takes a notification that the person tapped, or chose an action of.
    ///
    /// Approving and denying there is the answer, unless a number has to be picked. What still waits then is shown: settings are closed for
    /// it, and a form too, unless it is under way; that one shows the request itself.
    ///
    /// - Parameter push: Its payload, with the action.
    /// - Returns: Whether it was a request.
    @discardableResult
    public func didRespond(to push: PushPayload) async -> Bool {
        guard let request = await admit(push) else { return false }
        errorMessage = nil
        switch push.action {
        case PushAction.approve where request.numbers == nil: await answer(request.id, .approve())
        case PushAction.deny: await answer(request.id, .deny())
        default: if !waits(request.id) { errorMessage = Self.text(of: SignInTrouble.noSuchRequest) }
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
            errorMessage = Self.text(of: error)
            return nil
        }
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - id: Which.
    ///   - answer: The answer; an approval with the number, if the request has some.
    public func answer(_ id: ApprovalRequest.ID, _ answer: Answer) async {
        guard answering == nil else { return }
        guard let request = requests.first(where: { $0.id == id }) else {
            errorMessage = Self.text(of: SignInTrouble.noSuchRequest)
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
            errorMessage = Self.text(of: error)
            if Self.endsRequest(error) { end(id) }
        }
    }

    private func end(_ id: ApprovalRequest.ID) {
        over.insert(id)
        requests.removeAll { $0.id == id }
        dropOver()
    }

    /// Whether the request waits no more.
    private static func endsRequest(_ error: any Error) -> Bool {
        switch (error as? DeviceAuthenticatorError)?.reason {
        case nil, .network, .tooManyRequests, .numberNotPicked, .notAnswered: false
        default: true
        }
    }

    private static func text(of error: any Error) -> String {
        guard case .serverAPIError(_, let model)? = error as? DeviceAuthenticatorError,
            case let causes = (model?.errorCauses ?? []).compactMap({ $0["errorSummary"] }), !causes.isEmpty
        else { return error.localizedDescription }
        return causes.joined(separator: " ")
    }
}
