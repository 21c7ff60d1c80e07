import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The counts of a load. The test waits for progress with them, and reports them.
final class LoadCount: Sendable {
    struct Numbers: Sendable {
        /// The number of answers for each kind of request.
        var answers: [String: Int] = [:]
        /// The number of attempts with the status 5xx or without a response.
        var unanswered = 0
        /// The longest time from the first attempt of a request to its answer.
        var longestWait: Duration = .zero

        var total: Int { answers.values.reduce(0, +) }
    }

    private let numbers = Locked(Numbers())
    private let stopped = Locked(false)

    var now: Numbers { numbers.withLock { $0 } }
    /// Whether the users should stop after their current sign-in.
    var isStopped: Bool { stopped.withLock { $0 } }

    func stop() { stopped.withLock { $0 = true } }

    func failed() { numbers.withLock { $0.unanswered += 1 } }

    func answered(_ kind: String, after wait: Duration) {
        numbers.withLock {
            $0.answers[kind, default: 0] += 1
            $0.longestWait = max($0.longestWait, wait)
        }
    }

    /// Waits until the users have received this number of further answers.
    func progress(_ count: Int) async throws {
        let goal = now.total + count
        // The servers run in real time, so the test waits in real time.
        while now.total < goal, !isStopped { try await Task.sleep(for: .milliseconds(20)) }
    }
}

/// A client that repeats each request until a server answers it, like an app whose user tries again.
struct LoadClient: Sendable {
    let port: Int
    let count: LoadCount

    struct Answer: Sendable {
        let status: Int
        let text: String
        let response: HTTPURLResponse
        /// Whether an earlier attempt had no answer. The server may have performed that attempt.
        let isRepeated: Bool

        var json: JSONValue { (try? JSONValue(parsing: Data(text.utf8))) ?? .null }
        var error: String? { json["error"]?.stringValue ?? json["errorCode"]?.stringValue }
        var location: String? { response.value(forHTTPHeaderField: "Location") }
    }

    /// An error for a request that no server answered in 120 seconds, which is longer than any fault of the test.
    struct NotServed: Error { let path: String, lastFailure: String }

    private static let patience: Duration = .seconds(120)

    /// Sends a request until it is answered. A refusal of the protocol is an answer; `5xx` and a closed connection are not.
    func send(
        _ method: String = "POST", _ path: String, form: [String: String]? = nil, json: JSONValue? = nil, headers: [String: String] = [:],
        as kind: String
    ) async throws -> Answer {
        let start = ContinuousClock.now
        var isRepeated = false
        var failure = ""
        while ContinuousClock.now < start + Self.patience {
            do {
                let (data, response) = try await PlainHTTP.data(for: try request(method, path, form: form, json: json, headers: headers))
                if response.statusCode < 500 {
                    count.answered(kind, after: ContinuousClock.now - start)
                    return Answer(
                        status: response.statusCode, text: String(decoding: data, as: UTF8.self), response: response, isRepeated: isRepeated
                    )
                }
                failure = "\(response.statusCode) \(String(decoding: data, as: UTF8.self))"
            } catch let error as PlainHTTP.Failure {
                failure = error.description
            }
            isRepeated = true
            count.failed()
            try await Task.sleep(for: .milliseconds(100))
        }
        throw NotServed(path: path, lastFailure: failure)
    }

    private func request(
        _ method: String, _ path: String, form: [String: String]?, json: JSONValue?, headers: [String: String]
    ) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
        request.httpMethod = method
        if let form {
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(Self.encode(form).utf8)
        } else if let json {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(json.serialized())
        }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    static func encode(_ form: [String: String]) -> String {
        var components = URLComponents()
        components.queryItems = form.map { URLQueryItem(name: $0.key, value: $0.value) }
        return (components.percentEncodedQuery ?? "").replacing("+", with: "%2B")
    }
}
