#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI
internal import Wording

/// The content of an ID token.
struct TokenInfoView: View {
    let tokenInfo: TokenInfo

    var body: some View {
        InfoView(title: words("Token Info"), text: tokenInfo.toString(), spoken: tokenInfo.claims(), isMonospaced: true)
    }
}

/// The user's profile from the server.
struct UserInfoView: View {
    let userInfo: UserInfoModel

    var body: some View {
        InfoView(title: words("User Info"), text: userInfo.text, spoken: userInfo.text, isMonospaced: false)
    }
}

/// A text that covers the screen until the user closes it.
private struct InfoView: View {
    let title: String
    let text: String
    let spoken: String
    let isMonospaced: Bool
    @Environment(\.dismiss) private var dismiss

    var body: some View {
        NavigationStack {
            ScrollView {
                VStack(alignment: .leading, spacing: 20) {
                    Button {
                        dismiss()
                    } label: {
                        Label(words("Close"), systemImage: "xmark.circle.fill")
                            .foregroundStyle(.primary)
                            .frame(minHeight: 40)
                            .padding(.leading, 10)
                    }
                    Text(verbatim: text)
                        .font(isMonospaced ? .system(.body, design: .monospaced) : .body)
                        .textSelection(.enabled)
                        .spoken(spoken)
                        .padding()
                        .frame(maxWidth: .infinity, alignment: .leading)
                }
            }
            .background(Color.groupedBackground)
            .navigationTitle(title)
            .inlineTitle()
        }
    }
}

#if DEBUG && !os(Linux)
#Preview("Token info") { if let info = PreviewAuthService.sampleTokenInfo { TokenInfoView(tokenInfo: info) } }
#Preview("Profile") { if let info = PreviewAuthService.sampleUserInfo { UserInfoView(userInfo: UserInfoModel(user: info)) } }
#Preview("Token info, dark, large") {
    if let info = PreviewAuthService.sampleTokenInfo {
        TokenInfoView(tokenInfo: info)
            .preferredColorScheme(.dark)
            .dynamicTypeSize(.accessibility2)
    }
}
#endif
#endif
