import JOSE

/// One RSA key for all tests: making one takes a tenth of a second.
enum TestKeys {
    private static let shared = Result { try SigningKey.generate(.rs256) }

    static func rsa() throws -> SigningKey { try shared.get() }
}
