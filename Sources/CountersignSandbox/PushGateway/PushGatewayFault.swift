/// Something that a ``PushGateway`` does instead of, or beside, what it should.
public enum PushGatewayFault: Sendable, Hashable {
    /// It answers so, without looking at the push. Headers are names in lower case and their values; the timestamp is in milliseconds.
    case answer(status: Int, reason: String?, headers: [String: String] = [:], timestamp: Int64? = nil)
    /// It answers so, with a body that is not what a push service sends.
    case answerBody(status: Int, body: [UInt8])
    /// It begins to answer so, and never ends.
    case stallAnswer(status: Int)
    /// It waits so many seconds of the sandbox's clock, then does as it should.
    case delay(seconds: Double)
    /// It waits until ``PushGateway/releaseHeld()``, then does as it should.
    case hold
    /// It does as it should, and hands the push to the device twice.
    case duplicate
    /// It closes the connection without an answer.
    case dropConnection
    /// It announces the end of the connection (GOAWAY). The push is answered before if the flag says so, and otherwise counts as not taken.
    case goAway(answering: Bool)
}
