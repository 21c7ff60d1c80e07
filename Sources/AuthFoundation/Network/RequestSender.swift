package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A sender of one request for a client, with retries. It also parses the response.
/// - After a 429 with rate-limit headers and `Date`, it waits and resends, as often as the client allows.
/// - After a connection or server failure (502, 503, 504), it retries an idempotent request up to twice, each time after a random delay.
/// - If a proof lacks the server's nonce (RFC 9449 §8 and §9), it resends the request once with this nonce.
/// - It never repeats a token request for another reason, because the server may have processed it.
struct RequestSender: Sendable {
    /// The maximum size of a response in bytes, far above any response of these protocols.
    static let maximumResponseSize = 4 << 20
    private static let maximumTransientRetries = 2
    /// The maximum delay in seconds after a 429. If the server requires a longer delay, the error is thrown.
    private static let maximumRateLimitDelay: TimeInterval = 300

    let client: any APIClient
    var clock: any OAuth2Clock = DeviceClock()
    var randomness = Randomness.system
    /// Whether a redirect to another host is rejected.
    var staysOnHost = false
    /// Whether the request is repeated after a temporary failure.
    var isRetried = true
    /// Called with each response and its request.
    var observe: @Sendable (HTTPURLResponse, URLRequest) -> Void = { _, _ in }
    /// Returns whether the request was rejected because its proof lacks the nonce in the response. Then the request is resent once.
    var asksForAnotherProof: @Sendable (HTTPURLResponse, Data) -> Bool = { _, _ in false }

    /// Sends the request. `build` creates the request anew for each attempt.
    func send<T>(
        parsing context: (any APIParsingContext)?, isIdempotent: Bool, build: @Sendable () throws -> URLRequest
    ) async throws -> APIResponse<T> {
        let mayRepeat = isIdempotent && isRetried
        var rateLimitRetries = 0
        var transientRetries = 0
        var firstRequestId: String?
        var hasProvedAgain = false
        while true {
            try Task.checkCancellation()
            var request = try build()
            if rateLimitRetries > 0 {
                if let firstRequestId { request.setValue(firstRequestId, forHTTPHeaderField: "X-Okta-Retry-For") }
                request.setValue(String(rateLimitRetries), forHTTPHeaderField: "X-Okta-Retry-Count")
            }
            client.willSend(request: &request)
            let (data, response): (Data, HTTPURLResponse)
            do {
                (data, response) = try await exchange(request)
            } catch let error as URLError where mayRepeat && error.isConnectionFailure && transientRetries < Self.maximumTransientRetries {
                transientRetries += 1
                try await pause(beforeRetry: transientRetries)
                continue
            } catch let error as URLError {
                throw report(.httpError(error), request: request, response: nil)
            } catch let error as APIClientError {
                throw report(error, request: request, response: nil)
            }
            if !hasProvedAgain, asksForAnotherProof(response, data) {
                hasProvedAgain = true
                continue
            }
            switch context?.resultType(from: response) ?? APIResponseResult(statusCode: response.statusCode) {
            case .success:
                return try success(data, response: response, request: request, context: context)
            case .retry:
                guard isRetried, let limit = APIRateLimit(response), (limit.delay ?? 0) <= Self.maximumRateLimitDelay,
                    case .retry(let maximum) = client.shouldRetry(request: request, rateLimit: limit), rateLimitRetries < maximum
                else { break }
                rateLimitRetries += 1
                firstRequestId = firstRequestId ?? requestId(of: response)
                if let delay = limit.delay { try await clock.sleep(for: delay) }
                continue
            case .error:
                guard mayRepeat, [502, 503, 504].contains(response.statusCode), transientRetries < Self.maximumTransientRetries else {
                    break
                }
                transientRetries += 1
                try await pause(beforeRetry: transientRetries)
                continue
            }
            throw report(error(in: data, response: response, context: context), request: request, response: response)
        }
    }

    private func exchange(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let (data, response): (Data, URLResponse)
        do {
            if staysOnHost, let session = client.session as? EphemeralSession {
                (data, response) = try await session.data(for: request, staysOnHost: true)
            } else {
                (data, response) = try await client.session.data(for: request)
            }
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            if error is URLError || error is APIClientError { throw error }
            throw APIClientError.httpError(error)
        }
        guard let response = response as? HTTPURLResponse else { throw APIClientError.missingResponse(request: nil) }
        // A session that the app passed in may have followed a redirect.
        if staysOnHost, let host = response.url?.host()?.lowercased(), host != request.url?.host()?.lowercased() {
            throw APIClientError.invalidResponse
        }
        guard data.count <= Self.maximumResponseSize else { throw URLError(.dataLengthExceedsMaximum) }
        if let length = response.header("Content-Length").flatMap({ Int($0) }), data.count < length,
            response.header("Content-Encoding") == nil
        {
            throw URLError(.networkConnectionLost)
        }
        observe(response, request)
        client.didSend(request: request, received: response)
        return (data, response)
    }

    private func success<T>(
        _ data: Data, response: HTTPURLResponse, request: URLRequest, context: (any APIParsingContext)?
    ) throws -> APIResponse<T> {
        let result: T
        do {
            result = try client.decode(T.self, from: data, parsing: context)
        } catch {
            throw report(
                .cannotParseResponse(error: ReadableDecodingError.from(error, data: data, response: response)), request: request,
                response: response)
        }
        var links: [APIResponse<T>.Link: URL] = [:]
        for (relation, url) in response.links {
            if let link = APIResponse<T>.Link(rawValue: relation) { links[link] = url }
        }
        let answer = APIResponse(
            result: result, date: response.serverDate ?? clock.now, statusCode: response.statusCode, responseBody: data, links: links,
            rateInfo: APIRateLimit(response), requestId: requestId(of: response))
        client.didSend(request: request, received: answer)
        return answer
    }

    private func error(in data: Data, response: HTTPURLResponse, context: (any APIParsingContext)?) -> APIClientError {
        guard let error = context?.error(from: data) ?? client.error(from: data) ?? response.challengeError else {
            return .statusCode(response.statusCode)
        }
        if var error = error as? OAuth2ServerError {
            error.statusCode = response.statusCode
            error.requestId = requestId(of: response)
            error.part = SignInPart(parameters: (context as? any APIRequestBody)?.bodyParameters)
            return .httpError(error)
        }
        if var error = error as? OktaAPIError {
            error.statusCode = response.statusCode
            error.requestId = requestId(of: response)
            return .httpError(error)
        }
        return .httpError(error)
    }

    private func report(_ error: APIClientError, request: URLRequest, response: HTTPURLResponse?) -> APIClientError {
        client.didSend(request: request, received: error)
        client.didSend(
            request: request, received: error, requestId: response.flatMap(requestId(of:)), rateLimit: response.flatMap(APIRateLimit.init))
        return error
    }

    private func requestId(of response: HTTPURLResponse) -> String? {
        client.requestIdHeader.flatMap { response.header($0) }
    }

    /// Waits half a second before the first retry and one second before the second, each varied randomly by up to 50 percent.
    private func pause(beforeRetry count: Int) async throws {
        try await clock.sleep(for: 0.5 * Double(count) * (0.5 + randomness.fraction))
    }
}

/// A decoding error whose message names the member.
struct ReadableDecodingError: Error, ClientError, LocalizedError, Sendable {
    let text: String

    var errorDescription: String? { userText.description.text }
    var recoverySuggestion: String? { userText.suggestion?.text }
    var userText: ErrorText { .foreignAnswer }
    var debugDescription: String { text }

    static func from(_ error: any Error, data: Data, response: HTTPURLResponse) -> any Error {
        guard let error = error as? DecodingError else { return error }
        func path(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
            (context.codingPath + [last].compactMap { $0 }).map(\.stringValue).joined(separator: ".")
        }
        return switch error {
        case .keyNotFound(let key, let context): ClaimError.missingRequiredValue(key: path(context, key))
        case .valueNotFound(_, let context): ClaimError.missingRequiredValue(key: path(context))
        case .typeMismatch(let type, let context): ReadableDecodingError(text: "“\(path(context))” is not of the type \(type).")
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            ReadableDecodingError(text: "“\(path(context))” has a value that can't be read.")
        case .dataCorrupted: ReadableDecodingError(text: noJSON(data, response))
        @unknown default: error
        }
    }

    /// Returns the message for a body that is not JSON. The message omits the body, which can contain secrets.
    private static func noJSON(_ data: Data, _ response: HTTPURLResponse) -> String {
        let type = response.header("Content-Type").map { String($0.prefix(100)) } ?? "no content type"
        let place = response.url.flatMap { url in url.host().map { $0 + url.path() } } ?? "the server"
        return
            "From \(place) came \(data.count) bytes of “\(type)”, which are no JSON. Check that the issuer's URL leads to the server and not to "
            + "a proxy, a sign-in page of the network or a web site."
    }
}

/// The redirects that a client follows.
enum RedirectRule {
    /// Returns whether the client follows a redirect:
    /// - It always follows a redirect within the origin.
    /// - It follows another redirect only for a GET request without body and `Authorization`, never from https to http, and to plain http
    ///   only on this machine.
    /// - If `staysOnHost` is true, it never leaves the host, because another host could replace the discovery document.
    static func follows(_ next: URLRequest, from original: URLRequest?, staysOnHost: Bool = false) -> Bool {
        guard let from = original?.url, let to = next.url else { return false }
        if let origin = from.origin, origin == to.origin { return true }
        guard !staysOnHost || from.host()?.lowercased() == to.host()?.lowercased(), LoopbackRule.isAcceptable(to),
            to.scheme?.lowercased() == "https" || from.scheme?.lowercased() != "https"
        else { return false }
        let carriesCredentials =
            original?.value(forHTTPHeaderField: "Authorization") != nil || original?.httpBody != nil || original?.httpMethod != "GET"
        return !carriesCredentials
    }
}

extension String {
    /// Whether the string is valid in a header as a token or a scheme: visible ASCII characters without a space. A hostile server could
    /// send a token with a line break. The line break could add headers to a request, or make Foundation send the request without its
    /// credentials.
    package var isHeaderToken: Bool {
        !isEmpty && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension URL {
    /// The scheme, host and port; `nil` if there is no host. All letters are lower case, and the port is always present.
    package var origin: String? {
        guard let scheme = scheme?.lowercased(), let host = host()?.lowercased() else { return nil }
        return "\(scheme)://\(host):\(port ?? (scheme == "http" ? 80 : 443))"
    }
}
