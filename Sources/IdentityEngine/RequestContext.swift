public import Foundation
public import JOSE

/// What the engine knows of a request beside its content.
public struct RequestContext: Sendable {
    /// The server's wall clock when the request arrived.
    public var now: Date
    /// Unique per request; in the answer's `x-okta-request-id` and in the log.
    public var requestID: String
    /// The peer's address, as the front door trusts it.
    public var address: String?
    /// The peer's `User-Agent`.
    public var userAgent: String?

    /// What a back end calls the device that it speaks for (`X-Device-Token`, at most 32 characters); not to be believed of others.
    public var deviceToken: String?

    /// The secret that the hosted pages gave the browser after a sign-in, by which they recognize its device; `nil` if the request has none.
    public var browserDevice: String?

    /// The name of the trusted caller whose back end has ``address``, if it forwards no address of its users; `nil` otherwise.
    public var backEnd: String?

    /// Describes a request.
    public init(now: Date, requestID: String, address: String? = nil, userAgent: String? = nil, deviceToken: String? = nil) {
        self.now = now
        self.requestID = requestID
        self.address = address
        self.userAgent = userAgent
        self.deviceToken = deviceToken
    }
}

extension RequestContext: Redacted {
    /// The request's id; it never identifies a device or a browser.
    public var description: String { "RequestContext(\(requestID))" }
}
