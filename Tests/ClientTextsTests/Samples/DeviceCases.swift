// The cases of the error enums of DeviceAuthenticator. See `NamedCase`.
import DeviceAuthenticator

extension DeviceAuthenticatorError: NamedCase {
    static let typeName = "DeviceAuthenticatorError"
    var caseName: String {
        switch self {
        case .accountNotFoundForChallenge: "accountNotFoundForChallenge"
        case .genericError: "genericError"
        case .internalError: "internalError"
        case .networkError: "networkError"
        case .noVerificationMethodsToEnroll: "noVerificationMethodsToEnroll"
        case .pushNotRecognized: "pushNotRecognized"
        case .securityError: "securityError"
        case .serverAPIError: "serverAPIError"
        case .storageError: "storageError"
        }
    }
}

extension DeviceKeyError: NamedCase {
    static let typeName = "DeviceKeyError"
    var caseName: String {
        switch self {
        case .damaged: "damaged"
        case .missing: "missing"
        }
    }
}

extension SecurityError: NamedCase {
    static let typeName = "SecurityError"
    var caseName: String {
        switch self {
        case .dataEncryptionDecryptionError: "dataEncryptionDecryptionError"
        case .failedToSignPayload: "failedToSignPayload"
        case .generalEncryptionError: "generalEncryptionError"
        case .jwkError: "jwkError"
        case .jwtError: "jwtError"
        case .keyCorrupted: "keyCorrupted"
        case .keyGenFailed: "keyGenFailed"
        case .localAuthenticationCancelled: "localAuthenticationCancelled"
        case .localAuthenticationFailed: "localAuthenticationFailed"
        case .localAuthenticationPasscodeNotSet: "localAuthenticationPasscodeNotSet"
        }
    }
}

extension StorageError: NamedCase {
    static let typeName = "StorageError"
    var caseName: String {
        switch self {
        case .generalStorageError: "generalStorageError"
        case .itemNotFound: "itemNotFound"
        case .missingAppGroupEntitlement: "missingAppGroupEntitlement"
        case .sqliteError: "sqliteError"
        case .storageMigrationError: "storageMigrationError"
        }
    }
}

extension UserVerificationFailure: NamedCase {
    static let typeName = "UserVerificationFailure"
    var caseName: String {
        switch self {
        case .cancelled: "cancelled"
        case .failed: "failed"
        case .unavailable: "unavailable"
        }
    }
}
