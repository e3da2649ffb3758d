import SwitchboardCall

@testable import SwitchboardHTTP2

/// A call of a client, and its events. Used on the loop.
final class CheckedCall: ResponseReceiver, @unchecked Sendable {
  // Sendable because it is used on one loop.
  var model: ClientCallModel
  let requests: MessagePipe?
  let responses: MessagePipe?
  private(set) var call: (any ByteCall)?
  private(set) var violation: Violation?

  init(_ model: ClientCallModel) {
    self.model = model
    requests = model.streamsRequests ? MessagePipe(limit: 100) : nil
    responses = model.streamsResponses ? MessagePipe(limit: 100) : nil
  }

  func start(on channel: HTTP2ClientTransport, _ method: String) {
    let options = CallOptions(initialMetadata: ["x-token": "\(model.token)"])
    var body = requests.map { CallRequest.Body.stream($0) }
    if body == nil {
      model.written = [[UInt8(truncatingIfNeeded: model.token)]]
      model.hasFinished = true
      body = .message(BytesMarshaller().encode(model.written[0]))
    }
    guard let body else { return }
    var request = CallRequest(
      method: MethodDescriptor(service: "s", method: method, type: model.type),
      options: options,
      body: body,
      responses: responses
    )
    if model.hasDeadline { request.deadline = CallDeadline(.now + .seconds(10)) }
    let call = channel.makeCall(request, receiver: self)
    self.call = call
    call.start()
  }

  func write(_ message: [UInt8], flush: Bool) {
    guard let requests, !requests.hasEnded else { return }
    model.written.append(message)
    requests.push(BytesMarshaller().encode(message), flush: flush)
  }

  func finish() {
    guard let requests, !requests.hasEnded else { return }
    model.hasFinished = true
    requests.finish()
  }

  func cancel() {
    model.isCancelled = true
    call?.cancel(GRPCStatus(code: .cancelled))
  }

  /// `false` if there is nothing to read.
  @discardableResult
  func read() -> Bool {
    guard case .message(let message) = responses?.pop() ?? .empty else { return false }
    let bytes = message.withBytes { $0.withUnsafeBytes(Array.init) }
    note { (model: inout ClientCallModel) throws(Violation) in try model.receive(bytes) }
    return true
  }

  func letGo() { call = nil }

  private func note(_ change: (inout ClientCallModel) throws(Violation) -> Void) {
    do throws(Violation) { try change(&model) } catch { violation = violation ?? error }
  }

  // MARK: Events

  var wantsMetadata: Bool { model.token % 2 == 0 }

  func receive(headers: HPACKHeaders) {
    note { (model: inout ClientCallModel) throws(Violation) in try model.receive(headers) }
  }

  func receive(message: RawSpan) {
    let bytes = message.withUnsafeBytes(Array.init)
    note { (model: inout ClientCallModel) throws(Violation) in try model.receive(bytes) }
  }

  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    note { (model: inout ClientCallModel) throws(Violation) in try model.close(status) }
  }
}
