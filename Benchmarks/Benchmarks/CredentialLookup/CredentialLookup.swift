import AuthFoundation
import Benchmark
import Foundation

/// Measures the lookup of stored credentials in vaults of one and of a hundred entries. Apps do this at every launch and before every
/// request.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(metrics: [.throughput, .wallClock], warmupIterations: 3, maxDuration: .seconds(3))

    for count in [1, 100] {
        let vault = Vault(count)
        Benchmark("default credential of \(count)", configuration: .init(scalingFactor: .kilo)) { benchmark in
            try await vault.run { for _ in benchmark.scaledIterations { blackHole(Credential.default) } }
        } setup: {
            try await vault.fill()
        } teardown: {
            vault.remove()
        }
        Benchmark("credential by id of \(count)", configuration: .init(scalingFactor: .kilo)) { benchmark in
            try await vault.run { for _ in benchmark.scaledIterations { blackHole(try Credential.with(id: "token-0")) } }
        } setup: {
            try await vault.fill()
        } teardown: {
            vault.remove()
        }
        Benchmark("vault opened and credential read, of \(count)") { benchmark in
            for _ in benchmark.scaledIterations { try await vault.run { blackHole(try Credential.with(id: "token-0")) } }
        } setup: {
            try await vault.fill()
        } teardown: {
            vault.remove()
        }
    }
}

/// A vault on disk that contains tokens.
struct Vault: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "countersign-bench-\(UUID().uuidString)")

    let count: Int

    init(_ count: Int) {
        self.count = count
    }

    func fill() async throws {
        let configuration = try JSONEncoder().encode(
            OAuth2Client.Configuration(
                issuerURL: URL(filePath: "/").absoluteURL, clientId: "app", scope: "openid offline_access"))
        let context = String(decoding: configuration, as: UTF8.self).replacingOccurrences(
            of: "file:\\/\\/\\/", with: "https:\\/\\/id.example.com\\/")
        try await run {
            for number in 0..<count {
                let stored = """
                    {"version": 1, "id": "token-\(number)", "issuedAt": 1800000000, "context": {"configuration": \(context)},
                     "response": {"token_type": "Bearer", "access_token": "\(String(repeating: "a", count: 900))", "expires_in": 3600,
                                  "refresh_token": "r", "scope": "openid offline_access"}}
                    """
                try Credential.store(try JSONDecoder().decode(Token.self, from: Data(stored.utf8)))
            }
        }
    }

    /// Runs code with a new token storage, which reads the vault again.
    func run(_ body: () throws -> Void) async throws {
        try await Credential.withStorage(FileTokenStorage(directory: folder)) { try body() }
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }
}
