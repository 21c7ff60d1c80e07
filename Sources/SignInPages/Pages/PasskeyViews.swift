internal import Foundation
internal import IdentityCore

extension PageView {
    /// The data of a form whose script asks the browser for a passkey.
    struct Passkey: Sendable {
        /// The WebAuthn options in JSON.
        var options: String
        /// The function of the browser: `get` or `create`.
        var ceremony = "get"
        var cancelled: String
        var failed: String
        /// The message if the authenticator has a passkey of the account already.
        var exists: String

        init(signingWith options: String, _ texts: PasskeyTexts) {
            (self.options, cancelled, failed, exists) = (options, texts.cancelled, texts.failed, texts.failed)
        }

        init(creatingWith options: String, _ texts: PasskeyTexts) {
            (self.options, ceremony) = (options, "create")
            (cancelled, failed, exists) = (texts.createCancelled, texts.createFailed, texts.exists)
        }
    }

    /// Returns the view of a page about a passkey.
    static func passkey(_ page: HostedPage, organization: String, texts: PageTexts) -> PageView {
        let passkeys = texts.passkeys
        switch page.content {
        case .createPasskey(let options, let hasOthers, let isOffer):
            var view = PageView(texts, organization: organization, title: passkeys.createTitle, lead: passkeys.createLead)
            view.passkey = Passkey(creatingWith: options, passkeys)
            (view.step, view.button, view.otherStep) = ("new-passkey", passkeys.create, "choose-enrollment")
            view.hasChoice = hasOthers
            if isOffer { view.offer = SetupOffer.passkey.rawValue }
            view.isOffer = isOffer
            return view
        case .passkey(let options, let hasOthers):
            var view = PageView(texts, organization: organization, title: passkeys.title, lead: passkeys.lead)
            view.passkey = Passkey(signingWith: options, passkeys)
            (view.step, view.button, view.otherStep) = ("passkey", passkeys.button, "choose-again")
            view.hasChoice = hasOthers
            return view
        default: return PageView(texts, organization: organization, title: texts.errorTitle, lead: texts.over)
        }
    }
}
