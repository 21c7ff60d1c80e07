internal import AuthFoundation
internal import Foundation
internal import JOSE

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The transport that sends requests to the org and reads the responses. It never retries.
struct OrgTransport: Sendable {
    /// The maximum response size in bytes, far larger than any response of this protocol.
    private static let maximumResponseSize = 1 << 20
    /// The default session. It stops reading a response at ``maximumResponseSize``.
    static let ownSession = EphemeralSession(maximumResponseSize: maximumResponseSize)

    let session: any URLSessionProtocol
    let userAgent: String
    /// The clock that reads the time of each org from the org's responses.
    let clock: OrgClock

    /// Returns the body of a 2xx response.
    /// - Throws: ``DeviceAuthenticatorError/serverAPIError(_:_:)`` for any other status, ``DeviceAuthenticatorError/networkError(_:)``,
    ///   `CancellationError`.
    func send(_ request: URLRequest) async throws -> Data {
        let (data, response) = try await exchange(request)
        guard (200..<300).contains(response.statusCode) else {
            let result = HTTPURLResult(request: request.withoutSecrets, response: response, data: data)
            throw DeviceAuthenticatorError.serverAPIError(result, ServerAPIErrorModel(body: data))
        }
        return data
    }

    /// Returns the response as JSON, regardless of its media type. Throws the errors of ``send(_:)``, and
    /// ``DeviceAuthenticatorError/internalError(_:)`` if the body is not JSON.
    func json(_ request: URLRequest) async throws -> JSONValue {
        let data = try await send(request)
        do throws(JOSEError) {
            return try JSONValue(parsing: data)
        } catch {
            throw DeviceAuthenticatorError.internalError(
                "The answer of \(request.url?.path() ?? "the server") is no JSON: \(error.message)")
        }
    }

    private func exchange(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        var request = request
        request.setValue(userAgent, forHTTPHeaderField: "User-Agent")
        let (data, response): (Data, URLResponse)
        do {
            try Task.checkCancellation()
            (data, response) = try await session.data(for: request)
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            throw DeviceAuthenticatorError.networkError(error)
        }
        guard let response = response as? HTTPURLResponse else { throw DeviceAuthenticatorError.networkError(URLError(.badServerResponse)) }
        clock.learn(from: response, to: request)
        guard data.count <= Self.maximumResponseSize else {
            throw DeviceAuthenticatorError.networkError(URLError(.dataLengthExceedsMaximum))
        }
        // Foundation on Linux does not report a truncated body.
        if let length = response.value(forHTTPHeaderField: "Content-Length").flatMap({ Int($0) }), data.count < length,
            response.value(forHTTPHeaderField: "Content-Encoding") == nil
        {
            throw DeviceAuthenticatorError.networkError(URLError(.networkConnectionLost))
        }
        return (data, response)
    }
}

extension URLRequest {
    /// The request for error reports, without credentials and body.
    fileprivate var withoutSecrets: URLRequest {
        var request = self
        request.setValue(nil, forHTTPHeaderField: "Authorization")
        request.httpBody = nil
        return request
    }
}

extension DeviceAuthenticatorError {
    /// Converts any error to a `DeviceAuthenticatorError` or `CancellationError`.
    static func reporting(_ error: any Error) -> any Error {
        switch error {
        case is DeviceAuthenticatorError, is CancellationError: error
        case let error as SecurityError: DeviceAuthenticatorError.securityError(error)
        case let error as StorageError: DeviceAuthenticatorError.storageError(error)
        case let error as VaultError: DeviceAuthenticatorError.storageError(StorageError(error))
        case let error as UserVerificationFailure: DeviceAuthenticatorError.securityError(error.securityError)
        case let error as JOSEError: DeviceAuthenticatorError.securityError(.jwtError(error.message))
        case let error as URLError: DeviceAuthenticatorError.networkError(error)
        default: DeviceAuthenticatorError.internalError(technicalText(of: error))
        }
    }

    /// Runs an operation, and reports its errors as ``reporting(_:)`` does.
    static func reported<Value>(_ operation: () async throws -> Value) async throws -> Value {
        do { return try await operation() } catch { throw reporting(error) }
    }
}

/// Converts between callback and asynchronous forms. The asynchronous forms do the work.
enum Callback {
    /// Runs an asynchronous call and calls the handler once, not on the main queue.
    static func run<Value: Sendable>(
        _ completion: @escaping @Sendable (Result<Value, DeviceAuthenticatorError>) -> Void,
        operation: @escaping @Sendable () async throws -> Value
    ) {
        Task {
            let result: Result<Value, DeviceAuthenticatorError>
            do { result = .success(try await operation()) } catch { result = .failure(failure(error)) }
            completion(result)
        }
    }

    static func run(
        _ completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void, operation: @escaping @Sendable () async throws -> Void
    ) {
        Task {
            var failed: DeviceAuthenticatorError?
            do { try await operation() } catch { failed = failure(error) }
            completion(failed)
        }
    }

    private static func failure(_ error: any Error) -> DeviceAuthenticatorError {
        (DeviceAuthenticatorError.reporting(error) as? DeviceAuthenticatorError) ?? .internalError("The call was cancelled.")
    }

    /// Calls `start`, which takes a completion handler, and returns the result that the handler receives.
    static func value<Value: Sendable>(
        _ start: (@escaping @Sendable (Result<Value, DeviceAuthenticatorError>) -> Void) -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            start { continuation.resume(with: $0.mapError { $0 as any Error }) }
        }
    }
}

/// Runs work to its end, even if the caller is cancelled. Otherwise keys could be deleted that the server has accepted. A caller that is
/// already cancelled does not start the work; a caller that is cancelled later still waits for the work. The timeouts of the requests bound
/// the wait.
func seeThrough<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result {
    try Task.checkCancellation()
    return try await Task { try await work() }.value
}
