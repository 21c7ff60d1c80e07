import Foundation
import FoundationNetworking
import Security

internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }

@available(iOS 8.0, macOS 10.10, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

@available(iOS 7.0, macOS 10.8, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { stub() }
}

@available(iOS 8.2, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
extension ProcessInfo {
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension URLSession {
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) { stub() }
}

@available(iOS 3.0, macOS 10.6, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
extension URLProtectionSpace {
    public var serverTrust: SecTrust? { stub() }
}
