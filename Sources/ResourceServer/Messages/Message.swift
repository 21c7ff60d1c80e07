internal import Foundation
internal import JOSE

/// One message of the sample service.
struct Message: Equatable {
    let date: Date
    let text: String

    /// The two messages that the service always has.
    static func samples(now: Date) -> [Message] {
        [
            Message(date: now, text: "I am a robot."),
            Message(date: now.addingTimeInterval(-3600), text: "Hello, world!"),
        ]
    }

    var json: JSONValue {
        ["date": .string(date.formatted(Self.format)), "text": .string(text)]
    }

    /// ISO 8601 with milliseconds and Z: `2025-07-03T19:06:59.799Z`.
    private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
