public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Sends requests in the place of `URLSession`: an app's own HTTP library, or a test.
public protocol OktaHTTPRequestListenerProtocol {
    /// Sends a request, as it is or as a copy.
    ///
    /// - Parameters:
    ///   - request: The request. It holds passwords and tokens: leave it out of logs.
    ///   - completionHandler: To be called once, from any thread, with the body and the head of the answer, or with an error. Further calls
    ///     change nothing.
    func sendRequest(_ request: URLRequest, completionHandler: @escaping (Data?, URLResponse?, (any Error)?) -> Void)
}
