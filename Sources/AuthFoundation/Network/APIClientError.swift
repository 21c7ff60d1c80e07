public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A request failed.
public enum APIClientError: Error, Sendable {
    /// A URL can't be made from the request's parts.
    case invalidUrl
    /// No answer came.
    case missingResponse(request: URLRequest? = nil)
    /// The answer is not one of HTTP, or lacks what it must have.
    case invalidResponse
    /// The answer's body can't be read.
    case cannotParseResponse(error: any Error)
    /// The request's body can't be written.
    case invalidRequestData
    /// The client lacks the settings for a refresh.
    case missingRefreshSettings
    /// The request's format is not one that the client can write.
    case unsupportedContentType(_ type: APIContentType)
    /// The server answered with an error, an ``OAuth2ServerError`` or ``OktaAPIError``; or it was not reached, and this is a `URLError`.
    case httpError(_ error: any Error)
    /// The server answered with that status and no error that can be read.
    case statusCode(_ statusCode: Int)
    /// The answer is not valid.
    case validation(error: any Error)
    /// Anything else.
    case unknown
}

extension APIClientError {
    /// The error that the server answered with, if it did.
    public var serverError: OAuth2ServerError? {
        if case .httpError(let error) = self { error as? OAuth2ServerError } else { nil }
    }

    /// Whether the server was not reached or could not answer: no connection, a time-out, 5xx, the rate limit.
    ///
    /// Such an error says nothing about the tokens that were sent.
    public var isTransient: Bool {
        switch self {
        case .missingResponse: true
        case .statusCode(let status): status >= 500 || status == 429
        case .httpError(let error as OAuth2ServerError): error.isTransient
        case .httpError(let error as OktaAPIError): error.statusCode.map { $0 >= 500 || $0 == 429 } ?? (error.code == "E0000047")
        case .httpError(let error): error is URLError
        case .cannotParseResponse, .invalidUrl, .invalidResponse, .invalidRequestData, .missingRefreshSettings, .unsupportedContentType,
            .validation, .unknown:
            false
        }
    }
}

extension APIClientError: LocalizedError {
    /// What happened, and what to do next.
    public var errorDescription: String? {
        switch self {
        case .invalidUrl: "The request's URL is not valid. Check the issuer and the redirect URIs in the app's configuration."
        case .missingResponse(let request):
            "No answer came from \(request?.url?.host() ?? "the server"). Check the network and try again."
        case .invalidResponse: "The server's answer is not the one that the protocol asks for."
        case .cannotParseResponse(let error): "The server's answer can't be read: \(error.localizedDescription)"
        case .invalidRequestData: "The request's body can't be written."
        case .missingRefreshSettings: "The client lacks the settings for refreshing a token."
        case .unsupportedContentType(let type): "The format \(type.rawValue) is not supported."
        case .httpError(let error as URLError): error.explanation
        case .httpError(let error): error.localizedDescription
        case .statusCode(let status) where (300..<400).contains(status):
            "The server redirects to another place (status \(status)), which the client does not follow. Check the issuer's URL."
        case .statusCode(let status):
            status >= 500
                ? "The server failed with status \(status). Try again later."
                : "The server answered with status \(status) and gave no reason."
        case .validation(let error): error.localizedDescription
        case .unknown: "The request failed for a reason that is not known."
        }
    }
}

extension APIClientError: Equatable {
    /// Whether both are the same case with equal values; errors inside are equal if they are of the same type and value.
    public static func == (lhs: APIClientError, rhs: APIClientError) -> Bool {
        switch (lhs, rhs) {
        case (.invalidUrl, .invalidUrl), (.invalidResponse, .invalidResponse), (.invalidRequestData, .invalidRequestData),
            (.missingRefreshSettings, .missingRefreshSettings), (.unknown, .unknown):
            true
        case (.missingResponse(let left), .missingResponse(let right)): left == right
        case (.unsupportedContentType(let left), .unsupportedContentType(let right)): left == right
        case (.statusCode(let left), .statusCode(let right)): left == right
        case (.cannotParseResponse(let left), .cannotParseResponse(let right)), (.httpError(let left), .httpError(let right)),
            (.validation(let left), .validation(let right)):
            isSame(left, right)
        default: false
        }
    }
}

/// Whether two errors are of one type and equal, or at least of one domain and code with the same text.
package func isSame(_ left: any Error, _ right: any Error) -> Bool {
    func compare<E: Equatable>(_ left: E) -> Bool { (right as? E) == left }
    // By way of `Any`: any error at all can be cast to `Equatable` directly, because it can be boxed as an `NSError`.
    if type(of: left) == type(of: right), let left = (left as Any) as? any Equatable { return compare(left) }
    let (left, right) = (left as NSError, right as NSError)
    return left.domain == right.domain && left.code == right.code && left.localizedDescription == right.localizedDescription
}

extension URLError {
    /// What happened, in words that a person can act on. Foundation on Linux has none.
    var explanation: String {
        let host = failureURLString.flatMap { URL(string: $0)?.host() } ?? "the server"
        return switch code {
        case .notConnectedToInternet, .dataNotAllowed: "This device is not connected to the internet."
        case .networkConnectionLost: "The connection to \(host) was lost. Try again."
        case .timedOut: "\(host) did not answer in time. Try again."
        case .cannotFindHost, .dnsLookupFailed: "\(host) can't be found. Check the issuer in the app's configuration and the network."
        case .cannotConnectToHost: "\(host) can't be reached. Check that the server runs and that the issuer's port is right."
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid:
            "The certificate of \(host) is not valid by this device's clock. Check the device's date and time."
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .secureConnectionFailed:
            "No secure connection to \(host): its certificate is not trusted."
        case .dataLengthExceedsMaximum: "The answer of \(host) is larger than any answer of this protocol."
        case .cannotDecodeContentData: "The answer of \(host) is compressed, although the request asked for no compression."
        default: "The request to \(host) failed (URL error \(code.rawValue)). Check the network and try again."
        }
    }

    /// Whether sending the request once more may help.
    var isConnectionFailure: Bool {
        switch code {
        case .networkConnectionLost, .timedOut, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .notConnectedToInternet,
            .badServerResponse, .cannotParseResponse:
            true
        #if canImport(FoundationNetworking)
        // What that implementation has no code for, such as an answer that breaks off in the middle.
        case .unknown: true
        #endif
        default: false
        }
    }

    private var failureURLString: String? {
        (userInfo[NSURLErrorFailingURLErrorKey] as? URL)?.absoluteString
    }
}
