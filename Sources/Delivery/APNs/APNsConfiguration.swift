internal import NIOSSL

extension APNsSender {
    /// Where the push service is, and how patient the sender is with it.
    package struct Configuration: Sendable, Equatable {
        /// The service for production tokens: `https://`, a host, and perhaps a port.
        package var productionOrigin: String
        /// The service for development tokens, alike.
        package var developmentOrigin: String
        /// Certificates in PEM that are trusted beside the system's; nil for none. For a local gateway, not for Apple's.
        package var additionalTrustRootsPEM: String?
        /// How long one try may take, from connecting to the whole answer.
        package var attemptTimeout: Duration
        /// How long connecting may take.
        package var connectTimeout: Duration
        /// How often a push is tried.
        package var retry: RetryPolicy

        /// Describes the service; by default Apple's.
        ///
        /// - Parameters:
        ///   - productionOrigin: The service for production tokens: `https://`, a host, and perhaps a port.
        ///   - developmentOrigin: The service for development tokens, alike.
        ///   - additionalTrustRootsPEM: Certificates in PEM that are trusted beside the system's; by default none.
        ///   - attemptTimeout: How long one try may take, from connecting to the whole answer; by default 10 seconds.
        ///   - connectTimeout: How long connecting may take; by default 5 seconds.
        ///   - retry: How often a push is tried.
        package init(
            productionOrigin: String = "https://api.push.apple.com", developmentOrigin: String = "https://api.sandbox.push.apple.com",
            additionalTrustRootsPEM: String? = nil, attemptTimeout: Duration = .seconds(10), connectTimeout: Duration = .seconds(5),
            retry: RetryPolicy = RetryPolicy()
        ) {
            self.productionOrigin = productionOrigin
            self.developmentOrigin = developmentOrigin
            self.additionalTrustRootsPEM = additionalTrustRootsPEM
            self.attemptTimeout = attemptTimeout
            self.connectTimeout = connectTimeout
            self.retry = retry
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
    /// The origins, without a slash at the end.
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

    /// TLS 1.2 or later (reference 9.2), judged by the system's roots and the additional ones.
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
