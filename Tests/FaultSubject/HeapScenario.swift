import CHeap
import CallTestSupport
import CertificateSupport
import Foundation
import Switchboard
import SwitchboardXDS

/// A process that reports its heap usage on request while a peer attacks it.
///
/// It reads a command from each line of its input: `held` prints the usage; `idle` lets time pass in which nothing
/// happens; each role documents its others.
enum HeapScenario {
  /// The buffer size of streams on the server and client: smaller than the default, so that many streams fit into a
  /// test.
  static let connectionBufferSize = 8 << 20

  /// With the word `tls`, over TLS; with `patient`, without a limit for frames and records that do nothing; with
  /// `boundless`, without a limit for requests; with `packing`, OpenSSL's memory is packed too. After `refuse N`, the
  /// system has no block of more than N bytes.
  static func serve(_ words: some Sequence<String> & Sendable) async throws {
    if words.contains("packing") { try TLSMemory.setOpenSSLAllocator() }
    var options = ServerOptions()
    if words.contains("tls") { options.tls = ServerTLS(credentials: TestCertificates.server) }
    if words.contains("patient") { options.controlFrameAllowance = .max / 8 }
    if words.contains("boundless") { options.maxRequestSize = .max }
    options.connectionBufferSize = connectionBufferSize
    options.web = WebOptions(origins: .any)
    let group = try LoopGroup()
    let server = try Server(providers: [Paused()], options: options, group: group)
    FaultSubject.say("\(try server.bind(host: "127.0.0.1", port: 0).port)")
    await answer(group) { word, count in if word == "refuse" { ScarceMemory.refuse(moreThan: count) } }
    await server.shutDown(grace: .zero)
  }

  /// `read N` starts N calls whose responses are not read; `keep N` the same, with call objects that keep metadata;
  /// `write N` starts N calls that write without end.
  static func call(port: Int, isSecure: Bool) async throws {
    var options = ChannelOptions()
    if isSecure { options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority)) }
    options.connectionBufferSize = connectionBufferSize
    let group = try LoopGroup()
    try await call(on: try Channel(target: "127.0.0.1:\(port)", options: options, group: group), group)
  }

  /// The same within the process, with both sides of the calls.
  static func callInProcess() async throws {
    let group = try LoopGroup()
    try await call(on: try Channel(inProcess: [Paused()], group: group), group)
  }

  /// A channel that a control plane on this port configures.
  static func beConfigured(port: Int) async throws {
    let plane = XDSBootstrap.Server("127.0.0.1:\(port)", security: .plaintext)
    var options = ChannelOptions()
    options.resolvers = [XDSResolver(bootstrap: XDSBootstrap(servers: [plane]), logger: .quiet)]
    options.security = .plaintext
    options.logger = .quiet
    let group = try LoopGroup()
    let channel = try Channel(target: "xds:///greeter", options: options, group: group)
    channel.connect()
    await answer(group) { _, _ in }
    await channel.shutDown(grace: .zero)
  }

  private static func call(on channel: Channel, _ group: LoopGroup) async throws {
    let calls = Locked<[Task<Void, Never>]>([])
    await answer(group) { word, count in
      for _ in 0..<count {
        let task =
          switch word {
          case "read": read(on: channel)
          case "keep": keep(on: channel)
          default: write(on: channel)
          }
        calls.withLock { $0.append(task) }
      }
    }
    for call in calls.withLock({ $0 }) { call.cancel() }
    await channel.shutDown(grace: .zero)
  }

  private static func read(on channel: Channel) -> Task<Void, Never> {
    Task(executorPreference: channel.eventLoop) {
      let responses = channel.call(Paused.flood).serverStreaming([0])
      var iterator = responses.makeAsyncIterator()
      _ = try? await iterator.next(isolation: nil)
      await untilCancelled()
      _ = try? await iterator.next(isolation: nil)
    }
  }

  private static func keep(on channel: Channel) -> Task<Void, Never> {
    Task(executorPreference: channel.eventLoop) {
      let call = channel.call(Paused.flood).makeServerStreamingCall([0])
      await untilCancelled()
      call.cancel()
    }
  }

  private static func write(on channel: Channel) -> Task<Void, Never> {
    Task(executorPreference: channel.eventLoop) {
      let endless = AsyncStream<[UInt8]> { [] }
      _ = try? await channel.call(Paused.pause).clientStreaming(endless)
    }
  }

  /// Executes the commands in the input until its end.
  private static func answer(_ group: LoopGroup, _ take: @escaping @Sendable (String, Int) -> Void) async {
    let (lines, line) = AsyncStream<String>.makeStream()
    Thread {
      while let next = readLine() { line.yield(next) }
      line.finish()
    }.start()
    for await line in lines {
      if line == "held" {
        // Runs after the loop's current work.
        await Task(executorPreference: group.nextLoop()) {}.value
        let untouched = group.loops.reduce(0) { $0 + $1.untouchedByteCount }
        FaultSubject.say("\(heap_in_use() - untouched)")
      } else if line == "idle" {
        await beIdle(group)
        FaultSubject.say("done")
      } else {
        let words = line.split(separator: " ")
        take(String(words[0]), words.count > 1 ? Int(words[1]) ?? 0 : 0)
        FaultSubject.say("done")
      }
    }
  }

  /// Enough periods to pack all connections.
  private static func beIdle(_ group: LoopGroup) async {
    for _ in 0..<10 {
      await Task(executorPreference: group.nextLoop()) {
        for loop in group.loops where loop.inEventLoop {
          loop.advanceClock(by: .seconds(1))
          loop.runTimers()
        }
      }.value
    }
  }

  fileprivate static func untilCancelled() async {
    let (never, end) = AsyncStream<Never>.makeStream()
    await withTaskCancellationHandler {
      for await _ in never {}
    } onCancel: {
      end.finish()
    }
  }

  /// Handlers that block, and one that does not.
  private struct Paused: CallHandlerProvider {
    static let pause = MethodDescriptor(service: "h", method: "Pause", type: .clientStreaming)
    static let wait = MethodDescriptor(service: "h", method: "Wait", type: .unary)
    static let flood = MethodDescriptor(service: "h", method: "Flood", type: .serverStreaming)
    static let answer = MethodDescriptor(service: "h", method: "Answer", type: .unary)

    var serviceName: String { "h" }

    var methodHandlers: [MethodHandler] {
      return [
        Self.pause.bytes.clientStreamingHandler { _, _ in
          await untilCancelled()
          return []
        },
        Self.wait.bytes.unaryHandler { request, _ in
          await untilCancelled()
          return request
        },
        Self.answer.bytes.unaryHandler { request, _ in request },
        // The first byte of the request sets the size of the messages.
        Self.flood.bytes.serverStreamingHandler { request, responses, _ in
          let message = [UInt8](repeating: 0, count: Int(request.first ?? 0))
          while true { try await responses.send(message) }
        },
      ]
    }
  }
}
