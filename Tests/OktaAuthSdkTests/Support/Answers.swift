/// Responses of a server, written by Documentation/Protocol/Authn.md.
enum Answers {
    static let base = ScriptedServer.base
    static let authn = base + "/api/v1/authn"

    static let user = #"""
        "user":{"id":"00uAna","passwordChanged":"2031-02-01T08:00:00.000Z","profile":{"login":"ana@example.test","firstName":"Ana",
        "lastName":"Ruiz","locale":"es_ES","timeZone":"Europe/Madrid"}}
        """#

    /// Returns a link of a transaction or a factor.
    static func link(_ relation: String, _ path: String, name: String? = nil, method: String = "POST") -> String {
        let named = name.map { #""name":"\#($0)","# } ?? ""
        return #""\#(relation)":{\#(named)"href":"\#(authn)\#(path)","hints":{"allow":["\#(method)"]}}"#
    }

    static let cancel = link("cancel", "/cancel")
    static let prev = link("prev", "/previous")
    static let skip = link("skip", "/skip", name: "skip")
    static func resend(_ channel: String, _ path: String) -> String {
        #""resend":[{"name":"\#(channel)","href":"\#(authn)\#(path)","hints":{"allow":["POST"]}}]"#
    }

    static func transaction(_ status: String, embedded: String = user, links: [String] = [cancel], more: String = "") -> String {
        #"""
        {"stateToken":"state-1","expiresAt":"2031-05-04T10:20:30.000Z","status":"\#(status)",\#(more)"_embedded":{\#(embedded)},
        "_links":{\#(links.joined(separator: ","))}}
        """#
    }

    static let success =
        #"{"expiresAt":"2031-05-04T10:20:30.000Z","status":"SUCCESS","sessionToken":"session-1","_embedded":{"# + user + "}}"
    static let unlocked = #"{"status":"SUCCESS","recoveryType":"UNLOCK"}"#
    static let lockedOut = #"{"status":"LOCKED_OUT","_embedded":{},"_links":{"# + link("next", "/recovery/unlock", name: "unlock") + "}}"

    static let passwordPolicy = #"""
        "policy":{"expiration":{"passwordExpireDays":4},"complexity":{"minLength":10,"minLowerCase":1,"minUpperCase":1,"minNumber":1,
        "minSymbol":0,"excludeUsername":true},"age":{"minAgeMinutes":0,"historyCount":3}}
        """#
    static let changePassword = link("next", "/credentials/change_password", name: "changePassword")
    static let passwordWarning = transaction(
        "PASSWORD_WARN", embedded: user + "," + passwordPolicy, links: [changePassword, skip, cancel])
    static let passwordExpired = transaction(
        "PASSWORD_EXPIRED", embedded: user + "," + passwordPolicy, links: [changePassword, cancel])
    static let passwordReset = transaction(
        "PASSWORD_RESET", embedded: user + "," + passwordPolicy,
        links: [link("next", "/credentials/reset_password", name: "resetPassword"), cancel], more: #""recoveryType":"PASSWORD","#)
    static let recovery = transaction(
        "RECOVERY", embedded: #""user":{"id":"00uAna","recovery_question":{"question":"Name of your first boat?"}}"#,
        links: [link("next", "/recovery/answer", name: "answer"), cancel], more: #""recoveryType":"PASSWORD","#)
    static let recoveryChallenge = transaction(
        "RECOVERY_CHALLENGE", embedded: "",
        links: [
            link("next", "/recovery/factors/SMS/verify", name: "verify"), cancel,
            link("resend", "/recovery/factors/SMS/resend", name: "sms"),
        ], more: #""factorType":"SMS","recoveryType":"PASSWORD","#)
    static let recoveryByMail = #"""
        {"status":"RECOVERY_CHALLENGE","factorResult":"WAITING","factorType":"EMAIL","recoveryType":"UNLOCK"}
        """#

    /// Returns a factor that the user can enroll.
    static func enrollable(_ type: String, provider: String = "OKTA", links: [String] = [], more: String = "") -> String {
        #"""
        {"factorType":"\#(type)","provider":"\#(provider)","vendorName":"\#(provider)","status":"NOT_SETUP","enrollment":"OPTIONAL",
        \#(more)"_links":{\#((links + [link("enroll", "/factors")]).joined(separator: ","))}}
        """#
    }

    /// Returns a factor that the user can select.
    static func selectable(_ type: String, id: String = "fac1", provider: String = "OKTA", profile: String = "{}") -> String {
        #"""
        {"id":"\#(id)","factorType":"\#(type)","provider":"\#(provider)","vendorName":"\#(provider)","profile":\#(profile),
        "_links":{\#(link("verify", "/factors/\(id)/verify"))}}
        """#
    }

    static func enroll(_ factors: String..., links: [String] = [cancel]) -> String {
        transaction("MFA_ENROLL", embedded: user + #","factors":["# + factors.joined(separator: ",") + "]", links: links)
    }

    static let rememberPolicy = #"""
        "policy":{"allowRememberDevice":true,"rememberDeviceLifetimeInMinutes":0,"rememberDeviceByDefault":false,
        "factorsPolicyInfo":{"fac1":{"autoPushEnabled":true}}}
        """#

    static func required(_ factors: String...) -> String {
        transaction("MFA_REQUIRED", embedded: user + #","factors":["# + factors.joined(separator: ",") + "]," + rememberPolicy)
    }

    /// Returns a factor that waits for its activation.
    static func activation(
        _ type: String, id: String = "fac1", next: String = "activate", embedded: String = "", result: String? = nil, resends: Bool = false
    ) -> String {
        let path = "/factors/\(id)/lifecycle/activate" + (next == "poll" ? "/poll" : "")
        let result = result.map { #""factorResult":"\#($0)","# } ?? ""
        let inner = embedded.isEmpty ? "" : #","_embedded":{"activation":\#(embedded)}"#
        return transaction(
            "MFA_ENROLL_ACTIVATE",
            embedded: user + #","factor":{"id":"\#(id)","factorType":"\#(type)","provider":"OKTA","vendorName":"OKTA"\#(inner)}"#,
            links: [link("next", path, name: next), prev, cancel] + (resends ? [resend(type, "/factors/\(id)/lifecycle/resend")] : []),
            more: result)
    }

    /// Returns a pending challenge.
    static func challenge(
        _ type: String, id: String = "fac1", next: String = "verify", result: String? = nil, number: Int? = nil, resends: Bool = false,
        profile: String = "{}"
    ) -> String {
        let result = result.map { #""factorResult":"\#($0)","# } ?? ""
        let inner = number.map { #","_embedded":{"challenge":{"correctAnswer":\#($0)}}"# } ?? ""
        let factor =
            #""factor":{"id":"\#(id)","factorType":"\#(type)","provider":"OKTA","vendorName":"OKTA","profile":\#(profile)\#(inner)}"#
        return transaction(
            "MFA_CHALLENGE", embedded: user + "," + factor + "," + rememberPolicy,
            links: [link("next", "/factors/\(id)/verify", name: next), prev, cancel]
                + (resends ? [resend(type, "/factors/\(id)/verify/resend")] : []), more: result)
    }

    static func refusal(_ code: String, _ summary: String, causes: [String] = []) -> String {
        let causes = causes.map { #"{"errorSummary":"\#($0)"}"# }.joined(separator: ",")
        return #"{"errorCode":"\#(code)","errorSummary":"\#(summary)","errorLink":"\#(code)","errorId":"oae1","errorCauses":[\#(causes)]}"#
    }
}
