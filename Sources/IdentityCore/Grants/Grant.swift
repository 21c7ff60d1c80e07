package import Foundation
internal import JOSE
package import Store

/// One issuance of tokens to one client, for one user or for the client itself.
///
/// Its id stands in the `jti` of each of its tokens, so that introspection and userinfo ask it and see a revocation at once;
/// who verifies tokens without asking sees it at `exp`. Its refresh tokens are tickets that it owns. A value; the store's
/// version of its record guards writes.
package struct Grant: Sendable, Equatable {
    /// The key by which the grants that a device's secret made are found.
    static let deviceSecretKey = "deviceSecret"
    /// How long the ids of grants are.
    static let idLength = 20

    /// `gra` and 17 characters.
    package var id: String
    package var clientID: String
    /// The authorization server's id; nil for the org server.
    package var server: String?
    /// The user's id; nil for a client that acts for itself.
    package var userID: String?
    /// All scopes that were granted; a refresh may ask for fewer.
    package var scopes: [String]
    /// The `grant_type` that made it.
    package var grantType: String
    /// The access policy's rule that allowed it; of a maintenance token's grant, for which no policy is asked, what stands in its place.
    package var rule: String
    /// The enrolment that a maintenance token is for; nil for any other grant.
    package var enrollmentID: String?
    /// The sign-in on the pages that a phone's ticket came from; nil for any other grant.
    package var signInID: String?
    /// When it was made.
    package var createdAt: Date
    /// The user's account as the sign-in met it; nil without a user. A password that was set since, a deactivation, or a sign-out everywhere,
    /// closes it.
    package var account: AccountState?
    /// What the user proved; nil without a user.
    package var authentication: Authentication?
    /// Seconds, as the rule said when it was made: the policy is evaluated once (oauth reference 1.1).
    package var accessTokenLifetime: Int
    /// The refresh family; nil without refresh tokens.
    package var refresh: RefreshFamily?
    /// The session that it belongs to, the `sid` of its id tokens: of a browser, or of the apps of a device that share a secret; nil for
    /// all other grants.
    package var sessionID: String?
    /// When it was revoked whole.
    package var revokedAt: Date?
    /// The thumbprint of the key that its refresh tokens are bound to (RFC 9449 section 5); nil if they are not, as those of a client
    /// that authenticates itself. The access tokens say by themselves what they are bound to.
    package var keyThumbprint: String?
    /// The SHA-256 of the secret that its device shares among apps; nil without `device_sso`.
    package var deviceSecret: [UInt8]?
    /// Access tokens that were revoked singly.
    package var revokedTokens = RevokedTokens()
    /// When all its tokens are over.
    package var expiresAt: Date
    /// The version of the record that it was read from; 0 before it is stored.
    var version: Int64 = 0

    package init(
        id: String, clientID: String, server: String? = nil, userID: String? = nil, scopes: [String], grantType: String, rule: String,
        enrollmentID: String? = nil, signInID: String? = nil, createdAt: Date, account: AccountState? = nil,
        authentication: Authentication? = nil, accessTokenLifetime: Int, refresh: RefreshFamily? = nil, sessionID: String? = nil,
        revokedAt: Date? = nil, keyThumbprint: String? = nil, deviceSecret: [UInt8]? = nil,
        revokedTokens: RevokedTokens = RevokedTokens(), expiresAt: Date, version: Int64 = 0
    ) {
        self.id = id
        self.clientID = clientID
        self.server = server
        self.userID = userID
        self.scopes = scopes
        self.grantType = grantType
        self.rule = rule
        self.enrollmentID = enrollmentID
        self.signInID = signInID
        self.createdAt = createdAt
        self.account = account
        self.authentication = authentication
        self.accessTokenLifetime = accessTokenLifetime
        self.refresh = refresh
        self.sessionID = sessionID
        self.revokedAt = revokedAt
        self.keyThumbprint = keyThumbprint
        self.deviceSecret = deviceSecret
        self.revokedTokens = revokedTokens
        self.expiresAt = expiresAt
        self.version = version
    }

    /// What the claims `auth_time`, `amr` and `acr` repeat in every token.
    package struct Authentication: Sendable, Equatable {
        /// Seconds since 1970, always before `iat`: a sign-in and its first token often fall into one second, and clients
        /// that asked for `max_age` accept `auth_time` only if it is smaller (oauth reference 7.4). Fixed when the grant is
        /// made, so that refreshed tokens repeat it.
        package var time: Int
        package var methods: [String]
        package var contextClass: String?

        package init(_ context: AuthenticationContext, firstIssuedAt now: Date) {
            let issued = Int(now.numericDate)
            time = min(Int(context.time.numericDate), issued - 1)
            methods = context.methods
            contextClass = context.contextClass
        }

        fileprivate init?(_ json: JSONValue?) {
            guard let json, let time = json["time"]?.intValue, let methods = json["amr"]?.stringArrayValue else { return nil }
            self.time = time
            self.methods = methods
            contextClass = json["acr"]?.stringValue
        }

        fileprivate var json: JSONValue {
            var json: JSONValue = ["time": .integer(Int64(time)), "amr": JSONValue(methods)]
            json["acr"] = contextClass.map(JSONValue.string)
            return json
        }
    }

    /// What tells whether an account's password was set, the account deactivated, or the person signed out everywhere, since.
    ///
    /// Compared for equality, never for order: the requests that changed the account and that made the grant may have come at times
    /// that say nothing about which was first, by clocks that differ.
    package struct AccountState: Sendable, Equatable, Codable {
        var passwordChangedAt: Date?
        var deactivatedAt: Date?
        var grantsEndedAt: Date?

        package init(_ user: User) {
            passwordChangedAt = user.passwordChangedAt
            deactivatedAt = user.deactivatedAt
            grantsEndedAt = user.grantsEndedAt
        }

        /// Whether the password is the same, and no deactivation came between.
        func hasPassword(of user: User) -> Bool {
            passwordChangedAt == user.passwordChangedAt && deactivatedAt == user.deactivatedAt
        }

        fileprivate init?(_ json: JSONValue?) {
            guard let json else { return nil }
            passwordChangedAt = json["password"]?.doubleValue.map(Date.init(timeIntervalSinceReferenceDate:))
            deactivatedAt = json["deactivated"]?.doubleValue.map(Date.init(timeIntervalSinceReferenceDate:))
            grantsEndedAt = json["grantsEnded"]?.doubleValue.map(Date.init(timeIntervalSinceReferenceDate:))
        }

        /// By the reference date, as users are stored: another one would round.
        fileprivate var json: JSONValue {
            var json: JSONValue = [:]
            json["password"] = passwordChangedAt.map { .double($0.timeIntervalSinceReferenceDate) }
            json["deactivated"] = deactivatedAt.map { .double($0.timeIntervalSinceReferenceDate) }
            json["grantsEnded"] = grantsEndedAt.map { .double($0.timeIntervalSinceReferenceDate) }
            return json
        }
    }

    /// The refresh tokens that follow from one another.
    package struct RefreshFamily: Sendable, Equatable {
        /// `oar` and 17 characters, in the `jti` of access tokens.
        package var id: String
        /// When the last of them ends, whatever happens; nil for no limit.
        package var endsAt: Date?
        /// Seconds without use after which they end.
        package var idle: Int
        /// When a static token was last used (a rotating one says so by its successor).
        package var usedAt: Date

        package init(id: String, endsAt: Date? = nil, idle: Int, usedAt: Date) {
            self.id = id
            self.endsAt = endsAt
            self.idle = idle
            self.usedAt = usedAt
        }
    }

    /// Whether an access token of this grant is revoked.
    package func isRevoked(tokenID: String, issuedAt: Int) -> Bool {
        revokedAt != nil || revokedTokens.contains(tokenID, issuedAt: issuedAt)
    }

    /// Why a user's grant is closed though it was never revoked; nil if it is open.
    package func closure(by user: User?) -> String? {
        guard userID != nil else { return nil }
        guard let user else { return "user.removed" }
        guard user.status == .active else { return "user.\(user.status.rawValue)" }
        guard user.passwordChangedAt == account?.passwordChangedAt else { return "user.password_changed" }
        guard user.deactivatedAt == account?.deactivatedAt else { return "user.deactivated_since" }
        guard user.grantsEndedAt == account?.grantsEndedAt else { return "user.signed_out_everywhere" }
        return nil
    }
}

// MARK: - Stored

extension Grant {
    /// Reads a record.
    /// - Throws: ``StoreError`` with ``StoreError/Code/damaged`` if it is no grant.
    package init(_ record: Record) throws {
        guard let json = try? JSONValue(parsing: record.payload), let clientID = json["client"]?.stringValue,
            let scopes = json["scopes"]?.stringArrayValue, let grantType = json["type"]?.stringValue, let rule = json["rule"]?.stringValue,
            let createdAt = json["created"]?.doubleValue, let lifetime = json["lifetime"]?.intValue, let expiresAt = record.expiresAt
        else { throw StoreError(.damaged, "The grant \(record.id) cannot be read. Restore the data folder from a backup.") }
        id = record.id
        self.clientID = clientID
        server = json["server"]?.stringValue
        userID = json["user"]?.stringValue
        self.scopes = scopes
        self.grantType = grantType
        self.rule = rule
        enrollmentID =
            json["enrollment"]?.stringValue ?? Self.enrollmentID(writtenAs: rule, server: server, scopes: scopes, type: grantType)
        signInID = json["signIn"]?.stringValue
        self.createdAt = Date(clampingNumericDate: createdAt)
        account = AccountState(json["account"])
        authentication = Authentication(json["auth"])
        accessTokenLifetime = lifetime
        if let family = json["refresh"], let id = family["id"]?.stringValue, let idle = family["idle"]?.intValue,
            let used = family["used"]?.doubleValue
        {
            refresh = RefreshFamily(
                id: id, endsAt: family["ends"]?.doubleValue.map(Date.init(clampingNumericDate:)), idle: idle,
                usedAt: Date(clampingNumericDate: used))
        }
        sessionID = json["session"]?.stringValue
        revokedAt = json["revoked"]?.doubleValue.map(Date.init(clampingNumericDate:))
        keyThumbprint = json["jkt"]?.stringValue
        // Absent and unreadable mean the same: there is no secret that could be shown for it.
        deviceSecret = json["deviceSecret"]?.stringValue.flatMap { try? Base64URL.decode($0) }
        revokedTokens = RevokedTokens(json["revokedTokens"])
        self.expiresAt = expiresAt
        version = record.version
    }

    /// The enrolment of a record from before it had a member of its own: it stood in the rule, after this word.
    private static func enrollmentID(writtenAs rule: String, server: String?, scopes: [String], type: String) -> String? {
        let word = "enrollment/"
        guard type == GrantType.jwtBearer, server == nil, DeviceScope.maintenance.isSuperset(of: scopes), rule.hasPrefix(word) else {
            return nil
        }
        return String(rule.dropFirst(word.count))
    }

    /// The record to store. Written by hand: it is made for every token request.
    package var record: Record {
        var json: [String: JSONValue] = [
            "client": .string(clientID), "scopes": JSONValue(scopes), "type": .string(grantType), "rule": .string(rule),
            "created": .double(createdAt.timeIntervalSince1970), "lifetime": .integer(Int64(accessTokenLifetime)),
        ]
        json["enrollment"] = enrollmentID.map(JSONValue.string)
        json["signIn"] = signInID.map(JSONValue.string)
        json["server"] = server.map(JSONValue.string)
        json["user"] = userID.map(JSONValue.string)
        json["account"] = account?.json
        json["auth"] = authentication?.json
        if let refresh {
            var family: [String: JSONValue] = [
                "id": .string(refresh.id), "idle": .integer(Int64(refresh.idle)), "used": .double(refresh.usedAt.timeIntervalSince1970),
            ]
            family["ends"] = refresh.endsAt.map { .double($0.timeIntervalSince1970) }
            json["refresh"] = .object(family)
        }
        json["session"] = sessionID.map(JSONValue.string)
        json["revoked"] = revokedAt.map { .double($0.timeIntervalSince1970) }
        json["jkt"] = keyThumbprint.map(JSONValue.string)
        json["deviceSecret"] = deviceSecret.map { .string(Base64URL.encode($0)) }
        json["revokedTokens"] = revokedTokens.json
        var keys = userID.map { ["user": $0] } ?? [:]
        keys[Self.deviceSecretKey] = deviceSecret.map { Base64URL.encode($0) }
        return Record(
            kind: .grant, id: id, version: version, indexedKeys: keys, expiresAt: expiresAt,
            payload: JSONValue.object(json).serialized())
    }

    /// The changes that revoke it whole: the grant, and every refresh token that it owns.
    package func revoking(at now: Date) -> [Change] {
        var revoked = self
        revoked.revokedAt = now
        return [.put(revoked.record), .closeTickets(of: RecordReference(.grant, id))]
    }
}
