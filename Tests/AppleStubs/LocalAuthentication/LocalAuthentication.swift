@_exported import CoreFoundationStubs
@_exported import Foundation

internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }

@available(iOS 8.0, macOS 10.10, visionOS 1.0, watchOS 3.0, *)
open class LAContext: NSObject {
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool { stub() }

    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool { stub() }

    @available(iOS 11.0, macOS 10.13.2, visionOS 1.0, watchOS 11.0, *)
    open var biometryType: LABiometryType { stub() }

    @available(iOS 11.0, macOS 10.13, visionOS 1.0, watchOS 4.0, *)
    open var interactionNotAllowed: Bool {
        get { stub() }
        set {}
    }

    @available(iOS 11.0, macOS 10.13, visionOS 1.0, *)
    open var localizedReason: String {
        get { stub() }
        set {}
    }
}

@available(iOS 8.0, macOS 10.10, visionOS 1.0, watchOS 3.0, *)
@nonexhaustive public enum LAPolicy: Int, Sendable {
    @available(iOS 8.0, macOS 10.12.2, visionOS 1.0, *)
    case deviceOwnerAuthenticationWithBiometrics

    @available(iOS 9.0, macOS 10.11, visionOS 1.0, watchOS 3.0, *)
    case deviceOwnerAuthentication
}

@available(iOS 11.0, macOS 10.13.2, visionOS 1.0, watchOS 11.0, *)
@nonexhaustive public enum LABiometryType: Int, Sendable {
    case none, touchID, faceID, opticID
}
