internal import HTTPTypes
internal import IdentityEngine

extension Endpoint {
    /// What who opens the address of a QR code in a browser sees: which app it is for. The ticket is in the fragment, which does not come
    /// here; so nothing that is asked for is said, logged or used up.
    static func enrollHere(_ authenticatorID: String, _ engine: IdentityEngine, _ pages: PageWriter) -> Endpoint {
        Endpoint(name: "enroll", methods: [.get], isCrossOrigin: false) { call in
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: call.request.context)
            guard limit.isAdmitted else { return pages.refusal(HostedRefusal(tooMany: limit), to: call) }
            guard authenticatorID.utf8.count <= 100,
                let authenticator = call.snapshot.authenticators.first(where: { $0.id == authenticatorID && $0.isActive })
            else { return pages.message(\.notFound, status: .notFound, to: call) }
            let texts = pages.texts(for: call.request)
            let view = PageView(
                texts, organization: call.snapshot.organization.name, title: texts.phone.hereTitle, lead: texts.phone.here,
                application: authenticator.name)
            return pages.html(view, template: "message").uncached()
        }
    }
}
