import SwitchboardCall

/// What happens to one call of a server, and when.
package final class CallTimeline: StageWatch {
  /// A stage, or an interceptor in both directions.
  package struct Lane: Sendable {
    package let name: String
    /// When it was at work, in nanoseconds of the call: the first times.
    package fileprivate(set) var spans: [Range<Int>] = []
    /// How often it was at work in all, and how long.
    package fileprivate(set) var count = 0
    package fileprivate(set) var total = 0
    /// Whether it is at work now.
    package fileprivate(set) var isOpen = false

    fileprivate init(_ name: String) { self.name = name }

    fileprivate mutating func add(_ span: Range<Int>) {
      count += 1
      total += span.count
      if spans.count < CallTimeline.mostSpans { spans.append(span) }
    }

    fileprivate mutating func cut(at end: Int) {
      for index in spans.indices {
        let kept = spans[index].clamped(to: 0..<max(0, end))
        total -= spans[index].count - kept.count
        spans[index] = kept
      }
    }
  }

  fileprivate struct State: Sendable {
    var lanes: [CallStage: Lane] = [:]
    /// Since when stages are at work, and with how many parts.
    var open: [CallStage: (start: Int, count: Int)] = [:]
    var names: [Int: String] = [:]
    /// When the request's first message was there, and when the last stage ended.
    var arrived: Int?
    var firstStage: Int?
    var lastEnd = 0
    var messages = 0
    var end: Int?
  }

  /// The most times that are kept of a stage, and the most interceptors that have a lane of their own.
  static let mostSpans = 16
  static let mostInterceptors = 16

  private let start: UInt64
  private let clock: TelemetryClock
  private let state = Locked(State())

  init(start: UInt64, _ clock: TelemetryClock) {
    self.start = start
    self.clock = clock
  }

  private var now: Int { TelemetryClock.duration(from: start, to: clock.mark) }

  // MARK: What happens

  func requestArrived() {
    let now = now
    state.withLock { if $0.arrived == nil { $0.arrived = now } }
  }

  package func found(_ interceptor: AnyObject, at index: Int) {
    // Without what the type is generic over.
    let name = "\(type(of: interceptor))".utf8.prefix { $0 != UInt8(ascii: "<") }
    let text = String(decoding: name.prefix(80), as: UTF8.self)
    state.withLock { if $0.names.count < Self.mostInterceptors { $0.names[index] = text } }
  }

  package func began(_ stage: CallStage) {
    let now = now
    state.withLock { state in
      guard state.end == nil, state.hasRoom(for: stage) else { return }
      if state.firstStage == nil { state.firstStage = now }
      state.open[stage, default: (now, 0)].count += 1
    }
  }

  package func ended(_ stage: CallStage) {
    let now = now
    state.withLock { state in
      guard var open = state.open[stage] else { return }
      open.count -= 1
      if open.count > 0 { state.open[stage] = open } else { state.close(stage, at: now) }
    }
  }

  package func answered() {
    let now = now
    state.withLock { state in
      for stage in state.open.keys { if case .receive = stage { state.close(stage, at: now) } }
    }
  }

  /// The call has ended after so many nanoseconds. What went on until now on other threads ends with it.
  func callEnded(after end: Int) {
    state.withLock { state in
      for stage in state.open.keys { state.close(stage, at: end) }
      for stage in state.lanes.keys { state.lanes[stage]?.cut(at: end) }
      state.lastEnd = min(state.lastEnd, end)
      state.end = end
    }
  }

  // MARK: Reading

  /// The lanes, in the order in which a request passes them.
  package var lanes: [Lane] {
    let (state, now) = (state.withLock { $0 }, now)
    var lanes: [Lane] = []
    let arrived = state.arrived ?? state.firstStage ?? state.end ?? now
    lanes.append(Self.lane("Request", 0..<arrived, isOpen: state.arrived == nil && state.firstStage == nil))
    let first = state.firstStage ?? state.end ?? now
    if first > arrived {
      lanes.append(Self.lane("Queue", arrived..<first, isOpen: state.firstStage == nil))
    }
    lanes += [state.lane(.decode, "Decode", now)].compactMap { $0 }
    for index in state.names.keys.sorted() {
      var both = Lane("Interceptor \(state.names[index] ?? "")")
      for stage in [CallStage.receive(index), .send(index)] {
        guard let lane = state.lane(stage, "", now) else { continue }
        both.count += lane.count
        both.total += lane.total
        both.spans += lane.spans
        both.isOpen = both.isOpen || lane.isOpen
      }
      if both.count > 0 || both.isOpen { lanes.append(both) }
    }
    lanes += [state.lane(.handler, "Handler", now), state.lane(.encode, "Encode", now)].compactMap { $0 }
    if let end = state.end, end > state.lastEnd, state.lastEnd > 0 {
      lanes.append(Self.lane("Send", state.lastEnd..<end, isOpen: false))
    }
    return lanes
  }

  private static func lane(_ name: String, _ span: Range<Int>, isOpen: Bool) -> Lane {
    var lane = Lane(name)
    lane.add(span)
    lane.isOpen = isOpen
    return lane
  }
}

extension CallTimeline.State {
  /// Interceptors beyond the first few have no names, and no lanes.
  fileprivate func hasRoom(for stage: CallStage) -> Bool {
    switch stage {
    case .receive(let index), .send(let index): names[index] != nil
    case .decode, .handler, .encode: true
    }
  }

  fileprivate mutating func close(_ stage: CallStage, at now: Int) {
    guard let open = open.removeValue(forKey: stage) else { return }
    lanes[stage, default: CallTimeline.Lane("")].add(open.start..<max(open.start, now))
    if end == nil { lastEnd = max(lastEnd, now) }
  }

  /// What a stage has done by now. `nil` if it was never at work.
  fileprivate func lane(_ stage: CallStage, _ name: String, _ now: Int) -> CallTimeline.Lane? {
    guard lanes[stage] != nil || open[stage] != nil else { return nil }
    var lane = CallTimeline.Lane(name)
    if let known = lanes[stage] {
      (lane.spans, lane.count, lane.total) = (known.spans, known.count, known.total)
    }
    if let open = open[stage] {
      lane.add(open.start..<max(open.start, now))
      lane.isOpen = true
    }
    return lane
  }
}
