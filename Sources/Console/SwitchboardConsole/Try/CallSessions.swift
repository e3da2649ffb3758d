import ConsoleMessages
import Switchboard
import SwitchboardCall
import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardText

/// The calls that viewers make. One whose viewer stops asking for news is cancelled and forgotten.
actor CallSessions {
  private let clock: ConsoleClock
  private var sessions: [ExactText: Entry] = [:]

  private struct Entry {
    let session: CallSession
    let dynamic: DynamicMethod
    let schema: Schema
    let watching: Task<Void, Never>
  }

  /// The most calls that are under way, of all viewers.
  static let mostSessions = 16
  /// The most that are known: with those that were cancelled, and those whose viewers may still ask how they ended.
  static let mostKnown = 2 * mostSessions
  /// How long a viewer may be silent.
  static let patience = Duration.seconds(10)
  /// The largest response of a server. The page gets the beginning of a larger one than `CallSession.mostOfMessage`.
  private static let largestResponse = 16 << 20

  init(_ clock: ConsoleClock) { self.clock = clock }

  var count: Int { sessions.count }

  func start(
    _ start: Switchboard_Console_V1_StartCall,
    on target: any CallTarget,
    _ schema: Schema
  ) throws -> Switchboard_Console_V1_CallView {
    guard hasRoom else {
      throw CallMistake("the console makes \(Self.mostSessions) calls at most at a time: cancel one, or wait")
    }
    guard let method = schema.method(named: start.method) else {
      throw CallMistake("\(target.name) has no method \(Array(start.method.utf8).excerpt())")
    }
    var options = CallOptions()
    options.initialMetadata = try HPACKHeaders(start.headers)
    for (name, value) in target.metadata where options.initialMetadata[name].isEmpty {
      options.initialMetadata.add(name: name, value: value)
    }
    options.responseSizeLimit = Self.largestResponse
    if start.timeoutSeconds != 0 {
      guard start.timeoutSeconds > 0, start.timeoutSeconds <= 86_400 else {
        throw CallMistake("a deadline is more than 0 s, and at most a day")
      }
      options.timeout = .seconds(start.timeoutSeconds)
    }
    let dynamic = try schema.dynamicMethod(method)
    let requests = try Self.payloads(start.requests, dynamic, schema)
    guard requests.count <= 1 || method.descriptor.clientStreaming else {
      throw CallMistake("the method takes one request")
    }
    if method.descriptor.clientStreaming {
      guard requests.count <= CallSession.mostUnsent,
        CallSession.size(of: requests) <= CallSession.mostUnsentBytes
      else {
        throw CallMistake(
          "a call begins with \(CallSession.mostUnsent) requests of 4 MB at most: send the others later"
        )
      }
    }
    let session = CallSession(
      of: method,
      dynamic,
      on: try target.channel(),
      options: options,
      requests,
      endsRequests: start.endsRequests,
      schema: schema,
      clock
    )
    let watching = Task.detached(executorPreference: clock.loop) { [self, clock] in
      var now = clock.time.now
      while session.silence(at: now) < Self.patience, !Task.isCancelled {
        let rest = Self.patience - session.silence(at: now)
        guard (try? await clock.time.sleep(until: now.advanced(by: rest), on: clock.loop)) != nil else {
          break
        }
        now = clock.time.now
      }
      session.cancel()
      await forget(session)
    }
    forgetOldest()
    sessions[session.id] = Entry(session: session, dynamic: dynamic, schema: schema, watching: watching)
    return session.news(from: 0)
  }

  private func forget(_ session: CallSession) { sessions[session.id] = nil }

  /// Whether there may be another call.
  private var hasRoom: Bool {
    let known = sessions.values
    return known.count(where: \.session.isUnderWay) < Self.mostSessions
      && known.count(where: { !$0.session.isOver }) < Self.mostKnown
  }

  /// Forgets the call that was over when its viewer last asked, if there are too many.
  private func forgetOldest() {
    guard sessions.count >= Self.mostKnown else { return }
    let now = clock.time.now
    let over = sessions.values.filter(\.session.isOver)
    guard let oldest = over.max(by: { $0.session.silence(at: now) < $1.session.silence(at: now) }) else {
      return
    }
    oldest.watching.cancel()
    forget(oldest.session)
  }

  /// What is new in a call; further requests, the end of them, or the end of the call.
  func go(on continuing: Switchboard_Console_V1_ContinueCall) throws(CallMistake)
    -> Switchboard_Console_V1_CallView
  {
    guard let entry = sessions[continuing.id] else { return Switchboard_Console_V1_CallView() }
    if continuing.cancels {
      entry.session.cancel()
    } else if !continuing.requests.isEmpty || continuing.endsRequests {
      let requests = try Self.payloads(continuing.requests, entry.dynamic, entry.schema)
      if let mistake = entry.session.send(requests, ends: continuing.endsRequests) {
        throw CallMistake(mistake)
      }
    }
    let news = entry.session.news(from: Int(continuing.from))
    // The viewer has all of it.
    if news.isOver, news.events.isEmpty {
      entry.watching.cancel()
      forget(entry.session)
    }
    return news
  }

  /// Ends all calls.
  func shutDown() {
    for entry in sessions.values {
      entry.watching.cancel()
      entry.session.cancel()
    }
    sessions = [:]
  }

  private static func payloads(_ requests: [String], _ method: DynamicMethod, _ schema: Schema)
    throws(CallMistake)
    -> [DynamicPayload]
  {
    var payloads: [DynamicPayload] = []
    for (index, request) in requests.enumerated() {
      do {
        payloads.append(try method.requests.kind.payload(json: Array(request.utf8), schema.types))
      } catch {
        throw CallMistake("\(error)", request: index + 1)
      }
    }
    return payloads
  }
}
