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
    @Test("An approval is sent in the form of Devices.md §2.9 and §3.7, without a token")
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
        "Each response to the consent step has its own wire value (D6-3, D6-5, D6-6)",
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

    @Test("The consent step has the account and the request")
    func step() async throws {
        let phone = try TestPhone()
        phone.org.answer(.discovery, .offline)
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge())
        try await challenge.resolve { step in
            guard let step = step as? RemediationStepUserConsent else { return }
            // The challenge was unverified when it arrived, and is verified now.
            #expect(step.challenge.appInstanceName == "Acme Portal")
            #expect((step.challenge as? any CIBAChallengeProtocol)?.cibaBindingMessage == nil)
            #expect(step.enrollment.user.name == "ada1@example.com")
            step.provide(.denied)
        }
        #expect(phone.org.requests(.verify).count == 1)
    }

    @Test("A response that was set before skips the consent step", arguments: [true, false])
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

    @Test("Only the first response to a step counts")
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

    @Test("Resolving a challenge calls the completion once, off the main thread, with nil after approval and denial")
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

    @Test("A step that is released without a response ends the resolution, sends nothing, and can be repeated")
    func abandonedStep() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge())
        #expect(await failure { try await challenge.resolve { _ in } }?.reason == .notAnswered)
        #expect(phone.org.requests(.verify).isEmpty)
        try await challenge.resolve(onRemediation: approving)
        #expect(phone.org.requests(.verify).count == 1)
    }

    @Test("Cancelling ends the wait for the user immediately")
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

    @Test("A challenge is resolved by one call at a time")
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

    @Test("After a network failure, the response can be sent again without asking")
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

    @Test("A response after the expiry is not sent")
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

    @Test("Known signals are answered, plug-ins get errors, and a challenge cannot change the device's identity")
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

    @Test("A back-channel request is answered as such (section 7)")
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

    @Test("A denial can be reported as suspicious, and an approval cannot", arguments: [true, false])
    func suspicious(denied: Bool) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        try await phone.parse(phone.org.challenge()).resolve { step in
            (step as? RemediationStepUserConsent)?.provide(denied ? .denied : .approved, reportSuspicious: true)
        }
        let context = try #require(try phone.org.answers().first?.claims["challengeResponseContext"])
        #expect(context["suspicious"] == (denied ? true : nil))
    }

    @Test("An enrollment that was deleted meanwhile cannot respond, and one without its key has an error")
    func gone() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        let challenge = try phone.parse(phone.org.challenge())
        let tag = enrollment.record.possessionKeyTag
        try FileDeviceKeyStore(directory: phone.folder.url).deleteKey(tag: tag)
        let error = await failure { try await challenge.resolve(onRemediation: approving) }
        #expect(error?.reason == .keyMissing)
        #expect(error?.errorDescription == "Can't find crypto factor silent key in secure storage")
        try enrollment.deleteFromDevice()
        #expect(await failure { try await challenge.resolve(onRemediation: approving) }?.reason == .enrollmentUnknown)
        #expect(phone.org.requests(.verify).isEmpty)
    }
}

extension DeviceAuthenticatorError {
    /// An error that is equal to any refusal of a server.
    fileprivate var serverTwin: DeviceAuthenticatorError {
        .serverAPIError(HTTPURLResult(request: nil, response: nil, data: nil), nil)
    }
}
