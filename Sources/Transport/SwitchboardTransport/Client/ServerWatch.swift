import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork

/// A stream of health or load messages from a subchannel's server. When it breaks, it is opened again: at once if it had
/// worked and this has not just been done, otherwise after a wait.
final class ServerWatch {
  /// The events that a watch reports to its subchannel.
  struct Events {
    let message: ([UInt8]) -> Void
    /// The stream broke, and will be opened again later.
    let broke: (GRPCStatus) -> Void
    /// The server does not have the method, so the watch gives up.
    let unknown: () -> Void
  }

  private let subchannel: HTTP2Subchannel
  let connection: ClientConnection
  private let method: MethodDescriptor
  private let request: [UInt8]
  private var events: Events?
  private(set) var call: ClientCallStream?
  private var backoff: Backoff
  private var timer: LoopTimer?
  /// Whether a message has arrived since the stream was opened.
  private var hasWorked = false
  /// Until when a stream that breaks is not opened again at once.
  private var pauseEnd: UInt64 = 0

  init(
    _ subchannel: HTTP2Subchannel,
    _ connection: ClientConnection,
    _ method: MethodDescriptor,
    _ request: [UInt8],
    _ events: Events
  ) {
    self.subchannel = subchannel
    self.connection = connection
    self.method = method
    self.request = request
    self.events = events
    let options = subchannel.channel.options
    backoff = Backoff(initial: options.connectInitialBackoff, maximum: options.connectMaxBackoff)
  }

  func stop() {
    events = nil
    call?.endEarly(.watchEnded)
    call = nil
    if let timer { subchannel.channel.loop.cancel(timer) }
    timer = nil
  }

  /// Called after the subchannel has stored the watch, because the stream may break at once.
  func start() {
    hasWorked = false
    let responses = MessagePipe(limit: 64 * 1024)
    let request = CallRequest(
      method: method,
      options: nil,
      body: .message(BytesMarshaller().encode(request)),
      responses: responses
    )
    let watch = LoopConfined(self)
    let call = ClientCallStream(request, WatchEnd(watch: watch, responses: responses), subchannel.channel)
    self.call = call
    Task(executorPreference: subchannel.channel.loop) {
      while let message = try? await responses.next() {
        watch.value?.received(message.withBytes { BytesMarshaller().decode($0) })
      }
    }
    call.start(on: subchannel, connection)
  }

  private func received(_ message: [UInt8]) {
    guard call != nil else { return }
    hasWorked = true
    backoff.reset()
    events?.message(message)
  }

  private func ended(_ status: GRPCStatus) {
    guard call != nil, let events else { return }
    call = nil
    if status.code == .unimplemented { return events.unknown() }
    let timer = LoopTimer { [weak self] in
      self?.timer = nil
      self?.start()
    }
    self.timer = timer
    subchannel.channel.loop.schedule(timer, after: nextWait())
    events.broke(status)
  }

  /// A server that ends each stream after a message must not cause one after the other.
  private func nextWait() -> Duration {
    let channel = subchannel.channel
    let now = channel.loop.now
    if hasWorked, now >= pauseEnd {
      pauseEnd = now.addingSaturated(channel.options.connectInitialBackoff.nanoseconds)
      return .zero
    }
    var random = SystemRandomNumberGenerator()
    return backoff.next(using: &random)
  }

  /// The receiver of the stream. It receives only the end; messages come from the pipe.
  private final class WatchEnd: ResponseReceiver {
    private let watch: LoopConfined<ServerWatch>
    private let responses: MessagePipe

    init(watch: LoopConfined<ServerWatch>, responses: MessagePipe) {
      self.watch = watch
      self.responses = responses
    }

    var wantsMetadata: Bool { false }
    var wantsSent: Bool { false }
    func sent(_ part: SentPart) {}
    func responseWasCompressed() {}
    func receive(headers: HPACKHeaders) {}
    func decoder(for message: RawSpan) -> ResponseDecoder? { nil }
    func receive(message: RawSpan) {}

    func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
      // The task that reads it ends.
      responses.abort(status)
      watch.value?.ended(status)
    }
  }
}

extension GRPCStatus {
  fileprivate static let watchEnded = GRPCStatus(
    code: .cancelled,
    message: "the server is no longer watched",
    origin: .library
  )
}
