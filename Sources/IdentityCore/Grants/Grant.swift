package import Foundation
internal import JOSE
package import Store

/// One issuance of tokens to one client, for one user or for the client itself. The `jti` of each of its tokens contains the grant's id, so
/// introspection and userinfo detect a revocation at once. Resource servers that validate tokens locally accept them until `exp`. Refresh
/// tokens are tickets of the store that belong to the grant. A write is rejected if the stored grant has changed since it was read.
package struct Grant: Sendable, Equatable {
    /// The index key for finding the grants that share a device secret.
    static let deviceSecretKey = "deviceSecret"
    /// The key of the sign-in whose ticket gave the grant; absent in grants of earlier versions.
    package static let signInKey = "signIn"
    static let idLength = 20

    /// The grant's id: `gra` and 17 characters.
    package var id: String
    package var clientID: String
    /// The authorization server's id; `nil` for the org server.
    package var server: String?
    /// The user's id; `nil` for a client that acts for itself.
    package var userID: String?
    /// All granted scopes; a refresh may request fewer.
    package var scopes: [String]
    /// The `grant_type` of the request that created the grant.
    package var grantType: String
    /// The name of the access policy rule that allowed the grant; a fixed text for a maintenance token, for which no policy is evaluated.
    package var rule: String
    /// The id of the enrollment that requested a maintenance token; `nil` for other grants.
    package var enrollmentID: String?
    /// The id of the sign-in whose enrollment ticket a phone exchanged for the grant; `nil` for other grants.
    package var signInID: String?
    package var createdAt: Date
    /// Snapshot of the user's account at sign-in; `nil` without a user. A changed password, a deactivation or a sign-out everywhere closes
    /// the grant.
    package var account: AccountState?
    /// The user's authentication; `nil` without a user.
    package var authentication: Authentication?
    /// The lifetime of access tokens in seconds. The rule set it when the grant was created; the policy is not evaluated again
    /// (Documentation/Protocol/OAuth.md §1.1).
    package var accessTokenLifetime: Int
    /// The refresh token family; `nil` without refresh tokens.
    package var refresh: RefreshFamily?
    /// The id of the session, which is the `sid` of the grant's id tokens. The session belongs to a browser, or to the apps that share a
    /// device secret. `nil` for other grants.
    package var sessionID: String?
    /// The time when the whole grant was revoked; `nil` if it was not.
    package var revokedAt: Date?
    /// The thumbprint of the key to which the refresh tokens are bound (RFC 9449 section 5); `nil` if they are not bound, for example for a
    /// confidential client. Access tokens carry their own binding.
    package var keyThumbprint: String?
    /// The SHA-256 of the device secret; `nil` without `device_sso`.
    package var deviceSecret: [UInt8]?
    /// The access tokens that were revoked one by one.
    package var revokedTokens = RevokedTokens()
    /// The time when all tokens of the grant have expired.
    package var expiresAt: Date
    /// The version of the record from which the grant was read; 0 before the grant is stored.
    var version: Int64 = 0

    package init(
        id: String, clientID: String, server: String? = nil, userID: String? = nil, scopes: [String], grantType: String, rule: String,
        enrollmentID: String? = nil, signInID: String? = nil, createdAt: Date, account: AccountState? = nil,
        authentication: Authentication? = nil, accessTokenLifetime: Int, refresh: RefreshFamily? = nil, sessionID: String? = nil,
        revokedAt: Date? = nil, keyThumbprint: String? = nil, deviceSecret: [UInt8]? = nil,
        revokedTokens: RevokedTokens = RevokedTokens(), expiresAt: Date, version: Int64 = 0
    ) {
        (self.id, self.clientID, self.server, self.userID, self.scopes, self.grantType) = (id, clientID, server, userID, scopes, grantType)
        (self.rule, self.enrollmentID, self.signInID, self.createdAt, self.account) = (rule, enrollmentID, signInID, createdAt, account)
        (self.authentication, self.accessTokenLifetime, self.refresh) = (authentication, accessTokenLifetime, refresh)
        (self.sessionID, self.revokedAt, self.keyThumbprint, self.deviceSecret) = (sessionID, revokedAt, keyThumbprint, deviceSecret)
        (self.revokedTokens, self.expiresAt, self.version) = (revokedTokens, expiresAt, version)
    }

    /// The values of the claims `auth_time`, `amr` and `acr` for every token of the grant.
    package struct Authentication: Sendable, Equatable {
        /// The time of the sign-in, `auth_time`, in seconds since 1970; always less than `iat`. A sign-in and its first token often fall
        /// into the same second, and clients that sent `max_age` accept only an `auth_time` that is less than `iat`
        /// (Documentation/Protocol/OAuth.md §7.4). Fixed at creation, so that refreshed tokens repeat it.
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

    /// A snapshot of an account that detects later changes: of the password, a deactivation, a sign-out everywhere. The times are compared
    /// for equality, never for order, because the clocks of the requests that changed the account and created the grant can differ.
    package struct AccountState: Sendable, Equatable, Codable {
        var passwordChangedAt: Date?
        var deactivatedAt: Date?
        var grantsEndedAt: Date?

        package init(_ user: User) {
            passwordChangedAt = user.passwordChangedAt
            deactivatedAt = user.deactivatedAt
            grantsEndedAt = user.grantsEndedAt
        }

        /// Whether the password is the same, and the account was not deactivated in between.
        func hasPassword(of user: User) -> Bool {
            passwordChangedAt == user.passwordChangedAt && deactivatedAt == user.deactivatedAt
        }

        fileprivate init?(_ json: JSONValue?) {
            guard let json else { return nil }
            passwordChangedAt = json["password"]?.doubleValue.map(Date.init(timeIntervalSinceReferenceDate:))
            deactivatedAt = json["deactivated"]?.doubleValue.map(Date.init(timeIntervalSinceReferenceDate:))
            grantsEndedAt = json["grantsEnded"]?.doubleValue.map(Date.init(timeIntervalSinceReferenceDate:))
        }

        fileprivate var json: JSONValue {
            var json: JSONValue = [:]
            json["password"] = passwordChangedAt.map { .double($0.timeIntervalSinceReferenceDate) }
            json["deactivated"] = deactivatedAt.map { .double($0.timeIntervalSinceReferenceDate) }
            json["grantsEnded"] = grantsEndedAt.map { .double($0.timeIntervalSinceReferenceDate) }
            return json
        }
    }

    /// The successive refresh tokens of a grant.
    package struct RefreshFamily: Sendable, Equatable {
        /// The family's id: `oar` and 17 characters. It is a part of the `jti` of access tokens.
        package var id: String
        /// The absolute expiry of the family; `nil` for no limit.
        package var endsAt: Date?
        /// Seconds without use after which the tokens expire.
        package var idle: Int
        /// The time of the last use of a static token. The use of a rotating token is recorded by its successor.
        package var usedAt: Date

        package init(id: String, endsAt: Date? = nil, idle: Int, usedAt: Date) {
            (self.id, self.endsAt, self.idle, self.usedAt) = (id, endsAt, idle, usedAt)
        }
    }

    package func isRevoked(tokenID: String, issuedAt: Int) -> Bool {
        revokedAt != nil || revokedTokens.contains(tokenID, issuedAt: issuedAt)
    }

    /// Returns the reason why a user's grant is closed without a revocation; `nil` if it is open.
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

extension Grant {
    package init(_ record: Record) throws {
        guard let json = try? JSONValue(parsing: record.payload), let clientID = json["client"]?.stringValue,
            let scopes = json["scopes"]?.stringArrayValue, let grantType = json["type"]?.stringValue, let rule = json["rule"]?.stringValue,
            let createdAt = json["created"]?.doubleValue, let lifetime = json["lifetime"]?.intValue, let expiresAt = record.expiresAt
        else { throw StoreError(.damaged, "The grant \(record.id) cannot be read. Restore the data folder from a backup.") }
        id = record.id
        self.clientID = clientID
        server = json["server"]?.stringValue
        userID = json["user"]?.stringValue
        (self.scopes, self.grantType, self.rule) = (scopes, grantType, rule)
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
        // An unreadable value is treated as absent, because no secret matches it.
        deviceSecret = json["deviceSecret"]?.stringValue.flatMap { try? Base64URL.decode($0) }
        revokedTokens = RevokedTokens(json["revokedTokens"])
        self.expiresAt = expiresAt
        version = record.version
    }

    /// Returns the enrollment id of an older record, which stored it in the rule after the prefix `enrollment/`.
    private static func enrollmentID(writtenAs rule: String, server: String?, scopes: [String], type: String) -> String? {
        let word = "enrollment/"
        guard type == GrantType.jwtBearer, server == nil, DeviceScope.maintenance.isSuperset(of: scopes), rule.hasPrefix(word) else {
            return nil
        }
        return String(rule.dropFirst(word.count))
    }

    /// The record to store. Encoded without `Codable` for speed, because every token request writes one.
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
        keys[Self.signInKey] = signInID
        keys[Self.deviceSecretKey] = deviceSecret.map { Base64URL.encode($0) }
        return Record(
            kind: .grant, id: id, version: version, indexedKeys: keys, expiresAt: expiresAt,
            payload: JSONValue.object(json).serialized())
    }

    /// Returns the changes that revoke the grant and all its refresh tokens.
    package func revoking(at now: Date) -> [Change] {
        var revoked = self
        revoked.revokedAt = now
        return [.put(revoked.record), .closeTickets(of: RecordReference(.grant, id))]
    }
}
