@_exported import Crypto
import Foundation
import Security

internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public enum SecureEnclave: Sendable {
    public static var isAvailable: Bool { stub() }

    public enum P256: Sendable {
        public enum Signing: Sendable {
            public struct PrivateKey: Sendable {
                public init(dataRepresentation: Data) throws { stub() }

                public init(compactRepresentable: Bool = true, accessControl: SecAccessControl) throws { stub() }

                public var dataRepresentation: Data { stub() }

                public var publicKey: Crypto.P256.Signing.PublicKey { stub() }

                public func signature<D: DataProtocol>(for data: D) throws -> Crypto.P256.Signing.ECDSASignature { stub() }
            }
        }
    }
}
