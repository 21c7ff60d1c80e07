internal import JOSE

/// The body of an error of the org (the device-authenticator reference 2.12); every member may be absent.
public struct ServerAPIErrorModel: Codable, Sendable {
    /// What went wrong, for programs.
    public let errorCode: ServerErrorCode?
    /// What went wrong, for people. Of an OAuth error, its code and description.
    public let errorSummary: String?
    /// Where the code is documented.
    public let errorLink: String?
    /// The id of this occurrence, for the org's log.
    public let errorId: String?
    /// The status that an older form of answer names.
    public let status: String?
    /// Details; in each the members that are strings.
    public let errorCauses: [[String: String]]?

    /// Reads what can be read; a member of another form than expected counts as absent.
    ///
    /// - Parameter body: The body of an answer.
    init?(body: some Collection<UInt8>) {
        guard let json = try? JSONValue(parsing: body), json.objectValue != nil else { return nil }
        let oauthError = [json["error"]?.stringValue, json["error_description"]?.stringValue].compactMap { $0 }.joined(separator: ": ")
        errorCode = json["errorCode"]?.stringValue.map(ServerErrorCode.init(raw:))
        errorSummary = json["errorSummary"]?.stringValue ?? (oauthError.isEmpty ? nil : oauthError)
        errorLink = json["errorLink"]?.stringValue
        errorId = json["errorId"]?.stringValue
        status = json["status"]?.stringValue
        errorCauses = json["errorCauses"]?.arrayValue?.compactMap { $0.objectValue?.compactMapValues(\.stringValue) }
    }
}
