public import AuthFoundation
public import Foundation
public import JOSE

extension DeviceAuthorizationFlow {
    /// The code and address with which the user continues on another device (RFC 8628 §3.2 and §3.3).
    /// Show the user code and the address. If ``verificationUriComplete`` is present, also show it as a QR code, next to the user code for
    /// comparison.
    public struct Verification: Decodable, Equatable, Expires, JSONDecodable, Sendable {
        /// The code that the user enters on the other device.
        public let userCode: String

        /// The address to open on the other device: https, or http on a loopback host.
        public let verificationUri: URL

        /// The address that includes the code; `nil` if the server does not provide one.
        public let verificationUriComplete: URL?

        /// The lifetime of the code in seconds, from 0 to 3600.
        public let expiresIn: TimeInterval

        /// The time at which the client received the code, by the client's clock.
        public internal(set) var issuedAt: Date?

        /// The secret code with which this device polls the server.
        let deviceCode: String

        let interval: TimeInterval

        private enum CodingKeys: String, CodingKey {
            case userCode = "user_code"
            case verificationUri = "verification_uri"
            case verificationUriComplete = "verification_uri_complete"
            case expiresIn = "expires_in"
            case deviceCode = "device_code"
            case interval
        }

        /// Decodes the server's response.
        /// - Throws: `ClaimError.missingRequiredValue(key:)` if a required member is missing or unusable. An address must be https, or http
        ///   on a loopback host.
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

    /// The parameters and state of one sign-in.
    public struct Context: AuthenticationContext {
        /// The code and address for the user; `nil` before ``DeviceAuthorizationFlow/start(with:)`` returns.
        public internal(set) var verification: Verification?

        /// The required assurance levels (ACR values).
        @ClaimCollection public var acrValues: [String]?

        /// Additional parameters.
        public var additionalParameters: [String: any APIRequestArgument]?

        /// Creates the context of a sign-in.
        /// - Parameters:
        ///   - acrValues: The required assurance levels.
        ///   - additionalParameters: Additional parameters. The parameter `acr_values` sets ``acrValues``, unless `acrValues` is given.
        public init(acrValues: ClaimCollection<[String]?> = nil, additionalParameters: [String: any APIRequestArgument]? = nil) {
            (_acrValues, self.additionalParameters) = additionalParameters.takingAssuranceLevels(or: acrValues)
        }

        /// Returns the additional parameters, and the assurance levels for the category `authorization`.
        public func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]? {
            var parameters = additionalParameters
            if acrValues != nil, category == .authorization { parameters.merge(["acr_values": $acrValues]) }
            return parameters
        }
    }
}

/// Reports that the user did not approve the sign-in before the code expired (RFC 8628 §3.5).
public struct DeviceCodeExpiredError: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Equatable, Sendable {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText { .notApprovedInTime }

    /// The reason and a remedy, for developers.
    public var debugDescription: String { "The device code expired before the user approved the sign-in. Start the flow again." }
}

extension DeviceAuthorizationFlow.Verification: Redacted {
    /// The user code and the address, without the secret device code.
    public var description: String { "Verification(\(userCode) at \(verificationUri.absoluteString))" }
}
