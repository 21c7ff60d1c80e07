internal import CountersignUI
internal import Wording

// The visible screen, which is derived from the state.
extension AuthenticatorViewModel {
    /// The front screen. It presents alerts and the PIN prompt, because a covered screen cannot present them.
    public enum Front: Sendable, Equatable {
        /// The accounts.
        case home
        /// The settings of an account.
        case account(Account.ID)
        /// The form of a change.
        case change(Change)
    }

    /// The front screen.
    public var front: Front {
        if let change { return .change(change) }
        return openAccount.map(Front.account) ?? .home
    }

    /// The reason for the PIN prompt; empty without a prompt.
    public var pinReason: String {
        guard let question = pin.question else { return "" }
        if question.isNew { return words("This device requires it for each approval.") }
        guard let request = requestModel.requests.first(where: { $0.id == requestModel.answering }) else { return question.reason }
        return [texts.question(of: request), request.message].compactMap(\.self).joined(separator: ": ")
    }
}
