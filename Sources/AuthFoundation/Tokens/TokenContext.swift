extension Token {
    /// The data of a token's sign-in: the client, the requested assurance levels and the key binding.
    public struct Context: Codable, Equatable, Hashable, Sendable {
        /// The client's configuration at the time of issue.
        public let configuration: OAuth2Client.Configuration

        /// The assurance levels that the sign-in requested; `nil` for none.
        package let acrValues: [String]?

        /// The thumbprint of the key to which the tokens are bound, or `nil` if they are not bound.
        package internal(set) var dpopThumbprint: String?

        package init(configuration: OAuth2Client.Configuration, acrValues: [String]? = nil) {
            self.configuration = configuration
            self.acrValues = acrValues
        }

        /// Returns this context with the key binding of another context. A refresh can bind tokens that were not bound before.
        func bound(as newer: Context) -> Context {
            var configuration = configuration
            configuration.usesDPoP = newer.configuration.usesDPoP
            var context = Context(configuration: configuration, acrValues: acrValues)
            context.dpopThumbprint = newer.dpopThumbprint
            return context
        }

        /// Whether the response may lack an access token. This is the case for device attestation.
        var allowsMissingAccessToken: Bool { acrValues?.contains("urn:okta:app:mfa:attestation") == true }
    }

    /// The data of a stored token that is readable without unlocking the token.
    public struct Metadata: Codable, HasClaims, Sendable {
        /// The names of the claims.
        public typealias ClaimType = JWTClaim

        /// The identifier of the token.
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

        package init(token: Token, tags: [String: String]) {
            id = token.id
            self.tags = tags
            claimsJSON = token.idToken?.body ?? [:]
        }

        /// Creates a copy with other labels.
        package init(_ metadata: Metadata, tags: [String: String]) {
            id = metadata.id
            self.tags = tags
            claimsJSON = metadata.claimsJSON
        }

        /// Creates metadata for a token whose metadata was not stored.
        package init(id: String) {
            self.id = id
            tags = [:]
            claimsJSON = [:]
        }
    }
}

/// The tokens that are currently being refreshed, by identifier.
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
