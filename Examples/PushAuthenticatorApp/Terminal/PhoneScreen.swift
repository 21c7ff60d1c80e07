import CountersignUI
import Foundation
import PushAuthenticatorApp
import TerminalKit
import Wording

/// The screens of the phone in a terminal, with the same states, labels and buttons as `Views/`.
@MainActor
struct PhoneScreen {
    let model: AuthenticatorViewModel

    /// The current screen.
    var screen: Screen {
        if let question = model.pin.question { return pin(question) }
        return switch model.front {
        case .change(let change): model.progress.map { underWay(change, $0) } ?? form(of: change)
        case .account(let id): model.account(id).map(settings) ?? home
        case .home: home
        }
    }

    // MARK: - Home

    private var home: Screen {
        Screen(words("Push authenticator"), alert: alert) {
            requestElements
            if model.accounts.isEmpty {
                Element.text(words("There are no accounts on this device."))
            } else {
                Element.text(words("Accounts"), .heading)
                Element.list(
                    "accounts", rows: model.accounts.map { Element.Row($0.name, detail: AccountText.detail(of: $0)) },
                    choose: { model.openAccount = model.accounts[$0].id })
            }
            Element.space
            Element.buttons {
                Button(words("Add Account"), key: "a", role: model.accounts.isEmpty ? .prominent : .normal) { model.begin(.enroll) }
                Button(words("Check for Requests"), key: "c", isEnabled: !model.isLoading && !model.accounts.isEmpty) {
                    Task { await model.retrieve() }
                }
            }
            if model.notice != nil || model.isLoading { Element.space }
            if let notice = model.notice { Element.text(notice, .success) }
            if model.isLoading { Element.progress(words("One moment…")) }
        }
    }

    // MARK: - Requests

    /// The result of the last answer, and the current request or the list from which the user selects one.
    @ScreenBuilder private var requestElements: [Element] {
        let pending = model.requestModel.requests
        if !pending.isEmpty {
            if let outcome = model.requestModel.outcome { Element.text(texts.previous(outcome), .success) }
            if let count = texts.several(pending.count) { Element.text(count) }
            if let request = model.requestModel.current {
                elements(of: request)
            } else {
                Element.text(texts.requests.choose)
                Element.list(
                    "requests",
                    rows: pending.map { Element.Row(texts.question(of: $0), detail: texts.summary(of: $0, locale: locale)) },
                    choose: { model.requestModel.select(pending[$0].id) })
            }
            Element.space
        }
    }

    @ScreenBuilder private func elements(of request: PushRequest) -> [Element] {
        let isEnabled = model.requestModel.answering == nil
        Element.text(texts.question(of: request), .heading)
        Element.pairs(texts.details(of: request, locale: locale).map { ($0.label, $0.value) })
        if !request.isVerified { Element.text(texts.requests.notVerified, .warning) }
        Element.space
        // For each new request, the deny button has the focus, because the user may press Return for something else when the request
        // appears. Approve has no shortcut key, because the key could apply to another request that has just appeared.
        Element.buttons {
            Button(texts.requests.deny, id: "deny \(request.id)", key: "n", role: .destructive, isEnabled: isEnabled) {
                Task { await model.requestModel.deny(request.id) }
            }
            Button(texts.requests.notMe, id: "report \(request.id)", key: "s", role: .destructive, isEnabled: isEnabled) {
                Task { await model.requestModel.deny(request.id, isSuspicious: true) }
            }
            if !request.isVerified {
                Button(texts.requests.check, id: "check \(request.id)", isEnabled: !model.requestModel.isFetching) {
                    Task { await model.requestModel.fetch() }
                }
            } else if request.numbers == nil {
                approval(texts.requests.approve, id: "approve \(request.id)", role: .prominent, of: request)
            }
            if model.requestModel.requests.count > 1 {
                Button(texts.requests.showAll, id: "list \(request.id)", isEnabled: isEnabled) { model.requestModel.select(nil) }
            }
        }
        if request.isVerified, let numbers = request.numbers {
            Element.space
            Element.text(texts.requests.selectNumber)
            Element.buttons {
                for number in numbers { approval(number, id: "number \(number) \(request.id)", of: request, number: number) }
            }
        }
        if !isEnabled { Element.progress(texts.requests.sending) }
    }

    /// Returns a button that approves. It is enabled after the user has had the time to read the request.
    private func approval(
        _ label: String, id: String, role: Button.Role = .normal, of request: PushRequest, number: String? = nil
    ) -> Button {
        Button(label, id: id, role: role, isEnabled: model.requestModel.canApprove) {
            Task { await model.requestModel.approve(request.id, number: number) }
        }
    }

    // MARK: - Settings of an account

    private func settings(of account: Account) -> Screen {
        let close: @MainActor () -> Void = { model.openAccount = nil }
        return Screen(account.name, back: Screen.Back(words("Back"), action: close), alert: alert) {
            requestElements
            Element.pairs([(words("Organization"), account.organization.absoluteString)])
            if let trouble = account.trouble { Element.text(trouble, .warning) }
            Element.space
            Element.toggle(words("Verify me before approving"), isOn: account.verifiesUser, isEnabled: !model.isLoading) {
                model.begin(.userVerification($0, of: account.id))
            }
            Element.toggle(words("Approve requests of apps (CIBA)"), isOn: account.answersCIBA, isEnabled: !model.isLoading) { isOn in
                Task { await model.setCIBA(isOn, of: account.id) }
            }
            Element.space
            Element.buttons {
                Button(words("Remove Account"), key: "r", role: .destructive, isEnabled: !model.isLoading) {
                    model.begin(.remove(account.id))
                }
                Button(words("Remove from This Device Only"), key: "d", role: .destructive, isEnabled: !model.isLoading) {
                    model.removing = account.id
                }
                Button(words("Back"), key: "b", action: close)
            }
            if model.notice != nil || model.isLoading { Element.space }
            if let notice = model.notice { Element.text(notice, .success) }
            if model.isLoading { Element.progress(words("One moment…")) }
        }
    }

    // MARK: - The sign-in of a change

    private func form(of change: AuthenticatorViewModel.Change) -> Screen {
        // The ids are different for each form, so that each form starts with the focus on its first field.
        let id = String(model.formsOpened)
        return Screen(
            AccountText.title(of: change), back: Screen.Back(words("Cancel")) { model.cancelChange() }, alert: alert
        ) {
            // The request is shown without its buttons, so that typed keys cannot answer it.
            if !model.requestModel.requests.isEmpty { Element.text(AccountText.requestBehindForm, .warning) }
            Element.text(AccountText.explanation(of: change), .dim)
            Element.space
            Element.field(words("Username"), id: "username \(id)", text: model.form.userName) { model.form.userName = $0 }
            Element.secureField(
                words("Password"), id: "password \(id)", text: model.form.password, set: { model.form.password = $0 },
                submit: { Task { await model.submit() } })
            Element.field(words("Code"), id: "code \(id)", text: model.form.code) { model.form.code = $0 }
            Element.text(words("Enter the code of your authenticator app, or leave it empty to approve on another device."), .dim)
            Element.space
            if change == .enroll {
                Element.toggle(words("Verify me before approving"), id: "verify \(id)", isOn: model.wantsUserVerification) {
                    model.wantsUserVerification = $0
                }
                Element.space
            }
            Element.buttons {
                Button(AccountText.title(of: change), id: "submit \(id)", role: .prominent, isEnabled: model.canSubmit) {
                    Task { await model.submit() }
                }
                Button(words("Cancel"), id: "cancel \(id)") { model.cancelChange() }
            }
            if change == .enroll {
                Element.space
                Element.text(words("Or paste the content of a sign-in page's QR code:"), .dim)
                Element.field(words("QR code"), id: "link \(id)", text: model.link) { model.link = $0 }
                Element.buttons {
                    Button(words("Use the Code"), id: "use \(id)", isEnabled: model.canUseLink) { Task { await model.submitLink() } }
                }
            }
        }
    }

    /// Returns the screen during a change. It shows the pending request, because the request can belong to the sign-in for this change.
    private func underWay(_ change: AuthenticatorViewModel.Change, _ progress: AuthenticatorViewModel.Progress) -> Screen {
        let cancel: @MainActor () -> Void = { model.cancelChange() }
        return Screen(AccountText.title(of: change), back: Screen.Back(words("Cancel"), action: cancel), alert: alert) {
            requestElements
            Element.progress(AccountText.progress(progress))
            Element.space
            Element.buttons { Button(words("Cancel"), id: "give up", action: cancel) }
        }
    }

    // MARK: - PIN

    private func pin(_ question: PINPrompt.Question) -> Screen {
        let pin = model.pin
        return Screen(question.isNew ? words("Choose a PIN") : words("Your PIN"), back: Screen.Back(words("Cancel")) { pin.cancel() }) {
            Element.text(model.pinReason)
            Element.space
            Element.secureField(words("PIN"), id: "pin", text: pin.pin, set: { pin.pin = $0 }, submit: { pin.submit() })
            if let message = pin.errorMessage { Element.text(message, .error) }
            Element.space
            Element.buttons {
                Button(words("OK"), role: .prominent, isEnabled: pin.canSubmit) { pin.submit() }
                Button(words("Cancel")) { pin.cancel() }
            }
        }
    }

    // MARK: - Alerts

    private var alert: Screen.Alert? {
        if let message = model.errorMessage {
            return Screen.Alert(words("Error"), message: message) { Button(words("OK")) { model.clearMessages() } }
        }
        if let id = model.removing {
            return Screen.Alert(words("Remove from This Device Only"), message: AccountText.removal) {
                Button(words("Remove"), role: .destructive) { Task { await model.removeFromDevice(id) } }
                Button(words("Keep")) { model.removing = nil }
            }
        }
        return nil
    }
}
