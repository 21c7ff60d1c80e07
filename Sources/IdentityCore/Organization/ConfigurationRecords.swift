internal import Foundation
internal import Store

/// The creator of a record. Applying the org file removes only records that the file created.
package enum RecordOrigin: String, Codable, Sendable {
    case file, api
}

/// The payload of a configuration record.
struct Configured<Value: Codable & Sendable>: Codable, Sendable {
    var origin: RecordOrigin
    var value: Value
}

/// The settings of the organization; the value of its only record.
struct OrganizationSettings: Codable, Sendable, Equatable {
    static let reference = RecordReference(.organization, "organization")
    static let passwordPolicyReference = RecordReference(.passwordPolicy, "default")

    var id: String
    var name: String
    var origin: String
    var rateLimits: RateLimits
    /// The lifetime of browser sessions; `nil` for the default.
    var sessions: SessionPolicy?
    var keyRotation: KeyRotation
    /// The requirements for DPoP proofs; `nil` for the default, and in records of earlier versions.
    var dpop: DPoPPolicy?
    /// The settings of the classic API; `nil` if it is off.
    var classic: ClassicPolicy?
    /// The calling codes to which messages are sent; `nil` for all, and in records of earlier versions.
    var callingCodes: [String]?
    /// The lifetime of an `mfa_token` in seconds; `nil` for the default, and in records of earlier versions.
    var mfaTokenLifetime: Int?
    /// `nil` for the default, and in records of earlier versions.
    var systemLog: SystemLogPolicy?
    /// `nil` if passkeys are off.
    var passkeys: PasskeyPolicy?
    /// `nil` if recovery codes are off.
    var savedCodes: SavedCodesPolicy?
}

/// An application whose secret is encrypted.
struct StoredApplication: Codable, Sendable {
    /// The application without its secret.
    var application: Application
    var sealedSecret: [UInt8]?

    init(sealing application: Application, environment: EngineEnvironment) throws {
        self.application = application
        self.application.secret = nil
        sealedSecret = try application.secret.map {
            try RecordCoding.seal(Array($0.utf8), for: RecordReference(.application, application.id), environment: environment)
        }
    }

    func opened(environment: EngineEnvironment) throws -> Application {
        var application = application
        application.secret = try sealedSecret.map {
            String(
                decoding: try RecordCoding.open(
                    $0, for: RecordReference(.application, application.id), masterKeys: environment.masterKeys),
                as: UTF8.self)
        }
        return application
    }
}

/// An authenticator whose signing key is encrypted.
struct StoredAuthenticator: Codable, Sendable {
    /// The authenticator without its signing key.
    var authenticator: PushAuthenticator
    var sealedKey: [UInt8]?

    init(sealing authenticator: PushAuthenticator, environment: EngineEnvironment) throws {
        self.authenticator = authenticator
        self.authenticator.credentials?.privateKey = nil
        sealedKey = try authenticator.credentials?.privateKey.map {
            try RecordCoding.seal(Array($0.utf8), for: RecordReference(.authenticator, authenticator.id), environment: environment)
        }
    }

    func opened(environment: EngineEnvironment) throws -> PushAuthenticator {
        var authenticator = authenticator
        authenticator.credentials?.privateKey = try sealedKey.map {
            String(
                decoding: try RecordCoding.open(
                    $0, for: RecordReference(.authenticator, authenticator.id), masterKeys: environment.masterKeys),
                as: UTF8.self)
        }
        return authenticator
    }
}

extension AuthorizationServerDefinition {
    /// The id of the server's record. The org server has the id `.`, which no custom server can have.
    var recordID: String { id ?? "." }
}

extension StoreView {
    /// Returns every record of a kind, reading in pages.
    func allRecords(_ kind: RecordKind) throws -> [Record] {
        var all: [Record] = []
        while true {
            let page = try records(kind, after: all.last?.id, limit: 500)
            all += page
            if page.count < 500 { return all }
        }
    }
}
