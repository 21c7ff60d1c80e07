import SwiftUI

/// A small app that signs in to `countersign sandbox` with a browser.
@main
struct QuickStart: App {
    @State private var session = Session()

    var body: some Scene {
        WindowGroup {
            VStack(spacing: 20) {
                Text(session.user.map { "Signed in as \($0)" } ?? "Not signed in").font(.title2)
                Button(session.user == nil ? "Sign In" : "Sign Out") { Task { await session.signInOrOut() } }
                    .buttonStyle(.borderedProminent)
                    .disabled(session.isLoading)
                if session.isLoading { ProgressView() }
                if let message = session.errorMessage { Text(message).foregroundStyle(.red) }
            }
            .multilineTextAlignment(.center)
            .padding()
        }
    }
}
