public import Foundation

/// A ``SandboxBrowser`` does not know how to go on.
public struct SandboxBrowserError: Error, LocalizedError, Sendable {
    /// What kind of trouble it is. More may come.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String

        /// Makes a code.
        ///
        /// - Parameter rawValue: The name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The person does not know what to do on a page; ``SandboxBrowserError/page`` is that page.
        public static let unexpectedPage = Code(rawValue: "unexpectedPage")
        /// The server leads away from itself.
        public static let elsewhere = Code(rawValue: "elsewhere")
        /// There was no end to the pages.
        public static let tooManyPages = Code(rawValue: "tooManyPages")
    }

    /// What kind of trouble it is.
    public let code: Code
    /// What happened.
    public let message: String
    /// The page.
    public let page: HostedPage?

    init(_ code: Code, _ message: String, page: HostedPage? = nil) {
        self.code = code
        self.message = message
        self.page = page
    }

    /// What happened.
    public var errorDescription: String? { message }
}
