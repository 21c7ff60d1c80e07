public import JOSE

/// How a request of a device says who sends it: what stands in its `Authorization` header, not yet checked
/// (device-authenticator reference 2.1).
public enum DeviceAuthorization: Sendable {
    /// The header is absent, or of a scheme that is not known here.
    case none
    /// `Bearer`: an access token of the org server.
    case bearer(String)
    /// `DPoP`: an access token of the org server that is bound to a key, and the proof that came with it.
    case dpop(String, PresentedProof)
    /// `SSWS`: a token that the device signed with a key of its enrolment.
    case ssws(String)
}

extension DeviceAuthorization: Redacted {
    /// Which form it is; never the token.
    public var description: String {
        switch self {
        case .none: "DeviceAuthorization(none)"
        case .bearer: "DeviceAuthorization(bearer)"
        case .dpop: "DeviceAuthorization(dpop)"
        case .ssws: "DeviceAuthorization(ssws)"
        }
    }
}

/// The scopes of the device endpoints (device-authenticator reference 1.2).
enum DeviceScope {
    static let manage = "okta.myAccount.appAuthenticator.manage"
    static let read = "okta.myAccount.appAuthenticator.read"
    static let maintenanceManage = "okta.myAccount.appAuthenticator.maintenance.manage"
    static let maintenanceRead = "okta.myAccount.appAuthenticator.maintenance.read"

    /// What reads: metadata and what waits for an answer.
    static let any: Set<String> = [manage, read, maintenanceManage, maintenanceRead]
    /// What a device may be granted silently, by its own signature.
    static let maintenance: Set<String> = [maintenanceManage, maintenanceRead]
}
