extension Token {
    /// Which client a token belongs to.
    public struct Context: Codable, Equatable, Hashable, Sendable {
        /// The client's configuration when the token was issued.
        public let configuration: OAuth2Client.Configuration

        /// The assurance levels that the sign-in asked for.
        package let acrValues: [String]?

        /// The thumbprint of the key that the tokens are bound to; nil if they are bound to none.
        package internal(set) var dpopThumbprint: String?

        package init(configuration: OAuth2Client.Configuration, acrValues: [String]? = nil) {
            self.configuration = configuration
            self.acrValues = acrValues
        }

        /// This context with another's binding: a refresh can bind tokens that were not bound before.
        func bound(as newer: Context) -> Context {
            var configuration = configuration
            configuration.usesDPoP = newer.configuration.usesDPoP
            var context = Context(configuration: configuration, acrValues: acrValues)
            context.dpopThumbprint = newer.dpopThumbprint
            return context
        }

        /// Attesting a device brings no access token.
        var allowsMissingAccessToken: Bool { acrValues?.contains("urn:okta:app:mfa:attestation") == true }
    }

    /// What is known about a stored token without unlocking it.
    public struct Metadata: Codable, HasClaims, Sendable {
        /// The names of its claims.
        public typealias ClaimType = JWTClaim

        /// The token's identifier.
        public let id: String

        /// The app's own labels.
        public let tags: [String: String]

        /// The claims of the ID token.
        public var payload: [String: any Sendable] { claimsJSON.claimPayload }

        private let claimsJSON: JSON

        private enum CodingKeys: String, CodingKey {
            case id, tags
            case claimsJSON = "claims"
        }

        /// Takes what is known about a token.
        ///
        /// - Parameters:
        ///   - token: The token.
        ///   - tags: The app's own labels.
        package init(token: Token, tags: [String: String]) {
            id = token.id
            self.tags = tags
            claimsJSON = token.idToken?.body ?? .object([:])
        }

        /// The same with other labels.
        package init(_ metadata: Metadata, tags: [String: String]) {
            id = metadata.id
            self.tags = tags
            claimsJSON = metadata.claimsJSON
        }

        /// What is known about a token whose metadata was not stored.
        package init(id: String) {
            self.id = id
            tags = [:]
            claimsJSON = .object([:])
        }
    }
}

/// Which tokens are being refreshed now, by their identifier.
package enum TokenRefreshes {
    private static let counts = Locked<[String: Int]>([:])

    static func isRefreshing(_ id: String) -> Bool {
        counts.withLock { $0[id] != nil }
    }

    static func begin(_ id: String) {
        counts.withLock { $0[id, default: 0] += 1 }
    }

    static func end(_ id: String) {
        counts.withLock { counts in
            let left = (counts[id] ?? 1) - 1
            counts[id] = left > 0 ? left : nil
        }
    }
}
