import Switchboard
import SwitchboardText
import Testing

@testable import SwitchboardCommand

@Suite struct ArgumentsTests {
  private static let times = Flag("-n", "--times", value: "N", help: "How often.")
  private static let loud = Flag("--loud", help: "Louder.")
  private static let names = Flag("--name", value: "NAME", repeats: true, help: "Whom.")
  private static let verb = Verb(
    "greet",
    summary: "greet",
    usage: ["TARGET"],
    operands: [.target, Operand("WORD", isOptional: true, "A word.")],
    flags: [FlagGroup("Greeting", [times, loud, names])]
  ) { _ in .success }

  private func parsed(_ words: String...) throws -> Arguments? { try Arguments(words, for: Self.verb) }

  private func complaint(_ words: String...) -> String? {
    do {
      _ = try Arguments(words, for: Self.verb)
      return nil
    } catch {
      #expect(error.code == .usage)
      return ([error.message] + error.hints).joined(separator: "\n").text
    }
  }

  @Test func readsEverySpelling() throws {
    for words in [
      ["host", "-n", "3", "--loud"], ["-n3", "host", "--loud"], ["--times=3", "--loud", "host"],
      ["--loud", "--times", "3", "--", "host"],
    ] {
      let arguments = try #require(try Arguments(words, for: Self.verb))
      #expect(arguments.operands == ["host"])
      #expect(try arguments.integer(Self.times, in: 1...10) == 3)
      #expect(arguments.has(Self.loud))
    }
    let many = try #require(try parsed("h", "--name", "a", "--name=b", "-"))
    #expect(many.all(Self.names) == ["a", "b"])
    #expect(many.operand(1) == "-")
    #expect(many[Self.times] == nil)
    #expect(try parsed("-h") == nil)
  }

  @Test func explainsInvalidArguments() {
    #expect(complaint() == "TARGET is missing. \(Operand.target.text)\nTry 'switchboard help greet'.")
    #expect(complaint("a", "b", "c")?.hasPrefix("unexpected argument: 'c'") == true)
    #expect(
      complaint("a", "--tims", "3")
        == "greet has no flag '--tims'\nDid you mean --times?\nTry 'switchboard help greet'."
    )
    #expect(complaint("a", "-n") == "-n needs a value: N")
    #expect(complaint("a", "-n", "") == "-n needs a value: N, which is empty")
    #expect(complaint("a", "") == "WORD is empty\nTry 'switchboard help greet'.")
    #expect(complaint("a", "-n", "--loud")?.contains("write --times=--loud") == true)
    #expect(complaint("a", "--loud=1") == "--loud takes no value")
    #expect(complaint("a", "-n1", "--times", "2") == "--times is given twice")
  }

  @Test func checksNumbersAndTimes() throws {
    let arguments = try #require(try parsed("a", "-n", "11"))
    #expect(throws: Failure.self) { try arguments.integer(Self.times, in: 1...10) }
    #expect(throws: Failure.self) {
      try #require(try parsed("a", "-n", "1x")).integer(Self.times, in: 1...10)
    }
    #expect(throws: Failure.self) { try #require(try parsed("a", "-n", "soon")).duration(Self.times) }
    for (text, duration) in [
      ("1.5s", Duration.milliseconds(1500)), ("20ms", .milliseconds(20)), ("3", .seconds(3)),
      ("2m", .seconds(120)),
      ("100us", .microseconds(100)), ("1h", .seconds(3600)),
    ] {
      #expect(try #require(try parsed("a", "-n", text)).duration(Self.times) == duration, "\(text)")
    }
    for text in ["s", "1e300", "nan", "inf", "0x10s", "1 s", "1..2s", "5x", "5S", "1m30s", "-", "."] {
      #expect(Duration.seconds(argument: text) == nil, "\(text)")
    }
  }

  @Test(arguments: [
    (Duration.microseconds(12), "12.0 us"), (.milliseconds(1), "1.00 ms"),
    (.microseconds(999_999), "1000.00 ms"),
    (.seconds(61), "61.00 s"), (.zero, "0.0 us"),
  ])
  func showsTimes(_ duration: Duration, _ text: String) {
    #expect(duration.shown == text)
  }

  @Test func readsMetadata() throws {
    let headers = try HPACKHeaders(arguments: ["Tenant: north", "empty:", "trace-bin: AQI", "list-bin:_-8="])
    #expect(headers["tenant"] == ["north"])
    #expect(headers["empty"] == [""])
    #expect(headers[binary: "trace-bin"] == [[1, 2]])
    #expect(headers[binary: "list-bin"] == [[0xFF, 0xEF]])
    for wrong in ["tenant", ":path", "a b: c", "x-bin: !", "x-bin: A", "x: caf\u{E9}", "x: a\nb"] {
      #expect(throws: Failure.self, "\(wrong)") { try HPACKHeaders(arguments: [wrong]) }
    }
    for bytes in [[], [1], [1, 2], [0xFF, 0xFE, 0xFD], [0, 0, 0, 0]] as [[UInt8]] {
      #expect(Base64Argument.decode(Base64Argument.encode(bytes)) == bytes)
    }
  }

  @Test func choosesBetweenTLSAndPlaintext() throws {
    for local in [
      "localhost:1", "127.0.0.1:1", "127.8.9.10", "[::1]:1", "::1", "unix:/a", "unix-abstract:a",
      "http://shop.example:80/",
      "dns:///localhost:5", "ipv4:127.0.0.1:5", "LOCALHOST", "grpc://shop.example", "GRPC://shop.example",
      "ipv4:127.0.0.1:5,127.0.0.2", "ipv6:[::1]:5,[::1]:6",
    ] {
      #expect(try !TargetAddress(local).usesTLS, "\(local)")
    }
    for remote in [
      "shop.example", "10.0.0.1:50051", "127.0.0.1.shop.example:1", "localhost.shop.example", "a.localhost:1",
      "https://localhost:1", "grpcs://localhost:1",
      "dns:///shop.example", "ipv4:127.0.0.1,10.0.0.1", "ipv4:10.0.0.1:5",
      "dns://127.0.0.1/shop.example:1", "ipv4:127.0.0.1:5,10.0.0.1:5", "ipv6:[::1]:5,[2001:db8::1]:5",
    ] {
      #expect(try TargetAddress(remote).usesTLS, "\(remote)")
    }
    #expect(throws: Failure.self) { try TargetAddress("1270.0.0.1") }
    #expect(try TargetAddress("localhost").address(usesTLS: false) == "localhost:50051")
    #expect(try TargetAddress("::1").address(usesTLS: false) == "[::1]:50051")
    #expect(try TargetAddress("[::1]").address(usesTLS: false) == "[::1]:50051")
    #expect(try TargetAddress("localhost:7").address(usesTLS: false) == "localhost:7")
    #expect(try TargetAddress("shop.example").address(usesTLS: true) == "shop.example")
    #expect(try TargetAddress("HTTPS://shop.example:8443/").address(usesTLS: true) == "shop.example:8443")
    #expect(try TargetAddress("unix:/a").address(usesTLS: false) == "unix:/a")
  }

  @Test func colorsFollowTheTerminalAndTheEnvironment() {
    func wants(_ isTerminal: Bool, _ variables: [String: String]) -> Bool {
      Terminal.wantsColor(isTerminal: isTerminal) { variables[$0] }
    }
    #expect(wants(true, [:]))
    #expect(!wants(false, [:]))
    #expect(!wants(true, ["NO_COLOR": "1"]))
    #expect(wants(true, ["NO_COLOR": ""]))
    #expect(!wants(true, ["TERM": "dumb"]))
    #expect(wants(false, ["CLICOLOR_FORCE": "1"]))
    #expect(!wants(true, ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"]))
    #expect(Painter(hasColor: true)(.name, "x" as String).text == "\u{1B}[1;34mx\u{1B}[0m")
  }
}
