import Switchboard
import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardSchema
import SwitchboardToolSupport

/// The command `switchboard`: finds the verb, runs it, and reports the result.
package enum SwitchboardCommand {
  /// All verbs, in the order in which the help lists them.
  static let verbs: [Verb] = [
    ListVerb.verb,
    DescribeVerb.verb,
    CallVerb.verb,
    CheckConfigVerb.verb,
    HealthVerb.verb,
    ChannelzVerb.verb,
    XDSVerb.verb,
    ConsoleVerb.verb,
    LoadVerb.verb,
    LoadAgentVerb.verb,
    MockVerb.verb,
    NewVerb.verb,
    MigrateVerb.verb,
    OpenAPIVerb.verb,
    GenerateEntry.verb,
    HelpVerb.verb(among: { verbs }),
    CompletionVerbs.completions,
    CompletionVerbs.man(of: { verbs }),
    CompletionVerbs.complete(among: { verbs }),
  ]

  /// Runs the command with the words after its name.
  package static func run(_ words: [String]) async -> Int32 {
    do {
      return try await dispatch(words).rawValue
    } catch {
      return report(error).rawValue
    }
  }

  private static func dispatch(_ words: [String]) async throws -> ExitCode {
    switch words.first {
    case nil: throw Failure("no verb\n\(HelpText.usage)", hints: ["Try 'switchboard help'."], code: .usage)
    case "--help"?, "-h"?:
      try Output.write(HelpText.overview(in: verbs))
      return .success
    case "--version"?:
      try Output.write("switchboard \(Release.version)")
      return .success
    case let name?:
      return try await run(verbs.named(name), Array(words.dropFirst()))
    }
  }

  private static func run(_ verb: Verb, _ words: [String]) async throws -> ExitCode {
    switch verb.action {
    case .raw(let body, _): return await body(words)
    case .parsed(let body):
      guard let arguments = try Arguments(words, for: verb) else {
        try Output.write(HelpText.text(of: verb))
        return .success
      }
      for rule in verb.flagRules { try rule.check(arguments) }
      return try await body(arguments)
    }
  }

  /// Prints an error for the user.
  private static func report(_ error: any Error) -> ExitCode {
    let failure: Failure
    switch error {
    case let error as Failure: failure = error
    case let error as GRPCStatus: failure = Failure(error)
    case let error as SchemaFailure: failure = Failure(error)
    case let error as DescriptorError: failure = Failure("\(error)", code: .data)
    case let error as DecodeError: failure = Failure("\(error)", code: .data)
    case let error as SystemError where error.isBrokenPipe: return .brokenPipe
    case let error as SystemError: failure = Failure("\(error)", code: .output)
    default: failure = Failure("\(error)", code: .status(.unknown))
    }
    Output.complain(failure)
    return failure.code
  }
}
