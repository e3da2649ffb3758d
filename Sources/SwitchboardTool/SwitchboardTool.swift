import SwitchboardToolSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The command `switchboard`.
@main struct SwitchboardTool {
  static func main() async {
    prepareStandardStreams()
    do {
      try await run(arguments: Array(CommandLine.arguments.dropFirst()))
    } catch {
      error.lines.forEach(complain)
      exit(error.exitCode.rawValue)
    }
  }

  private static func run(arguments: [String]) async throws(CommandFailure) {
    switch try invocation(arguments) {
    case .help(let topic): try say(topic.text)
    case .version: try say("switchboard \(version)")
    case .generate(let arguments): try await GenerateCommand(arguments).run()
    }
  }

  private static func invocation(_ arguments: [String]) throws(CommandFailure) -> Invocation {
    do {
      return try Invocation(arguments: arguments)
    } catch {
      throw CommandFailure("\(error.message)\nTry 'switchboard help generate'.", exitCode: .usage)
    }
  }

  private static func say(_ text: String) throws(CommandFailure) {
    try CommandFailure.catching(.failed) { () throws(SystemError) in
      try Descriptor.standardOutput.writeAll(Array("\(text)\n".utf8))
    }
  }
}
