import CallTestSupport
import Dispatch
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// Where handlers run: by method, by service, or all of them.
@Suite(.timeLimit(.minutes(5))) struct HandlerPlacementTests {
  private func onLoop(_ wire: Wire, _ placements: HandlerPlacements) async throws -> [Bool] {
    var found: [Bool] = []
    try await Places.with(placements, wire) { channel async throws in
      for method in [Places.one, Places.other] {
        found.append(try await channel.call(method).unary([]) == [1])
      }
      found.append(try await channel.call(Places.stream).clientStreaming([[1]]) == [1])
    }
    return found
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func handlersRunWhereTheirNamesSay(_ wire: Wire) async throws {
    var placements = HandlerPlacements()
    #expect(try await onLoop(wire, placements) == [true, true, true])
    placements["/test.Places/One"] = .threads
    #expect(try await onLoop(wire, placements) == [false, true, true])
    placements["test.Places"] = .executor(globalConcurrentExecutor)
    placements["/test.Places/Other"] = .loop
    #expect(try await onLoop(wire, placements) == [false, true, false])
    placements["test.Places"] = nil
    placements["/test.Places/One"] = nil
    placements.standard = .threads
    #expect(try await onLoop(wire, placements) == [false, true, false])
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func aNameThatTheServerLacksRefusesToStart(_ wire: Wire)
    async throws
  {
    var placements = HandlerPlacements()
    placements["/test.Places/One"] = .threads
    placements["test.Place"] = .threads
    placements["/test.Places/Ohter"] = .loop
    let refusal = await status { try await Places.with(placements, wire) { _ in } }
    #expect(refusal?.code == .failedPrecondition)
    #expect(
      refusal?.message?.hasPrefix(
        "handlerPlacements: the server does not have /test.Places/Ohter, test.Place: a name is that of a service"
      ) == true
    )
  }

  /// More handlers than the machine may have processors block at the same time, and no call waits for them.
  @Test func handlersOnThreadsMayBlock() async throws {
    var placements = HandlerPlacements()
    placements["/test.Places/Meet"] = .threads
    try await Places.with(placements, .ipv4) { channel async throws in
      let blocked = Task {
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
          for _ in 0..<Places.guests { group.addTask { try await channel.call(Places.meet).unary([]) } }
          return try await group.reduce(into: []) { $0.append($1) }
        }
      }
      #expect(try await channel.call(Places.one).unary([]) == [1])
      #expect(try await blocked.value == Array(repeating: [1], count: Places.guests))
    }
  }
}

private final class Places: CallHandlerProvider {
  static let one = MethodDescriptor(service: "test.Places", method: "One", type: .unary)
  static let other = MethodDescriptor(service: "test.Places", method: "Other", type: .unary)
  static let stream = MethodDescriptor(service: "test.Places", method: "Stream", type: .clientStreaming)
  static let meet = MethodDescriptor(service: "test.Places", method: "Meet", type: .unary)
  static let guests = 12

  private let here = Locked(0)
  private let all = DispatchSemaphore(value: 0)

  var serviceName: String { "test.Places" }

  var methodHandlers: [MethodHandler] {
    [
      Self.one.bytes.unaryHandler { _, context in [context.eventLoop.inEventLoop ? 1 : 0] },
      Self.other.bytes.unaryHandler { _, context in [context.eventLoop.inEventLoop ? 1 : 0] },
      Self.stream.bytes.clientStreamingHandler { requests, context in
        for try await _ in requests {}
        return [context.eventLoop.inEventLoop ? 1 : 0]
      },
      Self.meet.bytes.unaryHandler { _, _ in self.meet() },
    ]
  }

  /// Blocks the thread until all guests are here.
  private func meet() -> [UInt8] {
    let isLast = here.withLock { here in
      here += 1
      return here == Self.guests
    }
    if isLast { for _ in 0..<Self.guests { all.signal() } }
    return all.wait(timeout: .now() + 60) == .success ? [1] : [0]
  }

  static func with(
    _ placements: HandlerPlacements,
    _ wire: Wire,
    _ body: (Channel) async throws -> Void
  ) async throws {
    var options = ServerOptions()
    options.handlerPlacements = placements
    if wire == .inProcess {
      let channel = try Channel(inProcess: [Places()], options: options)
      try await body(channel)
      return await channel.shutDown(grace: .zero)
    }
    try await withChannel(to: [Places()], options: options) { channel async throws in
      try await body(channel)
    }
  }
}
