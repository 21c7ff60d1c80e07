public import Foundation

@available(iOS 15.0, macOS 12.0, tvOS 16.0, visionOS 1.0, *)
open class ASAuthorizationPlatformPublicKeyCredentialProvider: NSObject {
    public init(relyingPartyIdentifier: String) { stub() }

    open func createCredentialAssertionRequest(challenge: Data) -> ASAuthorizationPlatformPublicKeyCredentialAssertionRequest { stub() }
}

@available(iOS 15.0, macOS 12.0, tvOS 16.0, visionOS 1.0, *)
open class ASAuthorizationPlatformPublicKeyCredentialAssertionRequest: ASAuthorizationRequest {
    open var allowedCredentials: [ASAuthorizationPlatformPublicKeyCredentialDescriptor] {
        get { stub() }
        set {}
    }
    open var userVerificationPreference: ASAuthorizationPublicKeyCredentialUserVerificationPreference {
        get { stub() }
        set {}
    }
}

@available(iOS 15.0, macOS 12.0, tvOS 16.0, visionOS 1.0, *)
open class ASAuthorizationPlatformPublicKeyCredentialDescriptor: NSObject {
    public init(credentialID: Data) { stub() }
}

@available(iOS 15.0, macOS 12.0, *)
open class ASAuthorizationSecurityKeyPublicKeyCredentialProvider: NSObject {
    public init(relyingPartyIdentifier: String) { stub() }

    open func createCredentialAssertionRequest(challenge: Data) -> ASAuthorizationSecurityKeyPublicKeyCredentialAssertionRequest { stub() }
}

@available(iOS 15.0, macOS 12.0, *)
open class ASAuthorizationSecurityKeyPublicKeyCredentialAssertionRequest: ASAuthorizationRequest {
    open var allowedCredentials: [ASAuthorizationSecurityKeyPublicKeyCredentialDescriptor] {
        get { stub() }
        set {}
    }
    open var userVerificationPreference: ASAuthorizationPublicKeyCredentialUserVerificationPreference {
        get { stub() }
        set {}
    }
}

@available(iOS 15.0, macOS 12.0, *)
open class ASAuthorizationSecurityKeyPublicKeyCredentialDescriptor: NSObject {
    public struct Transport: RawRepresentable, Hashable, Sendable {
        public var rawValue: String { stub() }
        public init(rawValue: String) { stub() }

        public static var allSupported: [ASAuthorizationSecurityKeyPublicKeyCredentialDescriptor.Transport] { stub() }
        public static var usb: ASAuthorizationSecurityKeyPublicKeyCredentialDescriptor.Transport { stub() }
        public static var nfc: ASAuthorizationSecurityKeyPublicKeyCredentialDescriptor.Transport { stub() }
        public static var bluetooth: ASAuthorizationSecurityKeyPublicKeyCredentialDescriptor.Transport { stub() }
    }

    public init(credentialID: Data, transports allowedTransports: [ASAuthorizationSecurityKeyPublicKeyCredentialDescriptor.Transport]) {
        stub()
    }
}

@available(iOS 15.0, macOS 12.0, tvOS 16.0, visionOS 1.0, *)
public struct ASAuthorizationPublicKeyCredentialUserVerificationPreference: RawRepresentable, Hashable, Sendable {
    public var rawValue: String { stub() }
    public init(rawValue: String) { stub() }

    public static var required: ASAuthorizationPublicKeyCredentialUserVerificationPreference { stub() }
    public static var preferred: ASAuthorizationPublicKeyCredentialUserVerificationPreference { stub() }
    public static var discouraged: ASAuthorizationPublicKeyCredentialUserVerificationPreference { stub() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, *)
public protocol ASPublicKeyCredential: ASAuthorizationCredential {
    var rawClientDataJSON: Data { get }
}

@available(iOS 15.0, macOS 12.0, tvOS 16.0, visionOS 1.0, *)
public protocol ASAuthorizationPublicKeyCredentialAssertion: ASPublicKeyCredential {
    // Apple's headers do not say whether the values can be nil.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    var rawAuthenticatorData: Data! { get }
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    var userID: Data! { get }
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    var signature: Data! { get }
}
