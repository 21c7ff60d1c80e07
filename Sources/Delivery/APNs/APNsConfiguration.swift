internal import NIOSSL

extension APNsSender {
    /// The push service's addresses, timeouts and retries.
    package struct Configuration: Sendable, Equatable {
        /// The origin of the service for production tokens: `https://`, a host and an optional port.
        package var productionOrigin: String
        /// The origin of the service for development tokens: `https://`, a host and an optional port.
        package var developmentOrigin: String
        /// PEM certificates that are trusted in addition to the system's, for a local gateway; `nil` for none.
        package var additionalTrustRootsPEM: String?
        /// The timeout of one attempt, from connecting to the complete response.
        package var attemptTimeout: Duration
        package var connectTimeout: Duration
        package var retry: RetryPolicy

        /// Creates a configuration. The defaults are for Apple's service.
        package init(
            productionOrigin: String = "https://api.push.apple.com", developmentOrigin: String = "https://api.sandbox.push.apple.com",
            additionalTrustRootsPEM: String? = nil, attemptTimeout: Duration = .seconds(10), connectTimeout: Duration = .seconds(5),
            retry: RetryPolicy = RetryPolicy()
        ) {
            (self.productionOrigin, self.developmentOrigin) = (productionOrigin, developmentOrigin)
            (self.additionalTrustRootsPEM, self.attemptTimeout) = (additionalTrustRootsPEM, attemptTimeout)
            (self.connectTimeout, self.retry) = (connectTimeout, retry)
        }

        func origin(of environment: PushEnvironment) -> String {
            switch environment {
            case .production: productionOrigin
            case .development: developmentOrigin
            }
        }
    }
}

extension APNsSender.Configuration {
    /// Validates the origins, and returns them without a trailing slash.
    func checkedOrigins() throws(APNsConfigurationError) -> [PushEnvironment: String] {
        var origins: [PushEnvironment: String] = [:]
        for environment in PushEnvironment.allCases {
            var origin = origin(of: environment)
            if origin.hasSuffix("/") { origin.removeLast() }
            let host = origin.dropFirst("https://".count)
            guard origin.hasPrefix("https://"), !host.isEmpty, host.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
                !host.contains(where: { "/?#@\\".contains($0) })
            else {
                throw APNsConfigurationError(
                    .invalidOrigin,
                    "The \(environment.rawValue) push service \"\(origin)\" is no origin; write it like https://push.example:443, without a path."
                )
            }
            origins[environment] = origin
        }
        return origins
    }

    /// Returns a TLS configuration for TLS 1.2 or later (RFC 9113 section 9.2), with the system's and the additional trust roots.
    func checkedTLS() throws(APNsConfigurationError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        guard let additionalTrustRootsPEM else { return tls }
        do {
            let certificates = try NIOSSLCertificate.fromPEMBytes(Array(additionalTrustRootsPEM.utf8))
            tls.additionalTrustRoots = [.certificates(certificates)]
        } catch {
            throw APNsConfigurationError(
                .invalidTrustRoots, "The additional trust roots of the push service are no certificates in PEM.", underlying: error)
        }
        return tls
    }
}
