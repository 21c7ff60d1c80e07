internal import Foundation
internal import JOSE

/// The claims of a challenge (Documentation/Protocol/Devices.md §3.5). Only their form is checked; they are not trusted before the
/// signature is verified.
struct ChallengeClaims: Sendable {
    /// The algorithms with which an org may sign challenges.
    static let algorithms: Set<JWSAlgorithm> = [.rs256, .rs384, .rs512]
    static let type = "okta-pushbind+jwt"
    /// The maximum size of a challenge in bytes, larger than any push or pending challenge.
    static let maximumSize = 16 << 10

    let token: JSONWebSignature
    let keyID: String
    let issuer: String
    let audience: String
    let issuedAt: Int64
    let expiresAt: Int64
    let nonce: String
    let transactionID: String
    let organizationID: String
    let verificationURI: URL
    let authorizationServerID: String?
    let enrollmentID: String
    let methodEnrollmentID: String?
    let userID: String?
    let userVerification: UserVerificationChallengeRequirement
    let requestedSignals: [String]
    let integrations: [String]
    let signalProviders: [String]
    let appInstanceName: String?
    let isCIBA: Bool
    let bindingMessage: String?
    let clientOS: String?
    let clientLocation: String?
    let numberChoices: [String]?

    /// Parses a challenge: steps 2 to 5 of Documentation/Protocol/Devices.md §3.6, and the check of the algorithm from step 8.
    /// - Throws: ``SecurityError/jwtError(_:)``; ``DeviceAuthenticatorError/internalError(_:)`` if the token is not a push challenge.
    init(jwt: String) throws {
        let invalid = SecurityError.jwtError("Invalid JWT structure")
        guard let token = try? JSONWebSignature(parsing: jwt, maximumSize: Self.maximumSize),
            token.type.map({ $0.isEmpty || $0.lowercased() == Self.type }) ?? true,
            let payload = try? JSONValue(parsing: token.payload), payload.objectValue != nil
        else { throw invalid }
        guard Self.algorithms.contains(token.algorithm) else {
            throw SecurityError.jwtError("The algorithm \(token.algorithm.rawValue) is not one that an org signs challenges with")
        }
        guard let keyID = token.keyID, !keyID.isEmpty else { throw SecurityError.jwtError("kid isn't present in JWT header") }
        self.token = token
        self.keyID = keyID
        let reader = ClaimReader(payload: payload)
        issuer = try reader.string("iss")
        audience = try reader.string("aud")
        issuedAt = try reader.integer("iat")
        expiresAt = try reader.integer("exp")
        nonce = try reader.string("nonce")
        transactionID = try reader.string("transactionId")
        organizationID = try reader.string("orgId")
        guard let uri = URL(string: try reader.string("verificationUri")) else {
            throw SecurityError.jwtError("verificationUri claim is invalid in JWT payload")
        }
        verificationURI = uri
        guard let context = payload["challengeContext"], context.objectValue != nil,
            let enrollmentID = payload["authenticatorEnrollmentId"]?.stringValue, payload["method"]?.stringValue == "push"
        else { throw DeviceAuthenticatorError.internalError("Bad challenge") }
        self.enrollmentID = enrollmentID
        authorizationServerID = payload["authorizationServerId"]?.stringValue
        methodEnrollmentID = payload["methodEnrollmentId"]?.stringValue
        userID = payload["userId"]?.stringValue
        userVerification = payload["userVerification"]?.stringValue.map(UserVerificationChallengeRequirement.init(rawValue:)) ?? .none
        requestedSignals = payload["signals"]?.arrayValue?.compactMap(\.stringValue) ?? []
        integrations = reader.names("integrations")
        signalProviders = reader.names("signalProviders")
        appInstanceName = payload["appInstanceName"]?.stringValue
        isCIBA = context["transactionType"]?.stringValue == "CIBA"
        // Invalid percent-escapes make the whole text `nil`.
        bindingMessage = context["bindingMessage"]?.stringValue?.removingPercentEncoding
        clientOS = context["clientOS"]?.stringValue
        clientLocation = context["clientLocation"]?.stringValue
        numberChoices = try Self.numberChoices(context["numberChoices"])
    }

    var transactionType: String { isCIBA ? "CIBA" : "LOGIN" }

    /// Returns the numbers to pick from: strings, or integers, which are padded to two digits.
    private static func numberChoices(_ value: JSONValue?) throws -> [String]? {
        guard let value, !value.isNull else { return nil }
        let numbers = value.arrayValue?.compactMap { number -> String? in
            if let text = number.stringValue { return text }
            return number.integerValue.map { (0..<10).contains($0) ? "0\($0)" : String($0) }
        }
        guard let numbers, numbers.count == value.arrayValue?.count, (2...10).contains(numbers.count), Set(numbers).count == numbers.count,
            numbers.allSatisfy({ (1...6).contains($0.utf8.count) && $0.utf8.allSatisfy { (48...57).contains($0) } })
        else { throw SecurityError.jwtError("numberChoices is invalid in JWT payload") }
        return numbers
    }
}

private struct ClaimReader {
    let payload: JSONValue

    static func absent(_ name: String) -> SecurityError { .jwtError("\(name) claim isn't present in JWT payload") }

    func string(_ name: String) throws -> String {
        guard let value = payload[name]?.stringValue else { throw Self.absent(name) }
        return value
    }

    /// Returns an integer claim. Rejects fractions, negative numbers and times that are implausibly large.
    func integer(_ name: String) throws -> Int64 {
        guard let value = payload[name]?.integerValue, (0..<1 << 40).contains(value) else { throw Self.absent(name) }
        return value
    }

    func names(_ name: String) -> [String] { payload[name]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? [] }
}

extension ChallengeClaims {
    /// Checks that the challenge comes from the enrollment's org and is for that enrollment. Okta's SDK does not check this. `iss` must be
    /// the org or one of its custom servers. Ids that are present must match the enrollment's ids. `verificationUri` must be at the org.
    /// - Throws: ``SecurityError/jwtError(_:)``, which names the claim.
    func check(against record: EnrollmentRecord) throws {
        _ = try keyIssuer(of: record.organizationURL)
        let expected = [
            ("orgId", organizationID, record.organizationID), ("userId", userID, record.userID),
            ("methodEnrollmentId", methodEnrollmentID, record.methodID),
        ]
        for (name, value, own) in expected where value != nil && value != own {
            throw SecurityError.jwtError("\(name) claim is not the enrollment's")
        }
        guard OrganizationURL.isTrusted(verificationURI, of: record.organizationURL) else {
            throw SecurityError.jwtError("verificationUri claim is not at the org")
        }
    }

    /// Returns the issuer whose discovery document leads to the keys: the org, or one of its custom servers. Throws
    /// ``SecurityError/jwtError(_:)`` if the challenge comes from another issuer.
    func keyIssuer(of organization: URL) throws -> URL {
        let foreign = SecurityError.jwtError("iss claim is not the org")
        let base = organization.absoluteString
        let stated = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        var server = authorizationServerID
        if stated != base {
            guard stated.hasPrefix(base + "/oauth2/") else { throw foreign }
            let named = String(stated.dropFirst((base + "/oauth2/").count))
            guard server == nil || server == named else { throw foreign }
            server = named
        }
        guard let server else { return organization }
        let isName =
            (1...100).contains(server.utf8.count)
            && server.utf8.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 95
            }
        guard isName, let url = URL(string: base + "/oauth2/" + server) else { throw foreign }
        return url
    }

    func isExpired(at now: Date, skew: Int) -> Bool { now.timeIntervalSince1970 - Double(skew) > Double(expiresAt) }

    /// Whether the challenge was issued in the future.
    func isFromFuture(at now: Date, skew: Int) -> Bool { now.timeIntervalSince1970 + Double(skew) < Double(issuedAt) }

    func verify(with key: JSONWebKey) throws {
        guard let key = try? VerificationKey(key, algorithm: token.algorithm), (try? token.verify(with: key)) != nil else {
            throw LocalFailure.notVerified
        }
    }
}
