import SwitchboardGenerateVerb
import TestSupport
import Testing

@testable import SwitchboardCommand

@Suite(.mayBlock) struct HelpTests {
  @Test func explainsEveryVerbWithExamples() throws {
    let overview = try Run("help").output
    for verb in SwitchboardCommand.verbs where !verb.isHidden {
      #expect(overview.contains("\n  \(verb.name) "), "\(verb.name)")
      let text = try Run("help", verb.name).output
      #expect(text.contains("usage: switchboard \(verb.name)"), "\(verb.name)")
      for flag in verb.flags.flatMap(\.flags) {
        #expect(text.contains(flag.name), "\(verb.name) \(flag.name)")
      }
      #expect(!text.split(separator: "\n").contains { $0.count > 120 }, "\(verb.name)")
      guard case .parsed = verb.action else { continue }
      #expect(!verb.examples.isEmpty, "\(verb.name)")
      // An example uses only what there is.
      for example in verb.examples {
        #expect(example.line.hasPrefix(verb.name))
        for word in example.line.split(separator: " ") where word.hasPrefix("--") {
          #expect(
            verb.allFlags.contains { $0.names.contains(String(word.prefix { $0 != "=" })) },
            "\(example.line)"
          )
        }
      }
      #expect(try Run(verb.name, "--help").output == text)
    }
  }

  @Test func hasNoFlagTwice() {
    for verb in SwitchboardCommand.verbs {
      let names = verb.allFlags.flatMap(\.names)
      #expect(names.count == Set(names).count, "\(verb.name)")
    }
    let names = SwitchboardCommand.verbs.map(\.name)
    #expect(names.count == Set(names).count)
  }

  @Test func knowsTheFlagsThatGenerateParsesItself() {
    let help = GenerateVerb.help(as: "switchboard generate")
    let written = Set(
      help.split { !($0.isLetter || $0 == "-") }.filter { $0.hasPrefix("--") && $0.count > 2 }
    )
    let others: Set<Substring> = ["--include_imports", "--descriptor"]
    for flag in GenerateEntry.verb.allFlags { #expect(help.contains(flag.name), "\(flag.name)") }
    let known = Set(GenerateEntry.verb.allFlags.flatMap(\.names).map { Substring($0) })
    #expect(
      written.subtracting(known).subtracting(others).filter {
        !$0.hasPrefix("--include") && !$0.hasPrefix("--descriptor")
      } == []
    )
  }

  @Test func writesAManPageThatTroffTakes() throws {
    let page = try Run("man").output
    for verb in SwitchboardCommand.verbs where !verb.isHidden {
      let name = verb.name.split(separator: "-").joined(separator: "\\-")
      #expect(page.contains("\n.SS \(name)\n"))
    }
    #expect(page.contains(".SH EXIT STATUS"))
    // No text is taken for a request.
    let requests = Set(
      page.split(separator: "\n").filter { $0.hasPrefix(".") }.map { $0.prefix { $0 != " " } }
    )
    #expect(requests == [".TH", ".SH", ".SS", ".B", ".br", ".PP", ".TP", ".RS", ".RE", ".nf", ".fi"])
    let dashes = page.split(separator: "\n").filter { $0.contains("--") }
    #expect(dashes == [])
  }

  @Test func writesScriptsForShells() throws {
    for shell in CompletionScript.allCases {
      #expect(try Run("completions", shell.rawValue).output.contains("switchboard complete -- "))
    }
    let check = try Command.run("bash", ["-n"], input: Array(CompletionScript.bash.text.utf8))
    #expect(check.exitCode == 0, "\(check.errors)")
    #expect(try Run("completions", "tcsh").exitCode == 64)
  }

  @Test func reportsMistakesInTheArguments() throws {
    let none = try Run()
    #expect(none.exitCode == 64)
    #expect(none.errors.hasPrefix("switchboard: no verb\nusage: switchboard VERB"))
    let typo = try Run("lst")
    #expect(typo.exitCode == 64)
    #expect(typo.errors == "switchboard: there is no verb 'lst'\nDid you mean 'list'?\n")
    #expect(try Run("help", "lst").errors == typo.errors)
    #expect(try Run("list", "h", "--jsn").errors.contains("Did you mean --json?"))
    #expect(try Run("list", "h", "--plaintext", "--tls").exitCode == 64)
    #expect(try Run("list", "nonsense:///x").exitCode == 64)
    #expect(try Run("call", "localhost:1", "Method").exitCode == 64)
    #expect(try Run("describe", "--proto", "none.proto").exitCode == 65)
    #expect(try Run("describe", "--descriptor-set", "/none").exitCode == 66)
    #expect(try Run("describe", "--descriptor-set", "/etc/hostname").exitCode == 65)
    #expect(try Run("list", "localhost:1").exitCode == 14)
  }
}
