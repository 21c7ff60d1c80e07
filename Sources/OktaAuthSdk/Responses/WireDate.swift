internal import Foundation

/// A time of the protocol: with a fraction of a second, as the server writes it, or without.
struct WireDate: Codable {
    let date: Date

    init(_ date: Date) {
        self.date = date
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let date = Self.date(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no date with time and zone.")
        }
        self.date = date
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }

    private static func date(_ text: String) -> Date? {
        // `+0000` and `+00:00` are the same zone.
        let text = text.replacing(/([+-]\d\d)(\d\d)$/) { "\($0.output.1):\($0.output.2)" }
        return (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text))
    }
}
