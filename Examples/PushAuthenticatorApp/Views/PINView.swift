#if canImport(SwiftUI) && canImport(UIKit) && !os(tvOS) && !os(watchOS)
internal import SwiftUI
internal import Wording

/// The PIN prompt, for devices without a better method of user verification.
struct PINView: View {
    @Bindable private var pin: PINPrompt
    private let reason: String

    init(pin: PINPrompt, reason: String) {
        self.reason = reason
        _pin = Bindable(pin)
    }

    var body: some View {
        VStack(spacing: 16) {
            Text(pin.question?.isNew == true ? words("Choose a PIN") : words("Your PIN"))
                .font(.headline)
            Text(verbatim: reason)
            SecureField(words("PIN"), text: $pin.pin)
                .textFieldStyle(.roundedBorder)
                .keyboardType(.numberPad)
                .onSubmit { pin.submit() }
            if let message = pin.errorMessage {
                Text(message)
                    .font(.footnote)
                    .foregroundStyle(.red)
            }
            Button(words("OK")) { pin.submit() }
                .buttonStyle(.borderedProminent)
                .disabled(!pin.canSubmit)
            Button(words("Cancel"), role: .cancel) { pin.cancel() }
        }
        .padding()
        .keptOpen(true)
    }
}
#endif
