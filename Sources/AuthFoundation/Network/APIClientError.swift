public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// An error of a request.
public enum APIClientError: Error, Sendable {
    /// The URL cannot be built.
    case invalidUrl
    /// No response was received, or the response is not HTTP.
    case missingResponse(request: URLRequest? = nil)
    /// The response is not acceptable, for example because a redirect led to another host.
    case invalidResponse
    /// The body of the response cannot be parsed.
    case cannotParseResponse(error: any Error)
    /// The body of the request cannot be encoded.
    case invalidRequestData
    /// The client lacks the settings for a refresh.
    case missingRefreshSettings
    /// The content type of the request is not supported.
    case unsupportedContentType(_ type: APIContentType)
    /// The server responded with an ``OAuth2ServerError`` or ``OktaAPIError``, or it was unreachable and the error is a `URLError`.
    case httpError(_ error: any Error)
    /// The server responded with this status and without a readable error.
    case statusCode(_ statusCode: Int)
    /// The response failed validation.
    case validation(error: any Error)
    /// Any other error.
    case unknown
}

extension APIClientError {
    /// The OAuth 2.0 error of the server; `nil` for any other error.
    public var serverError: OAuth2ServerError? {
        if case .httpError(let error) = self { error as? OAuth2ServerError } else { nil }
    }

    /// Whether the failure is temporary: no connection, timeout, 5xx or rate limit. Such an error does not mean that the tokens are
    /// invalid.
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

extension APIClientError: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch self {
        case .invalidUrl, .invalidRequestData, .missingRefreshSettings, .unsupportedContentType: .appSetup
        case .missingResponse: .unreachable
        case .invalidResponse: .unexpectedAnswer
        case .cannotParseResponse: .foreignAnswer
        case .httpError(let error), .validation(let error): ErrorText(of: error)
        case .statusCode(let status): ErrorText(status: status)
        case .unknown: .somethingWrong
        }
    }

    /// The reason and a remedy, for developers. It contains no parameters of URLs and no body.
    public var debugDescription: String {
        switch self {
        case .invalidUrl: "The request's URL is not valid. Check the issuer and the redirect URIs in the app's configuration."
        case .missingResponse(let request):
            "No answer came from \(request?.url?.host() ?? "the server"). Check the network and try again."
        case .invalidResponse: "The server's answer is not the one that the protocol asks for."
        case .cannotParseResponse(let error): "The server's answer can't be read: \(technicalText(of: error))"
        case .invalidRequestData: "The request's body can't be written."
        case .missingRefreshSettings: "The client lacks the settings for refreshing a token."
        case .unsupportedContentType(let type): "The format \(type.rawValue) is not supported."
        case .httpError(let error): technicalText(of: error)
        case .statusCode(let status) where (300..<400).contains(status):
            "The server redirects to another place (status \(status)), which the client does not follow. Check the issuer's URL."
        case .statusCode(let status):
            status >= 500
                ? "The server failed with status \(status). Try again later."
                : "The server answered with status \(status) and gave no reason."
        case .validation(let error): technicalText(of: error)
        case .unknown: "The request failed for a reason that is not known."
        }
    }
}

extension APIClientError: Equatable {
    /// Whether both values are the same case with equal associated values. Nested errors are equal if their types and values are equal.
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

/// Returns whether two errors have the same type and value, or else the same domain, code and description.
package func isSame(_ left: any Error, _ right: any Error) -> Bool {
    func compare<E: Equatable>(_ left: E) -> Bool { (right as? E) == left }
    // Cast through `Any`: a direct cast of an error to `Equatable` always succeeds, because it can be boxed as an `NSError`.
    if type(of: left) == type(of: right), let left = (left as Any) as? any Equatable { return compare(left) }
    let (left, right) = (left as NSError, right as NSError)
    return left.domain == right.domain && left.code == right.code && left.localizedDescription == right.localizedDescription
}

extension URLError {
    /// A description with a remedy, for developers. Foundation on Linux has no descriptions.
    var explanation: String {
        let host = (userInfo[NSURLErrorFailingURLErrorKey] as? URL)?.host() ?? "the server"
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
        // On Linux, Foundation reports an untrusted certificate in this way.
        case .unknown: "The request to \(host) failed. Check that the system trusts the certificate of the server, and the network."
        default: "The request to \(host) failed. Check the network and try again."
        }
    }

    /// Whether a retry can succeed.
    var isConnectionFailure: Bool {
        switch code {
        case .networkConnectionLost, .timedOut, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .notConnectedToInternet,
            .badServerResponse, .cannotParseResponse:
            true
        #if canImport(FoundationNetworking)
        // FoundationNetworking uses `unknown` for other failures, such as a truncated response.
        case .unknown: true
        #endif
        default: false
        }
    }
}
