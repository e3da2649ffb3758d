import Switchboard
import SwitchboardMock
import SwitchboardServices
import SwitchboardToolSupport

/// `mock --record`: a server that forwards calls, and a file to which it writes rules.
struct MockRecording {
  private let arguments: Arguments
  private let target: Target
  private let listener: (host: String, port: Int)
  private let path: String
  private let file: OutputPath

  init(_ arguments: Arguments, _ listener: (host: String, port: Int)) throws {
    self.arguments = arguments
    self.listener = listener
    target = try Target(arguments, text: arguments[MockVerb.record] ?? "")
    path = arguments[MockVerb.output] ?? "rules.yaml"
    file = try OutputPath(path)
    guard !file.exists || arguments.has(MockVerb.overwrite) else {
      throw Failure(
        "\(path) exists already",
        hints: ["'--overwrite' replaces it, and '--output FILE' records elsewhere."],
        code: .output
      )
    }
  }

  func run() async throws -> ExitCode {
    let channel = try target.channel()
    let hasFiles = !arguments.operands.isEmpty || SchemaSource.isInFiles(arguments)
    let files =
      hasFiles
      ? try MockVerb.files(arguments) : try await SchemaSource(arguments, target, channel).wholeSchema().files
    let schema = try MockSchema(files)
    let recorder = MockRecorder(schema)
    let providers = recorder.providers(
      schema,
      to: channel,
      adding: target.metadata,
      hasStatusInTrailers: target.options.wireProtocol != .connect
    )
    let names = Set(["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"])
    let server = try MockVerb.makeServer(
      providers.filter { !names.contains($0.serviceName) } + reflection(schema),
      at: listener.host,
      arguments
    )
    let address = try ListeningAddress.bind(server, listener, MockVerb.listen)
    let writing = Task {
      var lastFailure = ""
      while !Task.isCancelled {
        try await Task.sleep(for: .seconds(1))
        do {
          try write(recorder)
        } catch {
          // The rules stay in memory, and may fit when there is room again.
          if lastFailure != "\(error)" { Output.warn("the rules are not written: \(error)") }
          lastFailure = "\(error)"
        }
      }
    }
    try await Interrupts.first {
      try Output.write("recording \(target.text) on \(address) to \(path)")
    }
    await server.shutDown(grace: .seconds(1))
    writing.cancel()
    _ = await writing.result
    try write(recorder)
    await channel.shutDown(grace: .zero)
    let (rules, left) = recorder.counts
    Output.note(rules > 0 ? "\(rules) rules in \(path)" : "no call was recorded, and nothing was written")
    if left.full > 0 { Output.note("there was no room for \(left.full) more") }
    if left.partial > 0 {
      Output.note("\(left.partial) calls are left out, because they were cut short or had too many messages")
    }
    return .success
  }

  private func reflection(_ schema: MockSchema) throws -> [any CallHandlerProvider] {
    try MockService.providers(schema, MockService.Settings()).suffix(1)
  }

  /// Writes the rules if there are new ones. The file is replaced as a whole, and only if everything was written.
  private func write(_ recorder: MockRecorder) throws {
    guard let changes = recorder.changes() else { return }
    try file.write(Array(changes.text.utf8))
    recorder.didWrite(changes)
  }
}
