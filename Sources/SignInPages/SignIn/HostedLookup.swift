internal import IdentityCore
internal import JOSE
internal import Store
internal import WebAuthn

/// The rows of the requests of the pages.
extension Lookup {
    /// The rows of ``HostedState``, with `more` rows of the user: the sign-in with its user, factors and session, and the browser's
    /// session. Undeclared are the code and the waiting device, which only the sign-in names, and the consent, whose id is a digest.
    static func page(_ token: String, browser: BrowserSecrets, _ more: Node...) -> Lookup {
        let signIn = Node.ticket(
            .stateToken, TicketDigest(of: token), .owner(.account.appending(more), .named(.session, byKey: "session")))
        return Lookup([signIn] + Node.session(of: browser))
    }
}

extension Lookup {
    /// The rows of ``HostedState``, and the account that has a credential already.
    fileprivate static func page(_ token: String, browser: BrowserSecrets, owning response: RegistrationResponse?) -> Lookup {
        let owner = response.map { Node.records(.enrollment, where: "passkey", is: Base64URL.encode($0.id), limit: 1) }
        return Lookup(page(token, browser: browser).nodes + [owner].compactMap(\.self))
    }
}

extension Engine {
    /// The rows of an action on a page. `isProved` says whether an earlier read's check succeeded.
    func lookup(_ action: HostedAction, of token: String, browser: BrowserSecrets, isProved: Bool) -> Lookup {
        switch action {
        case .password(let login, _):
            // Before a proof, the factors of a user must not be read.
            Lookup(Lookup.page(token, browser: browser).nodes + rows(ofLogin: login, with: isProved ? .subject : []))
        case .choose(.push): .page(token, browser: browser, .challenges)
        case .newPasskey(let text): .page(token, browser: browser, owning: RegistrationResponse(ofForm: text))
        default: .page(token, browser: browser)
        }
    }
}
