import Foundation
import JOSE
import Testing

/// A response as received: header names keep their case.
struct WireResponse: Sendable {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: String

    init(parsing bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        let end = try #require(text.range(of: "\r\n\r\n"), "no answer, or no end of its head")
        var lines = text[..<end.lowerBound].split(separator: "\r\n")
        let first = lines.removeFirst().split(separator: " ")
        status = try #require(first.dropFirst().first.flatMap { Int($0) })
        headers = lines.map { line in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            return (String(line[..<colon]), line[colon...].dropFirst().trimmingPrefix(" ").description)
        }
        body = String(text[end.upperBound...])
    }

    /// The value of the header with exactly this spelling.
    subscript(header: String) -> String? { headers.first { $0.name == header }?.value }

    /// The body as JSON.
    var json: JSONValue {
        get throws { try JSONValue(parsing: body) }
    }
}
