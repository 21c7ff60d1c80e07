#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import AuthFoundation
internal import Interface
internal import SwiftUI
internal import Wording

/// The profile of the signed-in user.
struct ProfileView: View {
    let viewModel: LoginViewModel
    @Environment(\.dismiss) private var dismiss

    var body: some View {
        NavigationStack {
            Group {
                switch viewModel.profile {
                case .loading: ProgressView(viewModel.wording("Loading..."))
                case .loaded(let user): content(user)
                case .failed: failure
                }
            }
            .navigationTitle(viewModel.wording("Profile"))
            .inlineTitle()
            .toolbar {
                ToolbarItem(placement: .confirmationAction) {
                    Button(viewModel.wording("Done")) { dismiss() }
                }
            }
            .task { await viewModel.loadProfile() }
        }
    }

    private func content(_ user: UserInfo) -> some View {
        List {
            ForEach(user.sections(viewModel.wording)) { section in
                Section(section.title) {
                    ForEach(section.rows) { row in ProfileRow(label: row.label, value: row.value) }
                }
            }
        }
    }

    private var failure: some View {
        VStack(spacing: 16) {
            Image(systemName: "exclamationmark.triangle")
                .font(.system(size: 50))
                .foregroundStyle(.orange)
                .silent()
            Text(viewModel.wording("Unable to load profile"))
                .font(.headline)
            Text(viewModel.wording("Please try again later"))
                .font(.subheadline)
                .foregroundStyle(.secondary)
            if let message = viewModel.message { ErrorBanner(message: message) }
        }
    }
}

/// A value of a profile with its name.
struct ProfileRow: View {
    let label: String
    let value: String

    var body: some View {
        VStack(alignment: .leading, spacing: 4) {
            Text(label)
                .font(.caption)
                .foregroundStyle(.secondary)
            Text(value)
                .font(.body)
                .textSelection(.enabled)
        }
    }
}

#if os(iOS)
#Preview("Profile") { ProfileView(viewModel: LoginViewModel(authService: InMemoryAuthService(.authenticated))) }
#Preview("Profile, dark, large") {
    ProfileView(viewModel: LoginViewModel(authService: InMemoryAuthService(.authenticated)))
        .preferredColorScheme(.dark)
        .dynamicTypeSize(.accessibility2)
}
#endif
#endif
