internal import Foundation
package import IdentityCore
internal import JOSE
internal import Store

/// The store of a server without its org file, for commands on the stored configuration.
package struct StoredServer: Sendable, Redacted {
    package let engine: Engine

    /// Opens the store. Throws ``ConfigurationError`` for a setting or the master key, and ``StoreError`` if the database cannot be opened.
    package init(_ configuration: AuthorizationServer.Configuration) async throws {
        let masterKeys = try configuration.loadMasterKeys()
        engine = Engine(
            store: try await StoreSettings.open(configuration, waits: false).store,
            environment: EngineEnvironment(
                random: SystemRandomSource(), masterKeys: masterKeys, passwordHasher: PasswordHasher(width: configuration.hashingWidth)))
    }

    /// Returns the result of a command on the engine, and closes the store.
    package func run<Result: Sendable>(_ body: (Engine) async throws -> Result) async throws -> Result {
        do {
            let result = try await body(engine)
            try await engine.store.close()
            return result
        } catch {
            try? await engine.store.close()
            throw error
        }
    }
}
