internal import AuthFoundation
public import Foundation
internal import JOSE

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// One request and its result.
/// The class is not `Sendable`: use it on the main queue. Closures are called on the main queue, the completion at most once.
public class OktaAPIRequest {
    /// The result of a request.
    public enum Result: Sendable {
        /// A state of the transaction.
        case success(OktaAPISuccessResponse)
        /// The request failed.
        case error(OktaError)
    }

    /// An HTTP method.
    public enum Method: String, Sendable {
        /// GET.
        case get
        /// POST.
        case post
        /// PUT.
        case put
        /// DELETE.
        case delete
        /// OPTIONS.
        case options
    }

    /// The HTTP method.
    public var method: Method = .post
    /// The organization's URL, or a link with its query.
    public var baseURL: URL
    /// The path to append to the base URL; `nil` for a link.
    public var path: String?
    /// The parameters to add to the query; `nil` for none. They replace parameters of the same name in ``baseURL``.
    public var urlParams: [String: String]?
    /// The members of the JSON object in the body; `nil` for none. A GET request has no body.
    public var bodyParams: [String: Any]?
    /// Additional headers; `nil` for none. They override the default headers.
    public var additionalHeaders: [String: String]?
    /// A closure that receives the body of a successful response instead of the completion; for responses that are not a status.
    public var customSuccessHandler: ((OktaAPIRequest, Data?, JSONDecoder, OktaError?) -> Void)?

    /// The running task of the session; `nil` if no task is running, or if no explicit `URLSession` sends the request.
    public private(set) weak var task: URLSessionDataTask?
    /// Whether the request was cancelled.
    public private(set) var isCancelled = false

    /// Whether a successful response may be empty.
    var takesEmptyAnswer = false

    /// The transport of the request.
    enum Transport {
        case listener(any OktaHTTPRequestListenerProtocol)
        case urlSession(URLSession)
        case own(any URLSessionProtocol)
    }

    private static let patience: TimeInterval = 60

    private let transport: Transport
    private let completion: (OktaAPIRequest, Result) -> Void
    private var exchange: Task<Void, Never>?
    private var hasEnded = false

    /// Creates a request.
    /// - Parameters:
    ///   - baseURL: The organization's URL, or a link.
    ///   - httpClient: A transport that sends the request instead of the session; `nil` for the session.
    ///   - completion: Called at most once, on the main queue; never after a cancellation or after ``customSuccessHandler``.
    public convenience init(
        baseURL: URL, urlSession: URLSession, httpClient: (any OktaHTTPRequestListenerProtocol)? = nil,
        completion: @escaping (OktaAPIRequest, Result) -> Void
    ) {
        self.init(baseURL: baseURL, transport: httpClient.map(Transport.listener) ?? .urlSession(urlSession), completion: completion)
    }

    init(baseURL: URL, transport: Transport, completion: @escaping (OktaAPIRequest, Result) -> Void) {
        self.baseURL = baseURL
        self.transport = transport
        self.completion = completion
    }

    /// Returns the request as it is sent.
    /// - Throws: `OktaError.errorBuildingURLRequest` if the URL is neither https nor http on a loopback host, the body is not valid JSON,
    ///   or a header contains a control character.
    public func buildRequest() throws -> URLRequest {
        var request = URLRequest(url: try url(), cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: Self.patience)
        request.httpMethod = method.rawValue.uppercased()
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue(SDKVersion.userAgent, forHTTPHeaderField: "User-Agent")
        for (name, value) in additionalHeaders ?? [:] {
            guard value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
                throw OktaError.errorBuildingURLRequest("its header \(name) holds what no header can")
            }
            request.setValue(value, forHTTPHeaderField: name)
        }
        // A GET request has no body.
        if let bodyParams, method != .get {
            guard JSONSerialization.isValidJSONObject(bodyParams),
                let body = try? JSONSerialization.data(withJSONObject: bodyParams, options: [.sortedKeys, .withoutEscapingSlashes])
            else { throw OktaError.errorBuildingURLRequest("its body can't be written as JSON") }
            request.httpBody = body
        } else if method == .post {
            // An empty body sets the Content-Length header.
            request.httpBody = Data()
        }
        return request
    }

    private func url() throws -> URL {
        guard var parts = URLComponents(url: baseURL, resolvingAgainstBaseURL: true) else {
            throw OktaError.errorBuildingURLRequest("\(baseURL) is no URL")
        }
        if let path { parts.percentEncodedPath = Organization.path(of: parts.percentEncodedPath) + path }
        if let urlParams, !urlParams.isEmpty {
            let added = urlParams.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
            // These parameters override the link's parameters.
            parts.queryItems = (parts.queryItems ?? []).filter { urlParams[$0.name] == nil } + added
        }
        guard let url = parts.url, LoopbackRule.isAcceptable(url) else {
            throw OktaError.errorBuildingURLRequest("\(baseURL.host() ?? "its URL") is not reached by https")
        }
        return url
    }

    /// Sends the request. The completion is called later, never during this call.
    public func run() {
        guard !isCancelled, !hasEnded else { return }
        let request: URLRequest
        do {
            request = try buildRequest()
        } catch {
            let reason = error as? OktaError ?? .errorBuildingURLRequest(technicalText(of: error))
            return MainQueue.runLater { self.end(.error(reason)) }
        }
        // Retains the request until the response arrives.
        let transfer = MainQueueTransfer(contents: self)
        let arrive: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = { data, response, error in
            MainQueue.runLater { transfer.contents.arrive(data, response, error) }
        }
        switch transport {
        case .listener(let listener): listener.sendRequest(request, completionHandler: arrive)
        case .urlSession(let session):
            let task = session.dataTask(with: request, completionHandler: arrive)
            self.task = task
            task.resume()
        case .own(let session):
            exchange = Task {
                do {
                    let (data, response) = try await session.data(for: request)
                    arrive(data, response, nil)
                } catch {
                    arrive(nil, nil, error)
                }
            }
        }
    }

    /// Cancels the request. No closure is called afterwards.
    public func cancel() {
        isCancelled = true
        exchange?.cancel()
        #if !canImport(FoundationNetworking)
        // On other platforms, Foundation traps if a request is cancelled at the moment of its end. There the request continues, and its
        // response is ignored.
        task?.cancel()
        #endif
    }

    private func arrive(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        guard !isCancelled, !hasEnded else { return }
        if let error { return end(.error(.connectionError(error))) }
        guard let response = response as? HTTPURLResponse, let data else { return end(.error(.emptyServerResponse)) }
        let decoder = JSONDecoder()
        guard (200..<300).contains(response.statusCode) else { return end(.error(Self.refusal(data, response, decoder))) }
        if let customSuccessHandler {
            hasEnded = true
            return customSuccessHandler(self, data, decoder, nil)
        }
        if data.isEmpty { return end(takesEmptyAnswer ? .success(.empty) : .error(.emptyServerResponse)) }
        do {
            var answer = try decoder.decode(OktaAPISuccessResponse.self, from: data)
            answer.rawData = data
            end(.success(answer))
        } catch {
            end(.error(.responseSerializationError(error, data)))
        }
    }

    private static func refusal(_ data: Data, _ response: HTTPURLResponse, _ decoder: JSONDecoder) -> OktaError {
        do {
            var refusal = try decoder.decode(OktaAPIErrorResponse.self, from: data)
            refusal.statusCode = response.statusCode
            refusal.requestId = response.value(forHTTPHeaderField: "X-Okta-Request-Id")
            refusal.rateLimitReset = response.value(forHTTPHeaderField: "X-Rate-Limit-Reset").flatMap(TimeInterval.init)
                .flatMap(Date.init(numericDate:))
            return .serverRespondedWithError(refusal)
        } catch {
            return .responseSerializationError(error, data)
        }
    }

    private func end(_ result: Result) {
        guard !isCancelled, !hasEnded else { return }
        hasEnded = true
        completion(self, result)
    }
}

@available(*, unavailable)
extension OktaAPIRequest: Sendable {}

/// Extracts the base path from an organization's URL.
enum Organization {
    /// Returns the base path of the API: the part before the segment `oauth2` of an issuer's path.
    static func path(of path: String) -> String {
        let segments = path.split(separator: "/").prefix { $0 != "oauth2" }
        return segments.map { "/\($0)" }.joined()
    }
}

/// Returns the version of this SDK, such as `1.2.3`.
public func sdkVersion() -> String {
    SDKVersion.current
}

/// A transport that sends requests instead of `URLSession`, for example with another HTTP library or in a test.
public protocol OktaHTTPRequestListenerProtocol {
    /// Sends a request, unchanged or as a modified copy.
    /// - Parameters:
    ///   - request: The request. It contains passwords and tokens: do not log it.
    ///   - completionHandler: Call it once, from any thread, with the body and the response, or with an error. Further calls are ignored.
    func sendRequest(_ request: URLRequest, completionHandler: @escaping (Data?, URLResponse?, (any Error)?) -> Void)
}
