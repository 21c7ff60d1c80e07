internal import Dispatch

/// Where closures of the app are called: the main queue.
enum MainQueue: Sendable {
    private static let mark: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Does it on the main queue: at once if this is there, else in its turn.
    static func run(_ work: @escaping () -> Void) {
        if DispatchQueue.getSpecific(key: mark) == true { work() } else { runLater(work) }
    }

    /// Does it on the main queue, after what is under way there.
    static func runLater(_ work: @escaping () -> Void) {
        let parcel = Parcel(work)
        DispatchQueue.main.async { parcel.contents() }
    }
}

/// Carries a value that is not `Sendable` to the main queue: closures of the app, and statuses, factors and requests, which apps subclass and
/// which are theirs to use on the main queue.
///
/// What makes `@unchecked Sendable` safe: `contents` is a constant that is put in once, before the parcel is sent, and used on the main queue
/// only. The library gives nothing of an app's to any other thread. An app that calls from another queue has to leave the object alone until
/// it is called back.
struct Parcel<Contents>: @unchecked Sendable {
    let contents: Contents

    init(_ contents: Contents) {
        self.contents = contents
    }
}
