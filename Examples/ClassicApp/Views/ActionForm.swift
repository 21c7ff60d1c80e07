#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI
internal import Wording

/// The input form of an action.
struct ActionForm: View {
    let viewModel: ClassicViewModel

    var body: some View {
        NavigationStack {
            ScrollView {
                VStack(alignment: .leading, spacing: 16) {
                    ForEach(viewModel.fields) { FieldView(field: $0, text: text(of: $0)) }
                    if let message = viewModel.errorMessage {
                        Label(message, systemImage: "exclamationmark.triangle")
                            .font(.footnote)
                            .foregroundStyle(.red)
                    }
                    Button(words("Continue")) { Task { await viewModel.submit() } }
                        .buttonStyle(.borderedProminent)
                        .disabled(!viewModel.canSubmit)
                    if viewModel.isLoading { ProgressView().spoken(words("One moment…")) }
                }
                .padding()
            }
            .navigationTitle(viewModel.openAction?.title ?? "")
            .inlineTitle()
            .toolbar {
                ToolbarItem(placement: .cancellationAction) { Button(words("Close")) { viewModel.closeForm() } }
            }
        }
    }

    private func text(of field: ClassicField) -> Binding<String> {
        let viewModel = viewModel
        return Binding(
            get: { @MainActor in viewModel.values[field.id] ?? "" }, set: { @MainActor text in viewModel.values[field.id] = text })
    }
}

/// The input of one field.
private struct FieldView: View {
    let field: ClassicField
    @Binding var text: String

    var body: some View {
        VStack(alignment: .leading) {
            if field.choices.isEmpty {
                Text(verbatim: field.label)
                    .font(.subheadline)
                    // The text field already has this accessibility text.
                    .silent()
            } else {
                Text(verbatim: field.label)
                    .font(.subheadline)
            }
            if !field.choices.isEmpty {
                ForEach(field.choices) { choice in
                    Button {
                        text = choice.id
                    } label: {
                        Label(choice.title, systemImage: text == choice.id ? "checkmark.circle.fill" : "circle")
                    }
                    .spoken(choice.title)
                    .chosen(text == choice.id)
                }
            } else if field.isSecret {
                SecureField(field.label, text: $text)
                    .textFieldStyle(.roundedBorder)
                    .textContentType(contentType)
            } else {
                TextField(field.label, text: $text)
                    .textFieldStyle(.roundedBorder)
                    .textContentType(contentType)
                    .typed(on: keyboard)
            }
        }
    }

    private var contentType: FieldContent? {
        switch field.id {
        case "code", "next": .oneTimeCode
        case "new", "again": .newPassword
        case "old": .password
        case "username": .username
        case "number": .telephoneNumber
        default: nil
        }
    }

    private var keyboard: FieldKeyboard {
        switch field.id {
        case "code", "next": .digits
        case "number": .phone
        case "username": .email
        default: .usual
        }
    }
}
#endif
