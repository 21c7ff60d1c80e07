import DeviceAuthenticator
import JOSE

/// Fetches requests again and again, shows each, and asks the person.
struct PhoneListener: Sendable {
    let phone: TerminalPhone
    let enrollments: [AuthenticatorEnrollment]
    let interval: Duration
    /// Whether to write JSON objects, and ask nobody.
    let json: Bool

    private var asks: Bool { TerminalInput.isInteractive && !json }

    /// Ends by cancellation, or by a failure that another attempt can't mend.
    ///
    /// - Parameter earlier: The ids of requests to pass over.
    /// - Throws: `CancellationError`, `DeviceAuthenticatorError`.
    func run(except earlier: Set<String> = []) async throws {
        var shown: [String: PhoneRequest] = [:]
        var isOffline = false
        while true {
            do {
                let waiting = try await phone.requests(for: enrollments)
                isOffline = false
                let ids = Set(waiting.map(\.id))
                for id in shown.keys where !ids.contains(id) {
                    shown[id] = nil
                    tellOver(id)
                }
                for request in waiting where shown[request.id] == nil && !earlier.contains(request.id) {
                    if try await present(request) { shown[request.id] = request }
                }
            } catch let error as DeviceAuthenticatorError where error.reason == .network || error.reason == .tooManyRequests {
                if !isOffline { Terminal.note(Terminal.printable(PhoneFailure.text(of: error)) + " Trying again.") }
                isOffline = true
            }
            try await TerminalClock.sleep(for: interval)
        }
    }

    /// - Returns: Whether the request waits still.
    private func present(_ request: PhoneRequest) async throws -> Bool {
        guard !json else {
            var line = request.json
            line["event"] = "request"
            Terminal.write(JSONText.line(line))
            return true
        }
        Terminal.write("\n" + request.text)
        guard asks else {
            let id = Terminal.printable(request.id)
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
                Terminal.note(Terminal.printable(PhoneFailure.text(of: error)))
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
            } catch let error as DeviceAuthenticatorError where error.reason == .network || error.reason == .tooManyRequests {
                // Nothing is known: it may wait still.
            }
        }
    }

    private func tellOver(_ id: String) {
        if json { return Terminal.write(JSONText.line(["event": "over", "id": .string(id)])) }
        Terminal.write("The request \(Terminal.printable(id)) is over: it was answered, cancelled where it was started, or it has expired.")
    }
}

/// Lets the person answer, at this terminal, the request that this terminal itself causes.
///
/// What waited before is not offered: somebody else may have caused it, and the person expects their own.
struct SelfAnswer: Sendable {
    private let listener: PhoneListener
    /// What waited before the sign-in; nil if nobody has looked.
    private var earlier: Result<Set<String>, any Error>?

    /// - Returns: nil if there is nobody to ask, or the phone has no account of that person at the organization.
    init?(_ phone: TerminalPhone, username: String, at authenticator: DeviceAuthenticatorConfig, json: Bool) {
        guard TerminalInput.isInteractive, !json else { return nil }
        let own = phone.enrollments.filter { $0.organization.url == authenticator.orgURL && $0.user.name == username }
        guard !own.isEmpty else { return nil }
        listener = PhoneListener(phone: phone, enrollments: own, interval: .seconds(1), json: false)
    }

    /// Looks what waits already; to be called just before the sign-in starts. What goes wrong is told only if an answer is needed.
    mutating func look() async {
        do {
            earlier = .success(Set(try await listener.phone.requests(for: listener.enrollments).map(\.id)))
        } catch {
            earlier = .failure(error)
        }
    }

    /// Offers what has come since, until the task is cancelled.
    func run() async {
        do {
            guard let earlier else { return }
            try await listener.run(except: try earlier.get())
        } catch is CancellationError {
        } catch {
            Terminal.note(Terminal.printable("This phone can't fetch the request: \(Outcome.explain(error)) Answer it on another phone."))
        }
    }
}
