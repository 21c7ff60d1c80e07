internal import DeviceAuthenticator
internal import Foundation
internal import Logging

/// How requests are answered.
extension VirtualPhone {
    /// An answer, as the person decides it.
    struct Answer: Sendable {
        var approves: Bool
        var number: String?
        var isSuspicious = false
    }

    // MARK: - A certain request

    /// Approves a request.
    ///
    /// - Parameters:
    ///   - id: The request's id.
    ///   - selectedNumber: The number to pick, if it has some; nil for the one that ``pickNumber(_:)`` told.
    /// - Throws: ``PhoneError/Code/unknownRequest`` if it does not wait; `DeviceAuthenticatorError` if the approval was not sent or not taken.
    ///   After a failure of the network the request waits on.
    public func approve(_ id: Request.ID, selectedNumber: String? = nil) async throws {
        try await answer(try take(id), Answer(approves: true, number: selectedNumber))
    }

    /// Denies a request.
    ///
    /// - Parameters:
    ///   - id: The request's id.
    ///   - isSuspicious: Whether to say that it was not the person who started it.
    /// - Throws: As ``approve(_:selectedNumber:)``.
    public func deny(_ id: Request.ID, isSuspicious: Bool = false) async throws {
        try await answer(try take(id), Answer(approves: false, isSuspicious: isSuspicious))
    }

    private func take(_ id: Request.ID) throws -> PhoneInbox.Taken {
        let now = parts.clock.now
        let taken = change { state in
            state.inbox.expire(now: now)
            return state.inbox.take { $0.id == id }
        }
        guard read({ $0.isOn }) else { throw isRemoved }
        guard let taken else {
            throw PhoneError(.unknownRequest, "No request \(id) waits on the phone of \(login). It is over, or was never delivered.")
        }
        return taken
    }

    // MARK: - The next request

    /// Approves the next request: one that waits, or else the first that comes.
    ///
    /// - Parameters:
    ///   - number: The number to pick, if it has some; nil for the one that ``pickNumber(_:)`` told.
    ///   - limit: How long to wait for a request, by the system's clock; by default half a minute.
    /// - Returns: What was approved.
    /// - Throws: ``PhoneError/Code/nothingArrived`` if no request came; else as ``approve(_:selectedNumber:)``.
    @discardableResult
    public func approveNext(number: String? = nil, within limit: Duration = .seconds(30)) async throws -> Request {
        let taken = try await next(within: limit)
        try await answer(taken, Answer(approves: true, number: number))
        return taken.request
    }

    /// Denies the next request: one that waits, or else the first that comes.
    ///
    /// - Parameters:
    ///   - isSuspicious: Whether to say that it was not the person who started it.
    ///   - limit: How long to wait for a request, by the system's clock; by default half a minute.
    /// - Returns: What was denied.
    /// - Throws: As ``approveNext(number:within:)``.
    @discardableResult
    public func denyNext(isSuspicious: Bool = false, within limit: Duration = .seconds(30)) async throws -> Request {
        let taken = try await next(within: limit)
        try await answer(taken, Answer(approves: false, isSuspicious: isSuspicious))
        return taken.request
    }

    private func next(within limit: Duration) async throws -> PhoneInbox.Taken {
        let taken = try await withThrowingTaskGroup(of: PhoneInbox.Taken?.self) { group in
            group.addTask { try await self.next() }
            group.addTask {
                // A request that comes at the last moment cancels this.
                try? await Task.sleep(for: limit, clock: .continuous)
                return nil
            }
            var taken: PhoneInbox.Taken?
            // The second is waited for as well: it may have taken a request just then.
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

    /// The first request that nobody else has taken; nil if the task is cancelled.
    private func next() async throws -> PhoneInbox.Taken? {
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

    // MARK: - By itself

    /// Whether the phone approves what comes, at once and by itself. A request with numbers waits until ``pickNumber(_:)`` tells one.
    public var autoApprove: Bool {
        get { read { $0.answersByItself } }
        set {
            change { $0.answersByItself = newValue }
            answerByItself()
        }
    }

    /// Tells the number that the sign-in shows, to be picked at the next request that has some.
    ///
    /// - Parameter number: The number.
    public func pickNumber(_ number: String) {
        change { $0.toldNumber = number }
        answerByItself()
    }

    func answerByItself() {
        while let taken = takeForItself() {
            start { phone in
                // What it did not deliver is in the history, or waits on.
                try? await phone.answer(taken, Answer(approves: true))
            }
        }
    }

    private func takeForItself() -> PhoneInbox.Taken? {
        guard read({ $0.isOn && $0.answersByItself && !$0.inbox.requests.isEmpty }) else { return nil }
        return change { state in
            let hasNumber = state.toldNumber != nil
            return state.inbox.take { $0.numberChoices == nil || hasNumber }
        }
    }

    // MARK: - Answering

    func answer(_ taken: PhoneInbox.Taken, _ answer: Answer) async throws {
        let number = taken.request.numberChoices.flatMap { self.number(of: $0, told: answer.number) }
        do {
            // As if it was never asked, so that a person may think again after a failure of the network.
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

    /// The number to pick: what the person says, unless they are told to err.
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
            // Not sent, or not taken for now: it waits on.
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

    /// Why the server or the phone itself refused, in its own words.
    static func text(of error: any Error) -> String {
        guard case .serverAPIError(_, let model)? = error as? DeviceAuthenticatorError,
            case let causes = (model?.errorCauses ?? []).compactMap({ $0["errorSummary"] }), !causes.isEmpty
        else { return error.localizedDescription }
        return causes.joined(separator: " ")
    }
}
