import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A client's connection over HTTP/1.1, with a server and callers that perform random valid and invalid actions.
///
/// ```
///   idle ──head of a request──> exchange ──last byte of the response──> idle
///     └──any byte──┐               └──invalid, cut, or before the request's end──┐
///                  └──surplus──────┴────────────────────────────────────────────────> closed
/// ```
/// Nothing in a response says which request it belongs to. So the order alone must: a call is answered by what the server
/// sends after it has received the head of the call, and by nothing else.
final class HTTP1ClientLife: CallerLife {
  private let reader = HTTP1Reader()
  private let callProtocol: CallProtocol
  private var queue = HTTP1Queue()
  /// The call whose request has begun, and whose response is not complete.
  private var current: CheckedCall?
  private var format = HTTP1Format.grpcWeb
  private var requestIsWhole = false
  private var collected: [UInt8] = []
  private var exchanges: UInt32 = 0
  private var answer = Answer.none
  /// The messages of the response, ahead of those that were sent.
  private var composer = MessageSender()
  /// The client must close the connection at once.
  private var mustEnd = false
  /// The client may close the connection.
  private var mayEnd = false

  private enum Answer {
    case none
    case chunks, untilClose
    /// All of it is in the queue.
    case whole
  }

  override init?(_ group: LoopGroup, _ options: ChannelOptions, seed: UInt64, tracing: Bool) {
    var options = options
    options.httpVersion = .http1
    options.maxHTTP1Connections = 1
    options.wireProtocol = seed % 4 < 2 ? .connect : .grpcWeb
    callProtocol = options.wireProtocol
    super.init(group, options, seed: seed, tracing: tracing)
  }

  // MARK: Steps

  override func step() throws(Violation) -> Bool {
    try verify()
    guard let remaining, !remaining.isClosed else { return false }
    switch dice.below(20) {
    case 0..<3: open(mayIntercept: false)
    case 3..<7: respond()
    case 7..<14: feed(dice.pick([1, 2, 5, 50, 10_000]))
    case 14: if dice.oneIn(6) { sendUnrequested() }
    case 15: if dice.oneIn(4) { advance() }
    case 16: if dice.oneIn(8) { end(with: "the server closes the connection") }
    default: stepCaller()
    }
    try Violation.unless(!mustEnd || remaining.isClosed, "a connection goes on after bytes of no response")
    try Violation.unless(mayEnd || !remaining.isClosed, "a connection is closed for no reason")
    return !remaining.isClosed
  }

  private func feed(_ count: Int) {
    let (piece, effects) = queue.take(count)
    guard !piece.isEmpty else { return }
    note("the server sends \(String(decoding: piece.prefix(200), as: UTF8.self).debugDescription)")
    let call = current
    for effect in effects { effect() }
    if call?.model.isBroken == true { loseAll() }
    remaining?.feed(piece)
    remaining?.setNeedsFlush()
  }

  /// From here on, the end of the connection explains that of any call.
  override func loseAll() {
    super.loseAll()
    mayEnd = true
  }

  private func breakOff() {
    loseAll()
    mustEnd = true
  }

  /// Queues more of the response to the current call.
  private func respond() {
    guard let call = current else { return }
    switch answer {
    case .none: begin(call)
    case .chunks, .untilClose: dice.oneIn(3) ? finish(call) : addMessages(call)
    case .whole: break
    }
  }

  private func begin(_ call: CheckedCall) {
    if dice.oneIn(6) {
      return queue.add("HTTP/1.1 \(dice.pick(["100", "103"])) Wait\r\nx-answer: none\r\n\r\n")
    }
    if dice.oneIn(20) {
      answer = .whole
      let heads = [
        "HTTP/1.1 200 OK\r\nno field\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 101 \r\n\r\n", "\n",
      ]
      // An invalid line may be noticed before it is complete.
      queue.add(effect: { [unowned self] in loseAll() })
      return queue.add(dice.pick(heads)) { [unowned self] in breakOff() }
    }
    var head = "HTTP/1.1 200 OK\r\nx-answer: \(call.model.token)\r\n"
    let isGood = !dice.oneIn(10)
    head += "content-type: \(isGood ? format.contentType : "text/html")\r\n"
    let effect = { call.model.answer = isGood ? .good : .bad }
    if format.isBare { return respond(to: call, head, effect) }
    answer = dice.oneIn(8) ? .untilClose : .chunks
    if case .chunks = answer { head += "transfer-encoding: chunked\r\n" }
    queue.add(head + "\r\n", effect: effect)
  }

  /// A response that is one body.
  private func respond(to call: CheckedCall, _ head: String, _ effect: @escaping () -> Void) {
    var head = head
    var code = GRPCStatus.Code.ok
    var body = composer.composeBare(&dice)
    if dice.oneIn(4) {
      code = .notFound
      body = Array(HTTP1Format.error(code).utf8)
      head = head.replacing("200 OK", with: "404 Not Found").replacing(
        "application/proto",
        with: "application/json"
      )
    }
    let snapshot = composer
    let closes = dice.oneIn(8)
    if closes { head += "connection: close\r\n" }
    answer = .whole
    let complete = { [unowned self] in
      effect()
      if code == .ok { call.model.responses = snapshot }
      call.model.end = code
      didComplete(call, closes: closes)
    }
    guard dice.oneIn(2) else {
      head += "content-length: \(body.count)\r\n\r\n"
      queue.add(head, effect: body.isEmpty ? complete : effect)
      if !body.isEmpty { queue.add(body, effect: complete) }
      return addSurplus()
    }
    queue.add(head + "transfer-encoding: chunked\r\n\r\n", effect: effect)
    queue.add(chunk: body)
    queue.add("0\r\n\r\n", effect: complete)
    addSurplus()
  }

  private func addMessages(_ call: CheckedCall) {
    while dice.oneIn(2), composer.mayCompose { composer.compose(call.model.token, compresses: false, &dice) }
    let bytes = composer.take(dice.pick([1, 4, 5, 6, 50, 10_000]))
    let snapshot = composer
    add(bytes, before: { call.model.responses = snapshot })
  }

  /// Queues bytes of a body with frames.
  private func add(_ bytes: [UInt8], before: @escaping () -> Void = {}, effect: (() -> Void)? = nil) {
    if case .chunks = answer { return queue.add(chunk: bytes, before: before, effect: effect) }
    queue.add(effect: before)
    queue.add(bytes, effect: effect)
  }

  private func finish(_ call: CheckedCall) {
    let rest = composer.take(.max)
    let snapshot = composer
    add(rest, before: { call.model.responses = snapshot })
    // Without it, the response is not a success.
    if !dice.oneIn(10) {
      let code = dice.pick([.ok, .ok, .ok, .notFound] as [GRPCStatus.Code])
      let effect = { [unowned self] in
        call.model.end = code
        // The client need not send what nobody reads.
        if !requestIsWhole { loseAll() }
      }
      add(format.end(code), effect: effect)
    }
    let isChunked = if case .chunks = answer { true } else { false }
    answer = .whole
    // Otherwise it ends with the connection.
    guard isChunked else { return }
    queue.add("0\r\n\r\n") { [unowned self] in didComplete(call, closes: false) }
    addSurplus()
  }

  private func didComplete(_ call: CheckedCall, closes: Bool) {
    call.model.isHalfClosed = true
    if closes || !requestIsWhole { loseAll() }
    current = nil
  }

  /// Bytes behind a response, together with its end: later, they could belong to the next one.
  private func addSurplus() {
    guard dice.oneIn(6) else { return }
    queue.add(forged(), isJoined: true) { [unowned self] in breakOff() }
  }

  /// What a call would take for its response, or nonsense.
  private func forged() -> String {
    guard dice.oneIn(2) else { return dice.pick(["\r\n", "H", "\u{0}", "HTTP/1.1 100 \r\n\r\n"]) }
    let head = "HTTP/1.1 200 OK\r\nx-answer: forged\r\ncontent-type: "
    return head + "\(dice.pick(["application/proto", "application/grpc-web"]))\r\ncontent-length: 0\r\n\r\n"
  }

  /// Bytes before a request, which a call that begins at the same time has not sent yet.
  private func sendUnrequested() {
    guard current == nil, queue.isEmpty else { return }
    if dice.oneIn(2) { open(mayIntercept: false) }
    queue.add(forged(), isJoined: true) { [unowned self] in breakOff() }
    feed(1)
  }

  private func advance() {
    // What has begun may take too long.
    if !queue.isEmpty || current?.model.hasDeadline == true || current?.model.end != nil { loseAll() }
    advanceTime()
  }

  private func end(with reason: String) {
    note(reason)
    loseAll()
    if let current { current.model.isHalfClosed = true }
    remaining?.socketDidEnd(nil)
  }

  override func willCancel(_ call: CheckedCall) {
    // Only the end of the connection tells the server.
    if call === current || current == nil { loseAll() }
  }

  // MARK: Checks

  override func verify() throws(Violation) {
    wire.read { reader.append($0) }
    for event in try reader.takeEvents() {
      switch event {
      case .head(let head):
        note("  the client sends \(head.words) \(head.fields)")
        try begin(head)
      case .body(let bytes):
        note("  the client sends \(bytes.count) bytes")
        if format.isBare { collected += bytes } else { try current?.model.sent(data(bytes)) }
      case .end:
        note("  the request is whole")
        requestIsWhole = true
        try current?.model.sent(data(format.isBare ? HTTP1Format.frame(collected) : [], ends: true))
      }
    }
    try super.verify()
  }

  private func begin(_ head: HTTP1Reader.Head) throws(Violation) {
    try Violation.unless(current == nil, "a request is sent before the response to the one before")
    guard let call = all.first(where: { "\($0.model.token)" == head.fields["x-token"] }) else {
      throw Violation("a request of no call is sent")
    }
    exchanges += 1
    try call.model.opened(exchanges)
    current = call
    format = HTTP1Format(callProtocol, call.model.type)
    requestIsWhole = false
    collected = []
    answer = .none
    composer = MessageSender()
  }

  private func data(_ bytes: [UInt8], ends: Bool = false) -> Frame {
    Frame(.data, flags: ends ? 1 : 0, stream: exchanges, bytes)
  }
}
