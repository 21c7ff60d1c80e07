import Dispatch
import Foundation
import OktaAuthSdk
import Testing

/// An app that uses a scripted server.
@MainActor
struct Org {
    let server = ScriptedServer()
    let start: OktaAuthStatusUnauthenticated

    init(_ domain: String = ScriptedServer.base, handler: OktaAuthStatusResponseHandler = OktaAuthStatusResponseHandler()) throws {
        start = OktaAuthStatusUnauthenticated(oktaDomain: try #require(URL(string: domain)), responseHandler: handler)
        start.restApi.httpRequestListener = server
    }

    /// Returns the status that the SDK makes from a response.
    func status<Status: OktaAuthStatus>(_ type: Status.Type, _ answer: String) async throws -> Status {
        server.answer(answer)
        return try #require(try await start.fetchStatus("state-1") as? Status)
    }

    /// The last request.
    var last: ScriptedServer.Arrival {
        get throws { try #require(server.arrivals.last) }
    }

    /// The path below `/api/v1/authn` and the body of the last request.
    var lastSent: String {
        get throws {
            let arrival = try last
            return "\(arrival.method) \(arrival.path.replacing("/api/v1/authn", with: "")) \(arrival.body)"
        }
    }
}

/// The callbacks of a call with closures.
@MainActor
final class Heard {
    private(set) var statuses: [OktaAuthStatus] = []
    private(set) var errors: [OktaError] = []
    private var waiting: CheckedContinuation<Void, Never>?

    var count: Int { statuses.count + errors.count }

    func status(_ status: OktaAuthStatus) {
        dispatchPrecondition(condition: .onQueue(.main))
        statuses.append(status)
        wake()
    }

    func error(_ error: OktaError) {
        dispatchPrecondition(condition: .onQueue(.main))
        errors.append(error)
        wake()
    }

    private func wake() {
        waiting?.resume()
        waiting = nil
    }

    /// Waits for the first callback, and then long enough for a wrong second one.
    func settle() async {
        if count == 0 { await withCheckedContinuation { waiting = $0 } }
        await turn()
    }

    /// Lets the main queue run its pending work.
    func turn() async {
        for _ in 0..<3 {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                DispatchQueue.main.async { continuation.resume() }
            }
        }
    }
}

/// Returns the code of a server error; `nil` for any other error.
func refusalCode(_ error: any Error) -> String? {
    if case OktaError.serverRespondedWithError(let refusal) = error { refusal.errorCode } else { nil }
}

/// Whether an error says that the status does not allow the call.
func isWrongStatus(_ error: any Error) -> Bool {
    if case OktaError.wrongStatus = error { true } else { false }
}
