internal import Foundation
internal import Store

/// Who brought a record: the org file takes back only what it brought itself.
package enum RecordOrigin: String, Codable, Sendable {
    case file, api
}

/// The payload of a configuration record.
struct Configured<Value: Codable & Sendable>: Codable, Sendable {
    var origin: RecordOrigin
    var value: Value
}

/// What belongs to the organization itself; the value of its one record.
struct OrganizationSettings: Codable, Sendable, Equatable {
    static let reference = RecordReference(.organization, "organization")
    static let passwordPolicyReference = RecordReference(.passwordPolicy, "default")

    var id: String
    var name: String
    var origin: String
    var rateLimits: RateLimits
    /// Nil for the defaults.
    var sessions: SessionPolicy?
    var keyRotation: KeyRotation
    /// Nil for the default, and in records of before there was one.
    var dpop: DPoPPolicy?
    /// Nil for none.
    var classic: ClassicPolicy?
    /// Nil for all, and in records of before there was a choice.
    var callingCodes: [String]?
    /// `nil` for the default, and in records of earlier versions.
    var mfaTokenLifetime: Int?
}

/// An application with its secret sealed.
struct StoredApplication: Codable, Sendable {
    /// Never has a secret.
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
                    $0, for: RecordReference(.application, application.id), masterKey: environment.masterKey),
                as: UTF8.self)
        }
        return application
    }
}

/// An authenticator with its signing key sealed.
struct StoredAuthenticator: Codable, Sendable {
    /// Never has a key.
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
                    $0, for: RecordReference(.authenticator, authenticator.id), masterKey: environment.masterKey),
                as: UTF8.self)
        }
        return authenticator
    }
}

extension AuthorizationServerDefinition {
    /// The id of its record; no custom server can be called by a dot.
    var recordID: String { id ?? "." }
}

extension StoreView {
    /// Every record of a kind, in pages.
    func allRecords(_ kind: RecordKind) throws -> [Record] {
        var all: [Record] = []
        while true {
            let page = try records(kind, after: all.last?.id, limit: 500)
            all += page
            if page.count < 500 { return all }
        }
    }
}
