#if canImport(Security)
public import Security
#else
/// What guards a user verification key: off Apple's systems, the same names as the flags of the Security framework.
///
/// There the ``UserVerifier`` decides how the person is verified, whatever the flags say; they are kept so that the same code compiles.
public struct SecAccessControlCreateFlags: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt

    /// Flags of bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Biometrics or the passcode.
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
    /// Any biometrics of the device.
    public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
    /// The biometrics enrolled when the key was made.
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
    /// The passcode of the device.
    public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
    /// One of the constraints is enough.
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
    /// All constraints are needed.
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
    /// The private key may be used to sign.
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
    /// A password of the app is needed.
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)
}
#endif

extension SecAccessControlCreateFlags {
    /// Flags of stored bits.
    init(bits: UInt) { self.init(rawValue: RawValue(bits)) }

    /// Bits to store.
    var bits: UInt { UInt(rawValue) }

    /// What a signature with a key of these flags proves of how the person was verified: nothing where there is a choice.
    ///
    /// - Parameter biometry: The method of the device's biometrics; ``UserVerification/Method/none`` if it has none.
    /// - Returns: The method that no signature is made without; ``UserVerification/Method/none`` if there is no such.
    func provenMethod(biometry: UserVerification.Method) -> UserVerification.Method {
        let isBiometric = contains(.biometryAny) || contains(.biometryCurrentSet)
        // The system says not which of several it was content with.
        if contains(.or) || contains(.userPresence) || (isBiometric && contains(.devicePasscode) && !contains(.and)) { return .none }
        if contains(.devicePasscode) { return .pin }
        return isBiometric ? biometry : .none
    }
}
