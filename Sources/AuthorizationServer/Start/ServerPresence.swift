internal import Foundation
internal import IdentityCore
internal import Logging
internal import NIOConcurrencyHelpers
internal import ServerHTTP

/// Records in the store that this server runs, and with which master keys, so that a rotation of the master key waits for it.
struct ServerPresence: Sendable {
    private let engine: Engine
    private let clock: any WallClock
    private let logger: Logger
    private let id: String
    private let startedAt: Date
    /// Whether the store has the record.
    private let isRecorded = NIOLockedValueBox(false)

    init(engine: Engine, clock: any WallClock, logger: Logger) throws {
        (self.engine, self.clock, self.logger) = (engine, clock, logger)
        id = try engine.newServerID()
        startedAt = clock.now
    }

    private var context: RequestContext { RequestContext(now: clock.now, requestID: "presence") }

    /// Writes the record, before the server answers requests.
    func begin() async throws {
        try await engine.announce(server: id, startedAt: startedAt, context: context)
        isRecorded.withLockedValue { $0 = true }
    }

    /// Renews the record until the task is cancelled. Logs failures and retries in the next round.
    func keep() async {
        while (try? await clock.sleep(for: .seconds(LiveServer.interval))) != nil {
            guard isRecorded.withLockedValue({ $0 }) else { continue }
            do { try await engine.announce(server: id, startedAt: startedAt, context: context) } catch {
                logger.error("the record of this running server was not renewed", metadata: ["error": .string("\(error)")])
            }
        }
    }

    /// Removes the record, after the last request.
    func end() async {
        guard isRecorded.withLockedValue({ $0 }) else { return }
        do { try await engine.withdraw(server: id, context: context) } catch {
            logger.error("the record of this stopped server expires by itself", metadata: ["error": .string("\(error)")])
        }
    }
}
