import TestSupport
import Testing

@testable import SwitchboardCommand

/// The flags that take a time, in all verbs.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TimeFlagTests {
  /// The arguments with which each verb comes to read its flags.
  private static let lines: [String: [String]] = [
    "list": ["localhost:1"], "describe": ["localhost:1"], "openapi": ["localhost:1"],
    "health": ["localhost:1"],
    "call": ["localhost:1", "a.B/C"], "load": ["localhost:1", "a.B/C"],
    "channelz": ["localhost:1", "--watch"], "console": ["localhost:1"], "xds": ["localhost:1"],
    "mock": ["--record", "localhost:1"], "complete": ["--", "list", ""],
  ]
  private static let needed = [
    LoadFlags.ramp: ["-r", "1..2"], LoadFlags.step: ["--find-max", "p99<1ms"],
  ]

  private static let flags = SwitchboardCommand.verbs.flatMap { verb in
    verb.allFlags.filter { $0.value == "TIME" }.map { (verb.name, $0) }
  }

  private func run(_ verb: String, _ flag: Flag, _ value: String) throws -> Command {
    let line = try #require(Self.lines[verb], "\(verb)")
    return try Command.product("switchboard", [verb, flag.name, value] + (Self.needed[flag] ?? []) + line)
  }

  @Test func everyFlagRefusesWhatIsNoTime() throws {
    #expect(Self.flags.count > 12)
    for (verb, flag) in Self.flags {
      let hasZero = [LoadFlags.warmUp, LoadFlags.ramp].contains(flag)
      for (value, reason) in [
        ("5x", "needs a time such as 500ms, 10s, 1.5m or 1h, not '5x'"),
        ("1m30s", "needs a time such as 500ms, 10s, 1.5m or 1h, not '1m30s'"),
        ("-1", "needs a time \(hasZero ? "of zero or more" : "above zero"), not '-1'"),
        ("-2s", "needs a time \(hasZero ? "of zero or more" : "above zero"), not '-2s'"),
        (hasZero ? "-0.1" : "0", "needs a time"), (hasZero ? "x" : "0ms", "needs a time"),
        ("99999999999h", "is more than a"), ("", "needs a value: TIME, which is empty"),
      ] {
        let run = try run(verb, flag, value)
        #expect(run.exitCode == 64, "\(verb) \(flag.name) \(value): \(run.errors)")
        #expect(
          run.errors.hasPrefix("switchboard: \(flag.name) \(reason)"),
          "\(verb) \(value): \(run.errors)"
        )
      }
    }
  }

  @Test func theHelpSaysWhatATimeIs() throws {
    for verb in Set(Self.flags.map(\.0)) {
      let help = try Run("help", verb).output.split(separator: "\n").joined(separator: " ")
      #expect(help.contains("Without a unit it is in seconds."), "\(verb)")
    }
    #expect(try !Run("help", "new").output.contains("TIME"))
  }

  @Test func aNumberAloneIsInSeconds() throws {
    let words = ["127.0.0.1:1", "shop.Shop/Buy", "--proto", Run.protos + "/shop.proto", "--wait-for-ready"]
    let run = try Command.product("switchboard", ["call"] + words + ["-t", "0.2"])
    #expect(run.exitCode == 4 && run.errors.contains("deadline of 200 ms"), "\(run.errors)")
  }
}
