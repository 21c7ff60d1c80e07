import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Resolving a challenge (D6, Documentation/Protocol/Devices.md §5)")
struct ResolveTests {
    @Test("An approval has the form of Devices.md §2.9 and §3.7, and its request contains no access token")
    func approval() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        phone.clock.advance(by: 30)
        try await phone.parse(phone.org.challenge()).resolve(onRemediation: approving)
        let request = try #require(phone.org.requests(.verify).first)
        #expect(request.url?.path() == "/idp/myaccount/app-authenticators/challenge/ft1/verify")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(request.value(forHTTPHeaderField: "Accept") == "application/json; okta-version=1.0.0")
        #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
        let (header, claims) = try #require(try phone.org.answers().first)
        let keys = try #require(try phone.org.bodies(.enroll)[0]["methods"]?["push"]?["keys"])
        #expect(header == ["alg": "ES256", "typ": "okta-pushbind+jwt", "kid": keys["proofOfPossession"]?["kid"] ?? .null])
        var json = claims.json
        #expect(UUID(uuidString: json["jti"]?.stringValue ?? "") != nil)
        json["jti"] = nil
        #expect(
            json == [
                "iss": "pfd1", "aud": "https://id.example.com", "sub": "00u1", "iat": 1_800_000_030, "exp": 1_800_000_330,
                "nbf": 1_799_999_730, "tx": "ft1", "nonce": "nonce-1", "methodEnrollmentId": "opf1", "keyType": "proofOfPossession",
                "amr": [],
                "deviceSignals": ["id": "guo1", "clientInstanceId": "cli-guo1", "osVersion": "6.1.0", "screenLockType": "PASSCODE"],
                "challengeResponseContext": ["userConsent": "APPROVED_CONSENT_PROMPT", "transactionType": "LOGIN"], "integrations": [],
                "signalProviders": [],
            ])
    }

    @Test(
        "Each response to the consent step is sent as its documented value (D6-3, D6-5, D6-6)",
        arguments: [
            (UserConsentResponse.approved, "APPROVED_CONSENT_PROMPT"), (UserConsentResponse.denied, "DENIED_CONSENT_PROMPT"),
            (UserConsentResponse.none, "DENIED_CONSENT_PROMPT"), (nil, "DENIED_CONSENT_PROMPT"),
        ] as [(UserConsentResponse?, String)])
    func consent(response: UserConsentResponse?, wire: String) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge())
        try await challenge.resolve { step in
            if let response { (step as? RemediationStepUserConsent)?.provide(response) } else { step.defaultProcess() }
        }
        #expect(try phone.org.answers().map { $0.claims["challengeResponseContext"]?["userConsent"] } == [.string(wire)])
        #expect(challenge.userResponse == (response == .approved ? .userApproved : .userDenied))
    }

    @Test("The consent step contains the enrollment's account and the content of the verified challenge")
    func step() async throws {
        let phone = try TestPhone()
        phone.org.answer(.discovery, .offline)
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge())
        try await challenge.resolve { step in
            guard let step = step as? RemediationStepUserConsent else { return }
            // The challenge was unverified when it arrived. It is verified now.
            #expect(step.challenge.appInstanceName == "Acme Portal")
            #expect((step.challenge as? any CIBAChallengeProtocol)?.cibaBindingMessage == nil)
            #expect(step.enrollment.user.name == "ada1@example.com")
            step.provide(.denied)
        }
        #expect(phone.org.requests(.verify).count == 1)
    }

    @Test(
        "If the app or a notification action has already set the response, resolving a challenge skips the consent step",
        arguments: [true, false])
    func answeredBefore(byAction: Bool) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge(), action: byAction ? "DENY_BUTTON" : nil)
        if !byAction { challenge.userResponse = .userApproved }
        let steps = Recorder<RemediationStep>()
        try await challenge.resolve { step in
            steps.add(step)
            step.defaultProcess()
        }
        #expect(steps.all.isEmpty)
        let expected: JSONValue = byAction ? "DENIED_CONSENT_PROMPT" : "APPROVED_CONSENT_PROMPT"
        #expect(try phone.org.answers().first?.claims["challengeResponseContext"]?["userConsent"] == expected)
    }

    @Test("Only the app's first response to a consent step is sent")
    func answeredTwice() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        try await phone.parse(phone.org.challenge()).resolve { step in
            guard let step = step as? RemediationStepUserConsent else { return }
            step.provide(.denied)
            step.provide(.approved)
            step.defaultProcess()
        }
        #expect(try phone.org.answers().map { $0.claims["challengeResponseContext"]?["userConsent"] } == ["DENIED_CONSENT_PROMPT"])
    }

    @Test("When a challenge is resolved, the completion is called once, off the main thread, with nil or the server's error")
    func completion() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        phone.org.answer(.verify, .json([:]), .empty, .failure("E0000001", status: 400))
        for (number, response) in [UserConsentResponse.approved, .denied, .approved].enumerated() {
            let challenge = try phone.parse(phone.org.challenge("ft\(number)"))
            let calls = Recorder<DeviceAuthenticatorError?>()
            await withCheckedContinuation { continuation in
                challenge.resolve(
                    onRemediationStep: { step in
                        guard let step = step as? RemediationStepUserConsent else { return }
                        step.provide(response)
                        step.provide(.none)
                    },
                    onCompletion: { error in
                        #expect(!Thread.isMainThread)
                        calls.add(error)
                        continuation.resume()
                    })
            }
            #expect(calls.all == [number == 2 ? .internalError("").serverTwin : nil])
        }
        #expect(phone.org.requests(.verify).count == 3)
    }

    @Test("If the app releases a consent step without a response, resolving the challenge fails without a request, and can be repeated")
    func abandonedStep() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge())
        #expect(await failure { try await challenge.resolve { _ in } }?.reason == .notAnswered)
        #expect(phone.org.requests(.verify).isEmpty)
        try await challenge.resolve(onRemediation: approving)
        #expect(phone.org.requests(.verify).count == 1)
    }

    @Test("Cancelling the resolution of a challenge ends the wait for the user, and a later response of the user is not sent")
    func cancelled() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge())
        let kept = Recorder<RemediationStep>()
        let (asked, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await challenge.resolve { step in
                kept.add(step)
                continuation.yield()
            }
        }
        for await _ in asked { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        (kept.all.first as? RemediationStepUserConsent)?.provide(.approved)
        #expect(phone.org.requests(.verify).isEmpty)
    }

    @Test("A second call that resolves the same challenge at the same time fails")
    func concurrent() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge())
        try await challenge.resolve { step in
            let second = Task { await failure { try await challenge.resolve(onRemediation: approving) } }
            Task {
                #expect(await second.value == .genericError(""))
                approving(step)
            }
        }
        #expect(phone.org.requests(.verify).count == 1)
    }

    @Test("After a network failure, resolving the challenge again sends the user's response without asking the user again")
    func retry() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge())
        phone.org.answer(.verify, .offline)
        #expect(await failure { try await challenge.resolve(onRemediation: approving) }?.reason == .network)
        let steps = Recorder<RemediationStep>()
        try await challenge.resolve { step in
            steps.add(step)
            step.defaultProcess()
        }
        #expect(steps.all.isEmpty)
        #expect(try phone.org.answers().last?.claims["challengeResponseContext"]?["userConsent"] == "APPROVED_CONSENT_PROMPT")
    }

    @Test("If the challenge expires before the user responds, the response is not sent")
    func lateAnswer() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge())
        let error = await failure {
            try await challenge.resolve { step in
                phone.clock.advance(by: 601)
                approving(step)
            }
        }
        #expect(error?.reason == .expired)
        guard case .securityError(.jwtError("Push challenge expired"))? = error else {
            Issue.record("not the published error")
            return
        }
        #expect(phone.org.requests(.verify).isEmpty)
    }

    @Test("The response to a challenge contains the requested device signals that are available, and an error for each requested plug-in")
    func signals() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let all: JSONValue = [
            "id", "clientInstanceId", "displayName", "platform", "manufacturer", "model", "osVersion", "serialNumber", "udid", "sid",
            "imei", "meid", "secureHardwarePresent", "deviceAttestation", "diskEncryptionType", "screenLockType", "clientInstanceBundleId",
            "clientInstanceDeviceSdkVersion", "clientInstanceVersion", "password", 7,
        ]
        let more: JSONValue = ["signals": all, "integrations": [["name": "edr"]], "signalProviders": [["name": "mdm"], 7]]
        try await phone.parse(phone.org.challenge(more: more)).resolve(onRemediation: approving)
        let claims = try #require(try phone.org.answers().first?.claims)
        #expect(
            claims["deviceSignals"] == [
                "id": "guo1", "clientInstanceId": "cli-guo1", "displayName": "Ada's phone", "platform": "LINUX", "manufacturer": "ACME",
                "model": "x1", "osVersion": "6.1.0", "secureHardwarePresent": false, "screenLockType": "PASSCODE",
                "clientInstanceBundleId": "AcmeApp", "clientInstanceDeviceSdkVersion": "DeviceAuthenticator 1.1.0",
                "clientInstanceVersion": "3.0",
            ])
        #expect(claims["integrations"] == [["name": "edr", "error": "not available on this device"]])
        #expect(claims["signalProviders"] == [["name": "mdm", "error": "not available on this device"]])
    }

    @Test("The response to a back-channel (CIBA) request has the transaction type CIBA")
    func ciba() async throws {
        let phone = try TestPhone()
        try await phone.enroll(ciba: true)
        let jwt = try phone.org.challenge(context: ["transactionType": "CIBA", "bindingMessage": "Pay 5%25"])
        try await phone.parse(jwt).resolve { step in
            guard let step = step as? RemediationStepUserConsent else { return }
            #expect((step.challenge as? any CIBAChallengeProtocol)?.cibaBindingMessage == "Pay 5%")
            step.provide(.approved)
        }
        #expect(
            try phone.org.answers().first?.claims["challengeResponseContext"]
                == ["userConsent": "APPROVED_CONSENT_PROMPT", "transactionType": "CIBA"])
    }

    @Test("The app can report a denied challenge as suspicious, but not an approved challenge", arguments: [true, false])
    func suspicious(denied: Bool) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        try await phone.parse(phone.org.challenge()).resolve { step in
            (step as? RemediationStepUserConsent)?.provide(denied ? .denied : .approved, reportSuspicious: true)
        }
        let context = try #require(try phone.org.answers().first?.claims["challengeResponseContext"])
        #expect(context["suspicious"] == (denied ? true : nil))
    }

    @Test("Resolving a challenge fails without a request if its enrollment was deleted, or if the enrollment's key is missing")
    func gone() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge())
        let tag = enrollment.record.possessionKeyTag
        try FileDeviceKeyStore(directory: phone.folder.url).deleteKey(tag: tag)
        let error = await failure { try await challenge.resolve(onRemediation: approving) }
        #expect(error?.reason == .keyMissing)
        #expect(error?.debugDescription == "Can't find crypto factor silent key in secure storage")
        try enrollment.deleteFromDevice()
        #expect(await failure { try await challenge.resolve(onRemediation: approving) }?.reason == .enrollmentUnknown)
        #expect(phone.org.requests(.verify).isEmpty)
    }
}

extension DeviceAuthenticatorError {
    /// An error that is equal to any other server error.
    fileprivate var serverTwin: DeviceAuthenticatorError {
        .serverAPIError(HTTPURLResult(request: nil, response: nil, data: nil), nil)
    }
}
