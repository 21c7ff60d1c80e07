internal import Crypto
package import Foundation
package import IdentityCore
internal import Store

/// The result of one step of the rotation of the master key (`countersign keys rotate-master`).
package struct MasterKeyStep: Sendable, Equatable {
    package enum Result: Sendable, Equatable {
        /// The file has a new key in its last line. Restart the servers with it.
        case added
        /// The new key is in the first line, and all secrets are encrypted with it. Restart the servers with the file.
        case resealed
        /// Some running servers do not have the file of the previous step.
        case servers(Int)
        /// The earlier key can be removed from a date on.
        case waiting(until: Date)
        /// All secrets are encrypted with the new key, but the files of the database still have earlier versions of them.
        case busy
        /// The file has the new key only. The rotation is complete.
        case removed
        /// The rotation is complete, but some servers still accept the earlier key.
        case complete(Int)
        /// The operator must answer a question with yes before the command continues.
        case confirm(Question)
        /// The operator must edit the keys, because the command cannot. Then the command continues.
        case edit(Edit, reason: String)
    }

    package enum Question: Sendable, Equatable {
        /// This number of records has secrets that the only key does not open. Is the key that opens them lost?
        case unreadable(Int)
        /// An earlier version created the store. Do all servers run a version that records its servers?
        case earlierVersion
        /// This number of servers did not renew their records since a date. Were they stopped?
        case silent(Int, since: Date)
    }

    package enum Edit: Sendable, Equatable {
        /// Append a new key.
        case append
        /// Move this key, counted from 1, to the first place.
        case moveFirst(Int)
        /// Remove all keys but the first.
        case keepFirst
    }

    package var result: Result
    package var report = ResealReport()
    /// The number of running servers.
    package var servers = 0
    /// Whether only the operator can remove the earlier versions of the secrets from the database.
    package var keepsRemains = false
    /// Where the keys are: a path, or the name of the setting.
    package var place: String
}

/// The error that the clocks of a running server and of the command differ, so that the command cannot see which servers run.
package struct ClocksDiffer: Error, Equatable, LocalizedError {
    /// The time of the server's record.
    package var server: Date
    package var command: Date

    package var errorDescription: String? {
        "A running server wrote its record at \(server.formatted(.iso8601)), but the clock of this machine shows \(command.formatted(.iso8601)). Set the clocks of all machines, and run the command again. No key was changed."
    }
}

extension MasterKeyStatus {
    /// The questions without whose answers the command cannot know which servers run.
    fileprivate var questions: [MasterKeyStep.Question] {
        var questions: [MasterKeyStep.Question] = []
        if let last = silent.compactMap(\.seenAt).max() { questions.append(.silent(silent.count, since: last)) }
        if isOfEarlierVersion { questions.append(.earlierVersion) }
        return questions
    }
}

extension ServerParts {
    /// Does the next safe step of a rotation of the master key. Each step can be repeated. The steps:
    /// 1. The file gets a new key in its last line. Servers that have it open secrets of both keys.
    /// 2. When all running servers have the new key, it moves to the first line, and all secrets are encrypted with it.
    /// 3. When all running servers have it in the first line, the secrets that they encrypted with the earlier key meanwhile are encrypted
    ///    again. An hour later, when no code of a sign-in depends on the earlier key, the earlier versions of all records are erased from
    ///    the files of the database, and the earlier key is removed.
    /// - Parameters:
    ///   - removesNow: Skips the hour. A code that was sent before is then rejected.
    ///   - isConfirmed: Whether the operator answered a question with yes.
    /// - Throws: ``ClocksDiffer`` if the clock of a running server is ahead.
    package func rotateMasterKey(
        removesNow: Bool = false, context: RequestContext, isConfirmed: (MasterKeyStep.Question) -> Bool = { _ in false }
    ) async throws -> MasterKeyStep {
        let keys = engine.environment.masterKeys
        let status = try await engine.masterKeyStatus(now: context.now)
        var step = MasterKeyStep(result: .added, servers: status.servers.count, place: configuration.masterKeyPlace)
        if let last = status.servers.compactMap(\.seenAt).max(), last > context.now.addingTimeInterval(LiveServer.clockTolerance) {
            throw ClocksDiffer(server: last, command: context.now)
        }
        if let question = status.questions.first(where: { !isConfirmed($0) }) {
            step.result = .confirm(question)
            return step
        }
        do {
            if keys.others.isEmpty {
                let result = try await beginRotation(status, &step, context: context, isConfirmed: isConfirmed)
                step.result = result
            } else {
                let result = try await continueRotation(status, &step, removesNow: removesNow, context: context)
                step.result = result
            }
        } catch let error as ServersLackKey {
            step.result = .servers(error.count)
        }
        return step
    }

    /// Adds a key to the only one, after the rotation before is complete.
    private func beginRotation(
        _ status: MasterKeyStatus, _ step: inout MasterKeyStep, context: RequestContext, isConfirmed: (MasterKeyStep.Question) -> Bool
    ) async throws -> MasterKeyStep.Result {
        let keys = engine.environment.masterKeys
        // If the operator removed the earlier key too early, some secrets do not open any more.
        step.report = try await engine.reseal(with: keys, context: context)
        let question = MasterKeyStep.Question.unreadable(step.report.unreadable)
        if step.report.unreadable > 0, !isConfirmed(question) { return .confirm(question) }
        let others = status.servers.count { $0.keys != keys.ids }
        guard others == 0 else { return .complete(others) }
        if !status.refusesEarlierKeys {
            guard try await erase(&step) else { return .busy }
            try await engine.refuseEarlierKeys(context: context)
        }
        let next = MasterKeys(keys.sealing, others: [SymmetricKey(size: .bits256)])
        return try configuration.replace(keys, by: next).map { .edit(.append, reason: $0) } ?? .added
    }

    /// Encrypts with the next key, and removes the earlier one when no server needs it.
    private func continueRotation(
        _ status: MasterKeyStatus, _ step: inout MasterKeyStep, removesNow: Bool, context: RequestContext
    ) async throws -> MasterKeyStep.Result {
        let keys = engine.environment.masterKeys
        // A key that the store never used is the next one. Otherwise, the present one stays.
        let target = status.unused.last ?? status.current
        let lacking = status.servers.count { !$0.keys.contains(keys.ids[target]) }
        guard lacking == 0 else { return .servers(lacking) }
        let ordered = keys.moved(toFirst: target)
        if target != 0, let reason = try configuration.replace(keys, by: ordered) { return .edit(.moveFirst(target + 1), reason: reason) }
        step.report = try await engine.reseal(with: ordered, context: context)
        guard target == 0 else { return .resealed }
        // A server may have started meanwhile.
        let present = try await engine.masterKeyStatus(now: context.now)
        step.servers = present.servers.count
        let unsettled = present.servers.count { $0.keys.first != keys.ids[0] }
        guard unsettled == 0 else { return .servers(unsettled) }
        let settled = present.servers.map(\.startedAt).reduce(present.rotatedAt ?? context.now, max)
            .addingTimeInterval(Engine.settlingTime)
        guard context.now >= settled || removesNow else { return .waiting(until: settled) }
        if try await engine.refuseEarlierKeys(context: context) {
            // A command may have encrypted with the earlier key until now.
            let last = try await engine.reseal(with: keys, context: context)
            step.report.counts.merge(last.counts, uniquingKeysWith: +)
        }
        guard try await erase(&step) else { return .busy }
        return try configuration.replace(keys, by: MasterKeys(keys.sealing)).map { .edit(.keepFirst, reason: $0) } ?? .removed
    }

    /// Erases earlier versions of secrets from the files of the database. Returns `false` if they are busy.
    private func erase(_ step: inout MasterKeyStep) async throws -> Bool {
        let outcome = try await store.eraseRemains()
        step.keepsRemains = outcome == .byOperator
        return outcome != .busy
    }
}

extension AuthorizationServer.Configuration {
    /// Where the master keys are: a path, or the name of the setting.
    fileprivate var masterKeyPlace: String {
        switch masterKey {
        case .dataDirectory: dataDirectory + "/master.key"
        case .file(let path): path
        case .base64: "COUNTERSIGN_MASTER_KEY"
        }
    }

    /// Replaces the keys in their file. Returns the reason if only the operator can replace them.
    /// - Throws: ``ConfigurationError`` if the file does not have the expected keys any more.
    fileprivate func replace(_ keys: MasterKeys, by next: MasterKeys) throws -> String? {
        if case .base64 = masterKey { return "the keys are in the setting master-key" }
        let path = masterKeyPlace
        do {
            let content = try FileHandle(forReadingFrom: URL(filePath: path)).read(upToCount: Self.longestFile) ?? Data()
            guard (try? Self.decode(String(decoding: content, as: UTF8.self), key: "master-key-file")) == keys,
                try PrivateFile.replace(path, holding: content, with: Data(next.text.utf8))
            else {
                throw ConfigurationError(
                    key: "master-key-file", message: "'\(path)' was changed at this moment, and stays as it is. Run the command again.")
            }
            return nil
        } catch let error as PrivateFile.Failure {
            return error.reason
        }
    }
}
