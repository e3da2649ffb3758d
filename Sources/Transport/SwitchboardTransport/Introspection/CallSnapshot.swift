import SwitchboardCall

/// A call in progress at one moment; on a client, an attempt.
package struct CallSnapshot: Sendable {
  /// How far a call is.
  package enum Stage: Sendable {
    /// A client's call waits until the name is resolved or a server is chosen, or for a connection with room.
    case waitsForServer, waitsForConnection
    /// A client waits for the response, or has begun to receive it.
    case awaitsResponse, receivesResponse
    /// A server receives the request, or serves it, or sends the rest of the response.
    case receivesRequest, isServed, sendsResponse
  }

  package let method: MethodDescriptor
  /// The address of the other side; empty for a call without a server.
  package let peer: String
  package let stage: Stage
  /// What the tracer keeps of the call, and what it follows the call with.
  package let stamp: CallStamp
  package let tracer: (any CallTracer)?
  package let headers: HPACKHeaders
  package let sent: MessageTotals
  package let received: MessageTotals
  /// How many attempts of the call have gone before.
  package let previousAttempts: Int
}

/// The calls in progress of a server or a channel at one moment: those that have begun first, and the number of all.
package struct CallsInProgress: Sendable {
  package internal(set) var oldest: [CallSnapshot] = []
  package internal(set) var count = 0
  /// The target of the channel; empty for a server.
  package internal(set) var target = ""
}

/// Finds the calls that have begun first.
struct OldestCalls<Call> {
  private let limit: Int
  private var found: [(start: UInt64, call: Call)] = []
  private(set) var count = 0

  /// Keeps at most so many.
  init(limit: Int) { self.limit = max(0, limit) }

  mutating func add(_ call: Call, start: UInt64) {
    count += 1
    found.append((start, call))
    // Sorted rarely, so that each call costs the same, however many there are.
    if found.count >= 2 * limit + 64 { cut() }
  }

  private mutating func cut() {
    found.sort { $0.start < $1.start }
    found.removeLast(max(0, found.count - limit))
  }

  mutating func take() -> [Call] {
    cut()
    return found.map(\.call)
  }
}
