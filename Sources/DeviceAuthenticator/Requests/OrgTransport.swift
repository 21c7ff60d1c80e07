internal import AuthFoundation
internal import Foundation
internal import JOSE

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Sends requests to the org and reads the answers. Nothing is sent twice.
struct OrgTransport: Sendable {
    /// No answer of this protocol comes near it.
    private static let maximumResponseSize = 1 << 20
    /// The session that is used unless the app passes one. It stops reading at the limit.
    static let ownSession = EphemeralSession(maximumResponseSize: maximumResponseSize)

    let session: any URLSessionProtocol
    let userAgent: String
    /// Learns the time of each org from its responses.
    let clock: OrgClock

    /// Sends a request.
    ///
    /// - Returns: The body of an answer of 2xx.
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

    /// Sends a request and reads the answer as JSON, whatever its media type.
    ///
    /// - Throws: Besides what ``send(_:)`` throws, ``DeviceAuthenticatorError/internalError(_:)`` if the answer is no JSON.
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
        // Foundation on Linux takes a body that was cut off for a whole one.
        if let length = response.value(forHTTPHeaderField: "Content-Length").flatMap({ Int($0) }), data.count < length,
            response.value(forHTTPHeaderField: "Content-Encoding") == nil
        {
            throw DeviceAuthenticatorError.networkError(URLError(.networkConnectionLost))
        }
        return (data, response)
    }
}

extension URLRequest {
    /// The request as an error may show it: what it is, and nothing that it proves or carries.
    fileprivate var withoutSecrets: URLRequest {
        var request = self
        request.setValue(nil, forHTTPHeaderField: "Authorization")
        request.httpBody = nil
        return request
    }
}

extension DeviceAuthenticatorError {
    /// Whatever was thrown, as this module throws it: a `DeviceAuthenticatorError` or `CancellationError`.
    static func reporting(_ error: any Error) -> any Error {
        switch error {
        case is DeviceAuthenticatorError, is CancellationError: error
        case let error as SecurityError: DeviceAuthenticatorError.securityError(error)
        case let error as StorageError: DeviceAuthenticatorError.storageError(error)
        case let error as VaultError: DeviceAuthenticatorError.storageError(StorageError(error))
        case let error as UserVerificationFailure: DeviceAuthenticatorError.securityError(error.securityError)
        case let error as JOSEError: DeviceAuthenticatorError.securityError(.jwtError(error.message))
        case let error as URLError: DeviceAuthenticatorError.networkError(error)
        default: DeviceAuthenticatorError.internalError(error.localizedDescription)
        }
    }
}

/// Between the callback forms and the asynchronous ones, which do the work.
enum Callback {
    /// Runs an asynchronous call for someone who wants to be called back: once, and not on the main queue.
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

    /// The same for calls that give nothing but an error.
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

    /// Waits for a call that calls back.
    static func value<Value: Sendable>(
        _ start: (@escaping @Sendable (Result<Value, DeviceAuthenticatorError>) -> Void) -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            start { continuation.resume(with: $0.mapError { $0 as any Error }) }
        }
    }
}

/// Runs what the server may act on, and what is stored of it, to its end: the caller's cancellation does not reach it.
///
/// Otherwise keys would be deleted that the server has accepted. A caller that was cancelled before does not begin; one that was cancelled
/// meanwhile waits, which the time-outs of the requests bound, and reports it afterwards.
///
/// - Throws: `CancellationError` if the task was cancelled before; what the work throws.
func seeThrough<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result {
    try Task.checkCancellation()
    return try await Task { try await work() }.value
}
