import AuthFoundation

/// Finds what the server said inside the errors that wrap it.
enum ServerRefusal {
    /// The OAuth error code, if the server refused with one.
    static func code(of error: any Error) -> String? {
        guard case .server(let error) = OAuth2Error(error) else { return nil }
        return error.code.rawValue
    }
}
