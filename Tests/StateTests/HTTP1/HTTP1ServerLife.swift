import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A server's connection over HTTP/1.1, with a client that sends requests without waiting for the responses, and handlers
/// that perform random actions.
///
/// ```
///   idle ──head──> exchange ──request and response whole──> idle
///     └──invalid──┐    └──response before the request's end, last request, invalid──┐
///                 └─────────────────────────────────────────────────────────────────┴──> closed
/// ```
/// Nothing in a response says which request it belongs to. So there is one response for each request, in their order, and
/// none before the head of its request has arrived. The handler of a request starts after the response to the request
/// before.
final class HTTP1ServerLife: HandlerLife {
  private let reader = HTTP1Reader()
  private var queue = HTTP1Queue()
  /// The request whose body is being made.
  private var composing: Composing?
  private var formats: [Int: HTTP1Format] = [:]
  /// The index of the call that is being answered.
  private var answering: Int?
  private var collected: [UInt8] = []
  /// The HTTP status of a response that is one body.
  private var failed = false
  /// The server has been told, or has said, that it answers no further requests.
  private var isClosing = false
  /// The server has received what it refuses.
  private var isRefused = false
  /// The client sends no more.
  private var hasEnded = false
  private var mayEnd = false

  private struct Composing {
    let token: Int
    /// The messages of the request, ahead of those that were sent.
    var messages = MessageSender()
  }

  // MARK: Steps

  override func step() throws(Violation) -> Bool {
    try verify()
    guard let connection else { return false }
    guard !connection.isClosed else {
      try Violation.unless(mayEnd, "a connection is closed for no reason")
      return false
    }
    // A busy loop has put off what ends its calls.
    guard !connection.isPostponed, !connection.isDirty else { return true }
    guard try isAtRest() else { return true }
    switch dice.below(20) {
    case 0..<4: compose()
    case 4..<11: feed(dice.pick([1, 2, 5, 50, 500, 10_000]))
    case 11: if dice.oneIn(8) { breakOff() }
    case 12:
      if dice.oneIn(4), mayAdvanceTime {
        // What has begun may take too long.
        mayEnd = true
        if hasEnded { loseAll() }
        advanceTime()
      }
    case 13: if dice.oneIn(8) { end(connection) }
    case 14: stepInterceptor()
    default: stepHandler()
    }
    if connection.isClosed { loseAll() }
    return true
  }

  private func feed(_ count: Int) {
    guard !hasEnded, let connection else { return }
    let (piece, effects) = queue.take(count)
    guard !piece.isEmpty else { return }
    note("the client sends \(String(decoding: piece.prefix(300), as: UTF8.self).debugDescription)")
    for effect in effects { effect() }
    connection.feed(piece)
    connection.setNeedsFlush()
  }

  /// The connection is closed, or about to be.
  private func loseAll() {
    for index in script.models.indices { script.models[index].isGone = true }
  }

  /// The client ends its side. It may still read the response to a whole request.
  private func end(_ connection: ServerConnection) {
    guard !hasEnded else { return }
    note("the client ends its side")
    hasEnded = true
    mayEnd = true
    for index in script.models.indices where !script.models[index].isHalfClosed {
      script.models[index].isGone = true
    }
    connection.socketDidEnd(nil)
  }

  /// An invalid head, behind all requests.
  private func breakOff() {
    guard composing == nil, !isClosing else { return }
    let heads = [
      "GET / HTTP/1.1\r\nbad line\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
      "POST /s/U HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
      "POST /s/U HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
    ]
    note("an invalid head is queued")
    queue.add(effect: { [unowned self] in
      isRefused = true
      mayEnd = true
    })
    queue.add(dice.pick(heads)) { [unowned self] in isClosing = true }
  }

  /// Queues a request, or more of its body.
  private func compose() {
    if composing != nil { return addBody() }
    guard !isRefused, formats.count < 8 else { return }
    let (path, type) = pickMethod()
    let format = HTTP1Format(dice.oneIn(2) ? .connect : .grpcWeb, type)
    let token = nextToken()
    let hasDeadline = dice.oneIn(3)
    let isValid = !dice.oneIn(12)
    let closes = dice.oneIn(12)
    var head = "POST \(isValid ? path : "/s/nothing") HTTP/1.1\r\nhost: a\r\n"
    head += "content-type: \(format.contentType)\r\nx-token: \(token)\r\n"
    if hasDeadline { head += format == .grpcWeb ? "grpc-timeout: 10S\r\n" : "connect-timeout-ms: 10000\r\n" }
    if closes { head += "connection: close\r\n" }
    let model = ServerCallModel(
      stream: UInt32(formats.count + 1),
      token: token,
      type: type,
      isValid: isValid,
      hasDeadline: hasDeadline,
      hasEncoding: false
    )
    formats[token] = format
    countCall()
    let begin = { [unowned self] in
      guard !isClosing else { return }
      script.models.append(model)
      if closes {
        isClosing = true
        mayEnd = true
      }
    }
    var composing = Composing(token: token)
    guard format.isBare || dice.oneIn(2) else {
      self.composing = composing
      return queue.add(head + "transfer-encoding: chunked\r\n\r\n", effect: begin)
    }
    var body: [UInt8]
    if format.isBare {
      body = composing.messages.composeBare(&dice)
    } else {
      while dice.oneIn(2), composing.messages.mayCompose {
        composing.messages.compose(token, compresses: false, &dice)
      }
      body = composing.messages.take(.max)
    }
    let sent = change(token) { [messages = composing.messages] in $0.requests = messages }
    let whole = change(token) { $0.isHalfClosed = true }
    head += "content-length: \(body.count)\r\n\r\n"
    guard !body.isEmpty else {
      return queue.add(head) {
        begin()
        sent()
        whole()
      }
    }
    queue.add(head, effect: begin)
    queue.add(effect: sent)
    queue.add(body, effect: whole)
  }

  private func addBody() {
    guard var composing else { return }
    while dice.oneIn(2), composing.messages.mayCompose {
      composing.messages.compose(composing.token, compresses: false, &dice)
    }
    let bytes = composing.messages.take(dice.pick([1, 4, 5, 6, 50, 10_000]))
    let messages = composing.messages
    queue.add(chunk: bytes, before: change(composing.token) { $0.requests = messages })
    self.composing = composing
    guard dice.oneIn(3) else { return }
    queue.add("0\r\n\r\n", effect: change(composing.token) { $0.isHalfClosed = true })
    self.composing = nil
  }

  /// A change of a call that has arrived.
  private func change(_ token: Int, _ body: @escaping (inout ServerCallModel) -> Void) -> () -> Void {
    { [unowned self] in
      guard let index = script.models.firstIndex(where: { $0.token == token }) else { return }
      body(&script.models[index])
    }
  }

  // MARK: Checks

  override func verify() throws(Violation) {
    try super.verify()
    wire.read { reader.append($0) }
    for event in try reader.takeEvents() {
      switch event {
      case .head(let head):
        note("  the server sends \(head.words) \(head.fields)")
        try begin(head)
      case .body(let bytes):
        note("  the server sends \(bytes.count) bytes")
        try take(bytes)
      case .end:
        note("  the response is whole")
        try endAnswer()
      }
    }
    let first = answering ?? script.models.firstIndex { !$0.isOver } ?? script.models.count
    for model in script.models.dropFirst(first + 1) {
      try Violation.unless(!model.hasStarted, "a handler starts before the response to the request before")
    }
  }

  private func begin(_ head: HTTP1Reader.Head) throws(Violation) {
    try Violation.unless(answering == nil, "a response begins inside another")
    guard head.words.count >= 2 else { throw Violation("a response has no status") }
    let status = head.words[1]
    collected = []
    failed = status != "200"
    guard let index = script.models.firstIndex(where: { !$0.isOver }) else {
      let isRefusal = head.closes && ["400", "408", "505"].contains(status)
      return try Violation.unless(mayEnd && isRefusal, "a response is sent that no request asked for")
    }
    answering = index
    let model = script.models[index]
    if head.closes || model.isHalfClosed {
      if head.closes {
        // What follows is not answered.
        isClosing = true
        mayEnd = true
        for later in script.models.indices.dropFirst(index + 1) { script.models[later].isGone = true }
      }
    } else {
      throw Violation("a response to an incomplete request does not close the connection")
    }
    guard !failed else { return }
    try script.models[index].sent(Frame(.headers, []), fields: [":status": "200"])
  }

  private func take(_ bytes: [UInt8]) throws(Violation) {
    guard let index = answering, let format = formats[script.models[index].token] else { return }
    collected += bytes
    guard !format.isBare, !failed else { return }
    while collected.count >= 5 {
      let count = 5 + collected[1..<5].reduce(0) { $0 << 8 | Int($1) }
      guard collected.count >= count else { return }
      let frame = Array(collected[..<count])
      collected.removeFirst(count)
      if let code = try format.status(in: frame) {
        try end(index, code)
      } else {
        try script.models[index].sent(Frame(.data, frame), fields: [:])
      }
    }
  }

  private func endAnswer() throws(Violation) {
    guard let index = answering, let format = formats[script.models[index].token] else { return }
    answering = nil
    if failed {
      try end(index, HTTP1Format.status(of: String(decoding: collected, as: UTF8.self)), isOnly: true)
    } else if format.isBare {
      try script.models[index].sent(Frame(.data, HTTP1Format.frame(collected)), fields: [:])
      try end(index, .ok)
    }
    try Violation.unless(script.models[index].isOver, "a response ends without a status")
  }

  private func end(_ index: Int, _ code: GRPCStatus.Code, isOnly: Bool = false) throws(Violation) {
    var fields = ["grpc-status": "\(code.rawValue)"]
    if isOnly { fields[":status"] = "200" }
    try script.models[index].sent(Frame(.headers, flags: 5, []), fields: fields)
  }
}
