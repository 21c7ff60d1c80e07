internal import IdentityEngine
public import JOSE

/// A device of a sandbox's person whose codes follow a counter (RFC 4226), such as one on a key ring: each press shows the next one.
///
/// An administrator gives it: it is part of the ``SandboxUser``, or a member `hotp` of a user in the org file. People do not set it up.
public struct CounterDevice: Sendable, Equatable {
    /// What it is known by, such as the number on its back: 1 to 100 bytes.
    public let credentialID: String
    /// The counter of its next code, from 0 on.
    public let counter: Int64
    /// Its seed in Base32.
    let secret: String

    /// Describes a device.
    ///
    /// - Parameters:
    ///   - secret: Its seed: Base32 of at least 16 bytes.
    ///   - credentialID: What it is known by: 1 to 100 bytes.
    ///   - counter: The counter of its next code, from 0 on.
    public init(secret: String, credentialID: String, counter: Int64 = 0) {
        self.secret = secret
        self.credentialID = credentialID
        self.counter = counter
    }

    /// What it shows after some presses. Each code is good once, and leaves those before it good no more.
    ///
    /// - Parameter presses: How often the button was pressed since ``counter``, from 1 on.
    /// - Returns: Six digits; nil if the seed is no Base32.
    public func code(press presses: Int64) -> String? {
        Base32.decode(secret).map { TimeBasedCode.code(secret: $0, step: counter + presses - 1) }
    }
}

extension CounterDevice: Redacted {
    /// What it is known by; never the seed.
    public var description: String { "CounterDevice(\(credentialID))" }
}
