public import Foundation
import JOSE

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension OAuth2Client {
    /// Decodes a response body. Tokens receive the client's time and configuration.
    public func decode<T: Decodable>(_ type: T.Type, from data: Data, parsing context: (any APIParsingContext)?) throws -> T {
        if type == Token.self {
            var tokenContext = (context as? any ProvidesTokenContext)?.tokenContext ?? Token.Context(configuration: configuration)
            if configuration.usesDPoP { tokenContext.dpopThumbprint = SentProof.ofTask?.withLock { $0 } }
            let token = try Token(
                id: randomness.identifier, issuedAt: now, context: tokenContext, response: data.isEmpty ? [:] : JSON(data))
            try token.checkHeader()
            if let token = token as? T { return token }
        }
        return try decodeBody(type, from: data, parsing: context)
    }

    /// Parses an error response, first in the format of Okta's API, then in the format of OAuth.
    public func error(from data: Data) -> (any Error)? {
        serverError(in: data)
    }

    /// Notifies the delegates.
    public func willSend(request: inout URLRequest) {
        delegateCollection.invoke { $0.api(client: self, willSend: &request) }
    }

    /// Notifies the delegates.
    public func didSend(request: URLRequest, received error: APIClientError, requestId: String?, rateLimit: APIRateLimit?) {
        delegateCollection.invoke { $0.api(client: self, didSend: request, received: error, requestId: requestId, rateLimit: rateLimit) }
    }

    /// Notifies the delegates.
    public func didSend(request: URLRequest, received response: HTTPURLResponse) {
        delegateCollection.invoke { $0.api(client: self, didSend: request, received: response) }
    }

    /// Notifies the delegates.
    public func didSend<T>(request: URLRequest, received response: APIResponse<T>) {
        delegateCollection.invoke { $0.api(client: self, didSend: request, received: response) }
    }

    /// Asks the delegates whether to repeat the request. If one of them forbids retries, there are none. Otherwise the largest count
    /// applies.
    public func shouldRetry(request: URLRequest, rateLimit: APIRateLimit) -> APIRetry {
        var maximum: Int?
        for answer in delegateCollection.call({ $0.api(client: self, shouldRetry: request) }) {
            switch answer {
            case .doNotRetry: return .doNotRetry
            case .retry(let count): maximum = max(maximum ?? 0, count)
            }
        }
        return maximum.map { .retry(maximumCount: $0) } ?? .default
    }

    /// Sends a request, with retries according to ``APIRetry``.
    public func send<T>(_ request: URLRequest, parsing context: (any APIParsingContext)?) async throws -> APIResponse<T> {
        try await send(parsing: context, isIdempotent: request.httpMethod == "GET", isFixed: true) { request }
    }

    /// Sends a request, with retries according to ``APIRetry``.
    /// - Parameters:
    ///   - isIdempotent: Whether the request can safely be sent twice.
    ///   - isFixed: Whether `build` returns the same request each time.
    ///   - staysOnHost: Whether a redirect to another host is rejected.
    ///   - isRetried: Whether the request is repeated after a temporary failure.
    func send<T>(
        parsing context: (any APIParsingContext)?, isIdempotent: Bool, isFixed: Bool = false, staysOnHost: Bool = false,
        isRetried: Bool = true, build: @Sendable () throws -> URLRequest
    ) async throws -> APIResponse<T> {
        let proof = Locked<String?>(nil)
        var sender = RequestSender(client: self, clock: clock, randomness: randomness) { [weak self] response, request in
            self?.learnTime(from: response)
            self?.learnNonce(from: response)
            proof.exchange(SentProof.thumbprint(in: request))
        }
        (sender.staysOnHost, sender.isRetried) = (staysOnHost, isRetried)
        if configuration.usesDPoP, !isFixed { sender.asksForAnotherProof = { DPoPNonce.isAsked(for: $0, body: $1) } }
        return try await SentProof.$ofTask.withValue(proof) {
            try await sender.send(parsing: context, isIdempotent: isIdempotent, build: build)
        }
    }

    /// Returns the client authentication for an endpoint.
    func proof(for endpoint: URL) throws -> ClientProof {
        try ClientProof(configuration: configuration, endpoint: endpoint, now: now, randomness: randomness)
    }

    /// Updates the clock offset. Differences below two seconds are ignored: the header `Date` has whole seconds, and the response took
    /// time.
    private func learnTime(from response: HTTPURLResponse) {
        // A cached response has an old date.
        guard let serverDate = response.serverDate, response.header("Age").flatMap({ Double($0) }) ?? 0 <= 0 else { return }
        let difference = serverDate.timeIntervalSince(clock.now)
        let offset = abs(difference) < 2 ? 0 : difference
        state.withLock { $0.clockOffset = offset }
        if clock is DeviceClock { ServerTimeCoordinator.shared.learn(offset: offset) }
    }
}

/// The key whose possession the last request of a task proved. Tokens are bound to the key of their own request, because another sign-in
/// can replace the client's key before the response arrives.
private enum SentProof {
    @TaskLocal static var ofTask: Locked<String?>?

    /// Returns the thumbprint of the key in a request's proof; `nil` without a proof.
    static func thumbprint(in request: URLRequest) -> String? {
        guard let proof = request.value(forHTTPHeaderField: DPoPNonce.proofHeader), let header = proof.split(separator: ".").first,
            let data = Data(base64URLEncoded: header), let key = try? JSONValue(parsing: [UInt8](data))["jwk"]
        else { return nil }
        return try? JSONWebKey(parsing: key.serialized()).thumbprint
    }
}
