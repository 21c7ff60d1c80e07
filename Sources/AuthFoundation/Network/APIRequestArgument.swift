public import Foundation

/// A value that can be sent as a parameter or header.
public protocol APIRequestArgument: Sendable {
    /// The value as text.
    var stringValue: String { get }
}

extension APIRequestArgument where Self: RawRepresentable, RawValue == String {
    /// The raw value.
    public var stringValue: String { rawValue }
}

extension APIRequestArgument where Self: LosslessStringConvertible {
    /// The value as text.
    public var stringValue: String { String(self) }
}

extension String: APIRequestArgument {
    /// The string itself.
    public var stringValue: String { self }
}

extension Int: APIRequestArgument {}
extension Int8: APIRequestArgument {}
extension Int16: APIRequestArgument {}
extension Int32: APIRequestArgument {}
extension Int64: APIRequestArgument {}
extension UInt: APIRequestArgument {}
extension UInt8: APIRequestArgument {}
extension UInt16: APIRequestArgument {}
extension UInt32: APIRequestArgument {}
extension UInt64: APIRequestArgument {}
extension Float: APIRequestArgument {}
extension Double: APIRequestArgument {}
extension Bool: APIRequestArgument {}

extension URL: APIRequestArgument {
    /// The whole URL.
    public var stringValue: String { absoluteString }
}

extension JWTClaim: APIRequestArgument {}
extension AuthenticationMethod: APIRequestArgument {}
extension Token.Kind: APIRequestArgument {}

extension JWT: APIRequestArgument {
    /// The compact form.
    public var stringValue: String { rawValue }
}
