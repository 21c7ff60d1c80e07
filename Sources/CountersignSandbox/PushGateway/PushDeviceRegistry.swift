internal import Delivery
internal import Foundation
internal import JOSE

struct PushDeviceRegistry {
    /// A function that receives a push on the device.
    typealias Handler = @Sendable (ReceivedPush) async -> Void

    private struct Device {
        let topic: String
        let handler: Handler
        var isReachable = true
        /// The newest push for an unreachable device; `nil` for none. Like the real service, the gateway keeps only one push.
        var kept: ReceivedPush?
        /// The time at which the app was removed; `nil` while the app is installed.
        var unregisteredAt: Date?
    }

    private struct Address: Hashable {
        let environment: PushEnvironment
        let token: String
    }

    private var devices: [Address: Device] = [:]

    mutating func register(token: String, topic: String, environment: PushEnvironment, handler: @escaping Handler) {
        devices[Address(environment: environment, token: token)] = Device(topic: topic, handler: handler)
    }

    mutating func unregister(token: String, at date: Date) {
        for environment in PushEnvironment.allCases { devices[Address(environment: environment, token: token)]?.unregisteredAt = date }
    }

    /// Returns the refusal of a push that the device cannot receive; `nil` if the device can receive it.
    func refusal(token: String, topic: String, environment: PushEnvironment) -> PushGatewayAnswer? {
        guard let device = devices[Address(environment: environment, token: token)] else { return .refused(400, "BadDeviceToken") }
        guard device.topic == topic else { return .refused(400, "DeviceTokenNotForTopic") }
        guard let unregisteredAt = device.unregisteredAt else { return nil }
        var answer = PushGatewayAnswer.refused(410, "Unregistered")
        answer.timestamp = Int64(clamping: unregisteredAt.timeIntervalSince1970 * 1000)
        return answer
    }

    /// Returns the handler for a push; `nil` if the device is unreachable. In that case, an unexpired push is kept.
    mutating func handler(for push: ReceivedPush, now: Date) -> Handler? {
        let address = Address(environment: push.environment, token: push.deviceToken)
        guard let device = devices[address] else { return nil }
        if device.isReachable { return device.handler }
        if let expiration = push.expiration, expiration > now { devices[address]?.kept = push }
        return nil
    }

    /// Changes whether a device is reachable. Returns the unexpired kept pushes of a device that becomes reachable, with their handlers.
    mutating func setReachable(_ isReachable: Bool, token: String, now: Date) -> [(push: ReceivedPush, handler: Handler)] {
        var due: [(push: ReceivedPush, handler: Handler)] = []
        for address in devices.keys where address.token == token {
            devices[address]?.isReachable = isReachable
            guard isReachable, let device = devices[address], let push = device.kept else { continue }
            devices[address]?.kept = nil
            if let expiration = push.expiration, expiration > now { due.append((push, device.handler)) }
        }
        return due
    }
}
