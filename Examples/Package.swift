// swift-tools-version: 6.1
import PackageDescription

// Five apps, each with two user interfaces: SwiftUI (`Views/`) and a terminal (`Terminal/`). An app's logic is in its service (`Auth/`) and
// its view models (`ViewModels/`), which do not depend on a user interface. Countersign.xcodeproj builds the SwiftUI apps from `App/`.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

func countersign(_ modules: [String]) -> [Target.Dependency] { modules.map { .product(name: $0, package: "countersign") } }

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

/// An app: its library, its terminal program, and the tests of both.
struct App {
    let name: String
    let modules: [String]
    /// The modules that only the tests need.
    var testModules: [String] = []

    var library: Target {
        .target(
            name: "\(name)App", dependencies: ["Wording", "AppSession", "Interface"] + countersign(modules), path: "\(name)App",
            exclude: ["App", "Terminal"], resources: [.process("Resources")], swiftSettings: strict)
    }

    var terminal: Target {
        .executableTarget(
            name: "\(name)Terminal",
            dependencies: ["TerminalKit", "Wording", "AppSession", "AppArguments", .target(name: "\(name)App"), argumentParser]
                + countersign(modules),
            path: "\(name)App/Terminal", swiftSettings: strict)
    }

    var tests: Target {
        .testTarget(
            name: "\(name)AppTests",
            dependencies: [
                "TerminalKit", "Wording", "AppSession", "ExampleTestSupport", .target(name: "\(name)App"),
                // The tests run the terminal program, so it is built with them.
                .target(name: "\(name)Terminal"),
            ] + countersign(modules + testModules + ["CountersignSandbox"]), path: "Tests/\(name)AppTests",
            swiftSettings: strict)
    }

    var targets: [Target] { [library, terminal, tests] }
}

let apps = [
    App(name: "DirectAuth", modules: ["AuthFoundation", "CountersignUI"]),
    App(name: "Password", modules: ["AuthFoundation", "CountersignUI"]),
    App(name: "Browser", modules: ["AuthFoundation", "OAuth2Auth", "BrowserSignin"], testModules: ["CountersignUI"]),
    App(
        name: "PushAuthenticator", modules: ["AuthFoundation", "CountersignUI", "OktaDirectAuth", "DeviceAuthenticator"],
        testModules: ["BrowserSignin"]),
    App(
        name: "Classic", modules: ["AuthFoundation", "OAuth2Auth", "OktaAuthSdk", "QRCode"],
        testModules: ["DeviceAuthenticator", "OktaDirectAuth"]),
]

let package = Package(
    name: "examples",
    defaultLocalization: "en",
    platforms: [.iOS(.v17), .macOS(.v14)],
    // The libraries that the apps of Countersign.xcodeproj link.
    products: apps.map { .library(name: "\($0.name)App", targets: ["\($0.name)App"]) } + [.library(name: "Wording", targets: ["Wording"])],
    dependencies: [
        .package(name: "countersign", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
    ],
    targets: [
        // MARK: What the apps share
        .target(name: "Wording", path: "Shared/Wording", swiftSettings: strict),
        .target(name: "Interface", path: "Shared/Interface", swiftSettings: strict),
        .target(
            name: "AppSession", dependencies: countersign(["AuthFoundation", "CountersignUI"]), path: "Shared/AppSession",
            swiftSettings: strict),
        .target(
            name: "TerminalKit", dependencies: ["Wording", argumentParser], path: "TerminalKit", resources: [.process("Resources")],
            swiftSettings: strict),
        .target(
            name: "AppArguments",
            dependencies: ["AppSession", argumentParser, .product(name: "Crypto", package: "swift-crypto")]
                + countersign(["AuthFoundation"]),
            path: "Shared/AppArguments", swiftSettings: strict),

        // MARK: The ready screens
        // Previews of the screens with a server inside. Xcode builds the app of the README, SignInApp.
        .target(
            name: "SignInPreviews",
            dependencies: ["PushAuthenticatorApp"]
                + countersign(["AuthFoundation", "CountersignSandbox", "CountersignUI", "DeviceAuthenticator"]),
            path: "SignInPreviews", swiftSettings: strict),
        // The code of the guides that only Apple's systems compile.
        .target(
            name: "GuideCode", dependencies: countersign(["AuthFoundation", "CountersignUI"]), path: "GuideCode", swiftSettings: strict),

        // MARK: Tests of what they share
        // This target limits the number of tests that run at the same time.
        .target(name: "CExampleTestSupport", path: "Tests/CExampleTestSupport"),
        .target(
            name: "ExampleTestSupport", dependencies: ["CExampleTestSupport"] + countersign(["AuthFoundation", "CountersignSandbox"]),
            path: "Tests/ExampleTestSupport", swiftSettings: strict),
        .testTarget(
            name: "AppArgumentsTests", dependencies: ["AppArguments", "AppSession", argumentParser] + countersign(["AuthFoundation"]),
            swiftSettings: strict),
        .testTarget(
            name: "ReadmeTests", dependencies: ["ExampleTestSupport"] + apps.map { .target(name: "\($0.name)Terminal") },
            swiftSettings: strict),
        .testTarget(name: "TerminalKitTests", dependencies: ["TerminalKit", "Wording", "ExampleTestSupport"], swiftSettings: strict),
    ] + apps.flatMap(\.targets),
    swiftLanguageModes: [.v6]
)
