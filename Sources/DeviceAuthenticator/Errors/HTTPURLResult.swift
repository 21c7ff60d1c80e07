public import Foundation

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
    /// What went wrong beside the answer; for a refused push answer, why the person could not be verified before it was sent.
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

    /// Method, path and status; nothing that the request or the answer carried.
    public override var description: String {
        "HTTPURLResult(\(request?.httpMethod ?? "?") \(request?.url?.path() ?? "?"), status: \(response.map { String($0.statusCode) } ?? "none"))"
    }

    /// The same as ``description``.
    public override var debugDescription: String { description }

    // MARK: - NSSecureCoding

    /// Always true.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the result.
    ///
    /// - Parameter coder: The coder to write to.
    public func encode(with coder: NSCoder) {
        coder.encode(request.map { $0 as NSURLRequest }, forKey: "request")
        coder.encode(response, forKey: "response")
        coder.encode(data.map { $0 as NSData }, forKey: "data")
        coder.encode(error.map { NSError(domain: ($0 as NSError).domain, code: ($0 as NSError).code) }, forKey: "error")
    }

    /// Reads a result.
    ///
    /// - Parameter coder: The coder to read from.
    public required init?(coder: NSCoder) {
        request = coder.decodeObject(of: NSURLRequest.self, forKey: "request").map { $0 as URLRequest }
        response = coder.decodeObject(of: HTTPURLResponse.self, forKey: "response")
        data = coder.decodeObject(of: NSData.self, forKey: "data").map { $0 as Data }
        error = coder.decodeObject(of: NSError.self, forKey: "error")
    }
}

extension HTTPURLResult: CustomReflectable {
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
