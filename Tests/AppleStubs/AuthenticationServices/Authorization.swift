public import Foundation

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
open class ASAuthorizationController: NSObject {
    public init(authorizationRequests: [ASAuthorizationRequest]) { stub() }

    open weak var delegate: (any ASAuthorizationControllerDelegate)?

    @available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, *)
    open weak var presentationContextProvider: (any ASAuthorizationControllerPresentationContextProviding)?

    open func performRequests() { stub() }

    @available(iOS 16.0, visionOS 1.0, *)
    open func performAutoFillAssistedRequests() { stub() }

    @available(iOS 16.0, macOS 13.0, tvOS 18.0, visionOS 1.0, *)
    open func cancel() { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
@MainActor
public protocol ASAuthorizationControllerDelegate: NSObjectProtocol {
    func authorizationController(controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization)
    func authorizationController(controller: ASAuthorizationController, didCompleteWithError error: any Error)
}

// Both requirements are optional in Objective-C. The implementations are deprecated, so that the compiler warns if a class does not
// implement a requirement with the signature and name of the protocol.
@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension ASAuthorizationControllerDelegate {
    @available(*, deprecated, message: "The type does not implement the requirement.")
    public func authorizationController(
        controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization
    ) { stub() }

    @available(*, deprecated, message: "The type does not implement the requirement.")
    public func authorizationController(controller: ASAuthorizationController, didCompleteWithError error: any Error) { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, *)
@MainActor
public protocol ASAuthorizationControllerPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for controller: ASAuthorizationController) -> ASPresentationAnchor
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
open class ASAuthorizationRequest: NSObject {}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
open class ASAuthorization: NSObject {
    open var credential: any ASAuthorizationCredential { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public protocol ASAuthorizationCredential: NSCopying, NSSecureCoding, NSObjectProtocol {}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct ASAuthorizationError: CustomNSError, Hashable {
    @nonexhaustive public enum Code: Int, Sendable {
        case unknown = 1000
        case canceled = 1001
        case invalidResponse = 1002
        case notHandled = 1003
        case failed = 1004
    }

    public var code: Code { stub() }
}
