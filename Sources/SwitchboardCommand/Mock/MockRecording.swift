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
  }

  func run() async throws -> ExitCode {
    let channel = try target.channel()
    let hasFiles = !arguments.operands.isEmpty || SchemaSource.isInFiles(arguments)
    let files =
      hasFiles
      ? try MockVerb.files(arguments) : try await SchemaSource(arguments, target, channel).wholeSchema().files
    let schema = try MockSchema(files)
    let recorder = MockRecorder(schema)
    // Report an unwritable file before the first call, not after the last.
    try write("rules: []\n")
    let providers = recorder.providers(schema, to: channel)
    let names = Set(["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"])
    let server = try Server(
      providers: providers.filter { !names.contains($0.serviceName) } + reflection(schema)
    )
    let address = try ListeningAddress.bind(server, listener, MockVerb.listen)
    let writing = Task {
      while !Task.isCancelled {
        try await Task.sleep(for: .seconds(1))
        if let text = recorder.takeChanges() { try write(text) }
      }
    }
    try await Interrupts.first {
      try Output.write("recording \(target.text.harmless) on \(address) to \(path)")
    }
    await server.shutDown(grace: .seconds(1))
    writing.cancel()
    if case .failure(let error) = await writing.result, !(error is CancellationError) { throw error }
    if let text = recorder.takeChanges() { try write(text) }
    await channel.shutDown(grace: .zero)
    let (rules, left) = recorder.counts
    Output.note("\(rules) rules in \(path)" + (left > 0 ? "; there was no room for \(left) more" : ""))
    return .success
  }

  private func reflection(_ schema: MockSchema) throws -> [any CallHandlerProvider] {
    try MockService.providers(schema, MockService.Settings()).suffix(1)
  }

  private func write(_ text: String) throws {
    try file.write(Array(text.utf8))
  }
}
