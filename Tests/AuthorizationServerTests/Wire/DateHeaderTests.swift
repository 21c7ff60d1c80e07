import Foundation
import Testing

@testable import AuthorizationServer

@Suite("Date header")
struct DateHeaderTests {
    @Test(
        "A date is written in the HTTP date format (RFC 9110 §5.6.7)",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        ])
    func format(second: Int, expected: String) {
        #expect(DateHeader.format(second) == expected)
    }

    @Test("The text of the Date header changes when the clock moves to another second, forward or backward")
    func follows() {
        let header = DateHeader()
        #expect(header.text(at: Date(timeIntervalSince1970: 784_111_777.9)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(header.text(at: Date(timeIntervalSince1970: 784_111_778)) == "Sun, 06 Nov 1994 08:49:38 GMT")
        #expect(header.text(at: Date(timeIntervalSince1970: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }
}
