public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Sends requests instead of `URLSession`, for example with another HTTP library or in a test.
public protocol OktaHTTPRequestListenerProtocol {
    /// Sends a request, unchanged or as a modified copy.
    /// - Parameters:
    ///   - request: The request. It contains passwords and tokens: do not log it.
    ///   - completionHandler: Call it once, from any thread, with the body and the response, or with an error. Further calls are ignored.
    func sendRequest(_ request: URLRequest, completionHandler: @escaping (Data?, URLResponse?, (any Error)?) -> Void)
}
