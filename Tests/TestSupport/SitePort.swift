/// A free port for the site of the sandbox's application `web-app`, because the server compares the port of its redirect URIs.
public struct SitePort: Sendable {
    /// The port, which was free at creation.
    public let number: Int

    /// Finds a free port.
    ///
    /// - Throws: ``PlainListener/Failure`` if the system has none.
    public init() throws {
        let listener = try PlainListener()
        number = listener.port
        listener.close()
    }

    /// Returns the text of a sandbox's org file with the site at this port.
    public func place(in organization: String) -> String { organization.replacing(":3000/", with: ":\(number)/") }
}
