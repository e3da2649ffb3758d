import Foundation
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

  @Test func writesAValidManPage() throws {
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
    let unknown = try Run("call", "localhost:1", "s.S/M", "--compress", "lzma")
    #expect(unknown.errors.contains("--compress needs gzip, deflate, zstd or br, not 'lzma'"))
    #expect(try Run("describe", "--proto", "none.proto").exitCode == 66)
    #expect(try Run("describe", "--descriptor-set", "/none").exitCode == 66)
    #expect(try Run("describe", "--descriptor-set", "/etc/hostname").exitCode == 65)
    #expect(try Run("list", "localhost:1").exitCode == 14)
    for verb in ["list", "describe", "openapi"] {
      #expect(try Run(verb).errors.hasSuffix("--descriptor-set FILE\nTry 'switchboard help \(verb)'.\n"))
    }
    #expect(
      try Run("list", "localhost:x").errors
        == "switchboard: 'localhost:x' is not a server: 'x' is not a port, a number from 1 to 65535\nWrite 'localhost:50051'.\n"
    )
    let roots = try Run("list", "h", "--cacert", "/none.pem")
    #expect((roots.exitCode, roots.errors.contains("(/none.pem): no such file")) == (66, true))
  }

  @Test func surplusArgumentsAreRejected() throws {
    let proto = TestFolders.root.appending(path: "Protos/echo/echo.proto").path
    let list = try Run("list", "--proto", proto, "localhost:1")
    #expect(list.exitCode == 64)
    #expect(list.errors.contains("take no TARGET, such as 'localhost:1'"))
    #expect(try Run("list", "--proto", proto, "echo.Echo").output.hasPrefix("echo.Echo/Get\n"))
    // A mock serves without TLS, so the flags of connections mean nothing to it.
    #expect(try Run("mock", proto, "--tls").errors == "switchboard: --tls needs --record TARGET\n")
  }

  @Test func warnsOfADocumentWithoutPaths() throws {
    let proto = TestFolders.root.appending(path: "Protos/echo/echo.proto").path
    let document = try Run("openapi", "--proto", proto)
    #expect(document.exitCode == 0)
    #expect(document.errors.contains("warning: no method has a rule of google.api.http"))
  }

  @Test func reportsAPortInUse() throws {
    let proto = TestFolders.root.appending(path: "Protos/echo/echo.proto").path
    let mock = try ChildProcess(
      Command.path(ofProduct: "switchboard"),
      ["mock", proto, "-q", "--listen", "127.0.0.1:0"]
    )
    let place = try #require(mock.line()?.split(separator: ":").last.map { "127.0.0.1:\($0)" })
    for words in [["mock", proto], ["load-agent"]] {
      let second = try Command.product("switchboard", words + ["--listen", place])
      #expect(second.exitCode == 14)
      #expect(
        second.errors == """
          switchboard: cannot listen on ipv4:\(place): address already in use
          '--listen 127.0.0.1:0' takes a free port.

          """
      )
    }
    let agent = try Run("load-agent", "--tls-cert", "/none.pem", "--tls-key", "/none.pem")
    #expect((agent.exitCode, agent.errors.contains("(/none.pem): no such file")) == (66, true))
    mock.end(with: SIGTERM)
  }
}
