import JOSE

/// Keys that all tests share, because the generation of an RSA key takes a tenth of a second.
enum TestKeys {
    private static let shared = Result { try SigningKey.generate(.rs256) }

    static func rsa() throws -> SigningKey { try shared.get() }

    private static let clients = Result { try SigningKey.generate(.es256, keyID: "client-key") }

    /// Returns the private key of the clients that use `private_key_jwt`.
    static func client() throws -> SigningKey { try clients.get() }

    /// The public key that belongs to ``client()``.
    static var clientKeySet: JSONWebKeySet { JSONWebKeySet([try? client().publicKey].compactMap { $0 }) }
}
