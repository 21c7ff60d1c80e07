internal import AuthFoundation
public import Foundation
public import JOSE

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A request and its response, for ``DeviceAuthenticatorError/serverAPIError(_:_:)``. Results from this module contain neither the
/// `Authorization` header nor the request's body, so that an app can log the error. A property is `nil` if its value is unknown. Immutable;
/// safe from any thread.
public final class HTTPURLResult: NSObject, NSSecureCoding, Sendable {
    /// The request, without credentials.
    public let request: URLRequest?
    /// The response without its body.
    public let response: HTTPURLResponse?
    /// The body of the response.
    public let data: Data?
    /// A further error besides the response; `nil` for none. For example, user verification failed before the server rejected the answer,
    /// or this device's clock is wrong.
    public let error: (any Error)?

    /// Creates a result.
    public init(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)? = nil) {
        self.request = request
        self.response = response
        self.data = data
        self.error = error
    }

    /// Returns the result with a further error besides the response.
    func with(error: (any Error)?) -> HTTPURLResult {
        HTTPURLResult(request: request, response: response, data: data, error: error ?? self.error)
    }

    /// The method, path and status, without headers and bodies.
    public override var description: String {
        "HTTPURLResult(\(request?.httpMethod ?? "?") \(request?.url?.path() ?? "?"), status: \(response.map { String($0.statusCode) } ?? "none"))"
    }

    /// The same as ``description``.
    public override var debugDescription: String { description }

    private static let isCodedSecurely = Locked(true)

    /// Whether results can be archived with secure coding; `true` by default.
    public static var supportsSecureCoding: Bool {
        get { isCodedSecurely.withLock { $0 } }
        set { isCodedSecurely.withLock { $0 = newValue } }
    }

    /// The archived data; Foundation's own request and response types cannot be archived on every platform.
    private struct Archive: Codable {
        var requestURL: URL?
        var method: String?
        var requestHeaders: [String: String]?
        var responseURL: URL?
        var status: Int?
        var responseHeaders: [String: String]?
        var data: Data?
        var errorDomain: String?
        var errorCode: Int?
    }

    private static let archiveKey = "result"

    /// Encodes the result: the request's URL, method and headers, the response, and the error's domain and code.
    public func encode(with coder: NSCoder) {
        let headers = response?.allHeaderFields.compactMap { name, value in
            (name as? String).flatMap { name in (value as? String).map { (name, $0) } }
        }
        let archive = Archive(
            requestURL: request?.url, method: request?.httpMethod, requestHeaders: request?.allHTTPHeaderFields, responseURL: response?.url,
            status: response?.statusCode, responseHeaders: headers.map { Dictionary($0) { first, _ in first } }, data: data,
            errorDomain: error.map { ($0 as NSError).domain }, errorCode: error.map { ($0 as NSError).code })
        // The archive can always be encoded, and the protocol has no way to report an error.
        coder.encode((try? JSONEncoder().encode(archive)) as NSData?, forKey: Self.archiveKey)
    }

    /// Decodes a result.
    public required init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: Self.archiveKey),
            let archive = try? JSONDecoder().decode(Archive.self, from: data as Data)
        else { return nil }
        var request = archive.requestURL.map { URLRequest(url: $0) }
        request?.httpMethod = archive.method
        request?.allHTTPHeaderFields = archive.requestHeaders
        self.request = request
        response = archive.responseURL.flatMap { url in
            archive.status.flatMap { HTTPURLResponse(url: url, statusCode: $0, httpVersion: nil, headerFields: archive.responseHeaders) }
        }
        self.data = archive.data
        error = archive.errorDomain.map { NSError(domain: $0, code: archive.errorCode ?? 0) }
    }
}

extension HTTPURLResult: Redacted {}

/// The body of an error response of the org (Documentation/Protocol/Devices.md §2.12). Any member may be missing.
public struct ServerAPIErrorModel: Codable, Sendable {
    /// The error code.
    public let errorCode: ServerErrorCode?
    /// A readable description; for an OAuth error, its code and description.
    public let errorSummary: String?
    /// A link to the documentation of the code.
    public let errorLink: String?
    /// The id of this occurrence in the org's log.
    public let errorId: String?
    /// The status in an older form of the response.
    public let status: String?
    /// The details; each contains only its string members.
    public let errorCauses: [[String: String]]?

    /// Parses a response body. A member of an unexpected type counts as missing.
    init?(body: some Collection<UInt8>) {
        guard let json = try? JSONValue(parsing: body), json.objectValue != nil else { return nil }
        let oauthError = [json["error"]?.stringValue, json["error_description"]?.stringValue].compactMap { $0 }.joined(separator: ": ")
        errorCode = json["errorCode"]?.stringValue.map(ServerErrorCode.init(raw:))
        errorSummary = json["errorSummary"]?.stringValue ?? (oauthError.isEmpty ? nil : oauthError)
        errorLink = json["errorLink"]?.stringValue
        errorId = json["errorId"]?.stringValue
        status = json["status"]?.stringValue
        errorCauses = json["errorCauses"]?.arrayValue?.compactMap { $0.objectValue?.compactMapValues(\.stringValue) }
    }
}
