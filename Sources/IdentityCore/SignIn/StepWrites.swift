internal import Store

extension Writes {
    /// The writes of a step's effects.
    ///
    /// - Parameters:
    ///   - effects: The effects, in order.
    ///   - transaction: The transaction after the step.
    ///   - user: The user as they were read; `nil` if the step writes none.
    ///   - userID: The user of the log events; `nil` for the transaction's.
    /// - Throws: If a record can't be encoded.
    package init(
        _ effects: [SignInTransaction.Effect], of transaction: SignInTransaction, user: StoredUser?, userID: String? = nil
    ) throws {
        self.init()
        for effect in effects {
            switch effect {
            case .writeUser(let changed):
                if let user { changes.append(.put(try user.record(holding: changed))) }
            case .writeEnrollment(let used): changes += try used.changes()
            case .log(let type, let outcome, let reason):
                log(
                    type, outcome, reason: reason, userID: userID ?? transaction.userID, clientID: transaction.applicationID,
                    server: transaction.server)
            }
        }
    }
}

extension SignInTransaction.Effect {
    package var isUserWrite: Bool { if case .writeUser = self { true } else { false } }
}

extension [SignInTransaction.Effect] {
    package var writesUser: Bool { contains(where: \.isUserWrite) }

    /// The user once the effects are written.
    package func user(after user: User) -> User {
        reduce(user) { user, effect in if case .writeUser(let changed) = effect { changed } else { user } }
    }
}
