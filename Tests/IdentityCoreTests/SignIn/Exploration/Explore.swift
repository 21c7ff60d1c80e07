import Foundation

/// Explores the sign-ins of all policies to the depth in the first argument, two policies at a time (`make explore`). A second argument
/// selects one policy by its name. The exit status is 1 if a step violates a rule, or if no policy matches.
@main
struct Explore {
    private static let depth = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 8

    static func main() async {
        let name = CommandLine.arguments.dropFirst(2).first
        var waiting = ExploredPolicy.all.filter { name == nil || $0.name == name }[...]
        var isComplete = !waiting.isEmpty
        await withTaskGroup(of: Bool.self) { group in
            func start() {
                guard let policy = waiting.popFirst() else { return }
                group.addTask { explore(policy) }
            }
            start()
            start()
            for await succeeded in group {
                isComplete = isComplete && succeeded
                start()
            }
        }
        exit(isComplete ? 0 : 1)
    }

    private static func explore(_ policy: ExploredPolicy) -> Bool {
        let begin = ContinuousClock.now
        var explored = SignInExploration(policy, commitDepth: 4)
        var violation: String?
        do { try explored.run(depth: depth) } catch { violation = "\(error)\n" }
        let levels = explored.statesByDepth.map(String.init).joined(separator: " + ")
        let seconds = String(format: "%.1f", begin.duration(to: .now) / .seconds(1))
        print("\(policy): \(levels) = \(explored.states) states, \(explored.steps) steps, \(explored.retries) retries, \(seconds) s")
        print(violation ?? "", terminator: "")
        fflush(nil)
        return violation == nil
    }
}
