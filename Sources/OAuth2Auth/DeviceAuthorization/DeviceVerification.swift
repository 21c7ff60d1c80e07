public import AuthFoundation
public import Foundation
public import JOSE

extension DeviceAuthorizationFlow {
    /// What the person must be shown, to go on with on another device (RFC 8628, 3.2 and 3.3).
    ///
    /// Show the user code and the address; where there is ``verificationUriComplete``, a QR code of it saves the typing, and the user code
    /// stays beside it for the person to compare.
    public struct Verification: Decodable, Equatable, Expires, Sendable {
        /// What the person types on the other device.
        public let userCode: String

        /// The address to open there: https, or http on a loopback host.
        public let verificationUri: URL

        /// The address with the code in it, if the server gives one.
        public let verificationUriComplete: URL?

        /// For how many seconds it is good: from zero to an hour.
        public let expiresIn: TimeInterval

        /// When it was received, by the client's clock.
        public internal(set) var issuedAt: Date?

        /// The secret that this device asks with.
        let deviceCode: String

        /// Seconds between two requests.
        let interval: TimeInterval

        private enum CodingKeys: String, CodingKey {
            case userCode = "user_code"
            case verificationUri = "verification_uri"
            case verificationUriComplete = "verification_uri_complete"
            case expiresIn = "expires_in"
            case deviceCode = "device_code"
            case interval
        }

        /// Reads the server's answer.
        ///
        /// - Parameter decoder: The decoder.
        /// - Throws: `ClaimError.missingRequiredValue(key:)` if a member is missing or can't be used, among them an address that is neither
        ///   https nor on this machine.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func required<Value>(_ key: CodingKeys, _ value: Value?) throws -> Value {
                guard let value else { throw ClaimError.missingRequiredValue(key: key.rawValue) }
                return value
            }
            func address(_ key: CodingKeys) -> URL? {
                container.text(key).flatMap { URL(string: $0) }.flatMap { LoopbackRule.isAcceptable($0) ? $0 : nil }
            }
            userCode = try required(.userCode, container.text(.userCode))
            deviceCode = try required(.deviceCode, container.text(.deviceCode))
            verificationUri = try required(.verificationUri, address(.verificationUri))
            verificationUriComplete = address(.verificationUriComplete)
            let lifetime = try required(.expiresIn, container.seconds(.expiresIn))
            expiresIn = min(max(lifetime, 0), ApprovalWait<Token>.longestLifetime)
            interval = container.seconds(.interval) ?? 5
        }
    }

    /// What one sign-in asks for.
    public struct Context: AuthenticationContext {
        /// What the person is shown, once the sign-in has been started.
        public internal(set) var verification: Verification?

        /// The assurance levels that it must reach.
        @ClaimCollection public var acrValues: [String]?

        /// Further parameters.
        public var additionalParameters: [String: any APIRequestArgument]?

        /// Takes what the sign-in asks for.
        ///
        /// - Parameters:
        ///   - acrValues: The assurance levels that it must reach.
        ///   - additionalParameters: Further parameters.
        public init(acrValues: ClaimCollection<[String]?> = nil, additionalParameters: [String: any APIRequestArgument]? = nil) {
            _acrValues = acrValues
            self.additionalParameters = additionalParameters
        }

        /// The further parameters, and the assurance levels for the request that begins the sign-in.
        ///
        /// - Parameter category: What the request is for.
        /// - Returns: The parameters.
        public func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]? {
            var parameters = additionalParameters
            if acrValues != nil, category == .authorization { parameters.merge(["acr_values": $acrValues]) }
            return parameters
        }
    }
}

/// The person did not decide on the other device while the code was good (RFC 8628, 3.5).
public struct DeviceCodeExpiredError: Error, LocalizedError, Equatable, Sendable {
    /// What happened, and what to do next.
    public var errorDescription: String? { "The sign-in was not approved in time. Start again." }
}

extension DeviceAuthorizationFlow.Verification: Redacted {
    /// What the person is shown; not the device's secret.
    public var description: String { "Verification(\(userCode) at \(verificationUri.absoluteString))" }
}
