import Foundation
import JOSE

/// Prints the number of raw signatures per second of one core and of all cores, which is the upper limit for every request that signs.
@main
struct Ceiling {
    static func main() async throws {
        for algorithm in [JWSAlgorithm.rs256, .es256] {
            for cores in [1, ProcessInfo.processInfo.activeProcessorCount] {
                let rates = try await withThrowingTaskGroup(of: Double.self) { group in
                    for _ in 0..<cores { group.addTask { try rate(algorithm) } }
                    var sum = 0.0
                    for try await rate in group { sum += rate }
                    return sum
                }
                print("\(algorithm.rawValue) signatures/s, \(cores == 1 ? "one core" : "\(cores) cores"): \(Int(rates))")
            }
        }
    }

    private static func rate(_ algorithm: JWSAlgorithm) throws -> Double {
        let message = [UInt8](repeating: 0x61, count: 900)
        let key = try SigningKey.generate(algorithm, keyID: nil)
        let clock = ContinuousClock()
        let begun = clock.now
        var count = 0.0
        while clock.now - begun < .seconds(2) {
            for _ in 0..<50 { _ = try key.signature(for: message) }
            count += 50
        }
        return count / ((clock.now - begun) / .seconds(1))
    }
}
