import DeviceAuthenticator

/// Asks the user in the terminal to answer a request.
struct PhoneDialog: Sendable {
    /// The result of the dialog.
    enum Result: Sendable, Equatable {
        case answered(PhoneAnswer)
        /// The user postponed the answer, or the input ended.
        case later
        /// The request is no longer pending.
        case over
    }

    let request: PhoneRequest

    /// Asks until the user answers or the request is no longer pending. `isOver` returns when the request is not pending; it is cancelled
    /// after an answer.
    func result(orUntil isOver: @escaping @Sendable () async throws -> Void) async throws -> Result {
        try await withThrowingTaskGroup(of: Result.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await ask() }
            group.addTask {
                try await isOver()
                return .over
            }
            return try await group.next() ?? .later
        }
    }

    private func ask() async throws -> Result {
        while let line = try await TerminalInput.line(prompt) {
            if let result = Self.result(of: line, numbers: request.challenge.numberChoices) { return result }
        }
        return .later
    }

    private var prompt: TerminalText {
        guard let numbers = request.challenge.numberChoices else { return "Approve? [y]es, [n]o, [s]uspicious: it was not me, [l]ater: " }
        return "Which number does the sign-in show (\(numbers.joined(separator: ", ")))? Or [n]o, [s]uspicious: it was not me, [l]ater: "
    }

    /// Returns the meaning of an input line; `nil` if it has none.
    static func result(of line: String, numbers: [String]?) -> Result? {
        let word = line.filter { !$0.isWhitespace }.lowercased()
        if let numbers, numbers.contains(word) { return .answered(.approve(number: word)) }
        switch word {
        case "y", "yes", "a", "approve": return numbers == nil ? .answered(.approve(number: nil)) : nil
        case "n", "no", "d", "deny": return .answered(.deny(suspicious: false))
        case "s", "suspicious": return .answered(.deny(suspicious: true))
        case "l", "later": return .later
        default: return nil
        }
    }
}
