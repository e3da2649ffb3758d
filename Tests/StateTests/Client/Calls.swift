import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A call of a client, and its events. Used on the loop.
class CheckedCall: @unchecked Sendable {
  // Sendable because it is used on one loop.
  final var model: ClientCallModel
  private(set) final var violation: Violation?

  init(_ model: ClientCallModel) {
    self.model = model
    guard !model.streamsRequests else { return }
    self.model.written = [[UInt8(truncatingIfNeeded: model.token)]]
    self.model.hasFinished = true
  }

  final var options: CallOptions {
    var options = CallOptions(initialMetadata: ["x-token": "\(model.token)"])
    if model.hasDeadline { options.timeout = .seconds(10) }
    return options
  }

  final func note(_ change: (inout ClientCallModel) throws(Violation) -> Void) {
    do throws(Violation) { try change(&model) } catch { violation = violation ?? error }
  }

  // MARK: For subclasses

  func write(_ message: [UInt8], flush: Bool) {}
  func finish() {}
  func cancel() {}

  /// `false` if there is nothing to read now.
  @discardableResult
  func read() -> Bool { false }

  /// Something that should be over now that the call is; `nil` if there is nothing.
  var remains: String? { nil }

  /// Releases the call.
  func release() {}
}

/// A call without interceptors.
final class DirectCall: CheckedCall, ResponseReceiver, @unchecked Sendable {
  // Sendable because it is used on one loop.
  private let requests: MessagePipe?
  private let responses: MessagePipe?
  private var call: (any ByteCall)?

  override init(_ model: ClientCallModel) {
    requests = model.streamsRequests ? MessagePipe(limit: 100) : nil
    responses = model.streamsResponses ? MessagePipe(limit: 100) : nil
    super.init(model)
  }

  func start(on channel: HTTP2ClientTransport, _ method: String) {
    var body = requests.map { CallRequest.Body.stream($0) }
    if body == nil { body = .message(BytesMarshaller().encode(model.written[0])) }
    guard let body else { return }
    var request = CallRequest(
      method: MethodDescriptor(service: "s", method: method, type: model.type),
      options: options,
      body: body,
      responses: responses
    )
    if model.hasDeadline { request.deadline = channel.loop.clock.deadline(after: .seconds(10)) }
    let call = channel.makeCall(request, receiver: self)
    self.call = call
    call.start()
  }

  override func write(_ message: [UInt8], flush: Bool) {
    guard let requests, !requests.hasEnded else { return }
    model.written.append(message)
    requests.push(BytesMarshaller().encode(message), flush: flush)
  }

  override func finish() {
    guard let requests, !requests.hasEnded else { return }
    model.hasFinished = true
    requests.finish()
  }

  override func cancel() {
    model.isCancelled = true
    call?.cancel(GRPCStatus(code: .cancelled))
  }

  override func read() -> Bool {
    guard case .message(let message) = responses?.pop() ?? .empty else { return false }
    let bytes = message.withBytes { $0.withUnsafeBytes(Array.init) }
    note { (model: inout ClientCallModel) throws(Violation) in try model.receive(bytes) }
    return true
  }

  override func release() { call = nil }

  // MARK: Events

  var wantsMetadata: Bool { model.token % 2 == 0 }
  var wantsSent: Bool { wantsMetadata }
  func sent(_ part: SentPart) {}
  func responseWasCompressed() {}

  func receive(headers: HPACKHeaders) {
    note { (model: inout ClientCallModel) throws(Violation) in try model.receive(headers) }
  }

  func decoder(for message: RawSpan) -> ResponseDecoder? { nil }
  func receive(message: RawSpan) {
    let bytes = message.withUnsafeBytes(Array.init)
    note { (model: inout ClientCallModel) throws(Violation) in try model.receive(bytes) }
  }

  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    note { (model: inout ClientCallModel) throws(Violation) in try model.close(status) }
  }
}
