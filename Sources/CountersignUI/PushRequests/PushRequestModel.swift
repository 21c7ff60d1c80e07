public import AuthFoundation
public import DeviceAuthenticator
public import Foundation
public import Observation

/// The pending requests of an authenticator app, and the user's answers. `PushRequestView` shows them. The app itself enrolls accounts with
/// `DeviceAuthenticator`.
///
/// ```swift
/// let requests = PushRequestModel(device: device)
/// await requests.fetch()
/// // Shows requests.current. After the user has read it:
/// if let request = requests.current, requests.canApprove { await requests.approve(request.id) }
/// ```
///
/// An attacker who knows the password can start a sign-in at the same time as the user. A second request therefore never takes the place of
/// the first by itself: with several requests, and for a minute after a request has ended, the user selects the request to answer.
///
/// Use it from the main actor.
@MainActor
@Observable
public final class PushRequestModel {
    /// The seconds for which a request must be visible before it can be approved. A tap for the earlier content then approves nothing.
    static let readingTime: TimeInterval = 1
    /// The seconds after the end of a request for which no other request is shown by itself.
    static let pause: TimeInterval = 60

    /// The pending requests, oldest first.
    public private(set) var requests: [PushRequest] = []
    /// The request that the user has selected, by its notification or by ``select(_:)``; `nil` for none.
    public private(set) var selected: PushRequest.ID?
    /// The request whose answer is being sent; `nil` for none.
    public private(set) var answering: PushRequest.ID?
    /// Whether a fetch of requests is in progress.
    public private(set) var isFetching = false
    /// The result of the last answer; `nil` for none. The next answer and ``clearMessages()`` clear it, and the next fetch if the answer is
    /// older than a minute.
    public private(set) var outcome: PushRequestOutcome?
    /// The problem of the last action; `nil` for none. The next action and ``clearMessages()`` clear it.
    public private(set) var problem: PushRequestProblem?

    private var shown: PushRequest.ID?
    /// Whether the current request has been visible for ``readingTime``.
    private var isReadable = false
    @ObservationIgnored private var shownSince: Date?
    @ObservationIgnored private var reading: Task<Void, Never>?
    /// The time at which the last request ended.
    @ObservationIgnored private var lastEnd: Date?

    @ObservationIgnored private let device: any DeviceAuthenticatorProtocol
    @ObservationIgnored private let clock: any OAuth2Clock
    @ObservationIgnored private var challenges: [PushRequest.ID: PushChallenge] = [:]
    /// The answered requests. A late push must not show them again.
    @ObservationIgnored private var answered: Set<PushRequest.ID> = []
    /// The answers that wait for the end of the one that is being sent.
    @ObservationIgnored private var waiting: [CheckedContinuation<Void, Never>] = []
    /// The maintenance tokens by enrollment. A token is reused until the organization rejects it, and is never stored.
    @ObservationIgnored private var maintenanceTokens: [String: AuthToken] = [:]

    /// Creates a model without requests. Call ``fetch(reportsProblem:)`` when the app becomes active; `PushRequestView` does so.
    /// - Parameters:
    ///   - device: The authenticator of this app, whose clock decides on the expiry of requests.
    ///   - clock: The clock for waits.
    public init(device: any DeviceAuthenticatorProtocol, clock: any OAuth2Clock = DeviceClock()) {
        self.device = device
        self.clock = clock
    }

    deinit { reading?.cancel() }

    // MARK: - Showing

    /// The request to show: the one that the user has selected, or else the only one. `nil` if there is none, and if the user must select
    /// one of ``requests``: with several requests, and if a request arrived while another one was pending or within a minute of its end.
    public var current: PushRequest? { requests.first { $0.id == shown } }

    /// Whether ``approve(_:number:)`` approves the current request: its signature is verified, it has been ``current`` with all details for
    /// a second, and no answer is being sent.
    public var canApprove: Bool { isReadable && answering == nil && current?.isVerified == true }

    /// Shows a pending request, or with `nil` the list of requests if there are several. A no-op while an answer is being sent.
    public func select(_ id: PushRequest.ID?) {
        guard answering == nil else { return }
        problem = nil
        selected = id
        update()
    }

    // MARK: - Receiving

    /// Asks the organizations of all accounts for pending requests, because pushes can be lost. If an account cannot be asked, its requests
    /// stay. A no-op during another call.
    /// - Parameter reportsProblem: Whether a failure sets ``problem``. With `false`, such as for a fetch that the user did not start,
    ///   ``problem`` does not change.
    public func fetch(reportsProblem: Bool = true) async {
        guard !isFetching else { return }
        isFetching = true
        defer { isFetching = false }
        let (known, answeredBefore) = (Set(challenges.keys), answered)
        var listed: [PushRequest.ID: PushChallenge] = [:]
        var unasked: Set<String> = []
        var failure: (any Error)?
        do {
            for enrollment in try device.enrollments() {
                do {
                    for challenge in try await pending(enrollment) { listed[PushRequest.ID(challenge)] = challenge }
                } catch is CancellationError {
                    return
                } catch {
                    unasked.insert(enrollment.enrollmentId)
                    failure = failure ?? error
                }
            }
        } catch {
            if reportsProblem { problem = PushRequestProblem(error) }
            return
        }
        // Requests that a push delivered meanwhile stay.
        challenges = challenges.filter { id, _ in !known.contains(id) || listed[id] != nil || unasked.contains(id.enrollmentID) }
        // A request that was answered meanwhile is not pending any more.
        let answeredMeanwhile = answered.subtracting(answeredBefore)
        for (id, challenge) in listed where !answeredMeanwhile.contains(id) && (!known.contains(id) || challenges[id] != nil) {
            challenges[id] = challenge
        }
        if reportsProblem { problem = failure.map { PushRequestProblem($0) } }
        update()
    }

    /// Fetches pending requests repeatedly until the task is cancelled, for a device without pushes. Failures are not reported, so that the
    /// problem of an answer stays visible.
    /// - Parameter interval: The seconds between two fetches, at least one.
    public func listen(every interval: TimeInterval = 5) async {
        while !Task.isCancelled {
            await fetch(reportsProblem: false)
            do { try await clock.sleep(for: max(interval, 1)) } catch { return }
        }
    }

    /// Reads the payload of a push, verifies it, and shows it or answers it.
    /// - Parameters:
    ///   - userInfo: The payload.
    ///   - action: The action that the user chose on the notification. `APPROVE_BUTTON` and `DENY_BUTTON` answer the request, unless an
    ///     approval needs a number or the message of a request without a sign-in (CIBA), which the notification does not show. If the
    ///     request cannot be verified, such as without a network, it stays pending, only a denial is tried, and ``problem`` tells the
    ///     reason. Any other action selects the request. `nil` if the app is in the foreground.
    /// - Returns: Whether the push is a request. The app handles other pushes itself.
    @discardableResult
    public func receive(_ userInfo: [AnyHashable: Any], action: String? = nil) async -> Bool {
        do {
            guard let challenge = try device.parsePushNotification(userInfo: userInfo, actionIdentifier: action) as? PushChallenge else {
                return false
            }
            let (id, response) = (PushRequest.ID(challenge), challenge.userResponse)
            var failure: PushRequestProblem?
            do { try await challenge.verify() } catch {
                failure = PushRequestProblem(error)
                if failure?.endsRequest == true { throw error }
            }
            // A request that cannot be verified yet stays pending, but it does not take the place of a verified one.
            if !answered.contains(id), failure == nil || challenges[id] == nil { challenges[id] = challenge }
            if let failure { problem = failure }
            if action != nil { selected = id }
            update()
            guard action != nil else { return true }
            switch response {
            case .userApproved where failure == nil && challenge.numberChoices == nil && !challenge.isCIBA:
                await answerInTurn(id, .approved)
            case .userDenied: await deny(id)
            default: if challenges[id] == nil { problem = PushRequestProblem(.over) }
            }
            return true
        } catch DeviceAuthenticatorError.pushNotRecognized {
            return false
        } catch {
            problem = PushRequestProblem(error)
            return true
        }
    }

    // MARK: - Answering

    /// Approves the current request. If the organization asks for it, the device verifies the user first. If the signature of the request
    /// is not verified, verifies it instead, so that the user sees the details and then approves.
    /// - Parameters:
    ///   - id: The id of the request. A no-op if the request is pending and not ``current``, or has been for less than a second.
    ///   - number: The number of a number challenge, without which such a request is not approved.
    public func approve(_ id: PushRequest.ID, number: String? = nil) async {
        if let challenge = challenges[id] {
            guard answering == nil, id == shown else { return }
            guard challenge.isVerified else { return await verify(challenge) }
            guard hasBeenReadable, challenge.numberChoices == nil || number != nil else { return }
        }
        await answer(id, .approved, number: number)
    }

    /// Denies a request. While the answer to another request is being sent, waits for its end, so that the denial is not lost. A no-op while
    /// an answer to this request is being sent.
    /// - Parameters:
    ///   - id: The id of the request.
    ///   - isSuspicious: Whether to report that the user did not start the sign-in.
    public func deny(_ id: PushRequest.ID, isSuspicious: Bool = false) async {
        await answerInTurn(id, isSuspicious ? .reported : .denied)
    }

    /// Sends an answer after the end of the one that is being sent. A no-op if that one is for the same request.
    private func answerInTurn(_ id: PushRequest.ID, _ outcome: PushRequestOutcome) async {
        while let running = answering {
            if running == id { return }
            await withCheckedContinuation { waiting.append($0) }
        }
        await answer(id, outcome)
    }

    private func verify(_ challenge: PushChallenge) async {
        problem = nil
        do { try await challenge.verify() } catch is CancellationError {} catch {
            fail(PushRequestProblem(error), PushRequest.ID(challenge))
        }
        update()
    }

    private func answer(_ id: PushRequest.ID, _ outcome: PushRequestOutcome, number: String? = nil) async {
        guard answering == nil else { return }
        self.outcome = nil
        problem = nil
        guard let challenge = challenges[id] else {
            problem = PushRequestProblem(.over)
            return update()
        }
        answering = id
        defer {
            answering = nil
            update()
            let next = waiting
            waiting = []
            for answer in next { answer.resume() }
        }
        do {
            // Resets an earlier answer, so that the user can answer again after a network failure.
            challenge.userResponse = .userNotResponded
            let isUnverified = Locked(false)
            try await challenge.resolve { step in
                switch step {
                case let consent as RemediationStepUserConsent where outcome == .approved:
                    consent.provide(.approved, selectedNumber: number)
                case let consent as RemediationStepUserConsent: consent.provide(.denied, reportSuspicious: outcome == .reported)
                case let message as RemediationStepMessage where message.reasonType != .userVerificationKeyNotEnrolled:
                    isUnverified.exchange(true)
                default: step.defaultProcess()
                }
            }
            finish(id)
            self.outcome = outcome == .approved && isUnverified.withLock { $0 } ? .approvedUnverified : outcome
        } catch is CancellationError {
        } catch {
            fail(PushRequestProblem(error, hasNumber: number != nil), id)
        }
    }

    private func fail(_ problem: PushRequestProblem, _ id: PushRequest.ID) {
        self.problem = problem
        if problem.endsRequest { finish(id) }
    }

    private func finish(_ id: PushRequest.ID) {
        lastEnd = clock.now
        answered.insert(id)
        challenges[id] = nil
    }

    /// Clears ``outcome`` and ``problem``, such as after the user has read them.
    public func clearMessages() {
        outcome = nil
        problem = nil
    }

    // MARK: - State

    private func update() {
        challenges = challenges.filter { !$0.value.isExpired }
        let accounts = Dictionary(device.allEnrollments().map { ($0.enrollmentId, $0) }, uniquingKeysWith: { first, _ in first })
        let (earlier, before) = (requests, current)
        requests = challenges.map { id, challenge in PushRequest(challenge, of: accounts[id.enrollmentID]) }.sorted {
            ($0.time, $0.enrollmentID, $0.id.transactionID) < ($1.time, $1.enrollmentID, $1.id.transactionID)
        }
        if earlier.contains(where: { challenges[$0.id] == nil }) { lastEnd = clock.now }
        let isPaused = lastEnd.map { hasPassed(Self.pause, since: $0) } == false
        if !isPaused { outcome = nil }
        if let id = selected, challenges[id] == nil { selected = nil }
        shown = requestToShow(after: earlier, isPaused: isPaused)?.id
        // The verification adds details.
        if current?.id != before?.id || current?.isVerified != before?.isVerified { beginReading() }
    }

    /// Returns the request to show. Only a request that arrives alone is shown without an action of the user.
    private func requestToShow(after earlier: [PushRequest], isPaused: Bool) -> PushRequest? {
        if let id = answering ?? selected, let request = requests.first(where: { $0.id == id }) { return request }
        guard requests.count == 1, let only = requests.first else { return nil }
        return only.id == shown || earlier.isEmpty && !isPaused ? only : nil
    }

    private func beginReading() {
        isReadable = false
        shownSince = clock.now
        reading?.cancel()
        reading = Task { [weak self, clock] in
            guard (try? await clock.sleep(for: Self.readingTime)) != nil, !Task.isCancelled else { return }
            self?.isReadable = true
        }
    }

    /// The same as ``isReadable``, without the delay of a task.
    private var hasBeenReadable: Bool { shownSince.map { hasPassed(Self.readingTime, since: $0) } ?? false }

    /// Whether a time has passed. A clock that was set back counts as well, so that it blocks nothing.
    private func hasPassed(_ interval: TimeInterval, since start: Date) -> Bool {
        abs(clock.now.timeIntervalSince(start)) >= interval
    }

    private func pending(_ enrollment: any AuthenticatorEnrollmentProtocol) async throws -> [PushChallenge] {
        if let token = maintenanceTokens[enrollment.enrollmentId] {
            do {
                return try await pending(enrollment, token)
            } catch let error as DeviceAuthenticatorError where [.tokenRefused, .notPermitted].contains(error.reason) {
                maintenanceTokens[enrollment.enrollmentId] = nil
            }
        }
        let token = AuthToken.bearer(try await enrollment.retrieveMaintenanceToken().access_token)
        maintenanceTokens[enrollment.enrollmentId] = token
        return try await pending(enrollment, token)
    }

    private func pending(_ enrollment: any AuthenticatorEnrollmentProtocol, _ token: AuthToken) async throws -> [PushChallenge] {
        try await enrollment.retrievePushChallenges(authenticationToken: token).compactMap { $0 as? PushChallenge }
    }
}
