public import Foundation

/// A program from outside the package that some tests need: an independent implementation that checks this one.
///
/// Plain `swift test` skips such a test if the program is missing. With `COUNTERSIGN_REQUIRE_ALL=1` (`make test`, continuous integration),
/// the test runs and fails, and its message names the missing program.
public enum OutsidePart: String, Sendable {
    /// The Python of `.venv`, with Authlib, Flask, okta-jwt-verifier, fido2 and soft-webauthn.
    case python
    /// Node with the JOSE library of Debian's `node-jose`.
    case nodeJOSE
    /// Chromium, its driver, and the Python of `.venv` with Selenium.
    case chromium
    /// Debian's zbar, which reads QR codes.
    case zbar
    /// Apache with mod_auth_openidc, and the Python of `.venv`.
    case apache
    /// The OpenID provider Glewlwyd, and the Python of `.venv`.
    case glewlwyd
    /// A PostgreSQL server of Debian.
    case postgreSQL
    /// HAProxy, and a PostgreSQL server.
    case haProxy

    /// Whether a test that needs the part should run.
    public var isEnabled: Bool { isPresent || Self.allRequired }

    /// The reason that a skipped test shows.
    public var missingNote: String {
        switch self {
        case .python: "Python's Authlib is missing: run scripts/venv"
        case .nodeJOSE: "node-jose is missing: run scripts/install node-jose:/usr/share/nodejs/jose"
        case .chromium: "Chromium or Selenium is missing: run make setup-test"
        case .zbar: "zbarimg is missing: run scripts/install zbar-tools:zbarimg"
        case .apache: "Apache or its mod_auth_openidc is missing: run make setup-test"
        case .glewlwyd: "Glewlwyd is missing: run make setup-test"
        case .postgreSQL: "PostgreSQL is missing: run make setup-test"
        case .haProxy: "HAProxy is missing: run make setup-test"
        }
    }

    /// The program to run.
    public var executable: URL {
        switch self {
        case .python, .chromium, .apache, .glewlwyd: Self.root.appending(path: ".venv/bin/python3")
        case .nodeJOSE: URL(filePath: "/usr/bin/env")
        case .zbar: URL(filePath: "/usr/bin/zbarimg")
        case .postgreSQL: PostgreSQLServer.programs.appending(path: "postgres")
        case .haProxy: URL(filePath: "/usr/sbin/haproxy")
        }
    }

    /// The folder with the interoperability scripts.
    public static var scripts: URL { root.appending(path: "Tests/Interop") }

    /// The folder of this package.
    public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private var isPresent: Bool {
        switch self {
        case .python, .zbar, .postgreSQL, .haProxy: FileManager.default.isExecutableFile(atPath: executable.path)
        case .nodeJOSE: FileManager.default.fileExists(atPath: "/usr/share/nodejs/jose")
        case .chromium:
            FileManager.default.isExecutableFile(atPath: executable.path)
                && ["/usr/bin/chromium", "/usr/bin/chromedriver"].allSatisfy(FileManager.default.isExecutableFile(atPath:))
        case .apache:
            FileManager.default.isExecutableFile(atPath: executable.path)
                && ["/usr/sbin/apache2", "/usr/lib/apache2/modules/mod_auth_openidc.so"].allSatisfy(FileManager.default.fileExists(atPath:))
        case .glewlwyd:
            FileManager.default.isExecutableFile(atPath: executable.path)
                && ["/usr/bin/glewlwyd", "/usr/bin/openssl"].allSatisfy(FileManager.default.isExecutableFile(atPath:))
        }
    }

    private static var allRequired: Bool { ProcessInfo.processInfo.environment["COUNTERSIGN_REQUIRE_ALL"] == "1" }
}
