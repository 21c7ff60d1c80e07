import ArgumentParser
import AuthorizationServer
import Foundation
import IdentityCore
import JOSE
import Store

struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show the system log of a server.",
        subcommands: [LogShowCommand.self, LogEraseCommand.self], defaultSubcommand: LogShowCommand.self)
}

struct LogShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show who did what, with which result, why and from where.",
        discussion: """
            Each line has the time, the outcome (success, failure or denied), the action, the user, the application, the address and the
            reason: the rule that decided, or the condition that failed. The server keeps the lines for 90 days, or as long
            as `system_log` in the org file says.

              countersign log --since 1h --user jane@example.com
              countersign log --type user.mfa --outcome failure --follow
            """)

    @Option(help: ArgumentHelp("The first time: 30s, 15m, 1h, 7d ago, or a date such as 2026-01-31T08:00:00Z.", valueName: "time"))
    var since = LogTime.lastDay

    @Option(help: ArgumentHelp("The last time, in the same form.", valueName: "time"))
    var until: LogTime?

    @Option(help: ArgumentHelp("Shows only lines of this user, by login or id.", valueName: "user"))
    var user: String?

    @Option(help: ArgumentHelp("Shows only actions that begin with this text, such as user.mfa.", valueName: "action"))
    var type: String = ""

    @Option(help: ArgumentHelp("Shows only this outcome: success, failure or denied.", valueName: "outcome"))
    var outcome: LogEvent.Outcome?

    @Option(
        help: ArgumentHelp(
            "Shows only lines of this request: the id in the header x-okta-request-id and in error messages.", valueName: "id"))
    var request: String?

    @Flag(help: "Wait for further lines until Ctrl-C.")
    var follow = false

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        if follow, until != nil { throw ValidationError("Use either --follow or --until, not both.") }
    }

    func run() async throws {
        try await options.run("log") { parts, context in
            var logins = Logins(engine: parts.engine)
            let userID: String? = if let user { try await logins.id(of: user) } else { nil }
            let first = since.date(before: context.now)
            var query = SystemLogQuery(
                since: first, until: until?.date(before: context.now), userID: userID, typePrefix: typePrefix,
                outcome: outcome, requestID: request, limit: 1_000)
            var shown: [String: Date] = [:]
            while true {
                repeat {
                    let page = try await parts.engine.systemLog(query)
                    for event in page.events where shown.updateValue(event.time, forKey: event.id) == nil {
                        try await show(event, &logins)
                    }
                    query.after = page.next
                } while query.after != nil
                guard follow else { break }
                try await Interruption.cancels { try await TerminalClock.sleep(for: .seconds(1)) }
                // A line can be committed after lines with a later time, and the clocks of several servers differ. So the last minute is
                // read again.
                query.since = max(first, TerminalClock.now.addingTimeInterval(-60))
                shown = shown.filter { $0.value >= query.since }
            }
            if shown.isEmpty, !options.json { Terminal.note("No line matches.") }
        }
    }

    /// The beginning of the actions to show. The option also accepts `user.mfa*` and `user.mfa…`.
    private var typePrefix: String { String(type.prefix { $0 != "*" && $0 != "…" }) }

    private func show(_ event: LogEvent, _ logins: inout Logins) async throws {
        let login = if let id = event.userID { try await logins.login(of: id) } else { String?.none }
        if options.json { return Terminal.write(json: event.json(login: login)) }
        let outcome = TerminalText(event.outcome.rawValue.padded(to: 7))
        let styled = event.outcome == .success ? outcome : Terminal.styled(outcome, .red)
        var line: TerminalText = "\(event.time.formatted(.iso8601))  \(styled)  \(event.type)"
        if let name = login ?? event.userID { line = "\(line)  user=\(name)" }
        if let administrator = event.administrator { line = "\(line)  by=\(administrator)" }
        if let client = event.clientID { line = "\(line)  app=\(client)" }
        if let address = event.address { line = "\(line)  from=\(address)" }
        line = "\(line)  request=\(event.requestID)"
        if let reason = event.reason { line = "\(line)  \(Terminal.styled("\(reason)", .dim))" }
        Terminal.write(line)
    }
}

struct LogEraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Remove a user's personal data from the system log.",
        discussion: """
            The user, the address and the reason are removed from every line of the user. The action, its outcome and its time stay, for
            statistics. The erasure is logged with your name. For a deleted user, pass the id.
            """)

    @Argument(help: "The login or id.")
    var user: String

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.run("log-erase") { parts, context in
            var logins = Logins(engine: parts.engine)
            let count = try await parts.engine.eraseSystemLog(ofUser: try await logins.id(of: user), context: context)
            Terminal.write(
                "Erased the personal data of \(user) from \(count) line\(count == 1 ? "" : "s").",
                or: ["lines": .integer(Int64(count))], isJSON: options.json)
        }
    }
}

/// The logins of users, each of which is read once.
private struct Logins {
    let engine: Engine
    private var known: [String: String?] = [:]

    init(engine: Engine) { self.engine = engine }

    /// Returns the id of the user with this login or id. An id is returned even if its user was deleted. Throws ``CommandFailure`` for an
    /// unknown login.
    mutating func id(of name: String) async throws -> String {
        if let user = try await engine.user(login: name) { return user.id }
        guard name.hasPrefix("00u"), name.count == 20 else {
            throw CommandFailure("There is no user “\(name)”. For a deleted user, pass the id, which begins with 00u.")
        }
        return name
    }

    /// Returns the login of a user; `nil` for a deleted user.
    mutating func login(of id: String) async throws -> String? {
        if let login = known[id] { return login }
        let login = try await engine.user(id: id)?.login
        known[id] = .some(login)
        return login
    }
}

/// A time of the command line: a duration before now, or a date.
struct LogTime: ExpressibleByArgument {
    private let text: String
    private let ago: TimeInterval?
    private let fixed: Date?

    /// The last 24 hours.
    static let lastDay = LogTime(text: "24h", ago: 86_400)

    private init(text: String, ago: TimeInterval) { (self.text, self.ago, fixed) = (text, ago, nil) }

    init?(argument text: String) {
        self.text = text
        let units: [Character: TimeInterval] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        if let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()), (0...100_000).contains(number) {
            (ago, fixed) = (TimeInterval(number) * unit, nil)
        } else if let date = Self.date(text) {
            (ago, fixed) = (nil, date)
        } else {
            return nil
        }
    }

    var defaultValueDescription: String { text }

    func date(before now: Date) -> Date { fixed ?? now.addingTimeInterval(-(ago ?? 0)) }

    private static func date(_ text: String) -> Date? {
        (try? Date(text, strategy: .iso8601)) ?? (try? Date(text, strategy: .iso8601.year().month().day()))
    }
}

extension LogEvent.Outcome: ExpressibleByArgument {}

extension LogEvent {
    /// Returns the line as JSON, with the members of the stored form and the user's current login.
    fileprivate func json(login: String?) -> JSONValue {
        var json: [String: JSONValue] = [
            "id": .string(id), "time": .string(time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))),
            "type": .string(type), "outcome": .string(outcome.rawValue), "request": .string(requestID),
        ]
        json["reason"] = reason.map(JSONValue.string)
        json["user"] = userID.map(JSONValue.string)
        json["login"] = login.map(JSONValue.string)
        json["administrator"] = administrator.map(JSONValue.string)
        json["client"] = clientID.map(JSONValue.string)
        json["server"] = server.map(JSONValue.string)
        json["address"] = address.map(JSONValue.string)
        return .object(json)
    }
}
