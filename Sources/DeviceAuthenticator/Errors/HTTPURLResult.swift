public import Foundation
public import JOSE

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A request and what came of it, as ``DeviceAuthenticatorError/serverAPIError(_:_:)`` carries it.
///
/// What the module itself reports holds neither the `Authorization` header nor the request's body, so that an error can be logged.
/// Immutable, safe from any thread.
public final class HTTPURLResult: NSObject, NSSecureCoding, Sendable {
    /// The request, without credentials.
    public let request: URLRequest?
    /// The head of the answer.
    public let response: HTTPURLResponse?
    /// The body of the answer.
    public let data: Data?
    /// A further error beside the response: why user verification failed before the server refused a push answer, or that this device's clock
    /// is wrong.
    public let error: (any Error)?

    /// Makes a result.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - response: The head of the answer.
    ///   - data: The body of the answer.
    ///   - error: What went wrong beside the answer.
    public init(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)? = nil) {
        self.request = request
        self.response = response
        self.data = data
        self.error = error
    }

    /// Returns the same result with a further error beside the response.
    func with(error: (any Error)?) -> HTTPURLResult {
        HTTPURLResult(request: request, response: response, data: data, error: error ?? self.error)
    }

    /// Method, path and status; nothing that the request or the answer carried.
    public override var description: String {
        "HTTPURLResult(\(request?.httpMethod ?? "?") \(request?.url?.path() ?? "?"), status: \(response.map { String($0.statusCode) } ?? "none"))"
    }

    /// The same as ``description``.
    public override var debugDescription: String { description }

    // MARK: - NSSecureCoding

    /// Always true.
    public static var supportsSecureCoding: Bool { true }

    /// What of a result is written: Foundation's own types for requests and answers can't be archived everywhere.
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

    /// Writes the result: of the request its URL, method and headers, of the error its domain and code.
    ///
    /// - Parameter coder: The coder to write to.
    public func encode(with coder: NSCoder) {
        let headers = response?.allHeaderFields.compactMap { name, value in
            (name as? String).flatMap { name in (value as? String).map { (name, $0) } }
        }
        let archive = Archive(
            requestURL: request?.url, method: request?.httpMethod, requestHeaders: request?.allHTTPHeaderFields, responseURL: response?.url,
            status: response?.statusCode, responseHeaders: headers.map { Dictionary($0) { first, _ in first } }, data: data,
            errorDomain: error.map { ($0 as NSError).domain }, errorCode: error.map { ($0 as NSError).code })
        // There is nothing in it that can't be encoded, and the protocol leaves no way to say otherwise.
        coder.encode((try? JSONEncoder().encode(archive)) as NSData?, forKey: Self.archiveKey)
    }

    /// Reads a result.
    ///
    /// - Parameter coder: The coder to read from.
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

/// The body of an error of the org (the device-authenticator reference 2.12); every member may be absent.
public struct ServerAPIErrorModel: Codable, Sendable {
    /// What went wrong, for programs.
    public let errorCode: ServerErrorCode?
    /// What went wrong, for people. Of an OAuth error, its code and description.
    public let errorSummary: String?
    /// Where the code is documented.
    public let errorLink: String?
    /// The id of this occurrence, for the org's log.
    public let errorId: String?
    /// The status that an older form of answer names.
    public let status: String?
    /// Details; in each the members that are strings.
    public let errorCauses: [[String: String]]?

    /// Reads what can be read; a member of another form than expected counts as absent.
    ///
    /// - Parameter body: The body of an answer.
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
