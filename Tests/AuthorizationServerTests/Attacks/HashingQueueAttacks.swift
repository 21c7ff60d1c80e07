import Dispatch
import Foundation
import Testing

@testable import IdentityCore

/// Attackers who overload the password hashing queue.
@Suite("Attacks: password hashing queue")
struct HashingQueueAttacks {
    /// A gate that blocks the only thread of a hasher until it is opened.
    private struct Gate {
        let hasher: PasswordHasher
        private let semaphore = DispatchSemaphore(value: 0)
        private let standing: Task<Void, any Error>

        init(_ hasher: PasswordHasher) async {
            self.hasher = hasher
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            standing = Task { [semaphore] in
                try await hasher.threads.run {
                    start.yield()
                    semaphore.wait()
                }
            }
            for await _ in started { break }
        }

        /// Waits until the given number of passwords is queued.
        func waiting(_ count: Int) async {
            while hasher.threads.waitingCount < count { await Task.yield() }
        }

        func open() async throws {
            semaphore.signal()
            try await standing.value
        }
    }

    private static let home = "198.51.100.7"

    /// Sends wrong passwords and then the owner's correct password while the only hashing thread is blocked. Then unblocks the thread.
    ///
    /// - Returns: The number of wrong passwords that were answered before the correct one, and the status of the correct one.
    private static func attack(
        _ count: Int, isHomeKnown: Bool = false, from address: @escaping @Sendable (Int) -> String
    ) async throws -> (before: Int, status: Int) {
        var organization = PushOrganization()
        organization.trustsForwardedAddresses = true
        // Computing a hash takes longer than sending a response, so responses arrive in the order of the hashes.
        organization.passwordPolicy.scryptLogN = 13
        let hasher = PasswordHasher(width: 1, queueLimit: 100)
        organization.passwordHasher = hasher
        return try await PushServer.with(organization) { server in
            let client = DirectClient(server, id: "easy-app")
            if isHomeKnown { #expect(try await client.at(home).password().status == 200) }
            let gate = await Gate(hasher)
            return try await withThrowingTaskGroup(of: (isOwner: Bool, status: Int).self) { group in
                for number in 0..<count {
                    group.addTask {
                        let parameters = ["username": "unknown-\(number)@example.com", "password": "wrong"]
                        return (false, try await client.at(address(number)).password(parameters).status)
                    }
                }
                await gate.waiting(count)
                group.addTask { (true, try await client.at(home).password().status) }
                if count == 100 {
                    // The queue was full: it drops one of the attacker's requests.
                    #expect(try await group.next()?.status == 429)
                } else {
                    await gate.waiting(count + 1)
                }
                try await gate.open()
                var before = 0
                while let answer = try await group.next() {
                    if answer.isOwner {
                        group.cancelAll()
                        return (before, answer.status)
                    }
                    before += 1
                }
                return (before, 0)
            }
        }
    }

    @Test(
        "Of 90 requests with wrong passwords from one address, fewer than half are answered before a correct password from another address")
    func oneAddress() async throws {
        let (before, status) = try await Self.attack(90) { _ in "203.0.113.66" }
        #expect(status == 200)
        #expect(before < 45, "\(before) were answered before")
    }

    @Test("Of requests with wrong passwords from 90 addresses, fewer than half are answered before a correct password from a known address")
    func manyAddresses() async throws {
        let (before, status) = try await Self.attack(90, isHomeKnown: true) { "203.0.113.\($0)" }
        #expect(status == 200)
        #expect(before < 45, "\(before) were answered before")
    }

    @Test("When 100 wrong passwords from one address fill the hashing queue, a correct password from another address still succeeds")
    func fullQueue() async throws {
        let (before, status) = try await Self.attack(100) { _ in "203.0.113.66" }
        #expect(status == 200)
        #expect(before < 50, "\(before) were answered before")
    }
}
