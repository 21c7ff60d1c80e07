public import AuthFoundation
public import DeviceAuthenticator
public import Foundation
public import Observation

/// The pending requests of an authenticator app, and the user's answers. `PushRequestView` shows it. The app enrolls accounts with
/// `DeviceAuthenticator` itself.
///
/// ```swift
/// let requests = PushRequestModel(device: device)
/// await requests.fetch()
/// if let request = requests.requests.first { await requests.approve(request.id) }
/// ```
///
/// Use it from the main actor.
@MainActor
@Observable
public final class PushRequestModel {
    /// The pending requests, oldest first.
    public private(set) var requests: [PushRequest] = []
    /// The request that a view shows first, because the user has tapped its notification; `nil` for none.
    public private(set) var selected: PushRequest.ID?
    /// The request whose answer is being sent; `nil` for none.
    public private(set) var answering: PushRequest.ID?
    /// Whether the servers are asked for requests.
    public private(set) var isFetching = false
    /// The result of the last answer; `nil` for none. The next answer, a new request and ``clearMessages()`` clear it.
    public private(set) var outcome: PushRequestOutcome?
    /// The problem of the last action; `nil` for none. The next action and ``clearMessages()`` clear it.
    public private(set) var problem: PushRequestProblem?

    @ObservationIgnored private let device: any DeviceAuthenticatorProtocol
    @ObservationIgnored private let clock: any OAuth2Clock
    @ObservationIgnored private var challenges: [PushRequest.ID: PushChallenge] = [:]
    /// The answered requests. A late push must not show them again.
    @ObservationIgnored private var answered: Set<PushRequest.ID> = []
    /// The maintenance tokens by enrollment. A token is reused until the organization rejects it, and is never stored.
    @ObservationIgnored private var maintenanceTokens: [String: AuthToken] = [:]

    /// Creates a model without requests. Call ``fetch()`` when the app becomes active; `PushRequestView` does so.
    /// - Parameters:
    ///   - device: The authenticator of this app.
    ///   - clock: The clock for the expiry of requests.
    public init(device: any DeviceAuthenticatorProtocol, clock: any OAuth2Clock = DeviceClock()) {
        self.device = device
        self.clock = clock
    }

    /// The request to show: the one whose notification the user has tapped, or else the oldest one; `nil` for none.
    public var current: PushRequest? { requests.first { $0.id == selected } ?? requests.first }

    // MARK: - Receiving

    /// Asks the organizations of all accounts for pending requests, because pushes can be lost. If an account cannot be asked, its requests
    /// stay. A no-op during another call.
    /// - Parameter reportsProblem: Whether ``problem`` says if an account cannot be asked. With `false`, such as for a fetch that the user
    ///   did not start, ``problem`` does not change.
    public func fetch(reportsProblem: Bool = true) async {
        guard !isFetching else { return }
        isFetching = true
        defer { isFetching = false }
        let known = Set(challenges.keys)
        var listed: [PushRequest.ID: PushChallenge] = [:]
        var unasked: Set<String> = []
        var failure: (any Error)?
        do {
            for enrollment in try device.enrollments() {
                do {
                    for challenge in try await pending(enrollment) { listed[challenge.transactionId] = challenge }
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
        challenges = challenges.filter { id, challenge in
            !known.contains(id) || listed[id] != nil || unasked.contains(challenge.enrollmentId)
        }
        // A request that was answered meanwhile is not pending any more.
        for (id, challenge) in listed where !known.contains(id) || challenges[id] != nil { challenges[id] = challenge }
        if reportsProblem { problem = failure.map(PushRequestProblem.init) }
        update()
    }

    /// Asks for pending requests again and again, for a device without pushes, until the task is cancelled. Failures are not reported, so
    /// that the problem of an answer stays visible.
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
    ///     approval needs a number; any other action selects it. `nil` if the app is in the foreground.
    /// - Returns: Whether the push is a request. The app handles other pushes itself.
    @discardableResult
    public func receive(_ userInfo: [AnyHashable: Any], action: String? = nil) async -> Bool {
        do {
            guard let challenge = try device.parsePushNotification(userInfo: userInfo, actionIdentifier: action) as? PushChallenge else {
                return false
            }
            let (id, response) = (challenge.transactionId, challenge.userResponse)
            try await challenge.verify()
            if !answered.contains(id) { challenges[id] = challenge }
            update()
            guard action != nil else { return true }
            if challenges[id] != nil { selected = id }
            switch response {
            case .userApproved where challenge.numberChoices == nil: await approve(id)
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

    /// Approves a request. If the organization asks for it, the device verifies the user first.
    /// - Parameters:
    ///   - id: The id of the request.
    ///   - number: The number of a number challenge, without which such a request is not approved.
    public func approve(_ id: PushRequest.ID, number: String? = nil) async {
        if challenges[id]?.numberChoices != nil, number == nil { return }
        await answer(id, .approved) { $0.provide(.approved, selectedNumber: number) }
    }

    /// Denies a request.
    /// - Parameters:
    ///   - id: The id of the request.
    ///   - isSuspicious: Whether to report that the user did not start the sign-in.
    public func deny(_ id: PushRequest.ID, isSuspicious: Bool = false) async {
        await answer(id, isSuspicious ? .reported : .denied) { $0.provide(.denied, reportSuspicious: isSuspicious) }
    }

    private func answer(
        _ id: PushRequest.ID, _ outcome: PushRequestOutcome, provide: @escaping @Sendable (RemediationStepUserConsent) -> Void
    ) async {
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
        }
        do {
            // Resets an earlier answer, so that the user can answer again after a network failure.
            challenge.userResponse = .userNotResponded
            let isUnverified = Locked(false)
            try await challenge.resolve { step in
                switch step {
                case let consent as RemediationStepUserConsent: provide(consent)
                case let message as RemediationStepMessage where message.reasonType != .userVerificationKeyNotEnrolled:
                    isUnverified.exchange(true)
                default: step.defaultProcess()
                }
            }
            finish(id)
            self.outcome = outcome == .approved && isUnverified.withLock { $0 } ? .approvedUnverified : outcome
        } catch is CancellationError {
        } catch {
            problem = PushRequestProblem(error)
            if !PushRequestProblem.keepsRequest(error) { finish(id) }
        }
    }

    private func finish(_ id: PushRequest.ID) {
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
        let known = Set(requests.map(\.id))
        challenges = challenges.filter { $0.value.expirationTime > clock.now }
        let names = Dictionary(
            device.allEnrollments().map { ($0.enrollmentId, $0.user.name) }, uniquingKeysWith: { first, _ in first })
        requests = challenges.values.map { PushRequest($0, userName: names[$0.enrollmentId] ?? nil) }.sorted { $0.time < $1.time }
        // The result of an earlier answer must not be taken for the result of a new request.
        if !known.isSuperset(of: requests.map(\.id)) { outcome = nil }
        if let id = selected, challenges[id] == nil { selected = nil }
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
