// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Darwin

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public final class SecTrust: Hashable {
    public static func == (lhs: SecTrust, rhs: SecTrust) -> Bool { stub() }
    public func hash(into hasher: inout Hasher) { stub() }
}

@available(iOS 2.0, macOS 10.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
public final class SecCertificate: Hashable {
    public static func == (lhs: SecCertificate, rhs: SecCertificate) -> Bool { stub() }
    public func hash(into hasher: inout Hasher) { stub() }
}

@available(iOS 12.0, macOS 10.14, tvOS 12.0, visionOS 1.0, watchOS 5.0, *)
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { stub() }

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { stub() }

@available(iOS 12.0, macOS 10.14, tvOS 12.0, visionOS 1.0, watchOS 5.0, *)
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? { stub() }
