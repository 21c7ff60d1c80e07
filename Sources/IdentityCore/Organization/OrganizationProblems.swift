internal import Foundation
internal import WebAuthn

extension OrganizationDefinition {
    /// Returns all errors of the definition; empty if it is valid.
    package func problems() -> [OrganizationError.Problem] {
        var check = DefinitionCheck(self)
        check.organization()
        for index in authorizationServers.indices { check.server(authorizationServers[index], at: index) }
        for index in applications.indices { check.application(applications[index], at: index) }
        check.authenticators()
        check.signOnPolicies()
        check.limits()
        check.classic()
        check.callingCodes()
        check.passkeys()
        check.savedCodes()
        check.users()
        return check.problems
    }
}

/// Collects the errors of a definition; each method validates one part.
struct DefinitionCheck {
    typealias Step = OrganizationError.Problem.Step

    private(set) var problems: [OrganizationError.Problem] = []
    let definition: OrganizationDefinition
    let groups: Set<String>
    let clients: Set<String>
    /// The users' logins, in the form in which logins are compared.
    let logins: Set<String>

    init(_ definition: OrganizationDefinition) {
        self.definition = definition
        groups = Set(definition.groups.map(\.name))
        clients = Set(definition.applications.map(\.id))
        logins = Set(definition.users.map { User.key(forLogin: $0.login) })
    }

    mutating func problem(_ path: [Step], _ message: String) {
        problems.append(OrganizationError.Problem(path, message))
    }

    mutating func organization() {
        if definition.name.isEmpty { problem([.key("name")], "The organization needs a name to show to users.") }
        origin()
        duplicates(
            definition.authorizationServers.map { $0.id ?? "the org server" }, [.key("authorizationServers")], "id", "Authorization server")
        duplicates(definition.applications.map(\.id), [.key("applications")], "id", "Application")
        duplicates(definition.groups.map(\.name), [.key("groups")], "name", "Group")
        for (index, group) in definition.groups.enumerated() where group.name.isEmpty || group.name.utf8.count > 200 {
            problem([.key("groups"), .index(index), .key("name")], "A group needs a name of at most 200 bytes.")
        }
    }

    private mutating func origin() {
        let path: [Step] = [.key("origin")]
        let text = definition.origin
        guard let url = URLComponents(string: text), let scheme = url.scheme, let host = url.host, !host.isEmpty else {
            return problem(path, "“\(text)” is no origin. Write scheme, host and port as clients use them: https://id.example.com.")
        }
        if scheme != "https" && scheme != "http" {
            problem(path, "The origin's scheme is \(scheme); only https and, on loopback, http can be.")
        }
        if scheme == "http" && !Self.isLoopback(host) {
            problem(path, "Plain http is for loopback only. Write https://\(host), and serve TLS or stand behind a proxy that does.")
        }
        if !url.path.isEmpty || url.query != nil || url.fragment != nil || url.user != nil {
            let port = url.port.map { ":\($0)" } ?? ""
            problem(path, "An origin has no path, query or user name. Write \(scheme)://\(host)\(port).")
        }
    }

    static func isLoopback(_ host: String) -> Bool {
        // Digits and dots only, because 127.0.0.1.example.com is a public name.
        let isAddress = host.hasPrefix("127.") && host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        return isAddress || host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" || host == "::1"
    }

    mutating func limits() {
        let policy = definition.passwordPolicy
        range(policy.minimumLength, 8...72, [.key("passwordPolicy"), .key("minimumLength")], "characters")
        range(policy.lockoutAttempts, 0...1_000, [.key("passwordPolicy"), .key("lockoutAttempts")], "attempts (0 for never)")
        if let minutes = policy.lockoutMinutes {
            range(minutes, 1...525_600, [.key("passwordPolicy"), .key("lockoutMinutes")], "minutes")
        }
        range(policy.scryptLogN, 10...20, [.key("passwordPolicy"), .key("scryptLogN")], "as the power of two of the scrypt cost")
        passwordTimes(policy)
        let limits = definition.rateLimits
        let perMinute = "requests per minute"
        range(limits.perClient, 1...100_000_000, [.key("rateLimits"), .key("perClient")], perMinute)
        range(limits.perAddress, 1...100_000_000, [.key("rateLimits"), .key("perAddress")], perMinute)
        range(limits.perAddressSignIns, 1...100_000_000, [.key("rateLimits"), .key("perAddressSignIns")], perMinute)
        range(limits.perUser, 1...100_000_000, [.key("rateLimits"), .key("perUser")], perMinute)
        range(limits.messages, 1...100_000_000, [.key("rateLimits"), .key("messages")], "messages per minute")
        range(limits.recoveryGuesses, 1...1_000_000, [.key("rateLimits"), .key("recoveryGuesses")], "wrong answers per hour")
        let sessions = definition.sessions
        range(sessions.idleLifetime, 60...31_536_000, [.key("sessions"), .key("idleLifetime")], "seconds")
        range(sessions.lifetime, 60...31_536_000, [.key("sessions"), .key("lifetime")], "seconds")
        range(definition.mfaTokenLifetime, 300...3_600, [.key("mfaTokenLifetime")], "seconds")
        let rotation = definition.keyRotation
        range(rotation.signsForDays, 1...3_650, [.key("keyRotation"), .key("signsForDays")], "days")
        range(rotation.publishedDaysAhead, 1...365, [.key("keyRotation"), .key("publishedDaysAhead")], "days")
        range(rotation.publishedDaysAfter, 1...365, [.key("keyRotation"), .key("publishedDaysAfter")], "days: a token may live for one")
        range(definition.systemLog.retentionDays, 1...3_650, [.key("systemLog"), .key("retentionDays")], "days")
    }

    private mutating func passwordTimes(_ policy: PasswordPolicy) {
        let path: [Step] = [.key("passwordPolicy")]
        let kinds = policy.complexity
        for (count, key) in [
            (kinds.lowercase, "lowercase"), (kinds.uppercase, "uppercase"), (kinds.digits, "digits"), (kinds.symbols, "symbols"),
        ] {
            range(count, 0...20, path + [.key("complexity"), .key(key)], "characters")
        }
        let age = policy.age
        let times = path + [.key("age")]
        if let days = age.maximumDays { range(days, 1...3_650, times + [.key("maximumDays")], "days") }
        range(age.warningDays, 0...365, times + [.key("warningDays")], "days")
        range(age.minimumMinutes, 0...43_200, times + [.key("minimumMinutes")], "minutes")
        range(age.history, 0...24, times + [.key("history")], "passwords")
        if age.warningDays > 0, age.warningDays >= age.maximumDays ?? 0 {
            problem(
                times + [.key("warningDays")],
                age.maximumDays == nil
                    ? "Passwords that never expire have no warning. Set maximum_days, or remove warning_days."
                    : "Users would get a warning for every new password. Use fewer days than maximum_days.")
        }
    }

    mutating func signOnPolicies() {
        duplicates(definition.signOnPolicies.map(\.name), [.key("signOnPolicies")], "name", "Sign-on policy")
        for (index, policy) in definition.signOnPolicies.enumerated() {
            let path: [Step] = [.key("signOnPolicies"), .index(index)]
            if policy.rules.isEmpty { problem(path, "The policy “\(policy.name)” has no rule, so it refuses everybody. Add one.") }
            duplicates(policy.rules.map(\.name), path + [.key("rules")], "name", "Rule")
            for (index, rule) in policy.rules.enumerated() {
                let path = path + [.key("rules"), .index(index)]
                known(rule.groups, groups, "group", path + [.key("groups")])
                if let seconds = rule.reauthenticateAfter {
                    range(seconds, 1...31_536_000, path + [.key("reauthenticateAfter")], "seconds")
                }
            }
        }
    }

    mutating func callingCodes() {
        for (index, code) in (definition.callingCodes ?? []).enumerated() {
            let isCode = (1...3).contains(code.utf8.count) && code.first != "0" && code.utf8.allSatisfy { (0x30...0x39).contains($0) }
            // Uses the parser of phone numbers: a code that no number can have would block every message.
            guard !isCode || PhoneNumber("+\(code)00000000000")?.callingCode != code else { continue }
            problem(
                [.key("callingCodes"), .index(index)],
                "“\(code)” is no calling code. Write its digits without a plus sign, in quotes: \"49\".")
        }
    }

    mutating func classic() {
        guard let classic = definition.classic else { return }
        let path: [Step] = [.key("classic")]
        let names = Set(definition.signOnPolicies.map(\.name))
        if !names.contains(classic.signOnPolicy) {
            let hint = Suggestion.nearest(to: classic.signOnPolicy, among: names).map { " Did you mean “\($0)”?" } ?? ""
            problem(path + [.key("signOnPolicy")], "There is no sign-on policy “\(classic.signOnPolicy)”.\(hint)")
        }
        if case .time(let minutes) = classic.remembering { range(minutes, 1...525_600, path + [.key("remembering")], "minutes") }
        duplicates(classic.trustedCallers.map(\.name), path + [.key("trustedCallers")], "name", "Caller")
        let nothing = ClassicPolicy.TrustedCaller(name: "", token: "").tokenDigest
        for (index, caller) in classic.trustedCallers.enumerated() {
            let path = path + [.key("trustedCallers"), .index(index)]
            if caller.name.isEmpty { problem(path + [.key("name")], "A caller needs a name, for the system log.") }
            if caller.tokenDigest == nothing {
                problem(path + [.key("token")], "The token is empty: everybody could show it. Make one with: openssl rand -hex 32")
            }
            if classic.trustedCallers[..<index].contains(where: { $0.tokenDigest == caller.tokenDigest }) {
                problem(path + [.key("token")], "Another caller has the same token. Give each its own, so that the log tells them apart.")
            }
        }
        for (index, origin) in classic.trustedOrigins.enumerated() where !Self.isOrigin(origin) {
            problem(
                path + [.key("trustedOrigins"), .index(index)],
                "“\(origin)” is no origin. Write scheme, host and port as browsers do, in lower case and without a path: https://portal.example.com"
            )
        }
        if classic.factors[.hotp, default: .notAllowed] != .notAllowed {
            problem(
                path + [.key("factors"), .key("hotp")],
                "Users cannot set up counter-based devices themselves. Assign them with the users' member hotp.")
        }
        let phones = definition.authenticators.filter { authenticator in
            definition.applications.contains { $0.id == authenticator.clientID && $0.grantTypes.contains(GrantType.enrollmentTicket) }
        }
        if classic.factors[.push] == .required, phones.isEmpty {
            problem(
                path + [.key("factors"), .key("push")],
                "Users could not enroll a phone: no authenticator's app has the grant type \(GrantType.enrollmentTicket).")
        }
    }

    /// Whether a text is an origin in the format of browsers; http only on loopback.
    private static func isOrigin(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty, url.path.isEmpty, url.query == nil,
            url.fragment == nil, url.user == nil, text == text.lowercased()
        else { return false }
        return url.scheme == "https" || url.scheme == "http" && isLoopback(host)
    }

    mutating func users() {
        duplicates(definition.users.map { User.key(forLogin: $0.login) }, [.key("users")], "login", "User")
        for (index, user) in definition.users.enumerated() {
            let path: [Step] = [.key("users"), .index(index)]
            let login = user.login
            if !UserDefinition.isValid(login: login) {
                problem(path + [.key("login")], "A login has 1 to 200 bytes, no white space and no control characters.")
            }
            known(user.groups, groups, "group", path + [.key("groups")])
            if let password = user.password,
                let flaw = definition.passwordPolicy.problem(withNewPassword: password, login: login, names: user.names)
            {
                problem(path + [.key("password")], flaw)
            }
            if let device = user.hardwareDevice,
                (Base32.decode(device.secret)?.count ?? 0) < TimeBasedCode.shortestSecret
                    || !(1...100).contains(device.credentialID.utf8.count)
                    || !(0...Int64.max >> 1).contains(device.counter)
            {
                problem(
                    path + [.key("hardwareDevice")],
                    "The seed of a device is Base32 (A to Z, 2 to 7) of at least \(TimeBasedCode.shortestSecret) bytes, what it is known by has 1 to 100 bytes, and its counter is 0 or more."
                )
            }
            if let device = user.hardwareDevice, let secret = Base32.decode(device.secret),
                definition.users[..<index].contains(where: { $0.hardwareDevice.flatMap { Base32.decode($0.secret) } == secret })
            {
                problem(
                    path + [.key("hardwareDevice"), .key("secret")],
                    "Another user has a device with the same seed: what one of them used, the other could use again. Give each their own.")
            }
            if let secret = user.totpSecret, (Base32.decode(secret)?.count ?? 0) < TimeBasedCode.shortestSecret {
                problem(
                    path + [.key("totpSecret")],
                    "The secret of an authenticator app is Base32 (A to Z, 2 to 7) of at least \(TimeBasedCode.shortestSecret) bytes: 26 characters, better 32."
                )
            }
        }
    }

    mutating func range(_ value: Int, _ range: ClosedRange<Int>, _ path: [Step], _ unit: String) {
        if !range.contains(value) { problem(path, "\(value) is out of range: \(range.lowerBound) to \(range.upperBound) \(unit).") }
    }

    mutating func duplicates(_ names: [String], _ path: [Step], _ key: String, _ what: String) {
        var seen: Set<String> = []
        for (index, name) in names.enumerated() where !seen.insert(name).inserted {
            problem(path + [.index(index), .key(key)], "\(what) “\(name)” is there twice. Rename or remove one.")
        }
    }

    mutating func known(_ names: [String]?, _ all: Set<String>, _ what: String, _ path: [Step]) {
        for (index, name) in (names ?? []).enumerated() where !all.contains(name) {
            let hint = Suggestion.nearest(to: name, among: all).map { " Did you mean “\($0)”?" } ?? " Define it, or correct the name."
            problem(path + [.index(index)], "There is no \(what) “\(name)”.\(hint)")
        }
    }
}

extension OrganizationDefinition {
    /// Returns settings that are valid but probably unintended, with a correction, for the log at start.
    package func warnings() -> [OrganizationError.Problem] {
        guard let classic, classic.enrolling(.question) != .required else { return [] }
        let path: [OrganizationError.Problem.Step] = [.key("classic")]
        return CodeChannel.allCases.compactMap { channel in
            guard classic.recovery.contains(channel),
                let factor = ClassicPolicy.Factor.allCases.first(where: { $0.channel == channel }),
                classic.enrolling(factor) != .notAllowed
            else { return nil }
            let (place, word) = channel == .email ? ("mailbox", "email") : ("telephone", channel == .sms ? "sms" : "call")
            return OrganizationError.Problem(
                path + [.key("recovery")],
                "An attacker with a user's \(place) could recover the password and pass the second factor, so two factors would be one. "
                    + "Take \(word) from recovery or from factors, or ask for a question too (factors: question: required).")
        }
    }

    /// Returns an error for each factor of an external token system that the definition offers. Only a server with a ``TokenService`` can
    /// verify the codes of such factors.
    package func problemsWithoutTokenService() -> [OrganizationError.Problem] {
        guard let classic else { return [] }
        return ClassicPolicy.Factor.allCases.filter { $0.tokenProvider != nil && classic.enrolling($0) != .notAllowed }.map { factor in
            OrganizationError.Problem(
                [.key("classic"), .key("factors"), .key(factor.rawValue)],
                "This server has no service that judges tokens of \(factor.tokenProvider?.rawValue ?? factor.rawValue), so users could not enroll one. "
                    + "Write not_allowed, or remove the line; only a program that provides such a service and embeds the server can use it."
            )
        }
    }
}

/// Finds the probably intended spelling of a name.
package enum Suggestion: Sendable {
    /// Returns the candidate most similar to a word. `nil` if each candidate differs by more edits than a third of the word's length, or
    /// than one edit for a short word.
    package static func nearest(to word: String, among candidates: some Collection<String>) -> String? {
        let allowed = max(1, word.count / 3)
        return candidates.map { ($0, distance(Array(word.lowercased()), Array($0.lowercased()))) }
            .filter { $0.1 <= allowed }
            .min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
    }

    /// Returns the Levenshtein distance of two words.
    private static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var row = Array(0...b.count)
        for (i, left) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, right) in b.enumerated() {
                (diagonal, row[j + 1]) = (row[j + 1], min(row[j] + 1, row[j + 1] + 1, diagonal + (left == right ? 0 : 1)))
            }
        }
        return row[b.count]
    }
}

extension DefinitionCheck {
    mutating func savedCodes() {
        guard let codes = definition.savedCodes else { return }
        range(codes.count, SavedCodesPolicy.counts, [.key("savedCodes"), .key("count")], "as the number of recovery codes")
    }

    mutating func passkeys() {
        guard let passkeys = definition.passkeys else {
            if let offered = definition.classic?.factors[.webauthn], offered != .notAllowed {
                problem(
                    [.key("classic"), .key("factors"), .key(ClassicPolicy.Factor.webauthn.rawValue)],
                    "The organization does not offer passkeys. Add the section passkeys, or write not_allowed.")
            }
            return
        }
        let path: [Step] = [.key("passkeys")]
        let id = passkeys.rpID(origin: definition.origin)
        if let reason = passkeys.problem(origin: definition.origin) {
            problem(
                path + [.key("relyingParty")],
                "Browsers refuse passkeys of “\(id)” at \(definition.origin): \(reason.explanation)")
        }
        for (index, origin) in passkeys.origins.enumerated() {
            // Related origins can have another domain, so the RP ID is their own host here.
            let host = URLComponents(string: origin)?.host ?? id
            let isForeignPlain = origin.hasPrefix("http:") && !definition.origin.hasPrefix("http:")
            guard isForeignPlain || RelyingPartyID.problem(host, at: origin) != nil else { continue }
            problem(
                path + [.key("origins"), .index(index)],
                "“\(origin)” is no origin of passkeys. Write https:// and a host, or android:apk-key-hash: and the certificate's digest.")
        }
        for (index, model) in (passkeys.models ?? []).enumerated() where AAGUID(model) == nil {
            problem(
                path + [.key("models"), .index(index)],
                "“\(model)” is no AAGUID. Write it as in the vendor's list: ee882879-721c-4913-9775-3dfcce97072a.")
        }
    }
}

extension RelyingPartyID.Problem {
    fileprivate var explanation: String {
        switch self {
        case .notDomain: "an rp_id is a domain in lower case, such as example.com."
        case .address: "an IP address cannot have passkeys. Use a domain, or localhost."
        case .origin: "passkeys need https, or localhost."
        case .otherDomain: "the rp_id must be the origin's host or a parent domain of it."
        case .topLevelDomain: "the rp_id is a top-level domain. Use the domain below it."
        }
    }
}
