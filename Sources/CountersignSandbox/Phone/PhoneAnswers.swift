internal import AuthFoundation
internal import DeviceAuthenticator
internal import Foundation
internal import Logging

extension VirtualPhone {
    /// The user's answer to a request.
    struct Answer: Sendable {
        var approves: Bool
        var number: String?
        var isSuspicious = false
    }

    /// Approves a request.
    /// - Parameter selectedNumber: The number to pick for a request with number choices; `nil` for the number set by ``pickNumber(_:)``.
    /// - Throws: ``PhoneError/Code/unknownRequest`` if the request is not pending; ``PhoneError/Code/removed``; `DeviceAuthenticatorError`
    ///   if the approval was not sent or was rejected. After a network failure, the request stays pending.
    public func approve(_ id: Request.ID, selectedNumber: String? = nil) async throws {
        try await answer(try take(id), Answer(approves: true, number: selectedNumber))
    }

    /// Denies a request.
    /// - Parameter isSuspicious: Whether to report that the user did not start the sign-in.
    /// - Throws: The errors of ``approve(_:selectedNumber:)``.
    public func deny(_ id: Request.ID, isSuspicious: Bool = false) async throws {
        try await answer(try take(id), Answer(approves: false, isSuspicious: isSuspicious))
    }

    private func take(_ id: Request.ID) throws -> PhoneInbox.Entry {
        let now = parts.clock.now
        let taken = change { state in
            state.inbox.expire(now: now)
            return state.inbox.take { $0.id == id }
        }
        guard read({ $0.isOn }) else { throw isRemoved }
        guard let taken else {
            throw PhoneError(
                .unknownRequest,
                "No request \(id) waits on the phone of \(login). It was already answered, has expired, or was never delivered.")
        }
        return taken
    }

    /// Approves the oldest pending request. Without a pending request, waits for the next one and approves it.
    /// - Parameters:
    ///   - number: The number to pick for a request with number choices; `nil` for the number set by ``pickNumber(_:)``.
    ///   - limit: The maximum wait for a request, by the system's clock.
    /// - Returns: The approved request.
    /// - Throws: ``PhoneError/Code/nothingArrived`` if no request arrived; otherwise the errors of ``approve(_:selectedNumber:)``.
    @discardableResult
    public func approveNext(number: String? = nil, within limit: Duration = .seconds(30)) async throws -> Request {
        let taken = try await next(within: limit)
        try await answer(taken, Answer(approves: true, number: number))
        return taken.request
    }

    /// Denies the oldest pending request. Without a pending request, waits for the next one and denies it.
    /// - Parameters:
    ///   - isSuspicious: Whether to report that the user did not start the sign-in.
    ///   - limit: The maximum wait for a request, by the system's clock.
    /// - Returns: The denied request.
    /// - Throws: The errors of ``approveNext(number:within:)``.
    @discardableResult
    public func denyNext(isSuspicious: Bool = false, within limit: Duration = .seconds(30)) async throws -> Request {
        let taken = try await next(within: limit)
        try await answer(taken, Answer(approves: false, isSuspicious: isSuspicious))
        return taken.request
    }

    private func next(within limit: Duration) async throws -> PhoneInbox.Entry {
        let taken = try await withThrowingTaskGroup(of: PhoneInbox.Entry?.self) { group in
            group.addTask { try await self.next() }
            group.addTask {
                // This task is cancelled if a request arrives in time.
                try? await Task.sleep(for: limit, clock: .continuous)
                return nil
            }
            var taken: PhoneInbox.Entry?
            // Waits for both tasks, because the cancelled task may have taken a request already.
            while let result = try await group.next() {
                taken = taken ?? result
                group.cancelAll()
            }
            return taken
        }
        try Task.checkCancellation()
        guard let taken else {
            throw PhoneError(.nothingArrived, "No request came to the phone of \(login) within \(limit). Was one sent?")
        }
        return taken
    }

    /// Takes the first available request; `nil` if the task is cancelled.
    private func next() async throws -> PhoneInbox.Entry? {
        for await _ in changes {
            let now = parts.clock.now
            let taken =
                read { $0.inbox.requests.isEmpty }
                ? nil
                : change { state in
                    state.inbox.expire(now: now)
                    return state.inbox.take { _ in true }
                }
            if let taken { return taken }
        }
        if Task.isCancelled { return nil }
        throw isRemoved
    }

    private var isRemoved: PhoneError { PhoneError(.removed, "The phone of \(login) was removed, or its sandbox has stopped.") }

    /// Whether the phone approves each request automatically and at once. A request with number choices waits until ``pickNumber(_:)`` sets
    /// the number.
    public var autoApprove: Bool {
        get { read { $0.answersByItself } }
        set {
            change { $0.answersByItself = newValue }
            answerByItself()
        }
    }

    /// Sets the number that the sign-in shows. The next approved request with number choices uses it.
    public func pickNumber(_ number: String) {
        change { $0.toldNumber = number }
        answerByItself()
    }

    func answerByItself() {
        while let taken = takeForItself() {
            start { phone in
                // A failed answer is recorded in the history, or the request stays pending.
                try? await phone.answer(taken, Answer(approves: true))
            }
        }
    }

    private func takeForItself() -> PhoneInbox.Entry? {
        guard read({ $0.isOn && $0.answersByItself && !$0.inbox.requests.isEmpty }) else { return nil }
        return change { state in
            let hasNumber = state.toldNumber != nil
            return state.inbox.take { $0.numberChoices == nil || hasNumber }
        }
    }

    func answer(_ taken: PhoneInbox.Entry, _ answer: Answer) async throws {
        let number = taken.request.numberChoices.flatMap { self.number(of: $0, told: answer.number) }
        do {
            // Resets an earlier answer, so that the user can answer again after a network failure.
            taken.challenge.userResponse = .userNotResponded
            try await taken.challenge.resolve { [logger = parts.logger] step in
                switch step {
                case let step as RemediationStepUserConsent:
                    step.provide(answer.approves ? .approved : .denied, selectedNumber: number, reportSuspicious: answer.isSuspicious)
                case let step as RemediationStepMessage: logger.write(.info, "message", step.message)
                default: step.defaultProcess()
                }
            }
            let now = parts.clock.now
            change { $0.inbox.end(taken.request.id, answer.approves ? .approved : .denied, at: now) }
        } catch {
            note(error, of: taken.request)
            throw error
        }
    }

    /// Returns the number to pick: the given number, or else the number set by ``pickNumber(_:)``, or a wrong number if
    /// ``picksWrongNumber`` is set.
    private func number(of choices: [String], told: String?) -> String? {
        change { state in
            let number = told ?? state.toldNumber
            state.toldNumber = nil
            return state.picksWrongNumber ? choices.first { $0 != number } : number
        }
    }

    private func note(_ error: any Error, of request: Request) {
        let now = parts.clock.now
        let outcome: HistoryEntry.Outcome? =
            switch (error as? DeviceAuthenticatorError)?.reason {
            // Temporary failures: the request stays pending.
            case nil, .network, .numberNotPicked, .notAnswered, .tooManyRequests: nil
            case .expired: .expired
            case .cancelled: .cancelled
            case .alreadyAnswered: .failed("It was answered on another device.")
            default: .failed(Self.text(of: error))
            }
        change { state in
            if let outcome { state.inbox.end(request.id, outcome, at: now) } else { state.inbox.putBack(request.id) }
        }
    }

    /// Returns the error text of the server, or else the technical description of the error.
    static func text(of error: any Error) -> String {
        guard case .serverAPIError(_, let model)? = error as? DeviceAuthenticatorError,
            case let causes = (model?.errorCauses ?? []).compactMap({ $0["errorSummary"] }), !causes.isEmpty
        else { return technicalText(of: error) }
        return causes.joined(separator: " ")
    }
}
