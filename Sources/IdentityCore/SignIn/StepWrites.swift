internal import Store

extension Writes {
    /// Creates the writes of a step's effects, in order. `user` is the user as read; `nil` if the step writes no user. Log events name
    /// `userID`, or by default the transaction's user.
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

    /// Returns the user after the effects.
    package func user(after user: User) -> User {
        reduce(user) { user, effect in if case .writeUser(let changed) = effect { changed } else { user } }
    }
}
