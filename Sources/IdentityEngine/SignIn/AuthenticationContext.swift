public import Foundation

/// What a finished sign-in proved: the source of `auth_time`, `amr` and `acr`.
public struct AuthenticationContext: Sendable, Equatable, Codable {
    /// The user's id.
    public var userID: String
    /// When the last factor was proved.
    public var time: Date
    /// When the first one was proved, if that was earlier: a session brings what was proved long ago.
    public var earliestTime: Date?
    /// The methods, in the order proved (oauth reference: `pwd`, `swk`, `mfa`, …).
    public var methods: [String]
    /// The class that was asked for and met; nil if none was asked for.
    public var contextClass: String?

    /// Describes a sign-in.
    public init(userID: String, time: Date, earliestTime: Date? = nil, methods: [String], contextClass: String? = nil) {
        self.userID = userID
        self.time = time
        self.earliestTime = earliestTime.flatMap { $0 < time ? $0 : nil }
        self.methods = methods
        self.contextClass = contextClass
    }
}
