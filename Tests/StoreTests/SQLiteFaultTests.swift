import Foundation
import GRDB
import Store
import Testing

@testable import StoreSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("SQLite store under faults and races")
struct SQLiteFaultTests {
    @Test("A commit that fails does not affect other commits that share its database transaction")
    func failsAlone() async throws {
        try await withStore { store in
            let results = try await race(64) { number -> Bool in
                let user = Record.user(number % 8 == 0 ? "u\(number)\0" : "u\(number)")
                do { return try await store.commit([.put(.user("first\(number)")), .put(user)]) == .committed } catch { return false }
            }
            #expect(results.filter { $0 }.count == 56)
            for number in 0..<64 {
                let isStored = try await store.record(.user, "first\(number)") != nil
                #expect(isStored == (number % 8 != 0))
            }
        }
    }

    @Test("After an error that leaves the database transaction open, the next commit succeeds, and nothing of the failed one is kept")
    func openTransaction() async throws {
        try await withTemporaryFolder { folder in
            let writer = try DatabaseQueue(path: folder.appending(path: "rows.sqlite").path)
            try await writer.write { try $0.execute(sql: "CREATE TABLE rows (name TEXT)") }
            let committer = Committer(writer)
            await #expect(throws: DatabaseError.self) {
                try await committer.write { database in
                    // Without its savepoint, the write can be neither kept nor undone alone.
                    try database.execute(sql: "INSERT INTO rows VALUES ('failed'); RELEASE one")
                    return 0
                }
            }
            _ = try await committer.write { database in
                try database.execute(sql: "INSERT INTO rows VALUES ('next')")
                return 1
            }
            committer.close()
            await committer.ended()
            #expect(try await writer.read { try String.fetchAll($0, sql: "SELECT name FROM rows") } == ["next"])
        }
    }

    @Test(
        "A database copy is rejected if a -wal, -shm or -journal file exists next to the target, and that file stays unchanged",
        arguments: ["-wal", "-shm", "-journal"])
    func leftover(suffix: String) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "store.sqlite").path
            try await SQLiteStore(path: path).close()
            let copy = folder.appending(path: "copy.sqlite").path
            try Data("old".utf8).write(to: URL(filePath: copy + suffix))
            let error = #expect(throws: StoreError.self) { try SQLiteStore.copy(path, to: copy) }
            #expect(error?.message.contains(suffix) == true)
            #expect(try Data(contentsOf: URL(filePath: copy + suffix)) == Data("old".utf8))
            #expect(!FileManager.default.fileExists(atPath: copy))
        }
    }

    @Test("A database copy that fails does not remove a .part file of another program")
    func foreignPart() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "store.sqlite").path
            try await SQLiteStore(path: path).close()
            let copy = folder.appending(path: "copy.sqlite").path
            try FileManager.default.createSymbolicLink(atPath: copy + ".part", withDestinationPath: "/nonexistent")
            #expect(throws: StoreError.self) { try SQLiteStore.copy(path, to: copy) }
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: copy + ".part") == "/nonexistent")
        }
    }

    @Test("Eight stores can open a new database file at the same time", arguments: 0..<10)
    func openTogether(round: Int) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "store.sqlite").path
            let gate = Gate()
            try await withThrowingTaskGroup(of: SQLiteStore.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await onThread {
                            gate.wait()
                            return try SQLiteStore(path: path)
                        }
                    }
                }
                gate.open()
                var stores: [SQLiteStore] = []
                for try await store in group { stores.append(store) }
                // Each of them sees the commits of the others.
                for (index, store) in stores.enumerated() {
                    #expect(try await store.commit([.put(.user("u1", version: Int64(index)))]) == .committed)
                    #expect(try await stores.first?.record(.user, "u1")?.version == Int64(index + 1))
                }
                #expect(stores.count == 8)
                for store in stores { try await store.close() }
            }
        }
    }

    @Test(
        "If a folder stays locked, opening a database fails with an error after a number of attempts instead of an endless wait",
        .timeLimit(.minutes(1)))
    func lockedFolder() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "store.sqlite").path
            let lock = open(folder.path, O_RDONLY | O_CLOEXEC)
            defer { close(lock) }
            #expect(flock(lock, LOCK_EX) == 0)
            let error = await #expect(throws: StoreError.self) {
                try await onThread { try Connection.alone(inFolderOf: path, attempts: 3) { Issue.record("The folder was not locked.") } }
            }
            #expect(error?.code == .unavailable && error?.message.contains(folder.path) == true)
            #expect(flock(lock, LOCK_UN) == 0)
            try await onThread { try Connection.alone(inFolderOf: path, attempts: 3) {} }
        }
    }

    @Test("A commit to a new database file is not lost if other stores open the file at the same time", arguments: 0..<10)
    func openTogetherAndCommit(round: Int) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "store.sqlite").path
            let gate = Gate()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        let store = try await onThread {
                            gate.wait()
                            return try SQLiteStore(path: path)
                        }
                        #expect(try await store.commit([.put(.user("u\(index)"))]) == .committed)
                        try await store.close()
                    }
                }
                gate.open()
                try await group.waitForAll()
            }
            let store = try SQLiteStore(path: path)
            for index in 0..<8 { #expect(try await store.record(.user, "u\(index)") != nil) }
            try await store.close()
        }
    }

    @Test("A read does not see commits after its start, even before its first query")
    func snapshotBeginsWithTheRead() async throws {
        try await withStore { store in
            let gate = Gate()
            let (began, hasBegun) = AsyncStream<Void>.makeStream()
            async let seen = store.read { view in
                hasBegun.finish()
                gate.wait()
                return try view.record(.user, id: "late")
            }
            for await _ in began {}
            #expect(try await store.commit([.put(.user("late"))]) == .committed)
            gate.open()
            let late = try await seen
            #expect(late == nil)
        }
    }

    @Test("Closing a store waits for running reads, and these reads return their results")
    func closeWaitsForReads() async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteStore(path: folder.appending(path: "store.sqlite").path, readerCount: 1)
            _ = try await store.commit([.put(.user("u1"))])
            let gate = Gate()
            let (began, hasBegun) = AsyncStream<Void>.makeStream()
            async let running = store.read { view in
                hasBegun.finish()
                gate.wait()
                return try view.record(.user, id: "u1")?.version
            }
            for await _ in began {}
            async let closed: Void = store.close()
            // The loop ends when the store refuses requests, which it does as soon as closing has begun.
            while (try? await store.commit([])) != nil { await Task.yield() }
            gate.open()
            try await closed
            let version = try await running
            #expect(version == 1)
            await #expect(throws: StoreError(.closed, "")) { try await store.record(.user, "u1") }
        }
    }

    @Test("The store compares keys by bytes, even if Swift considers the strings equal")
    func keysByBytes() async throws {
        try await withStore { store in
            let (one, other) = ("q\u{0307}\u{0323}", "q\u{0323}\u{0307}")
            _ = try await store.commit([.put(.user("u1", login: one))])
            _ = try await store.commit([.put(.user("u1", version: 1, login: other))])
            #expect(try await store.read { try $0.records(.user, where: "login", is: one, limit: 2) }.isEmpty)
            #expect(try await store.read { try $0.records(.user, where: "login", is: other, limit: 2) }.count == 1)
            _ = try await store.commit([.remove(.user, id: "u1", version: 2)])
            #expect(try await store.commit([.put(.user("u2", login: one)), .put(.user("u3", login: other))]) == .committed)
        }
    }

    @Test("A key with a NUL character is rejected in a commit, and matches no other key in a query")
    func nul() async throws {
        try await withStore { store in
            _ = try await store.commit([.put(.user("u1", login: "jane"))])
            #expect(try await store.record(.user, "u1\0") == nil)
            #expect(try await store.read { try $0.records(.user, where: "login", is: "jane\0x", limit: 2) }.isEmpty)
            for record in [Record.user("u2\0"), .user("u3", login: "a\0b"), .user("u4", group: "\0")] {
                await #expect(throws: StoreError(.invalid, "")) { try await store.commit([.put(record)]) }
            }
        }
    }

    private func withStore(_ body: (SQLiteStore) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteStore(path: folder.appending(path: "store.sqlite").path)
            try await body(store)
            try await store.close()
        }
    }
}

/// A gate that blocks threads until it opens. Only threads of the store or of `onThread` may wait for it, never a cooperative thread.
///
/// `@unchecked Sendable`: `isOpen` is read and written only while the condition's lock is held.
private final class Gate: @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen = false

    func open() {
        condition.withLock {
            isOpen = true
            condition.broadcast()
        }
    }

    func wait() {
        condition.withLock {
            while !isOpen { condition.wait() }
        }
    }
}

private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
