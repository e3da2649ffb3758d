import Switchboard
import SwitchboardServices

/// The verb `channelz`: shows a process's servers, channels and sockets as a tree.
enum ChannelzVerb {
  static let watch = Flag("-w", "--watch", help: "Redraw the tree in place, with rates.")
  static let interval = Flag(
    "--interval",
    value: "TIME",
    help: "How often --watch redraws; the default is 1s."
  )
  static let sockets = Flag(
    "--sockets",
    value: "N",
    help: "Show at most N sockets of each server; the default is 20."
  )

  static let verb = Verb(
    "channelz",
    summary: "show the servers, channels and sockets of a process as a tree",
    usage: ["TARGET [--watch] [FLAG]..."],
    details: ["Asks grpc.channelz.v1.Channelz. With --watch, Ctrl-C ends it."],
    operands: [.target],
    flags: [FlagGroup("Output", [watch, interval, sockets]), TargetFlags.group],
    flagRules: [.need([interval], watch)],
    examples: [
      Example("channelz localhost:50051", "All servers, channels and sockets."),
      Example("channelz localhost:50051 --watch --interval 500ms", "Rates, twice a second."),
    ],
    run
  )

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let target = try Target(arguments)
    let limit = try arguments.integer(sockets, in: 0...1000) ?? 20
    let pause = try arguments.duration(interval) ?? .seconds(1)
    guard pause >= .milliseconds(50) else { throw Failure.usage("--interval needs at least 50ms") }
    let reader = ChannelzReader(try target.channel(), target.metadata, mostSockets: limit)
    do {
      let first = try await reader.read()
      guard arguments.has(watch) else {
        let tree = ChannelzTree(first, since: nil, Painter(Terminal.current()))
        if !tree.lines.isEmpty { try Output.write(tree.lines.joined(separator: "\n")) }
        return .success
      }
      return try await follow(reader, first, every: pause)
    } catch let status as GRPCStatus {
      guard status.isAboutMethod else { throw target.failure(status) }
      throw Failure("\(target.text) has no channelz service", code: .status(.unimplemented))
    }
  }

  private static func follow(
    _ reader: ChannelzReader,
    _ first: ChannelzInventory,
    every pause: Duration
  ) async throws -> ExitCode {
    let waiting = Locked<Task<Void, any Error>?>(nil)
    let interrupts = await Interrupts { waiting.withLock { $0?.cancel() } }
    defer { interrupts.stop() }
    var last: ChannelzInventory?
    var current = first
    var screen = Screen()
    while true {
      let terminal = Terminal.current()
      try screen.show(ChannelzTree(current, since: last, Painter(terminal)).lines, on: terminal)
      let sleep = Task { try await Task.sleep(for: pause) }
      waiting.withLock { $0 = sleep }
      // A signal may have arrived just before.
      if interrupts.isInterrupted { return .interrupted }
      guard (try? await sleep.value) != nil, !interrupts.isInterrupted else { return .interrupted }
      last = current
      current = try await reader.read()
    }
  }
}
