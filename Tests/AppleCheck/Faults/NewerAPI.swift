// expects: 'Callback' is not a member type
import AuthenticationServices

// `Callback` exists since iOS 17.4, and the oldest supported version is 17.0.
func callback() -> ASWebAuthenticationSession.Callback { .https(host: "example.com", path: "/callback") }
