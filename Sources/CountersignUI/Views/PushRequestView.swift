#if canImport(SwiftUI) && canImport(Darwin) && !os(tvOS)
internal import AuthFoundation
internal import Foundation
public import SwiftUI

/// The pending requests of an authenticator app: the question, its details, and the buttons that approve and deny. If there are several
/// requests, or one arrives just after another one ended, a list lets the user open them. The view shows a ``PushRequestModel``, and asks
/// for requests whenever the app becomes active.
///
/// ```swift
/// PushRequestView(model: requests)
/// ```
public struct PushRequestView: View {
    private let model: PushRequestModel
    @Environment(\.scenePhase) private var scenePhase
    @Environment(\.signInTexts) private var texts

    /// Creates the screen of a model.
    public init(model: PushRequestModel) {
        self.model = model
    }

    /// The current request, the list of requests, or the button that asks for requests.
    public var body: some View {
        ScrollView {
            VStack(spacing: 20) {
                if let outcome = model.outcome, !model.requests.isEmpty {
                    Text(verbatim: texts.previous(outcome))
                        .font(.headline)
                        .frame(maxWidth: .infinity, alignment: .leading)
                }
                if let count = texts.several(model.requests.count) { Text(verbatim: count) }
                if let request = model.current {
                    RequestDetails(model: model, request: request)
                        .id(request.id)
                } else if model.requests.isEmpty {
                    Text(verbatim: model.outcome.map(texts.message(of:)) ?? texts.requests.none)
                        .font(.title2)
                    Button(texts.requests.check) { Task { await model.fetch() } }
                        .disabled(model.isFetching)
                } else {
                    RequestList(model: model)
                }
                if let problem = model.problem { ProblemLabel(text: texts.message(for: problem)) }
            }
            .frame(maxWidth: 400)
            .padding()
            .frame(maxWidth: .infinity)
        }
        .task { [model] in await model.fetch() }
        .onChange(of: scenePhase) {
            if scenePhase == .active { Task { await model.fetch() } }
        }
        .onChange(of: model.current?.id) { announce(model.current.map(texts.question(of:)) ?? texts.several(model.requests.count)) }
        .onChange(of: model.outcome) { announce(model.outcome.map(texts.message(of:))) }
        .onChange(of: model.problem?.code) { announce(model.problem.map(texts.message(for:))) }
    }
}

/// The requests, without answers: the user opens one first.
private struct RequestList: View {
    let model: PushRequestModel
    @Environment(\.signInTexts) private var texts

    var body: some View {
        VStack(alignment: .leading, spacing: 12) {
            Text(verbatim: texts.requests.choose)
            ForEach(model.requests) { request in
                Button {
                    model.select(request.id)
                } label: {
                    VStack(alignment: .leading, spacing: 4) {
                        Text(verbatim: texts.question(of: request)).bold()
                        Text(verbatim: texts.summary(of: request)).font(.callout)
                    }
                    .frame(maxWidth: .infinity, alignment: .leading)
                }
                .buttonStyle(.bordered)
                .disabled(model.answering != nil)
            }
        }
    }
}

/// A request and its possible answers.
private struct RequestDetails: View {
    let model: PushRequestModel
    let request: PushRequest
    @Environment(\.signInTexts) private var texts

    private var words: SignInTexts.Requests { texts.requests }

    var body: some View {
        VStack(alignment: .leading, spacing: 16) {
            Text(verbatim: texts.question(of: request))
                .font(.title2)
                .bold()
                .accessibilityAddTraits(.isHeader)
            VStack(alignment: .leading, spacing: 6) {
                ForEach(texts.details(of: request)) { detail in
                    // One text, so that VoiceOver reads the label and the value together.
                    Text(verbatim: "\(detail.label): ").foregroundStyle(.secondary) + Text(verbatim: detail.value)
                }
                if !request.isVerified { Text(verbatim: words.notVerified).foregroundStyle(.secondary) }
            }
            answers
            if model.answering == request.id { ProgressView(words.sending) }
            if model.requests.count > 1 { Button(words.showAll) { model.select(nil) } }
        }
        .disabled(model.answering != nil)
    }

    @ViewBuilder private var answers: some View {
        if !request.isVerified {
            Button(words.check) { Task { await model.fetch() } }
                .disabled(model.isFetching)
        } else if let numbers = request.numbers {
            Text(verbatim: words.selectNumber)
            HStack(spacing: 12) {
                ForEach(numbers, id: \.self) { number in
                    Button {
                        answer { await $0.approve($1, number: number) }
                    } label: {
                        Text(verbatim: number).monospaced().frame(maxWidth: .infinity)
                    }
                    .buttonStyle(.borderedProminent)
                    .controlSize(.large)
                    .disabled(!model.canApprove)
                    .accessibilityLabel(Text(verbatim: words.approveWithNumber.replacing("%@", with: number)))
                }
            }
        } else {
            Button {
                answer { await $0.approve($1) }
            } label: {
                Text(verbatim: words.approve).frame(maxWidth: .infinity)
            }
            .buttonStyle(.borderedProminent)
            .controlSize(.large)
            .disabled(!model.canApprove)
        }
        HStack(spacing: 12) {
            Button(words.deny, role: .destructive) { answer { await $0.deny($1) } }
            Button(words.notMe, role: .destructive) { answer { await $0.deny($1, isSuspicious: true) } }
        }
        .buttonStyle(.bordered)
    }

    private func answer(_ action: @escaping @MainActor (PushRequestModel, PushRequest.ID) async -> Void) {
        Task { await action(model, request.id) }
    }
}
#endif
