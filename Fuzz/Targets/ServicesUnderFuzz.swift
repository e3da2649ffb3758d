import Glibc
import Switchboard
import SwitchboardServices

@testable import SwitchboardCall
@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Complete calls to each of the package's services, with router, marshallers and handlers but without a socket.
///
/// An input is a sequence of calls. Each starts with a byte for the method and one for the format (1: JSON) and the
/// number of messages; each message has two bytes for its length, one for the number of repetitions as a power of two,
/// and its bytes. Repetition reveals work that grows faster than the message.
struct ServicesUnderFuzz {
  /// One per process: an earlier input must not affect it.
  static let shared = Result { try ServicesUnderFuzz() }

  /// The maximum size of a repeated message; occasionally larger, which takes long to read.
  private static func largestMessage(power: Int) -> Int { power == 15 ? 64 * 1024 : 4 * 1024 }
  /// Far more processor time than any input should need, even under the address sanitizer.
  private static let timeLimit = Duration.seconds(10)

  private let channel: Channel
  private let methods: [MethodDescriptor]
  /// Retained, because channelz keeps no strong references.
  private let watched: (Server, Channel)

  private init() throws {
    let (health, channelz) = (HealthService(), ChannelzService())
    health.set(.notServing, for: "a")
    var providers: [any CallHandlerProvider] = [health, channelz]
    providers.append(try ReflectionService(describing: providers))
    providers.append(LoadReportService(LoadRecorder()))
    methods = providers.flatMap(\.methodHandlers).map(\.method)
    let group = try LoopGroup()
    watched = (
      try Server(providers: providers, group: group), try Channel(target: "127.0.0.1:1", group: group)
    )
    try watched.0.bind(host: "127.0.0.1", port: 0)
    channelz.add(watched.0, name: "server")
    channelz.add(watched.1, name: "channel")
    var options = ServerOptions()
    options.logger = .quiet
    options.payloadFormats = [JSONFormat()]
    channel = try Channel(inProcess: providers, options: options, group: group)
  }

  fileprivate func run(_ input: [UInt8]) throws {
    var rest = input[...]
    let start = Self.processorTime
    var calls = 0
    while calls < 8, let method = rest.popFirst(), let shape = rest.popFirst() {
      calls += 1
      try call(
        methods[Int(method) % methods.count],
        isJSON: shape & 1 == 1,
        Self.messages(Int(shape >> 1) % 4, &rest)
      )
    }
    let taken = Self.processorTime - start
    try BrokenPromise.unless(taken < Self.timeLimit, "\(calls) calls took \(taken)")
  }

  /// The processor time of the process; wall-clock time would include other load on the machine.
  private static var processorTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  private static func messages(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> [[UInt8]] {
    (0..<count).map { _ in
      let length = (0..<2).reduce(0) { length, _ in length << 8 | Int(rest.popFirst() ?? 0) }
      let power = Int(rest.popFirst() ?? 0) % 16
      let bytes = Array(rest.prefix(length))
      rest = rest.dropFirst(length)
      let times = min(1 << power, largestMessage(power: power) / max(1, bytes.count))
      return (0..<max(1, times)).flatMap { _ in bytes }
    }
  }

  /// Makes a call with these bytes. It must end, and its parts must come in order.
  private func call(_ method: MethodDescriptor, isJSON: Bool, _ messages: [[UInt8]]) throws {
    let requests = MessagePipe(limit: 1 << 20)
    for message in messages { requests.push(MessageBuffer(message)) }
    requests.finish()
    let (receiver, call) = CallUnderFuzz.start(
      method,
      // A single message may still be sent as a stream.
      messages.count == 1 && !method.type.streamsRequests
        ? .message(MessageBuffer(messages[0])) : .stream(requests),
      wantsMetadata: true,
      contentSubtype: isJSON ? .json : .unnamed,
      on: channel
    )
    // Watchers stay until they cancel.
    if ["Watch", "StreamCoreMetrics"].contains(method.method) { call.cancel(GRPCStatus(code: .cancelled)) }
    try receiver.check()
  }
}

extension Result<ServicesUnderFuzz, any Error> {
  func run(_ input: [UInt8]) throws { try get().run(input) }
}
