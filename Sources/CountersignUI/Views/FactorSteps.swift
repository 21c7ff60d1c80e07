#if canImport(SwiftUI) && canImport(Darwin)
internal import AuthFoundation
internal import Foundation
internal import SwiftUI

/// The list of second factors.
struct FactorList: View {
    let session: SignInSession
    @Environment(\.signInTexts) private var texts

    var body: some View {
        VStack(spacing: 12) {
            ForEach(session.step.factors) { factor in
                Button {
                    Task { await session.choose(factor) }
                } label: {
                    Label(texts.name(of: factor), systemImage: Self.symbol(of: factor))
                        .frame(maxWidth: .infinity, alignment: .leading)
                }
                .buttonStyle(.bordered)
                .controlSize(.large)
            }
            if session.offers(.browser) {
                Button(texts.signInWithBrowser) { Task { await session.signInWithBrowser() } }
            }
            if session.isBusy { ProgressView() }
            CancelButton(session: session)
        }
        .disabled(session.isBusy)
    }

    private static func symbol(of factor: SignInFactor) -> String {
        switch factor {
        case .push: "iphone"
        case .passkey: "person.badge.key"
        case .textMessage: "message"
        case .call: "phone"
        case .recoveryCode: "lifepreserver"
        default: "ellipsis.rectangle"
        }
    }
}

/// The wait for the approval on another device, with the number to select there.
struct PushStep: View {
    let session: SignInSession
    @Environment(\.signInTexts) private var texts

    var body: some View {
        VStack(spacing: 16) {
            if let number = session.step.number {
                Text(verbatim: number)
                    .font(.largeTitle)
                    .bold()
                    .monospaced()
                    .accessibilityLabel(Text(verbatim: texts.spoken(number: number)))
            }
            ProgressView()
            Button(texts.sendPushAgain) { Task { await session.choose(.push) } }
            OtherFactorButton(session: session)
            CancelButton(session: session)
        }
    }
}

/// The form for a code.
struct CodeForm: View {
    @Bindable private var session: SignInSession
    @FocusState private var isFocused: Bool
    @Environment(\.signInTexts) private var texts

    init(session: SignInSession) {
        _session = Bindable(session)
    }

    var body: some View {
        VStack(spacing: 16) {
            TextField(texts.code, text: $session.form.code)
                .signInField()
                .textContentType(.oneTimeCode)
                .autocorrectionDisabled()
                #if !os(macOS)
            .textInputAutocapitalization(.never)
                #endif
                #if os(iOS) || os(tvOS) || os(visionOS)
            // Recovery codes contain letters.
            .keyboardType(session.step.factor == .recoveryCode ? .default : .numberPad)
            #endif
            .monospaced()
            .submitLabel(.go)
            .focused($isFocused)
            .onSubmit(submit)
            .disabled(session.isBusy)
            MainButton(texts.verify, isBusy: session.isBusy, action: submit)
                .disabled(!session.canSubmit)
            if let factor = session.step.factor, factor.isSentCode {
                Button(texts.resendCode) { Task { await session.choose(factor) } }
                    .disabled(session.isBusy)
            }
            OtherFactorButton(session: session)
            CancelButton(session: session)
        }
        .onAppear { isFocused = true }
        .onChange(of: session.problem?.code) { isFocused = true }
    }

    private func submit() { Task { await session.submit() } }
}

/// The wait for a passkey or for the browser.
struct WaitingStep: View {
    let session: SignInSession

    var body: some View {
        VStack(spacing: 16) {
            ProgressView()
            OtherFactorButton(session: session)
            CancelButton(session: session)
        }
    }
}

/// The button that leads back to the list of second factors, if there are several.
private struct OtherFactorButton: View {
    let session: SignInSession
    @Environment(\.signInTexts) private var texts

    var body: some View {
        if session.step.factors.count > 1 { Button(texts.tryAnotherWay) { session.goBack() } }
    }
}
#endif
