#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import AuthFoundation
internal import SwiftUI
internal import Wording

/// The profile of the signed-in user.
struct UserInfoView: View {
    let userInfo: UserInfo
    let wording: Wording

    var body: some View {
        CoverView(title: wording("User Info"), close: wording("Close")) {
            Text(userInfo.text(wording))
                .font(.subheadline)
                .textSelection(.enabled)
                .frame(maxWidth: .infinity, alignment: .leading)
                .padding()
        }
    }
}
#endif
