package import IdentityCore

/// An expected refusal of a device endpoint, in the API form of errors (Documentation/Protocol/Devices.md §2.12). The response contains
/// ``causes`` as an array of objects with one text each, which is the only form that official clients read.
package struct DeviceRefusal: Error, Sendable, Equatable {
    /// The error code, such as `E0000007`.
    package var code: String
    package var status: Int
    /// A message for the user, which says what to do.
    package var summary: String
    /// The details, one sentence each.
    package var causes: [String]
    /// The machine-readable reason of a late answer: `expired`, `answered` or `cancelled`; `nil` for other refusals.
    package var lateness: String?
    /// The reason, for the log only.
    package var reason: String
    /// The fault of the proof of a bound token, for the `WWW-Authenticate` challenge; `nil` for other refusals.
    package var proof: Refusal?

    package init(code: String, status: Int, summary: String, causes: [String] = [], reason: String) {
        (self.code, self.status, self.summary, self.causes, self.reason) = (code, status, summary, causes, reason)
    }
}

extension DeviceRefusal {
    /// Returns `E0000003` for a body that is too large or not a JSON object. `reason` is for the log.
    package static func malformed(_ reason: String) -> DeviceRefusal {
        DeviceRefusal(
            code: "E0000003", status: 400, summary: "The request body was not well-formed. Send a JSON object of at most 64 KiB.",
            reason: reason)
    }

    /// Returns `E0000149` for an `Accept` header that does not name the API's version.
    package static func versionNotAcceptable() -> DeviceRefusal {
        DeviceRefusal(
            code: "E0000149", status: 406,
            summary: "The Accept header must name the version of the API. Send: application/json; okta-version=1.0.0",
            reason: "Accept names no okta-version=1.0.0")
    }

    /// Returns `E0000001` for an invalid value in the body.
    static func invalid(_ what: String, _ causes: [String], reason: String? = nil) -> DeviceRefusal {
        DeviceRefusal(
            code: "E0000001", status: 400, summary: "Api validation failed: \(what)", causes: causes,
            reason: reason ?? causes.joined(separator: " "))
    }

    static let tooManyAnswers = DeviceRefusal(
        code: "E0000047", status: 429, summary: "Too many answers to one challenge. Wait a minute and try again.",
        reason: "answers to one challenge")

    /// Returns the refusal of an answer to a closed challenge.
    static func tooLate(_ lateness: PushChallenge.Lateness, _ text: String? = nil) -> DeviceRefusal {
        var refusal = invalid("challenge", [text ?? lateness.text])
        refusal.lateness = lateness.word
        return refusal
    }

    /// Returns `E0000158` for an enrollment without the user verification key that its authenticator requires.
    static func userVerificationRequired() -> DeviceRefusal {
        DeviceRefusal(
            code: "E0000158", status: 400,
            summary: "The authenticator requires a user verification key. Turn user verification on in the app and try again.",
            reason: "user verification is required")
    }
}

extension DeviceRefusal {
    /// Returns the refusal of an invalid token. The response is the same for every reason, which only the log shows.
    static func invalidToken(_ reason: String) -> DeviceRefusal {
        DeviceRefusal(
            code: "E0000011", status: 401, summary: "The token is invalid or expired. Get a new one.", reason: reason)
    }

    /// Returns the refusal of a bound token without a valid proof, or of an unbound token with a proof.
    static func proof(_ refusal: Refusal) -> DeviceRefusal {
        var device = DeviceRefusal(code: "E0000011", status: 401, summary: refusal.description, reason: refusal.reason)
        device.proof = refusal
        return device
    }

    /// Returns the refusal of a valid token that does not permit the request.
    package static func accessDenied(_ summary: String, reason: String) -> DeviceRefusal {
        DeviceRefusal(code: "E0000006", status: 403, summary: summary, reason: reason)
    }

    /// Returns the refusal for an object that does not exist or belongs to another user. The response is the same in both cases.
    static func notFound(_ what: String, reason: String) -> DeviceRefusal {
        DeviceRefusal(code: "E0000007", status: 404, summary: "Not found: there is no such \(what).", reason: reason)
    }
}

extension DeviceRefusal {
    /// Creates the refusal for a deleted or suspended object. A device sees a deactivated or removed account as deleted.
    init(_ closure: EnrolledDevice.Closure) {
        let (code, status, summary): (String, Int, String) =
            switch closure {
            case .deviceDeleted: ("E0000153", 410, "The device was deleted. Remove the account from the app, then enroll again.")
            case .deviceSuspended: ("E0000152", 403, "The device is suspended. Ask an administrator to open it.")
            case .enrollmentDeleted: ("E0000154", 410, "The enrollment was deleted. Remove the account from the app, then enroll again.")
            case .enrollmentSuspended: ("E0000180", 423, "The enrollment is suspended. Ask an administrator to open it.")
            case .accountSuspended: ("E0000155", 423, "The account is suspended. Ask an administrator to open it.")
            case .accountDeleted: ("E0000156", 410, "The account was deleted. Remove it from the app.")
            }
        self.init(code: code, status: status, summary: summary, reason: closure.reason)
    }

    /// Returns the refusal for the state of an account; `nil` for an active account.
    package static func account(_ user: User?) -> DeviceRefusal? { EnrolledDevice.Closure(of: user).map(DeviceRefusal.init) }
}

extension EnrolledDevice {
    /// The refusal if the enrollment cannot be used or changed (Documentation/Protocol/Devices.md §2.12); otherwise `nil`.
    var refusal: DeviceRefusal? { closure.map(DeviceRefusal.init) }
}
