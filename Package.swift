// swift-tools-version: 6.1
import PackageDescription

// The client modules link only swift-crypto. The server's dependencies require the trait `Server`, so that a package
// that depends on this one with `traits: []` does not resolve them.
let server: TargetDependencyCondition? = .when(traits: ["Server"])

// `make lint` also requires that every public type declares whether it is Sendable. SwiftPM treats the flag as unsafe, so other builds do
// not use it.
let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + (Context.environment["COUNTERSIGN_LINT"] == nil ? [] : [.unsafeFlags(["-Werror", "ExplicitSendable"])])

/// The common dependencies of all server endpoints.
let door: [Target.Dependency] = [
    "IdentityCore", "JOSE", "Store",
    .product(name: "Crypto", package: "swift-crypto"),
    .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
]

/// The templates and assets of the hosted sign-in pages, which are embedded in the program.
let pageResources: [Resource] = [
    "layout.mustache", "leave.mustache", "password.mustache", "factors.mustache", "push.mustache", "consent.mustache",
    "message.mustache", "post.mustache", "signout.mustache", "activate.mustache", "device.mustache", "enroll.mustache", "phone.mustache",
    "renew.mustache", "recover.mustache", "take.mustache", "sent.mustache", "done.mustache", "code.mustache", "confirm.mustache",
    "number.mustache", "passkey.mustache", "offer.mustache", "codes.mustache", "recovery.mustache",
    "pages.css", "pages.js", "passkeys.js", "mark.svg",
].map { .embedInCode("Pages/Templates/\($0)") }

/// The templates of mails and text messages.
let messageResources: [Resource] = ["mail.mustache", "mailtext.mustache", "text.mustache"].map {
    .embedInCode("Messages/Templates/\($0)")
}

let package = Package(
    name: "countersign",
    platforms: [.iOS(.v17), .macOS(.v14), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: [
        .library(name: "JOSE", targets: ["JOSE"]),
        .library(name: "JSON", targets: ["JSON"]),
        .library(name: "CommonSupport", targets: ["CommonSupport"]),
        .library(name: "AuthFoundation", targets: ["AuthFoundation"]),
        .library(name: "OAuth2Auth", targets: ["OAuth2Auth"]),
        .library(name: "BrowserSignin", targets: ["BrowserSignin"]),
        .library(name: "OktaDirectAuth", targets: ["OktaDirectAuth"]),
        .library(name: "DeviceAuthenticator", targets: ["DeviceAuthenticator"]),
        .library(name: "OktaAuthSdk", targets: ["OktaAuthSdk"]),
        .library(name: "OktaAuthNative", targets: ["OktaAuthNative"]),
        .library(name: "CountersignUI", targets: ["CountersignUI"]),
        .library(name: "QRCode", targets: ["QRCode"]),
        .library(name: "AuthorizationServer", targets: ["AuthorizationServer"]),
        .library(name: "ResourceServer", targets: ["ResourceServer"]),
        .library(name: "CountersignSandbox", targets: ["CountersignSandbox"]),
        .executable(name: "countersign", targets: ["countersign"]),
    ],
    traits: [
        .default(enabledTraits: Context.environment["COUNTERSIGN_POSTGRESQL"] == nil ? ["Server"] : ["Server", "PostgreSQL"]),
        .trait(name: "Server", description: "The authorization server, the resource server, the sandbox and the command."),
        .trait(name: "PostgreSQL", description: "The store on PostgreSQL, which needs the headers of libpq.", enabledTraits: ["Server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", from: "2.1.1"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.4.0"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.7.1"),
    ],
    targets: [
        // MARK: Client
        .target(
            name: "JOSE",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        // JSON for apps, with the names of Okta's SDK. AuthFoundation exports both modules.
        .target(name: "JSON", swiftSettings: strict),
        .target(name: "CommonSupport", swiftSettings: strict),
        .target(
            name: "AuthFoundation",
            dependencies: ["CommonSupport", "JOSE", "JSON", .product(name: "Crypto", package: "swift-crypto")],
            resources: [.copy("Resources/PrivacyInfo.xcprivacy")],
            swiftSettings: strict),
        .target(name: "OAuth2Auth", dependencies: ["AuthFoundation", "JOSE"], swiftSettings: strict),
        .target(name: "BrowserSignin", dependencies: ["AuthFoundation", "JOSE", "OAuth2Auth"], swiftSettings: strict),
        .target(name: "OktaDirectAuth", dependencies: ["AuthFoundation", "JOSE"], swiftSettings: strict),
        .target(
            name: "DeviceAuthenticator",
            dependencies: [
                "AuthFoundation", "JOSE",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .target(name: "OktaAuthSdk", dependencies: ["AuthFoundation", "JOSE"], swiftSettings: strict),
        // A second name of the same module, which some apps import.
        .target(name: "OktaAuthNative", dependencies: ["OktaAuthSdk"], swiftSettings: strict),
        // The sign-in screens. The views need SwiftUI; the models compile everywhere.
        .target(
            name: "CountersignUI",
            dependencies: ["AuthFoundation", "BrowserSignin", "DeviceAuthenticator", "JOSE", "OAuth2Auth", "OktaDirectAuth"],
            swiftSettings: strict),
        .target(name: "QRCode", swiftSettings: strict),

        // MARK: Server
        // The store protocol and the in-memory store.
        .target(
            name: "Store",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio", condition: server),
            ],
            swiftSettings: strict),
        .target(
            name: "StoreSQLite",
            dependencies: ["Store", .product(name: "GRDB", package: "GRDB.swift", condition: server)],
            swiftSettings: strict),
        .systemLibrary(name: "CLibPQ"),
        .systemLibrary(name: "CExtendedAttributes"),
        // Empty without the trait.
        .target(
            name: "StorePostgreSQL", dependencies: ["JOSE", "Store", .target(name: "CLibPQ", condition: .when(traits: ["PostgreSQL"]))],
            swiftSettings: strict),
        // The relying party's part of WebAuthn: verifies the registration of passkeys and the authentication with them.
        .target(
            name: "WebAuthn",
            dependencies: [
                "JOSE",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "X509", package: "swift-certificates", condition: server),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: server),
            ],
            swiftSettings: strict),
        // The rules of sign-in, tokens and policies, without wire formats, HTTP or SQL.
        .target(
            name: "IdentityCore",
            dependencies: [
                "JOSE", "Store", "WebAuthn",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio", condition: server),
            ],
            swiftSettings: strict),
        .target(
            name: "Delivery",
            dependencies: [
                "JOSE",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: server),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio", condition: server),
                .product(name: "NIOCore", package: "swift-nio", condition: server),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: server),
                .product(name: "NIOPosix", package: "swift-nio", condition: server),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: server),
                .product(name: "Logging", package: "swift-log", condition: server),
                .product(name: "Metrics", package: "swift-metrics", condition: server),
            ],
            swiftSettings: strict),
        .target(
            name: "ServerHTTP",
            dependencies: [
                "IdentityCore", "JOSE", "Store",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio", condition: server),
                .product(name: "NIOCore", package: "swift-nio", condition: server),
            ],
            swiftSettings: strict),
        // The common parts of the OAuth 2.0 and OpenID Connect endpoints.
        .target(name: "OAuthWire", dependencies: ["ServerHTTP"] + door, swiftSettings: strict),

        // One module per protocol. These modules do not depend on each other.
        .target(
            name: "OAuthEndpoints",
            dependencies: [
                "OAuthWire", "ServerHTTP", .product(name: "NIOConcurrencyHelpers", package: "swift-nio", condition: server),
            ] + door,
            swiftSettings: strict),
        .target(
            name: "SignInPages",
            dependencies: [
                "OAuthWire", "QRCode", "ServerHTTP", "WebAuthn", .product(name: "Mustache", package: "swift-mustache", condition: server),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio", condition: server),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: server),
            ] + door,
            resources: pageResources, swiftSettings: strict),
        .target(name: "AuthnAPI", dependencies: ["QRCode", "ServerHTTP", "WebAuthn"] + door, swiftSettings: strict),
        .target(name: "DeviceAPI", dependencies: ["OAuthWire", "ServerHTTP"] + door, swiftSettings: strict),
        .target(name: "AdminAPI", dependencies: ["ServerHTTP"] + door, swiftSettings: strict),

        .target(
            name: "AuthorizationServer",
            dependencies: [
                "AdminAPI", "AuthnAPI", "CExtendedAttributes", "Delivery", "DeviceAPI", "IdentityCore", "JOSE", "OAuthEndpoints",
                "OAuthWire", "ServerHTTP", "SignInPages", "Store", "StorePostgreSQL", "StoreSQLite",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: server),
                .product(name: "HummingbirdTLS", package: "hummingbird", condition: server),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio", condition: server),
                .product(name: "NIOCore", package: "swift-nio", condition: server),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: server),
                .product(name: "NIOPosix", package: "swift-nio", condition: server),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: server),
                .product(name: "Logging", package: "swift-log", condition: server),
                .product(name: "Metrics", package: "swift-metrics", condition: server),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: server),
                .product(name: "Configuration", package: "swift-configuration", condition: server),
                .product(name: "Yams", package: "Yams", condition: server),
                .product(name: "Mustache", package: "swift-mustache", condition: server),
            ],
            resources: messageResources, swiftSettings: strict),
        .target(
            name: "ResourceServer",
            dependencies: [
                "AuthFoundation", "JOSE",
                .product(name: "Hummingbird", package: "hummingbird", condition: server),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
                .product(name: "NIOCore", package: "swift-nio", condition: server),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio", condition: server),
                .product(name: "Logging", package: "swift-log", condition: server),
            ],
            swiftSettings: strict),
        .target(
            name: "CountersignSandbox",
            dependencies: [
                "BrowserSignin", "OAuth2Auth", "AuthorizationServer", "Delivery", "ResourceServer", "AuthFoundation", "OktaDirectAuth",
                "DeviceAuthenticator",
                "AuthnAPI", "IdentityCore", "ServerHTTP", "SignInPages", "Store", "StoreSQLite", "JOSE", "WebAuthn",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird", condition: server),
                .product(name: "HummingbirdTLS", package: "hummingbird", condition: server),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
                .product(name: "NIOCore", package: "swift-nio", condition: server),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio", condition: server),
                .product(name: "NIOPosix", package: "swift-nio", condition: server),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: server),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: server),
                .product(name: "NIOHPACK", package: "swift-nio-http2", condition: server),
                .product(name: "Logging", package: "swift-log", condition: server),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: server),
                .product(name: "X509", package: "swift-certificates", condition: server),
                .product(name: "SwiftASN1", package: "swift-asn1", condition: server),
                .product(name: "Mustache", package: "swift-mustache", condition: server),
            ],
            resources: ["phone.html", "phone.css", "phone.js", "icon.svg"].map { .embedInCode("Phone/Page/\($0)") }
                + ["outbox.html", "outbox.css", "outbox.js"].map { .embedInCode("Outbox/Page/\($0)") }
                + ["home.mustache", "home.css", "style.css"].map { .embedInCode("FrontPage/\($0)") },
            swiftSettings: strict),
        .executableTarget(
            name: "countersign",
            dependencies: [
                "BrowserSignin", "OAuth2Auth", "CountersignSandbox", "AuthorizationServer", "Delivery", "ResourceServer", "AuthFoundation",
                "OktaDirectAuth", "OktaAuthSdk",
                "DeviceAuthenticator", "JOSE", "QRCode", "IdentityCore", "ServerHTTP", "Store", "WebAuthn",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: server),
                .product(name: "Logging", package: "swift-log", condition: server),
                .product(name: "Metrics", package: "swift-metrics", condition: server),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: server),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: server),
            ],
            swiftSettings: strict),
        // Run by `make bench`. The target is in this package because the stores are not products.
        .executableTarget(
            name: "StoreBenchmark",
            dependencies: ["Store", "StoreSQLite", .product(name: "GRDB", package: "GRDB.swift", condition: server)],
            path: "Benchmarks/Store", swiftSettings: strict),

        // MARK: Tests
        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(
            name: "TestSupport",
            dependencies: [
                "CountersignSandbox", "JOSE", "AuthFoundation", "IdentityCore", "Store", "StorePostgreSQL", "StoreSQLite", "QRCode",
                "CTestSupport",
            ],
            path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "JOSETests",
            dependencies: [
                "JOSE", "TestSupport", .product(name: "JWTKit", package: "jwt-kit"), .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .testTarget(name: "QRCodeTests", dependencies: ["QRCode", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "WebAuthnTests",
            dependencies: [
                "CountersignSandbox", "WebAuthn", "JOSE", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "AuthFoundationTests",
            dependencies: ["AuthFoundation", "JOSE", "TestSupport", .product(name: "Crypto", package: "swift-crypto")],
            exclude: ["Migration/Fixtures/make.py"], swiftSettings: strict),
        .testTarget(
            name: "OAuth2AuthTests",
            dependencies: ["OAuth2Auth", "AuthFoundation", "JOSE", "TestSupport", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict),
        .testTarget(
            name: "BrowserSigninTests",
            dependencies: [
                "BrowserSignin", "AuthFoundation", "OAuth2Auth", "JOSE", "TestSupport", .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .testTarget(name: "OktaDirectAuthTests", dependencies: ["OktaDirectAuth", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "OktaAuthSdkTests", dependencies: ["OktaAuthSdk", "AuthFoundation", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "DeviceAuthenticatorTests",
            dependencies: [
                "DeviceAuthenticator", "AuthFoundation", "JOSE", "TestSupport", .product(name: "Crypto", package: "swift-crypto"),
            ],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        // The texts that users read: the errors of all client modules.
        .testTarget(
            name: "ClientTextsTests",
            dependencies: [
                "JOSE", "AuthFoundation", "OAuth2Auth", "BrowserSignin", "OktaDirectAuth", "DeviceAuthenticator", "OktaAuthSdk",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CountersignUITests",
            dependencies: [
                "CountersignUI", "AuthFoundation", "BrowserSignin", "CountersignSandbox", "DeviceAuthenticator", "JOSE", "OAuth2Auth",
                "OktaDirectAuth", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "IdentityCoreTests",
            dependencies: [
                "AuthnAPI", "CountersignSandbox", "DeviceAPI", "IdentityCore", "OAuthEndpoints", "OAuthWire", "ServerHTTP", "SignInPages",
                "Store", "StoreSQLite", "JOSE", "TestSupport", "WebAuthn",
            ],
            exclude: ["SignIn/Exploration/Explore.swift"], swiftSettings: strict),
        .testTarget(
            name: "StoreTests",
            dependencies: [
                "IdentityCore", "Store", "StoreSQLite", "StorePostgreSQL", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift", condition: server),
            ],
            resources: [.copy("Fixtures")], swiftSettings: strict),
        .testTarget(
            name: "DeliveryTests",
            dependencies: [
                "Delivery", "CountersignSandbox", "JOSE", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "AuthorizationServerTests",
            dependencies: [
                "AdminAPI", "AuthorizationServer", "CountersignSandbox", "Delivery", "JOSE", "TestSupport",
                "AuthnAPI", "DeviceAPI", "IdentityCore", "OAuthEndpoints", "OAuthWire", "ServerHTTP", "SignInPages", "Store",
                "StorePostgreSQL",
                "StoreSQLite", "WebAuthn",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ResourceServerTests", dependencies: ["ResourceServer", "CountersignSandbox", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "BrowserSignin", "CountersignSandbox", "AuthorizationServer", "Delivery", "AuthFoundation", "OAuth2Auth", "OktaDirectAuth",
                "DeviceAuthenticator", "IdentityCore", "OktaAuthSdk", "JOSE", "QRCode", "ResourceServer", "TestSupport", "countersign",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "BrowserTests",
            dependencies: [
                "BrowserSignin", "OAuth2Auth", "AuthFoundation", "AuthorizationServer", "CountersignSandbox", "Delivery", "JOSE",
                "TestSupport",
            ],
            swiftSettings: strict),
        // Compiles and runs the code of the guides. The dependencies are needed to build the modules and the command.
        .testTarget(
            name: "GuideTests",
            dependencies: [
                "AuthorizationServer", "CountersignSandbox", "CountersignUI", "OktaAuthSdk", "TestSupport", "countersign",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// `make explore` compiles the exploration of sign-ins with optimization. It replaces the test target that contains the same files.
if Context.environment["COUNTERSIGN_EXPLORE"] != nil {
    package.targets.removeAll { $0.name == "IdentityCoreTests" }
    package.targets.append(
        .executableTarget(
            name: "explore", dependencies: ["IdentityCore", "JOSE", "Store"], path: "Tests/IdentityCoreTests/SignIn/Exploration",
            exclude: ["SignInExplorationTests.swift"], swiftSettings: strict))
}
