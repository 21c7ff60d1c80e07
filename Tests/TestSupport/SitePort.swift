/// A free port for the site of a sandbox's application `web-app`, whose redirect URIs are compared with their port.
public struct SitePort: Sendable {
    /// The port, which was free a moment ago.
    public let number: Int

    /// Finds a port.
    /// - Throws: ``PlainListener/Failure`` if the system has none.
    public init() throws {
        let listener = try PlainListener()
        number = listener.port
        listener.close()
    }

    /// The text of a sandbox's org file, with the site at this port.
    public func place(in organization: String) -> String { organization.replacing(":3000/", with: ":\(number)/") }
}
