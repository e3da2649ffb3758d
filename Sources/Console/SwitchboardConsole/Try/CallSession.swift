import ConsoleMessages
import Switchboard
import SwitchboardCall
import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardServices

/// A call that a viewer makes, and what has happened in it that the viewer has not fetched.
///
/// What is kept is bounded: with this much, responses are read no further, so that the server waits as for any slow client.
final class CallSession: Sendable {
  private struct State: Sendable {
    /// What the viewer has not said to have.
    var events: [Switchboard_Console_V1_CallEvent] = []
    /// The number of the first of them.
    var first = 0
    var byteCount = 0
    var isOver = false
    var asked: ContinuousClock.Instant
    var end: ContinuousClock.Instant?
    /// Who waits for room.
    var waiter: CheckedContinuation<Void, Never>?
    /// Whether nobody waits for responses any more.
    var isAbandoned = false
    /// The requests that are not sent yet, and their bytes.
    var unsent = (count: 0, bytes: 0)
    var endsRequests = false

    /// Whether a response may be added.
    var hasRoom: Bool { events.count < CallSession.mostEvents && byteCount < CallSession.mostBytes }
  }

  /// The most that is kept of responses.
  static let mostEvents = 200
  static let mostBytes = 1 << 20
  /// The most that is shown of one response, and the most JSON that is made of it: names of enums and fields are the
  /// server's, and may be much longer than what they stand for.
  static let mostOfMessage = 256 << 10
  static let mostJSON = 4 << 20
  /// The most requests that wait for a server that does not read them.
  static let mostUnsent = 100
  static let mostUnsentBytes = 4 << 20

  let id: String
  private let started: ContinuousClock.Instant
  private let time: any CallTime
  private let call: DynamicCall
  private let method: SchemaMethod
  private let types: TypeRegistry
  private let state: Locked<State>
  private let outbox: AsyncStream<DynamicPayload>.Continuation
  /// Keeps the channel for as long as the call.
  private let channel: Channel

  init(
    of method: SchemaMethod,
    _ dynamic: DynamicMethod,
    on channel: Channel,
    options: CallOptions,
    _ requests: [DynamicPayload],
    endsRequests: Bool,
    schema: Schema,
    _ clock: ConsoleClock
  ) {
    id = ConsoleToken.made()
    time = clock.time
    self.method = method
    self.channel = channel
    types = DetailTypes.registry(with: schema)
    started = time.now
    state = Locked(State(asked: time.now))
    let single = method.descriptor.clientStreaming ? nil : requests.first ?? dynamic.requests.kind.empty
    call = DynamicCall(of: dynamic, on: channel, options: options, single: single)
    let (stream, outbox) = AsyncStream.makeStream(of: DynamicPayload.self)
    self.outbox = outbox
    if let writer = call.requests {
      Task.detached(executorPreference: clock.loop) { [self] in await send(stream, to: writer) }
      _ = send(requests, ends: endsRequests)
    }
    Task.detached(executorPreference: clock.loop) { [self] in await read() }
  }

  func cancel() {
    call.call.cancel()
    state.withLock { state in
      state.isAbandoned = true
      outbox.finish()
    }
    makeRoom()
  }

  // MARK: Requests

  /// Sends requests, and ends them if `ends`. Returns why it cannot.
  func send(_ requests: [DynamicPayload], ends: Bool) -> String? {
    let bytes = Self.size(of: requests)
    return state.withLock { state -> String? in
      guard call.requests != nil else { return "the method takes one request" }
      guard !state.endsRequests else { return "the requests were ended" }
      guard !state.isOver, !state.isAbandoned else { return "the call is over" }
      guard state.unsent.count + requests.count <= Self.mostUnsent,
        state.unsent.bytes + bytes <= Self.mostUnsentBytes
      else { return "the server does not read the requests that were sent: wait, or cancel the call" }
      state.unsent = (state.unsent.count + requests.count, state.unsent.bytes + bytes)
      state.endsRequests = ends
      // Here, so that those who send at once do not mix their requests, nor end those of others.
      for request in requests { outbox.yield(request) }
      if ends { outbox.finish() }
      return nil
    }
  }

  /// How many bytes requests take.
  static func size(of requests: [DynamicPayload]) -> Int {
    requests.reduce(0) { $0 + ((try? $1.encoded().count) ?? 0) }
  }

  private func send(_ requests: AsyncStream<DynamicPayload>, to writer: RequestStreamWriter<DynamicPayload>)
    async
  {
    for await request in requests {
      let bytes = (try? request.encoded().count) ?? 0
      // A call that has ended says so by its status.
      guard (try? await writer.send(request)) != nil else { break }
      state.withLock { $0.unsent = ($0.unsent.count - 1, $0.unsent.bytes - bytes) }
    }
    writer.finish()
  }

  // MARK: Responses

  private func read() async {
    if let metadata = try? await call.call.initialMetadata, !metadata.isEmpty {
      add { $0.headers = .with { $0.headers = metadata.shown } }
    }
    var count = 0
    var broken: GRPCStatus?
    do {
      for try await response in call.responses {
        count += 1
        guard count == 1 || method.descriptor.serverStreaming else { throw GRPCStatus.tooManyMessages }
        try add(response)
        await waitForRoom()
      }
      if count == 0, !method.descriptor.serverStreaming { broken = .missingResponse }
    } catch let status as GRPCStatus {
      broken = status
      call.call.cancel()
    } catch {
      broken = GRPCStatus(code: .internalError, message: "the response cannot be shown: \(error)")
      call.call.cancel()
    }
    var status = await call.call.status
    // The status of the server is not about what it has sent before.
    if let broken, status.isOk || broken.code == .internalError { status = broken }
    let trailers = (try? await call.call.trailingMetadata) ?? [:]
    outbox.finish()
    add(CallEnding(status, trailers, types).message)
  }

  private func add(_ response: DynamicPayload) throws(EncodeError) {
    var options = JSONEncodingOptions()
    options.typeRegistry = types
    options.deterministic = true
    let (json, isWhole) = try response.jsonStart(Self.mostJSON, options)
    add { event in
      event.message.json = String(decoding: json, as: UTF8.self).start(Self.mostOfMessage)
      event.message.isLonger = !isWhole
      if !isWhole {
        event.message.wholeLength = UInt64(Self.mostJSON)
      } else if json.count > Self.mostOfMessage {
        event.message.wholeLength = UInt64(json.count)
      }
    }
  }

  private func add(_ end: Switchboard_Console_V1_CallEnd) { add(isLast: true) { $0.end = end } }

  private func add(isLast: Bool = false, _ change: (inout Switchboard_Console_V1_CallEvent) -> Void) {
    let now = time.now
    var event = Switchboard_Console_V1_CallEvent()
    event.seconds = started.duration(to: now) / .seconds(1)
    change(&event)
    state.withLock { state in
      state.events.append(event)
      state.byteCount += event.message.json.utf8.count
      if isLast { (state.isOver, state.end) = (true, now) }
    }
  }

  /// Waits until the viewer has fetched enough.
  private func waitForRoom() async {
    await withCheckedContinuation { continuation in
      let hasRoom = state.withLock { state in
        if state.isAbandoned || state.hasRoom { return true }
        state.waiter = continuation
        return false
      }
      if hasRoom { continuation.resume() }
    }
  }

  private func makeRoom() {
    let waiter = state.withLock { state in
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  // MARK: The viewer

  /// Whether how it ended is known.
  var isOver: Bool { state.withLock(\.isOver) }

  /// Whether it goes on, and nobody has cancelled it.
  var isUnderWay: Bool { state.withLock { !$0.isOver && !$0.isAbandoned } }

  /// How long ago the viewer asked last.
  func silence(at now: ContinuousClock.Instant) -> Duration { state.withLock { $0.asked.duration(to: now) } }

  /// What is new for a viewer who has the events before the one with this number.
  func news(from number: Int) -> Switchboard_Console_V1_CallView {
    let now = time.now
    var view = Switchboard_Console_V1_CallView()
    view.id = id
    state.withLock { state in
      state.asked = now
      let known = min(max(0, number - state.first), state.events.count)
      state.byteCount -= state.events[..<known].reduce(0) { $0 + $1.message.json.utf8.count }
      state.events.removeFirst(known)
      state.first += known
      view.events = state.events
      view.next = UInt32(clamping: state.first + state.events.count)
      view.isOver = state.isOver
      view.seconds = started.duration(to: state.end ?? now) / .seconds(1)
    }
    if state.withLock(\.hasRoom) { makeRoom() }
    return view
  }
}
