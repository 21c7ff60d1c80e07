internal import Crypto
public import IdentityEngine

/// The system's random bytes.
public struct SystemRandomSource: RandomSource {
    /// Makes the source.
    public init() {}

    /// Random bytes fit for secrets.
    public func bytes(_ count: Int) throws -> [UInt8] {
        // A new symmetric key is so many bytes of the system's cryptographic generator.
        SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
    }
}
