import CountersignUI
import SwiftUI

@main
struct SignInApp: App {
    @State private var session = SignInSession()  // the client of Okta.plist

    var body: some Scene {
        WindowGroup {
            HomeView().signInRequired(session)
        }
    }
}

struct HomeView: View {
    @Environment(SignInSession.self) private var session

    var body: some View {
        VStack {
            Text("Hello, \(session.displayName ?? "you")!")
            Button("Sign Out") { Task { await session.signOut() } }
        }
    }
}
