import ArgumentParser
internal import AuthorizationServer
import Foundation
internal import IdentityCore
import JOSE
import Store

struct RotateMasterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-master", abstract: "Replace the master key, while the servers run.",
        discussion: """
            Each call does the next safe step and says what to do before the following one. First the key file gets a second key; then all
            secrets of the database are encrypted with it; at last the earlier key is removed. Between the steps, give the file to every
            server, and restart one server after the other. A call changes nothing while a running server lacks the file of the step before.
            """)

    @OptionGroup var options: AdministrationOptions

    @Flag(help: "Remove the earlier key without waiting an hour. Codes that were sent before are rejected.")
    var now = false

    @Flag(help: "Answer each question of the command with yes.")
    var yes = false

    func run() async throws {
        try await options.run("keys-rotate-master") { parts, context in
            var context = context
            var confirmed: [MasterKeyStep.Question] = []
            while true {
                let answers = confirmed
                let step = try await parts.rotateMasterKey(removesNow: now, context: context) { yes || answers.contains($0) }
                guard case .confirm(let question) = step.result else { return write(step) }
                guard TerminalInput.isInteractive, !options.json else { throw CommandFailure("\(question.text) \(question.refusal)") }
                let answer = try await TerminalInput.line("\(question.text) \(question.question) [y/N] ") ?? ""
                guard ["y", "yes"].contains(answer.lowercased()) else { throw CommandFailure("No key was changed.") }
                confirmed.append(question)
                // The answer may have taken minutes.
                context.now = parts.context("keys-rotate-master").now
            }
        }
    }

    private func write(_ step: MasterKeyStep) {
        guard options.json else {
            for line in step.lines { Terminal.write("\(line)") }
            return
        }
        var json: JSONValue = [
            "step": .string(step.name), "servers": .integer(Int64(step.servers)), "unreadable": .integer(Int64(step.report.unreadable)),
            "resealed": [:], "next": .string(step.next),
        ]
        for (kind, count) in step.report.counts { json["resealed"]?[kind.rawValue] = .integer(Int64(count)) }
        if step.keepsRemains { json["remains"] = true }
        if case .waiting(let date) = step.result { json["from"] = .string(date.formatted(.iso8601)) }
        if let waiting = step.waitingServers { json["waiting"] = .integer(Int64(waiting)) }
        Terminal.write(json: json)
    }
}

extension MasterKeyStep.Question {
    /// The problem.
    fileprivate var text: String {
        switch self {
        case .unreadable(let count):
            "Records with a secret that the key does not open: \(count). If you have the key that opens them, append it to this key, and run the command again."
        case .earlierVersion:
            "An earlier version of the server created this database. Servers of a version without this command are not visible here, and fail after a rotation."
        case .silent(let count, let date):
            "Servers whose records end at or before \(date.formatted(.iso8601)), more than five minutes before the clock of this machine: \(count). They were killed, or a clock is wrong."
        }
    }

    fileprivate var question: String {
        switch self {
        case .unreadable: "Is that key lost?"
        case .earlierVersion: "Do all servers run this version?"
        case .silent: "Are these servers stopped?"
        }
    }

    /// What to do where no question can be asked.
    fileprivate var refusal: String {
        switch self {
        case .unreadable: "If that key is lost, add --yes."
        case .earlierVersion: "If all servers run this version, add --yes."
        case .silent: "Check the clocks of all machines. If these servers are stopped, add --yes."
        }
    }
}

extension MasterKeyStep {
    fileprivate var name: String {
        switch result {
        case .added: "added"
        case .resealed: "resealed"
        case .servers: "restart"
        case .waiting: "wait"
        case .busy: "busy"
        case .removed: "removed"
        case .complete: "complete"
        case .confirm: "confirm"
        case .edit: "edit"
        }
    }

    /// The number of servers that must be restarted before the next step; `nil` if it does not matter.
    fileprivate var waitingServers: Int? {
        switch result {
        case .servers(let count), .complete(let count): count
        default: nil
        }
    }

    fileprivate var lines: [String] {
        var lines = ["Running servers: \(servers)."]
        if report.total > 0 { lines.append("Encrypted again: \(report.description).") }
        if report.unreadable > 0 { lines.append("\(report.unreadable) records open with none of the keys, and stay as they are.") }
        return lines + [done, remains, next].filter { !$0.isEmpty }
    }

    /// The result of this call, for the operator.
    private var done: String {
        switch result {
        case .added: "\(place) has a new key in its last line."
        case .resealed: "\(place) has the new key in its first line."
        case .servers(let count): "\(count) of \(servers) running servers do not have the keys in the order of \(place)."
        case .waiting: "The earlier key is still needed for codes of sign-ins that have begun."
        case .busy:
            "All secrets are encrypted with the new key. The files of the database still have earlier versions, because other processes keep it busy."
        case .removed: "\(place) has the new key only. The rotation is complete."
        case .complete(let count): "The rotation is complete, but \(count) of \(servers) running servers have other keys than \(place)."
        case .confirm(let question): question.text
        case .edit(_, let reason): "The command cannot write \(place): \(reason)."
        }
    }

    /// The earlier versions of the secrets that stay in a PostgreSQL database; empty for another database.
    private var remains: String {
        guard keepsRemains else { return "" }
        return
            "PostgreSQL still has secrets that the earlier key opens: in dead rows, archives of its log and backups. Run VACUUM FULL records, and let archives and backups expire."
    }

    /// What the operator does before the next call.
    fileprivate var next: String {
        let restart = "Give it to every server, and restart one after the other."
        switch result {
        case .added, .resealed: return "\(restart) Then run the command again."
        case .servers: return "\(restart) Then run the command again. A server that was killed counts for five minutes."
        case .waiting(let date):
            return
                "Run the command again from \(date.formatted(.iso8601)) on to remove it. --now removes it at once; such codes are then rejected."
        case .busy: return "Run the command again. It keeps the earlier key until the files are clean."
        case .removed: return "\(restart) Keep the earlier key with the backups that were made before."
        case .complete: return "\(restart) Until then, the command does not begin another rotation."
        case .confirm(let question): return question.refusal
        case .edit(let edit, _):
            return "\(edit.instruction) Give the keys to every server, and restart one after the other. Then run the command again."
        }
    }
}

extension MasterKeyStep.Edit {
    fileprivate var instruction: String {
        switch self {
        case .append:
            "Make a new key with: head -c 32 /dev/urandom | base64. Append it as another line, or in a variable after a space. The key that is there stays first."
        case .moveFirst(let number): "Move key number \(number) to the first place, and keep the others after it."
        case .keepFirst: "Remove all keys but the first one."
        }
    }
}
