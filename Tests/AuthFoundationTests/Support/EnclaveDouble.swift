import AuthFoundation
import Crypto
import Foundation

/// The Secure Enclave of a device, in memory. As on Apple's devices, the sealed form of a key contains its public part. Depending on the
/// system, a key of another enclave cannot be opened, or it can be opened but cannot sign.
final class EnclaveDouble: SigningEnclave {
    /// The enclave cannot work now, or not with this key. Apple documents no codes that tell which.
    struct Failure: Error {}

    private struct Sealed: Codable {
        let publicKey: Data
        let privateKey: Data
    }

    private struct Key: EnclaveKey {
        let enclave: EnclaveDouble
        let content: Sealed
        let sealed: Data

        var publicPoint: [UInt8] { Array(content.publicKey) }

        func signature(for message: [UInt8]) throws -> [UInt8] {
            try enclave.failIfBusy()
            return try Array(enclave.privateKey(content).signature(for: message).rawRepresentation)
        }
    }

    private let secret = SymmetricKey(size: .bits256)
    private let opensForeignKeys: Bool
    private let working = Locked(true)
    private let failures = Locked(0)

    init(opensForeignKeys: Bool = false) { self.opensForeignKeys = opensForeignKeys }

    /// Whether the enclave can create keys and sign.
    var isWorking: Bool {
        get { working.withLock { $0 } }
        set { working.withLock { $0 = newValue } }
    }

    /// Makes the next uses of existing keys fail, as if the enclave was busy.
    func failNext(_ count: Int = 1) { failures.exchange(count) }

    func makeKey() throws -> any EnclaveKey {
        guard isWorking else { throw Failure() }
        let key = P256.Signing.PrivateKey()
        guard let privateKey = try AES.GCM.seal(key.rawRepresentation, using: secret).combined else { throw Failure() }
        let content = Sealed(publicKey: key.publicKey.rawRepresentation, privateKey: privateKey)
        return Key(enclave: self, content: content, sealed: try JSONEncoder().encode(content))
    }

    func key(from sealed: Data) throws -> any EnclaveKey {
        let content = try JSONDecoder().decode(Sealed.self, from: sealed)
        if !opensForeignKeys { _ = try privateKey(content) }
        return Key(enclave: self, content: content, sealed: sealed)
    }

    private func failIfBusy() throws {
        let fails = failures.withLock { count in
            defer { count = max(0, count - 1) }
            return count > 0
        }
        if fails { throw Failure() }
    }

    private func privateKey(_ content: Sealed) throws -> P256.Signing.PrivateKey {
        guard isWorking else { throw Failure() }
        do {
            return try P256.Signing.PrivateKey(
                rawRepresentation: AES.GCM.open(AES.GCM.SealedBox(combined: content.privateKey), using: secret))
        } catch {
            throw Failure()
        }
    }
}
