import JOSE
import Testing

@Suite("JOSEError")
struct JOSEErrorTests {
    @Test("A catch clause can match a JOSEError by its code")
    func patterns() {
        func outcome(of text: String) -> String {
            do {
                _ = try JSONValue(parsing: text, limits: JSONValue.Limits(maximumSize: 8))
                return "read"
            } catch JOSEError.Code.tooLarge {
                return "too large"
            } catch {
                return "\(error)"
            }
        }
        #expect(outcome(of: "[1]") == "read")
        #expect(outcome(of: "[1, 2, 3]") == "too large")
        #expect(outcome(of: "[1") == "malformed: Not a JSON text in UTF-8 (RFC 8259).")
    }

    @Test("Two JOSEError values are equal if and only if their codes are equal")
    func equality() {
        #expect(JOSEError(.expired, "one") == JOSEError(.expired, "other"))
        #expect(JOSEError(.expired, "one") != JOSEError(.malformed, "one"))
    }
}
