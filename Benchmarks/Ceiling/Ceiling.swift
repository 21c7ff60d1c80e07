import Foundation
import JOSE

/// Prints how many signatures a second one core makes, bare: the limit of every figure that signs.
@main
struct Ceiling {
    static func main() throws {
        let message = [UInt8](repeating: 0x61, count: 900)
        for algorithm in [JWSAlgorithm.rs256, .es256] {
            let key = try SigningKey.generate(algorithm, keyID: nil)
            let clock = ContinuousClock()
            var count = 0
            let begun = clock.now
            while clock.now - begun < .seconds(2) {
                for _ in 0..<50 { _ = try key.signature(for: message) }
                count += 50
            }
            let took = (clock.now - begun) / .seconds(1)
            print("\(algorithm.rawValue) signatures/s, one core: \(Int(Double(count) / took))")
        }
    }
}
