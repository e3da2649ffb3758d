// unsafe: state confined to the connection's loop

import SwitchboardCall

/// Plain HTTP answers.
extension ServerCallStream {
  /// Whether the answer does not depend on the body: the request is rejected, or its page ignores the body.
  var ignoresBody: Bool { head.rejection != nil || head.page?.ignoresBody ?? false }

  func take(_ bytes: UnsafeRawBufferPointer, for page: HTTPPage) -> Int {
    guard !page.ignoresBody else { return bytes.count }
    guard request.keep(bytes, upTo: page.bodyLimit) else {
      return refuse("413", "the body is larger than the page's limit: \(page.bodyLimit) bytes", bytes.count)
    }
    let isSmall = request.pageByteCount <= Self.smallBody
    guard isSmall || connection.bytesForPages <= max(page.bodyLimit, Self.bodiesTogether) else {
      request.dropPage()
      return refuse("429", "the bodies that the connection has begun are too large together", bytes.count)
    }
    return bytes.count
  }

  /// A body up to this size is not counted with others.
  private static var smallBody: Int { 64 * 1024 }
  /// How much the bodies of a connection that are not whole may be together, unless a page allows one alone that is larger. Nobody
  /// has decided yet whether the client may ask for these pages.
  private static var bodiesTogether: Int { 1 << 20 }

  /// Returns how many bytes the client may send again.
  private func refuse(_ status: StaticString, _ message: String, _ byteCount: Int) -> Int {
    head.refuse(status, message)
    connection.streamIsReady(self)
    return byteCount
  }

  /// Runs the page's handler, once the request is whole.
  func start(_ page: HTTPPage) {
    let core = connection.core
    guard core.mayStartPage(isOnly: connection.runningHandlers == 0) else {
      return reject("503", "too many pages are in progress")
    }
    phase = .handling
    stopLimitingRequest()
    let request = head.pageRequest(body: self.request.takePage(), peer: connection.peer)
    handlersDidStart()
    let (loop, handler) = (loop, page.handler)
    let answer: @Sendable () async -> Void = {
      let response = await handler(request)
      core.pageDidEnd()
      loop.execute { self.didAnswer(response) }
    }
    if let executor = core.options.handlerPlacements.standard.executor {
      handlers.keep(Task(executorPreference: executor) { await answer() })
    } else {
      handlers.keep(Task.immediate(executorPreference: loop) { await answer() })
    }
  }

  private func didAnswer(_ response: HTTPPage.Response) {
    handlersDidReturn()
    guard phase == .handling else { return }
    phase = .ending
    handlers.dropTask()
    let headers = connection.headers
    headers.reset()
    headers.add(":status", String(min(max(response.status, 200), 599)).utf8)
    if let type = response.contentType { headers.add("content-type", type) }
    headers.add(plain: response.headers)
    head.addCrossOrigin(to: headers)
    if !response.hasValidContentType || connection.refusalOfHeaders != nil {
      headers.reset()
      headers.add(":status", "500")
      return submitPage(MessageBuffer([]))
    }
    submitPage(response.body)
  }

  private func submitPage(_ content: MessageBuffer) {
    let headers = connection.headers
    let mayHaveBody = !head.isHead
    let byteCount = content.byteCount
    if byteCount > 0 { headers.add("content-length", number: byteCount) }
    dialect?.isAnswered = true
    submitWhole(mayHaveBody && byteCount > 0 ? .message(content) : .none)
    limitReading()
    connection.setNeedsFlush()
  }
}

extension ServerConnection {
  /// How much is kept of bodies for pages that are not whole.
  fileprivate var bytesForPages: Int {
    var sum = 0
    func add(_ entry: StreamEntry) {
      if let stream = entry as? ServerCallStream { sum += stream.request.pageByteCount }
    }
    parts.streams.forEach(add)
    return sum
  }
}
