import ConsoleMessages
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardTelemetry
import SwitchboardTransport

/// Finds the calls in progress, where servers and channels have them: nothing is kept of them for this.
struct CallsUnderWay: Sendable {
  /// A call in progress.
  struct Found: Sendable {
    let id: String
    let snapshot: CallSnapshot
    let timeline: CallTimeline?
    let message: Switchboard_Console_V1_Call
  }

  let telemetry: Telemetry
  let entries: ConsoleEntries
  let clock: ConsoleClock

  /// Those of a side that a query asks for, the longest first: `limit` of each server or channel. The names are those of
  /// servers and channels that do not answer.
  func calls(_ query: ViewQuery, limit: Int) async -> (calls: [Found], silent: [String]) {
    var calls: [Found] = []
    var silent: [String] = []
    let isWanted = isWanted(query)
    if query.side == .server {
      for known in entries.servers {
        let found = await clock.inTime { await known.server.callsInProgress(limit: limit, isWanted) }
        if let found { calls += found.oldest.map { self.found($0, "") } } else { silent.append(known.name) }
      }
    } else {
      for known in entries.channels {
        let found = await clock.inTime { await known.channel.callsInProgress(limit: limit, isWanted) }
        if let found {
          calls += found.oldest.map { self.found($0, found.target) }
        } else {
          silent.append(known.name)
        }
      }
    }
    return (calls.sorted { $0.message.seconds > $1.message.seconds }, silent)
  }

  /// Methods are found by their names, since there may be many calls.
  private func isWanted(_ query: ViewQuery) -> @Sendable (MethodDescriptor, UInt64) -> Bool {
    let methods = WantedMethods { query.includes($0) }
    return { [telemetry] method, start in
      guard methods.include(method) else { return false }
      guard let bucket = query.bucket else { return true }
      return bucket == LatencyBucket(nanoseconds: telemetry.age(of: start).nanoseconds)
    }
  }

  private func found(_ snapshot: CallSnapshot, _ target: String) -> Found {
    let age = telemetry.age(of: snapshot.stamp.start)
    let timeline = snapshot.tracer.flatMap { telemetry.timeline(of: $0) }
    let id = KeptCall.id(isServer: target.isEmpty, start: snapshot.stamp.start)
    let message = Switchboard_Console_V1_Call.with {
      $0.id = id
      $0.method = String(snapshot.method.path.dropFirst()).excerpt
      $0.target = target.excerpt
      $0.start = .init(nanoseconds: age.date)
      $0.seconds = Double(age.nanoseconds) / 1e9
      $0.waitsFor = snapshot.stage.shown
      $0.peer = snapshot.peer.excerpt
      $0.traceID = telemetry.identity(snapshot.stamp, snapshot.tracer).shown?.trace ?? ""
      $0.attempts = UInt32(clamping: target.isEmpty ? 0 : snapshot.previousAttempts + 1)
      $0.hasTimeline_p = timeline != nil
    }
    return Found(id: id, snapshot: snapshot, timeline: timeline, message: message)
  }
}

extension CallSnapshot.Stage {
  fileprivate var shown: String {
    switch self {
    case .waitsForServer: "a server"
    case .waitsForConnection: "a connection"
    case .awaitsResponse: "the response"
    case .receivesResponse: "the rest of the response"
    case .receivesRequest: "the request"
    case .isServed: "the handler"
    case .sendsResponse: "the client"
    }
  }
}
