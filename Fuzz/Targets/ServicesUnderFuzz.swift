import Glibc
import Switchboard
import SwitchboardServices

@testable import SwitchboardCall
@testable import SwitchboardHTTP2

/// Whole calls to each service that is shipped, with the router, the marshallers and the handlers of a server, and no socket.
///
/// An input is a number of calls. Each begins with a byte that chooses the method, and one for the format (1: JSON) and the
/// number of messages; each message has two bytes for its length, one that says how often its bytes are repeated, as a power
/// of two, and its bytes. What is larger than its bytes in the input shows work that grows faster than a message.
struct ServicesUnderFuzz {
  /// One for the process: what an earlier input did to it must not matter.
  static let shared = Result { try ServicesUnderFuzz() }

  /// Up to how much a message is repeated: once in a while to more, which takes long to read.
  private static func largestMessage(power: Int) -> Int { power == 15 ? 64 * 1024 : 4 * 1024 }
  /// Far more of the processor's time than any input should need, also under the address sanitizer.
  private static let patience = Duration.seconds(10)

  private let channel: Channel
  private let methods: [MethodDescriptor]
  /// Kept for channelz, which does not keep what it tells of.
  private let watched: (Server, Channel)

  private init() throws {
    let (health, channelz) = (HealthService(), ChannelzService())
    health.set(.notServing, for: "a")
    var providers: [any CallHandlerProvider] = [health, channelz]
    providers.append(try ReflectionService(describing: providers))
    methods = providers.flatMap(\.methodHandlers).map(\.method)
    let group = try LoopGroup()
    watched = (
      try Server(providers: providers, group: group), try Channel(target: "127.0.0.1:1", group: group)
    )
    try watched.0.bind(host: "127.0.0.1", port: 0)
    channelz.add(watched.0, name: "server")
    channelz.add(watched.1, name: "channel")
    var options = ServerOptions()
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
    try BrokenPromise.unless(taken < Self.patience, "\(calls) calls take \(taken)")
  }

  /// What the process has used. Not the clock's time: on a busy machine that passes while nothing runs.
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

  /// Makes a call as any client would that sends these bytes. It has to end, with each part told in its order.
  private func call(_ method: MethodDescriptor, isJSON: Bool, _ messages: [[UInt8]]) throws {
    let requests = MessagePipe(limit: 1 << 20)
    for message in messages { requests.push(MessageBuffer(message)) }
    requests.finish()
    let (receiver, call) = CallUnderFuzz.start(
      method,
      // What is no stream may still be sent as one.
      messages.count == 1 && !method.type.streamsRequests
        ? .message(MessageBuffer(messages[0])) : .stream(requests),
      wantsMetadata: true,
      contentSubtype: isJSON ? .json : .unnamed,
      on: channel
    )
    // Those who watch do so until they are tired of it.
    if method.method == "Watch" { call.cancel(GRPCStatus(code: .cancelled)) }
    try receiver.check()
  }
}

extension Result<ServicesUnderFuzz, any Error> {
  func run(_ input: [UInt8]) throws { try get().run(input) }
}
