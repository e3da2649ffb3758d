import Foundation
import LoadMessages
import Switchboard
import SwitchboardLoad
import TestSupport
import Testing

/// The command in a terminal, and in a pipe.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LoadTerminalTests {
  private struct Seen: Decodable {
    let code: Int32
    let text: String
  }

  private func words(_ target: String, _ flags: [String], warmUp: String = "0s") -> [String] {
    let proto = TestFolders.root.appending(path: "Protos/echo/echo.proto").path
    return [
      "load", target, "echo.Echo/Get", "-d", #"{"text":"hello"}"#, "--proto", proto, "--warm-up", warmUp,
    ]
      + flags
  }

  private func watch(_ action: String, _ target: String, _ flags: [String]) throws -> Seen {
    let script = TestFolders.peers(of: #fileID).appending(path: "load_in_terminal.py").path
    let program = Command.path(ofProduct: "switchboard")
    let process = try ChildProcess(TestFolders.python, [script, action, program] + words(target, flags))
    return try JSONDecoder().decode(Seen.self, from: Data(process.allOutput().utf8))
  }

  @Test func aLineShowsProgressAndTheReportFollows() async throws {
    try await LoadRunTests.with(SlowEcho()) { target in
      let seen = try watch("watch", target, ["-r", "100", "-z", "1500ms"])
      #expect(seen.code == 0)
      #expect(seen.text.contains("p99") && seen.text.contains("=") && seen.text.contains("errors 0"))
      #expect(seen.text.contains("Calls     150"))
      #expect(seen.text.contains("\u{1b}[1m"))
      // The line is taken away before the report.
      #expect(seen.text.contains("\r\u{1b}[K\u{1b}[1mecho.Echo/Get at"))
    }
  }

  @Test func aScreenFollowsTheWindow() async throws {
    try await LoadRunTests.with(SlowEcho()) { target in
      let seen = try watch("resize", target, ["-r", "100", "-z", "2500ms", "--live", "screen"])
      #expect(seen.code == 0)
      #expect(seen.text.contains("\u{1b}[?1049h"))
      // What is drawn before is left as it was.
      #expect(seen.text.contains("\u{1b}[?25h\u{1b}[?1049l"))
      let frames = seen.text.split(separator: "\u{1b}[H").map { $0.split(separator: "\r\n").count }
      #expect(frames.contains { $0 <= 24 })
      #expect(frames.contains { $0 > 24 && $0 <= 40 })
    }
  }

  @Test func ctrlCStopsWithAReport() async throws {
    try await LoadRunTests.with(SlowEcho()) { target in
      let seen = try watch("interrupt", target, ["-r", "100", "-z", "1h"])
      #expect(seen.code == 0)
      #expect(seen.text.contains("Status") && seen.text.contains(", interrupted"))
    }
  }

  @Test func aSecondCtrlCEndsTheProcessAtOnce() async throws {
    // Calls that do not end, for which the first Ctrl-C waits.
    let slow = SlowEcho { _ in .seconds(600) }
    try await LoadRunTests.with(slow) { target in
      let seen = try watch("twice", target, ["-r", "100", "-z", "1h", "--live", "screen"])
      #expect(seen.code == 130)
      #expect(!seen.text.contains("Status"))
      #expect(seen.text.hasSuffix("\u{1b}[?1049l") || seen.text.contains("\u{1b}[?25h\u{1b}[?1049l"))
    }
  }

  @Test func aPipeGetsTheReportAndNothingElse() async throws {
    try await LoadRunTests.with(SlowEcho()) { target in
      let json = try Command.product("switchboard", words(target, ["-n", "50", "-o", "json"]))
      #expect(json.exitCode == 0)
      #expect(json.errors.isEmpty)
      let (report, tally) = try LoadTestReportReader.read(String(decoding: json.output, as: UTF8.self))
      #expect(tally.calls == 50)
      #expect(report == "echo.Echo/Get")
      let text = try Command.product("switchboard", words(target, ["-n", "50"]))
      #expect(!text.output.contains(0x1b))
    }
  }

  @Test func conditionsDecideTheExitCode() async throws {
    try await LoadRunTests.with(SlowEcho()) { target in
      let fails = try Command.product(
        "switchboard",
        words(target, ["-n", "50", "--fail-if", "p99>1us,errors>0"])
      )
      #expect(fails.exitCode == 20)
      #expect(fails.errors.contains("p99>1.00 us: "))
      let passes = try Command.product(
        "switchboard",
        words(target, ["-n", "50", "--fail-if", "p99>1h,errors>0"])
      )
      #expect(passes.exitCode == 0)
      // A warm-up that takes all calls leaves nothing to judge.
      let unmeasured = try Command.product(
        "switchboard",
        words(target, ["-n", "5", "--fail-if", "errors>0"], warmUp: "1h")
      )
      #expect(unmeasured.exitCode == 20 && unmeasured.errors.contains("no call was measured"))
      for bad in [
        ["--fail-if", "q>1"], ["--rate", "0"], ["--rate", "1..x"], ["--save", "report.pdf"], ["-z", "2d"],
      ] {
        #expect(try Command.product("switchboard", words(target, bad)).exitCode == 64, "\(bad)")
      }
      #expect(
        try Command.product("switchboard", words(target, ["--compare", "/nowhere.json"])).exitCode == 66
      )
    }
    let nobody = try Command.product("switchboard", words("127.0.0.1:1", ["-n", "5"]))
    #expect(nobody.exitCode == 14)
    #expect(nobody.errors.contains("UNAVAILABLE"))
  }

  /// Latencies that count from the moment when a call was due, and others, are never compared.
  @Test func onlyRunsOfOneKindAreCompared() async throws {
    let folder = NSTemporaryDirectory() + "compare-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await LoadRunTests.with(SlowEcho()) { target in
      let flags = ["closed": ["-n", "20"], "open": ["-n", "20", "-r", "1000"]]
      for (kind, flags) in flags {
        let saved = try Command.product(
          "switchboard",
          words(target, flags + ["--save", "\(folder)/\(kind).json"])
        )
        #expect(saved.exitCode == 0, "\(saved.errors)")
      }
      for (kind, flags) in flags {
        for old in ["closed", "open"] {
          let path = "\(folder)/\(old).json"
          let run = try Command.product("switchboard", words(target, flags + ["--compare", path]))
          #expect(run.exitCode == (kind == old ? 0 : 64), "\(kind) \(old): \(run.errors)")
          guard kind != old else { continue }
          #expect(run.errors.contains("the run of \(path) was \(old == "open" ? "with" : "without") --rate"))
          #expect(run.output.isEmpty)
        }
      }
    }
  }

  /// What cannot be compared with is refused before the run, which may be long.
  @Test func aReportThatLacksWhatIsComparedIsRefused() throws {
    let folder = NSTemporaryDirectory() + "lacks-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var report = LoadTestReport()
    report.measurements = TallyTests.tally(calls: 100).message
    report.measurements.seconds = 0
    report.measurements.series = LoadTestSeries()
    let path = folder + "/old.json"
    for (json, reason) in [
      ("{}", "no measured call"), (#"{"method": "a.B/C", "measurements": {}}"#, "no measured call"),
      (try report.jsonString(), "no seconds, series in its measurements"),
    ] {
      try Data(json.utf8).write(to: URL(filePath: path))
      let run = try Command.product("switchboard", words("127.0.0.1:1", ["-n", "5", "--compare", path]))
      #expect(run.exitCode == 65 && run.output.isEmpty)
      let wanted = "switchboard: \(path): it cannot be compared with: it has \(reason)\n"
      #expect(run.errors == wanted, "\(run.errors)")
    }
  }

  @Test func whatIsComparedOrMeasuredForNothingIsSaid() async throws {
    let folder = NSTemporaryDirectory() + "other-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var report = LoadTestReport()
    report.method = "echo.Echo/Expand"
    report.measurements = TallyTests.tally(calls: 100).message
    let path = folder + "/old.json"
    try Data(try report.jsonString().utf8).write(to: URL(filePath: path))
    try await LoadRunTests.with(SlowEcho()) { target in
      let other = try Command.product("switchboard", words(target, ["-n", "5", "--compare", path]))
      let was = "--compare: the run of \(path) was of echo.Echo/Expand, and this one is of echo.Echo/Get"
      #expect(other.exitCode == 0 && other.errors.contains(was), "\(other.errors)")
      let nothing = try Command.product("switchboard", words(target, ["-n", "5"], warmUp: "1h"))
      let why =
        "no call was measured, because the run ended in its warm-up: --calls counts the calls of --warm-up too"
      #expect(nothing.exitCode == 0 && nothing.errors.contains(why), "\(nothing.errors)")
      for (ramp, isLate) in [("1h", true), ("100ms", false)] {
        let flags = ["-r", "10..100", "-z", "100ms", "--ramp", ramp]
        let run = try Command.product("switchboard", words(target, flags))
        let late = "the rate does not get as far as 10..100 says: --ramp is longer than the run"
        #expect(run.exitCode == 0 && run.errors.contains(late) == isLate, "\(run.errors)")
      }
    }
  }

  /// The report is seen whatever becomes of its copies.
  @Test func aReportIsShownBeforeItIsSaved() async throws {
    let folder = NSTemporaryDirectory() + "pipe-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (pipe, file) = (folder + "/pipe.json", folder + "/file.json")
    try #require(mkfifo(pipe, 0o600) == 0)
    try await LoadRunTests.with(SlowEcho()) { target in
      let run = try Command.product(
        "switchboard",
        words(target, ["-n", "5", "--save", pipe, "--save", file])
      )
      #expect(run.exitCode == 74)
      #expect(run.errors == "switchboard: \(pipe): No process reads this pipe\n", "\(run.errors)")
      #expect(String(decoding: run.output, as: UTF8.self).contains("Calls     5"))
      #expect(FileManager.default.fileExists(atPath: file))
    }
  }

  /// Of calls that fail with one status, each reason is reported.
  @Test func eachReasonIsReported() async throws {
    try await LoadRunTests.with(SlowEcho()) { target in
      let folder = NSTemporaryDirectory() + "reasons-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      try Data(#"{"text": "fail"} {"text": "fail otherwise"}"#.utf8).write(
        to: URL(filePath: folder + "/d.json")
      )
      // One caller makes them in turn.
      var line = words(target, ["-n", "6", "-c", "1"])
      line[4] = "@\(folder)/d.json"
      let run = try Command.product("switchboard", line)
      #expect(run.exitCode == 5)
      #expect(run.errors.contains("NOT_FOUND: no such echo\nOther calls: nor this one\n"), "\(run.errors)")
      let shown = String(decoding: run.output, as: UTF8.self)
      #expect(
        shown.contains("  no such echo\n\(String(repeating: " ", count: 38))nor this one\n"),
        "\(shown)"
      )
    }
  }

  @Test func agentsNeedSomethingToDivide() throws {
    let agents = ["--agents", "a:1,b:1,c:1", "--agent-token", "x"]
    for flags in [["-n", "2"], ["--connections", "2"], ["-c", "2"]] {
      let run = try Command.product("switchboard", words("127.0.0.1:1", flags + agents))
      #expect(run.exitCode == 64)
      #expect(run.errors.contains("cannot be divided among 3 agents"), "\(run.errors)")
    }
  }

  @Test func mistakesAreReportedBeforeTheRun() async throws {
    try await LoadRunTests.with(SlowEcho()) { target in
      func run(_ words: [String]) throws -> Command { try Command.product("switchboard", words) }
      let folder = try run(words(target, ["-n", "1", "--save", "/none/report.html"]))
      #expect((folder.exitCode, folder.output.isEmpty) == (74, true))
      var typo = words(target, ["-n", "1"])
      typo[2] = "echo.Echo/Gte"
      #expect(try run(typo).errors == "switchboard: echo.Echo has no method 'Gte'\nDid you mean Get?\n")
      for (data, wanted) in [
        (#"{"text":{{i}}}"#, "-d: EchoRequest.text: expected a string"),
        (#"{"text":1}"#, "-d: EchoRequest.text: expected a string"),
        (#"{"text":"{{i"}"#, #"-d: {{i"} has no }}"#),
      ] {
        var asked = words(target, ["-n", "1"])
        asked[4] = data
        let wrong = try run(asked)
        #expect(wrong.exitCode == 65)
        #expect(wrong.errors.contains(wanted), "\(wrong.errors)")
      }
    }
  }

  @Test func aRunWithoutAnySuccessEndsWithTheReason() async throws {
    try await LoadRunTests.with(SlowEcho()) { target in
      var asked = words(target, ["-n", "2"])
      asked[4] = #"{"text":"fail"}"#
      let failed = try Command.product("switchboard", asked)
      #expect(failed.exitCode == 5)
      #expect(failed.errors == "switchboard: \(target): NOT_FOUND: no such echo\n")
    }
  }
}

/// Reads what the command wrote.
enum LoadTestReportReader {
  static func read(_ json: String) throws -> (method: String, tally: LoadTally) {
    let (report, tally) = try LoadTestReport.read(json)
    return (report.method, tally)
  }
}
