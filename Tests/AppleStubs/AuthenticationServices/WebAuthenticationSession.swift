public import Foundation

@available(iOS 12.0, macOS 10.15, tvOS 16.0, visionOS 1.0, watchOS 6.2, *)
open class ASWebAuthenticationSession: NSObject {
    public typealias CompletionHandler = (URL?, (any Error)?) -> Void

    // The conformance is unchecked because Apple's class is not final.
    @available(iOS 17.4, macOS 14.4, tvOS 17.4, visionOS 1.1, watchOS 10.4, *)
    open class Callback: NSObject, @unchecked Sendable {
        open class func https(host: String, path: String) -> Self { stub() }
    }

    public init(
        url URL: URL, callbackURLScheme: String?, completionHandler: @escaping ASWebAuthenticationSession.CompletionHandler
    ) { stub() }

    @available(iOS 17.4, macOS 14.4, tvOS 17.4, visionOS 1.1, watchOS 10.4, *)
    public init(
        url URL: URL, callback: ASWebAuthenticationSession.Callback,
        completionHandler: @escaping ASWebAuthenticationSession.CompletionHandler
    ) { stub() }

    @available(iOS 13.0, macOS 10.15, visionOS 1.0, *)
    open weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?

    @available(iOS 13.0, macOS 10.15, visionOS 1.0, watchOS 6.2, *)
    open var prefersEphemeralWebBrowserSession: Bool {
        get { stub() }
        set {}
    }

    @discardableResult
    open func start() -> Bool { stub() }

    @available(iOS 12.0, macOS 10.15, visionOS 1.0, watchOS 6.2, *)
    open func cancel() { stub() }
}

@available(iOS 13.0, macOS 10.15, visionOS 1.0, *)
@MainActor
public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

@available(iOS 12.0, macOS 10.15, tvOS 16.0, visionOS 1.0, watchOS 6.2, *)
public struct ASWebAuthenticationSessionError: CustomNSError, Hashable {
    // The documentation names tvOS and watchOS only for the first case. The stub has all cases everywhere, because the compiler accepts a
    // pattern with a case that the platform lacks.
    @nonexhaustive public enum Code: Int, Sendable {
        case canceledLogin = 1
        case presentationContextNotProvided = 2
        case presentationContextInvalid = 3
    }

    public var code: Code { stub() }
    public var userInfo: [String: Any] { stub() }
}
