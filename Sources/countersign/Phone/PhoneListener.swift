import DeviceAuthenticator
import Foundation
import JOSE

/// Fetches requests repeatedly, shows each, and asks the user to answer it.
struct PhoneListener: Sendable {
    let phone: TerminalPhone
    let enrollments: [AuthenticatorEnrollment]
    let interval: Duration
    /// Whether to write JSON objects instead of asking the user.
    let json: Bool

    private var asks: Bool { TerminalInput.isInteractive && !json }

    /// Fetches requests until the task is cancelled or no account remains. Requests with an ID in `earlier` are skipped. If the
    /// organization refuses an account, reports it and stops fetching its requests. For the last account, throws its
    /// `DeviceAuthenticatorError` instead.
    func run(except earlier: Set<String> = []) async throws {
        var shown: [String: PhoneRequest] = [:]
        var listened = enrollments
        var offline: Set<String> = []
        while true {
            let waiting = try await phone.waiting(for: listened)
            let failed = Set(waiting.failures.map(\.0.enrollmentId))
            for (enrollment, error) in waiting.failures {
                if Self.isTransient(error) {
                    guard offline.insert(enrollment.enrollmentId).inserted else { continue }
                    Terminal.note("\(PhoneFailure.text(of: error, for: enrollment)) Trying again.")
                } else {
                    listened.removeAll { $0.enrollmentId == enrollment.enrollmentId }
                    guard !listened.isEmpty else { throw error }
                    tellRefused(enrollment, error)
                    shown = shown.filter { $0.value.enrollment.enrollmentId != enrollment.enrollmentId }
                }
            }
            offline.formIntersection(failed)
            let ids = Set(waiting.requests.map(\.id))
            for (id, request) in shown where !ids.contains(id) && !failed.contains(request.enrollment.enrollmentId) {
                shown[id] = nil
                tellOver(id)
            }
            for request in waiting.requests where shown[request.id] == nil && !earlier.contains(request.id) {
                if try await present(request) { shown[request.id] = request }
            }
            try await TerminalClock.sleep(for: interval)
        }
    }

    /// Whether the next attempt may succeed.
    private static func isTransient(_ error: DeviceAuthenticatorError) -> Bool {
        error.reason == .network || error.reason == .tooManyRequests
    }

    /// Shows a request and, in a terminal, asks the user to answer it. Returns whether the request is still pending.
    private func present(_ request: PhoneRequest) async throws -> Bool {
        guard !json else {
            var line = request.json
            line["event"] = "request"
            Terminal.write(json: line)
            return true
        }
        Terminal.write("\n\(request.text)")
        guard asks else {
            let id = request.id
            Terminal.write("Answer it with `countersign phone approve \(id)` or `countersign phone deny \(id)`.")
            return true
        }
        switch try await PhoneDialog(request: request).result(orUntil: { try await waitUntilOver(request) }) {
        case .over:
            Terminal.note("")
            tellOver(request.id)
            return false
        case .later: return true
        case .answered(let answer):
            do {
                try await request.send(answer)
                Terminal.write(answer.done)
            } catch let error as DeviceAuthenticatorError {
                Terminal.note("\(PhoneFailure.text(of: error))")
                return error.reason == .network
            }
            return false
        }
    }

    private func waitUntilOver(_ request: PhoneRequest) async throws {
        while true {
            try await TerminalClock.sleep(for: interval)
            do {
                guard try await phone.requests(for: [request.enrollment]).contains(where: { $0.id == request.id }) else { return }
            } catch let error as DeviceAuthenticatorError {
                // After a temporary failure, the request may still be pending. The next round reports an account that is refused.
                guard Self.isTransient(error) else { return }
            }
        }
    }

    private func tellRefused(_ enrollment: AuthenticatorEnrollment, _ error: DeviceAuthenticatorError) {
        guard !json else {
            return Terminal.write(json: [
                "event": "refused", "enrollment": .string(enrollment.enrollmentId),
                "user": .string(enrollment.user.name ?? enrollment.user.id),
                "organization": .string(enrollment.organization.url.absoluteString), "message": .string(PhoneFailure.text(of: error)),
            ])
        }
        Terminal.note("\(PhoneFailure.text(of: error, for: enrollment)) The phone still listens for the other accounts.")
    }

    private func tellOver(_ id: String) {
        if json { return Terminal.write(json: ["event": "over", "id": .string(id)]) }
        Terminal.write("The request \(id) is no longer pending: it was answered, cancelled or has expired.")
    }
}

/// Lets the user answer, in this terminal, the push that this terminal's own sign-in causes. Requests that were pending before the sign-in
/// are not offered, because an attacker may have caused them.
struct SelfAnswer: Sendable {
    private let listener: PhoneListener
    /// The requests that were pending before the sign-in; `nil` before ``look()``.
    private var earlier: Result<Set<String>, any Error>?

    /// Creates the answer; `nil` without an interactive terminal, or if the phone has no account of this user at the organization.
    init?(_ phone: TerminalPhone, username: String, at authenticator: DeviceAuthenticatorConfig, json: Bool) {
        guard TerminalInput.isInteractive, !json else { return nil }
        let own = phone.enrollments.filter { $0.organization.url == authenticator.orgURL && $0.user.name == username }
        guard !own.isEmpty else { return nil }
        listener = PhoneListener(phone: phone, enrollments: own, interval: .seconds(1), json: false)
    }

    /// Records the pending requests. Call it just before the sign-in starts. ``run()`` reports an error.
    mutating func look() async {
        do {
            earlier = .success(Set(try await listener.phone.requests(for: listener.enrollments).map(\.id)))
        } catch {
            earlier = .failure(error)
        }
    }

    /// Offers new requests until the task is cancelled.
    func run() async {
        do {
            guard let earlier else { return }
            try await listener.run(except: try earlier.get())
        } catch is CancellationError {
        } catch {
            Terminal.note("This phone can't fetch the request: \(Outcome.explain(error)) Answer it on another phone.")
        }
    }
}

/// Asks the user in the terminal to answer a request.
struct PhoneDialog: Sendable {
    enum Result: Sendable, Equatable {
        case answered(PhoneAnswer)
        /// The user postponed the answer, or the input ended.
        case later
        /// The request is no longer pending.
        case over
    }

    let request: PhoneRequest

    /// Asks until the user answers or the request is no longer pending. `isOver` must return when the request is no longer pending. It is
    /// cancelled after an answer.
    func result(orUntil isOver: @escaping @Sendable () async throws -> Void) async throws -> Result {
        try await withThrowingTaskGroup(of: Result.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await ask() }
            group.addTask {
                try await isOver()
                return .over
            }
            return try await group.next() ?? .later
        }
    }

    private func ask() async throws -> Result {
        while let line = try await TerminalInput.line(prompt) {
            if let result = Self.result(of: line, numbers: request.challenge.numberChoices) { return result }
        }
        return .later
    }

    private var prompt: TerminalText {
        guard let numbers = request.challenge.numberChoices else { return "Approve? [y]es, [n]o, [s]uspicious: it was not me, [l]ater: " }
        return "Which number does the sign-in show (\(numbers.joined(separator: ", ")))? Or [n]o, [s]uspicious: it was not me, [l]ater: "
    }

    /// Returns the result that an input line stands for; `nil` for another line.
    static func result(of line: String, numbers: [String]?) -> Result? {
        let word = line.filter { !$0.isWhitespace }.lowercased()
        if let numbers, numbers.contains(word) { return .answered(.approve(number: word)) }
        switch word {
        case "y", "yes", "a", "approve": return numbers == nil ? .answered(.approve(number: nil)) : nil
        case "n", "no", "d", "deny": return .answered(.deny(suspicious: false))
        case "s", "suspicious": return .answered(.deny(suspicious: true))
        case "l", "later": return .later
        default: return nil
        }
    }
}
