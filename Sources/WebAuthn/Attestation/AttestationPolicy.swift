internal import Crypto
internal import SwiftASN1
@_spi(FixedExpiryValidationTime) internal import X509

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The requirements on the attestation of a registration. The default accepts passkeys without attestation.
package struct AttestationPolicy: Sendable {
    /// The handling of a format other than `none`, `packed` and `apple`, such as `tpm`.
    package enum UnsupportedFormat: Sendable, Hashable {
        /// The registration is rejected.
        case refuse
        /// The statement is ignored. The passkey counts as one without attestation.
        case treatAsNone
    }

    /// The attestations that are accepted.
    package enum Requirement: Sendable, Hashable {
        /// All, also none.
        case any
        /// Only certificates that chain to one of the roots.
        case trusted
    }

    /// The handling of a format that is not supported.
    package var unsupportedFormat: UnsupportedFormat
    /// The attestations that are accepted.
    package var requirement: Requirement
    /// The roots of trusted authenticators. If empty, no attestation is trusted.
    package var roots: AttestationRoots

    /// Creates a policy.
    package init(
        unsupportedFormat: UnsupportedFormat = .refuse, requirement: Requirement = .any, roots: AttestationRoots = AttestationRoots()
    ) {
        self.unsupportedFormat = unsupportedFormat
        self.requirement = requirement
        self.roots = roots
    }
}

/// The result of the attestation of a registration.
package enum AttestationTrust: Sendable, Hashable {
    /// There is no attestation, or its format is not supported. The AAGUID is not proven.
    case none
    /// The credential's own key signed the statement. The AAGUID is not proven.
    case selfAttested
    /// A certificate's key signed the statement, but no roots are configured. The AAGUID is not proven.
    case unverified
    /// A certificate's key signed the statement, and the certificate does not chain to a configured root at this time.
    case untrusted
    /// The certificate chains to a configured root.
    /// - Parameter root: The SHA-256 digest of the root certificate.
    case trusted(root: [UInt8])
}

/// Root certificates of trusted authenticators.
package struct AttestationRoots: Sendable {
    /// A certificate is not in DER.
    package struct NotCertificate: Error, Sendable, Hashable {
        /// The position of the certificate in the list.
        package let index: Int
    }

    private let certificates: [Certificate]
    private let digests: [[UInt8]]

    /// No roots.
    package init() { (certificates, digests) = ([], []) }

    /// Reads root certificates in DER.
    package init(der: [[UInt8]]) throws(NotCertificate) {
        var certificates: [Certificate] = []
        for (index, bytes) in der.enumerated() {
            guard let certificate = try? Certificate(derEncoded: bytes) else { throw NotCertificate(index: index) }
            certificates.append(certificate)
        }
        self.certificates = certificates
        digests = der.map { Array(SHA256.hash(data: $0)) }
    }

    /// Returns the trust in a certificate chain, whose first certificate is the leaf. The validity periods are checked against `now`, the
    /// revocation is not checked.
    func trust(in chain: [Certificate], now: Date) async -> AttestationTrust {
        guard !certificates.isEmpty, let leaf = chain.first else { return .unverified }
        var verifier = Verifier(rootCertificates: CertificateStore(certificates)) { RFC5280Policy(fixedExpiryValidationTime: now) }
        let result = await verifier.validate(leaf: leaf, intermediates: CertificateStore(chain.dropFirst()))
        guard case .validCertificate(let path) = result, let root = path.last, let index = certificates.firstIndex(of: root) else {
            return .untrusted
        }
        return .trusted(root: digests[index])
    }
}
