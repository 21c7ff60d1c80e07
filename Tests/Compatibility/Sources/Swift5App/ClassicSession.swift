import Foundation
import OktaAuthSdk

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Signs a user in with the classic state machine, with the calls of an app for Okta's SDK.
final class ClassicSession {
    enum Screen {
        case signedOut
        case password(OktaAuthStatus)
        case enroll([OktaFactor])
        case code(OktaAuthStatus)
        case question(String?)
        case signedIn(sessionToken: String)
        case failed(String)
    }

    private(set) var screen = Screen.signedOut
    private var current: OktaAuthStatus?
    private let organization = URL(string: "https://id.example.com")!

    func signIn(_ name: String, _ password: String?) {
        OktaAuthSdk.authenticate(
            with: organization, username: name, password: password,
            onStatusChange: { [weak self] status in
                self?.show(status)
            },
            onError: { [weak self] error in
                self?.screen = .failed(error.localizedDescription)
            })
    }

    func unlock(_ name: String) {
        OktaAuthSdk.unlockAccount(with: organization, username: name, factorType: .sms, onStatusChange: show, onError: fail)
        OktaAuthSdk.recoverPassword(with: organization, username: name, factorType: .email, onStatusChange: show, onError: fail)
        OktaAuthSdk.fetchStatus(with: "state_token", using: organization, onStatusChange: show, onError: fail)
    }

    func show(_ status: OktaAuthStatus) {
        current = status
        switch status.statusType {
        case .success:
            let success = status as! OktaAuthStatusSuccess
            screen = .signedIn(sessionToken: success.sessionToken!)
        case .passwordWarning:
            let warning = status as! OktaAuthStatusPasswordWarning
            if warning.canSkip() { warning.skipPasswordChange(onStatusChange: show, onError: fail) }
        case .passwordExpired, .passwordReset:
            screen = .password(status)
        case .MFAEnroll:
            let enrollment = status as! OktaAuthStatusFactorEnroll
            screen = .enroll(enrollment.availableFactors.filter { enrollment.canEnrollFactor(factor: $0) })
        case .MFAEnrollActivate:
            let activation = status as! OktaAuthStatusFactorEnrollActivate
            if let push = activation.factor as? OktaFactorPush { poll(push) } else { screen = .code(status) }
        case .MFARequired:
            let required = status as! OktaAuthStatusFactorRequired
            if let factor = required.availableFactors.first { required.selectFactor(factor, onStatusChange: show, onError: fail) }
        case .MFAChallenge:
            let challenge = status as! OktaAuthStatusFactorChallenge
            if challenge.canPoll(), let push = challenge.factor as? OktaFactorPush { poll(push) } else { screen = .code(status) }
        case .recovery:
            screen = .question((status as! OktaAuthStatusRecovery).recoveryQuestion)
        case .recoveryChallenge:
            screen = .code(status)
        case .lockedOut:
            (status as! OktaAuthStatusLockedOut).unlock(username: "ana", factorType: .call, onStatusChange: show, onError: fail)
        case .unauthenticated:
            screen = .signedOut
        case .unknown(let name):
            screen = .failed(name)
        }
    }

    func poll(_ factor: OktaFactorPush) {
        factor.checkFactorResult(
            onStatusChange: { (status) in
                if status.factorResult == .waiting {
                    DispatchQueue.main.asyncAfter(deadline: .now() + 5.0) {
                        self.poll(factor)
                    }
                } else {
                    self.show(status)
                }
            },
            onError: { (error) in
                self.fail(error)
            })
    }

    func enroll(_ factor: OktaFactor) {
        switch factor {
        case let sms as OktaFactorSms: sms.enroll(phoneNumber: "+34600111512", onStatusChange: show, onError: fail)
        case let call as OktaFactorCall: call.enroll(phoneNumber: nil, onStatusChange: show, onError: fail)
        case let push as OktaFactorPush: push.enroll(onStatusChange: show, onError: fail)
        case let question as OktaFactorQuestion:
            question.downloadSecurityQuestions(
                onDownloadComplete: { questions in
                    guard let id = questions.first?.question else { return }
                    question.enroll(questionId: id, answer: "blue", onStatusChange: self.show, onError: self.fail)
                }, onError: fail)
        case let other as OktaFactorOther:
            guard let link = other.links?.enroll, let token = current?.model.stateToken else { return }
            other.sendRequest(
                with: link, keyValuePayload: ["stateToken": token, "factorType": "email", "provider": "OKTA"], onStatusChange: show,
                onError: fail)
        default: break
        }
    }

    func giveUp() {
        current?.cancel()
        current?.cancel(onSuccess: { self.screen = .signedOut }, onError: fail)
        if current?.canReturn() == true { current?.returnToPreviousStatus(onStatusChange: show, onError: fail) }
    }

    func fail(_ error: OktaError) {
        switch error {
        case .serverRespondedWithError(let refusal) where refusal.errorCode == "E0000004": screen = .failed("Wrong name or password")
        case .connectionError(let error): screen = .failed(error.localizedDescription)
        default: screen = .failed(error.description)
        }
    }
}

/// An app's own status, and the handler that creates it.
final class BrandedSuccess: OktaAuthStatusSuccess {
    var greeting: String { "Hello, \(user?.profile?.firstName ?? "you")" }
}

final class BrandedHandler: OktaAuthStatusResponseHandler {
    override func createAuthStatus(
        basedOn response: OktaAPISuccessResponse, and currentStatus: OktaAuthStatus
    ) throws -> OktaAuthStatus {
        guard response.status == .success else { return try super.createAuthStatus(basedOn: response, and: currentStatus) }
        return try BrandedSuccess(currentState: currentStatus, model: response)
    }

    override func handleServerResponse(
        _ response: OktaAPIRequest.Result, currentStatus: OktaAuthStatus, onStatusChanged: @escaping (_ newState: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        if case .success(let model) = response { _ = model.rawData }
        super.handleServerResponse(response, currentStatus: currentStatus, onStatusChanged: onStatusChanged, onError: onError)
    }
}

/// An app's own HTTP library.
final class OwnHTTP: OktaHTTPRequestListenerProtocol {
    func sendRequest(_ request: URLRequest, completionHandler: @escaping (Data?, URLResponse?, Error?) -> Void) {
        URLSession.shared.dataTask(with: request) { data, response, error in
            completionHandler(data, response, error)
        }
        .resume()
    }
}

func brandedStart() -> OktaAuthStatusUnauthenticated {
    let status = OktaAuthStatusUnauthenticated(oktaDomain: URL(string: "https://id.example.com")!, responseHandler: BrandedHandler())
    status.restApi.httpRequestListener = OwnHTTP()
    status.restApi.commonCompletion = { request, _ in _ = request.isCancelled }
    return status
}
