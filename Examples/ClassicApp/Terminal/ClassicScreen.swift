import ClassicApp
import QRCode
import TerminalKit
import Wording

/// The screens of the app in a terminal, with the same states, labels and buttons as `Views/`.
@MainActor
struct ClassicScreen {
    let model: ClassicViewModel
    /// The colors of QR codes.
    let colors: QRSymbol.TerminalColors

    /// The current screen.
    var screen: Screen {
        if let action = model.openAction { return form(of: action) }
        if model.isSymbolOpen, let symbol { return self.symbol(symbol) }
        return Screen(model.headline, back: nil, alert: alert) {
            switch model.stage {
            case .start: start
            case .transaction, .done: state
            }
        }
    }

    @ScreenBuilder private var start: [Element] {
        Element.field(words("Username"), id: "username", text: model.username, isEnabled: !model.isLoading, set: { model.username = $0 })
        Element.secureField(
            words("Password"), id: "password", text: model.password, isEnabled: !model.isLoading, set: { model.password = $0 },
            submit: { Task { await model.signIn() } })
        Element.space
        Element.buttons {
            Button(words("Sign In"), role: .prominent, isEnabled: model.canSignIn) { Task { await model.signIn() } }
        }
        Element.space
        Element.buttons { model.actions.map(button) }
        progress
    }

    @ScreenBuilder private var state: [Element] {
        for line in model.details { Element.text(line) }
        Element.space
        if symbol != nil {
            Element.buttons { Button(words("Show QR code"), isEnabled: !model.isLoading) { model.openSymbol() } }
        }
        // Each button has its own line, because factors have long names.
        for action in model.actions where !action.isCancel { Element.buttons { button(action) } }
        for action in model.actions where action.isCancel { Element.buttons { button(action) } }
        if case .done(hasTokens: true) = model.stage {
            Element.buttons {
                Button(words("Sign Out"), key: "o", role: .destructive, isEnabled: !model.isLoading) { Task { await model.signOut() } }
            }
        }
        progress
    }

    /// Returns a screen that shows only the QR code, because the code must be completely visible.
    private func symbol(_ lines: [String]) -> Screen {
        Screen(model.headline, back: Screen.Back(words("Close")) { model.closeSymbol() }, alert: alert, isDense: true) {
            Element.lines(
                lines,
                orElse: words(
                    "This terminal is too small for the QR code. It needs %@ columns and %@ lines.", String((lines.first?.count ?? 0) + 4),
                    String(lines.count + 2)))
        }
    }

    @ScreenBuilder private var progress: [Element] {
        if model.isLoading {
            Element.progress(words("One moment…"))
        } else if model.isWaiting {
            Element.progress(words("Waiting for your device…"))
        }
    }

    private func button(_ action: ClassicAction) -> Button {
        Button(action.title, id: action.id, role: action.isCancel ? .destructive : .normal, isEnabled: !model.isLoading) {
            Task { await model.select(action) }
        }
    }

    private func form(of action: ClassicAction) -> Screen {
        Screen(action.title, back: Screen.Back(words("Close")) { model.closeForm() }, alert: alert) {
            for field in model.fields { element(of: field) }
            Element.space
            Element.buttons {
                Button(words("Continue"), role: .prominent, isEnabled: model.canSubmit) { Task { await model.submit() } }
                Button(words("Close"), isEnabled: !model.isLoading) { model.closeForm() }
            }
            progress
        }
    }

    private func element(of field: ClassicField) -> [Element] {
        let text = model.values[field.id] ?? ""
        let set: @MainActor (String) -> Void = { model.values[field.id] = $0 }
        var submit: (@MainActor () -> Void)?
        if field.id == model.fields.last?.id { submit = { Task { await model.submit() } } }
        guard field.choices.isEmpty else {
            return [
                .text(field.label),
                .list(
                    field.id, rows: field.choices.map { Element.Row(($0.id == text ? "● " : "○ ") + $0.title) },
                    choose: { set(field.choices[$0].id) }),
            ]
        }
        // A security question can be longer than the space beside a field.
        guard field.label.count > 24 else {
            return field.isSecret
                ? [.secureField(field.label, id: field.id, text: text, isEnabled: !model.isLoading, set: set, submit: submit)]
                : [.field(field.label, id: field.id, text: text, isEnabled: !model.isLoading, set: set, submit: submit)]
        }
        let short = field.id == "number" ? words("Number") : words("Answer")
        return [
            .text(field.label),
            field.isSecret
                ? .secureField(short, id: field.id, text: text, isEnabled: !model.isLoading, set: set, submit: submit)
                : .field(short, id: field.id, text: text, isEnabled: !model.isLoading, set: set, submit: submit),
        ]
    }

    private var alert: Screen.Alert? {
        model.errorMessage.map { message in
            Screen.Alert(words("Error"), message: message) { Button(words("OK")) { model.errorMessage = nil } }
        }
    }

    private var symbol: [String]? {
        // If the text is too long for a QR code, the user types the text.
        guard let text = model.symbolText, let symbol = try? QRSymbol(text, errorCorrection: .low) else { return nil }
        return symbol.terminalText(colors: colors, quietZone: 1).split(separator: "\n").map(String.init)
    }
}
