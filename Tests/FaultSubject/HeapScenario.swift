import CHeap
import CallTestSupport
import Foundation
import Switchboard

/// A process that says, when it is asked, how much it holds on the heap, while a peer does its worst.
///
/// It takes a word on each line of its input: `held`, to say it; for others, see each role.
enum HeapScenario {
  /// What a stream of the ledger's server and client may hold: less than by default, so that many streams fit into a test.
  static let connectionBufferSize = 8 << 20

  static func serve() async throws {
    var options = ServerOptions()
    options.connectionBufferSize = connectionBufferSize
    options.web = WebOptions(origins: .any)
    let group = try LoopGroup()
    let server = try Server(providers: [Paused()], options: options, group: group)
    FaultSubject.say("\(try server.bind(host: "127.0.0.1", port: 0).port ?? 0)")
    await answer(group) { _, _ in }
    await server.shutDown(grace: .zero)
  }

  /// `read N`: starts so many calls of which nobody reads the responses; `write N`: so many that are written to for ever.
  static func call(port: Int) async throws {
    var options = ChannelOptions()
    options.connectionBufferSize = connectionBufferSize
    let group = try LoopGroup()
    try await call(on: try Channel(target: "127.0.0.1:\(port)", options: options, group: group), group)
  }

  /// The same within the process, with both sides of the calls.
  static func callInProcess() async throws {
    let group = try LoopGroup()
    try await call(on: try Channel(inProcess: [Paused()], group: group), group)
  }

  private static func call(on channel: Channel, _ group: LoopGroup) async throws {
    let calls = Locked<[Task<Void, Never>]>([])
    await answer(group) { word, count in
      for _ in 0..<count {
        let task = word == "read" ? read(on: channel) : write(on: channel)
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

  private static func write(on channel: Channel) -> Task<Void, Never> {
    Task(executorPreference: channel.eventLoop) {
      let endless = AsyncStream<[UInt8]> { [] }
      _ = try? await channel.call(Paused.pause).clientStreaming(endless)
    }
  }

  /// Answers the lines of the input until its end.
  private static func answer(_ group: LoopGroup, _ take: @escaping @Sendable (String, Int) -> Void) async {
    let (lines, line) = AsyncStream<String>.makeStream()
    Thread {
      while let next = readLine() { line.yield(next) }
      line.finish()
    }.start()
    for await line in lines {
      if line == "held" {
        // Behind what the loop has to do now.
        await Task(executorPreference: group.nextLoop()) {}.value
        FaultSubject.say("\(heap_in_use())")
      } else {
        let words = line.split(separator: " ")
        take(String(words[0]), words.count > 1 ? Int(words[1]) ?? 0 : 0)
        FaultSubject.say("done")
      }
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

  /// Handlers that do not go on.
  private struct Paused: CallHandlerProvider {
    static let pause = MethodDescriptor(service: "h", method: "Pause", type: .clientStreaming)
    static let wait = MethodDescriptor(service: "h", method: "Wait", type: .unary)
    static let flood = MethodDescriptor(service: "h", method: "Flood", type: .serverStreaming)

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
        // Of messages as long as the request's first byte says.
        Self.flood.bytes.serverStreamingHandler { request, responses, _ in
          let message = [UInt8](repeating: 0, count: Int(request.first ?? 0))
          while true { try await responses.send(message) }
        },
      ]
    }
  }
}
