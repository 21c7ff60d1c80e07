#if canImport(Security)
internal import Security
#else
/// The protection of a user verification key, with the names of Apple's Security framework. This type exists on platforms other than
/// Apple's, so that the same code compiles. The flags have no effect on these platforms; the ``UserVerifier`` decides how the user is
/// verified.
public struct SecAccessControlCreateFlags: OptionSet, Sendable, Hashable {
    /// The flags as a bit mask.
    public let rawValue: UInt

    /// Creates flags from a bit mask.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Biometrics or the passcode.
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
    /// Any biometrics of the device.
    public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
    /// The biometrics that are enrolled when the key is created.
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
    /// The passcode of the device.
    public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
    /// One of the constraints suffices.
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
    /// All constraints are required.
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
    /// The private key may sign.
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
    /// A password of the app is required.
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)
}
#endif

extension SecAccessControlCreateFlags {
    init(bits: UInt) { self.init(rawValue: RawValue(bits)) }

    var bits: UInt { UInt(rawValue) }

    /// Returns the verification method that a signature proves if its key has these flags. Returns ``UserVerification/Method/none`` if
    /// several methods are possible. `biometry` is the method of the device's biometrics.
    func provenMethod(biometry: UserVerification.Method) -> UserVerification.Method {
        let isBiometric = contains(.biometryAny) || contains(.biometryCurrentSet)
        // The system does not report which of several methods it accepted.
        if contains(.or) || contains(.userPresence) || (isBiometric && contains(.devicePasscode) && !contains(.and)) { return .none }
        if contains(.devicePasscode) { return .pin }
        return isBiometric ? biometry : .none
    }
}
