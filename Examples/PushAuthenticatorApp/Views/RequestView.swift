#if canImport(SwiftUI) && canImport(UIKit) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI
internal import Wording

/// A request and its possible answers.
struct RequestView: View {
    let viewModel: AuthenticatorViewModel
    let request: ApprovalRequest

    var body: some View {
        VStack(alignment: .leading, spacing: 12) {
            if let account = viewModel.account(request.accountID) { fact(words("Account"), account.name) }
            ForEach(request.facts()) { fact($0.label, $0.value) }
            if let numbers = request.numbers {
                Text(words("Select the number that the sign-in shows."))
                HStack {
                    ForEach(numbers, id: \.self) { number in
                        Button(number) { answer(.approve(number: number)) }
                            .buttonStyle(.borderedProminent)
                            .spoken(words("Approve with the number %@", number))
                    }
                }
            } else {
                Button(words("Approve")) { answer(.approve()) }
                    .buttonStyle(.borderedProminent)
            }
            Button(words("Deny"), role: .destructive) { answer(.deny()) }
                .buttonStyle(.bordered)
            Button(words("It Wasn't Me"), role: .destructive) { answer(.deny(isSuspicious: true)) }
                .buttonStyle(.bordered)
            if let more = viewModel.moreRequests { Text(more).font(.footnote) }
            if viewModel.answering == request.id { ProgressView(words("Sending the answer…")) }
        }
        .disabled(viewModel.answering != nil)
    }

    /// Returns the name and the value as one text, so that VoiceOver reads them together.
    private func fact(_ label: String, _ value: String) -> some View {
        Text(label + ": ").foregroundStyle(.secondary) + Text(verbatim: value)
    }

    private func answer(_ answer: Answer) {
        Task { await viewModel.answer(request.id, answer) }
    }
}
#endif
