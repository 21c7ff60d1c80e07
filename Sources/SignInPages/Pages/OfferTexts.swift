internal import Foundation
internal import IdentityCore

/// The texts about recovery codes and about the offers after a sign-in; a part of ``PageTexts``.
struct OfferTexts: Sendable {
    var passkeyTitle: String
    var passkeyLead: String
    var codesTitle: String
    var codesLead: String
    var showCodes: String
    var notNow: String
    var saveTitle: String
    var saveLead: String
    var saved: String
    /// The label of the button among the second factors.
    var use: String
    var useTitle: String
    var useLead: String
    var code: String
    var useCode: String
    var wrong: String
}

extension OfferTexts {
    static let english = OfferTexts(
        passkeyTitle: "Sign in faster next time",
        passkeyLead: "With a passkey, you sign in with your fingerprint, face, screen lock or security key. Phishing sites cannot use it.",
        codesTitle: "Get recovery codes",
        codesLead:
            "If you lose your phone or your passkeys, you can sign in with your password and a recovery code. Keep the codes in a safe place.",
        showCodes: "Show recovery codes",
        notNow: "Not now",
        saveTitle: "Save your recovery codes",
        saveLead: "Print or write down these codes, or save them in a password manager. Each code works once. You won't see them again.",
        saved: "I saved the codes",
        use: "Use a recovery code",
        useTitle: "Use a recovery code",
        useLead: "Enter one of the recovery codes that you saved. Each code works once.",
        code: "Recovery code",
        useCode: "Continue",
        wrong: "The recovery code is wrong or was used before.")

    static let german = OfferTexts(
        passkeyTitle: "Melden Sie sich künftig schneller an",
        passkeyLead:
            "Mit einem Passkey melden Sie sich per Fingerabdruck, Gesicht, Displaysperre oder Sicherheitsschlüssel an. Gefälschte Seiten können ihn nicht verwenden.",
        codesTitle: "Wiederherstellungscodes anlegen",
        codesLead:
            "Wenn Sie Ihr Telefon oder Ihre Passkeys verlieren, können Sie sich mit Ihrem Passwort und einem Wiederherstellungscode anmelden. Bewahren Sie die Codes sicher auf.",
        showCodes: "Codes anzeigen",
        notNow: "Nicht jetzt",
        saveTitle: "Wiederherstellungscodes sichern",
        saveLead:
            "Drucken oder notieren Sie diese Codes, oder speichern Sie sie in einem Passwortmanager. Jeder Code funktioniert nur einmal. Die Codes werden nicht noch einmal angezeigt.",
        saved: "Ich habe die Codes gesichert",
        use: "Wiederherstellungscode verwenden",
        useTitle: "Wiederherstellungscode verwenden",
        useLead: "Geben Sie einen der gesicherten Wiederherstellungscodes ein. Jeder Code funktioniert nur einmal.",
        code: "Wiederherstellungscode",
        useCode: "Weiter",
        wrong: "Der Wiederherstellungscode ist falsch oder wurde schon verwendet.")
}

extension PageView {
    /// Returns the view of a page about recovery codes or an offer, and its template.
    static func offer(_ page: HostedPage, organization: String, texts: PageTexts) -> (PageView, template: PageTemplate) {
        let offers = texts.offers
        switch page.content {
        case .offer(let offer):
            let isPasskey = offer == .passkey
            var view = PageView(
                texts, organization: organization, title: isPasskey ? offers.passkeyTitle : offers.codesTitle,
                lead: isPasskey ? offers.passkeyLead : offers.codesLead)
            view.offer = offer.rawValue
            view.canAddPasskey = isPasskey
            view.button = isPasskey ? texts.passkeys.create : offers.showCodes
            return (view, .offer)
        case .savedCodes(let codes):
            var view = PageView(texts, organization: organization, title: offers.saveTitle, lead: offers.saveLead)
            view.codes = codes
            view.button = offers.saved
            return (view, .codes)
        case .savedCode(let hasOthers):
            var view = PageView(texts, organization: organization, title: offers.useTitle, lead: offers.useLead)
            view.hasChoice = hasOthers
            return (view, .recovery)
        default: return (PageView(texts, organization: organization, title: texts.errorTitle, lead: texts.over), .message)
        }
    }
}
