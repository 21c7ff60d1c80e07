import JOSE
import Testing

@Suite("Comparison of secrets")
struct SecretComparisonTests {
    @Test("The secret comparison reports byte strings that differ in any single byte as unequal")
    func anyDifference() {
        let secret = Array("482915".utf8)
        for place in secret.indices {
            for byte in UInt8.min...UInt8.max where byte != secret[place] {
                var other = secret
                other[place] = byte
                #expect(!secret.isSameSecret(as: other))
            }
        }
    }

    @Test("The secret comparison reports byte strings that differ in two bytes as unequal, whatever the differences are")
    func twoDifferences() {
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max where first != 0x34 || second != 0x38 {
                #expect(![0x34, 0x38].isSameSecret(as: [first, second]))
            }
        }
    }

    @Test("The secret comparison reports equal byte strings as equal, and byte strings of different lengths as unequal")
    func equalAndShorter() {
        #expect([UInt8]().isSameSecret(as: []))
        #expect([1, 2, 3].isSameSecret(as: [1, 2, 3]))
        #expect(![1, 2, 3].isSameSecret(as: [1, 2]))
        #expect(![1, 2].isSameSecret(as: [1, 2, 3]))
    }
}
