#if canImport(SwiftUI) && canImport(Darwin)
import CountersignUI
import SwiftUI

@main
struct HelloSignInApp: App {
    // The client of Okta.plist. Only a password, because this client has no other grants.
    @State private var session = SignInSession(options: SignInOptions(methods: [.password]))

    var body: some Scene {
        WindowGroup {
            HomeView().signInRequired(session)
        }
    }
}

struct HomeView: View {
    @Environment(SignInSession.self) private var session

    var body: some View {
        VStack(spacing: 20) {
            Text("Hello, \(session.displayName ?? "you")!").font(.title)
            Button("Sign Out") { Task { await session.signOut() } }
        }
    }
}
#endif
