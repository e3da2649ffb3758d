import Foundation
import TestSupport
import Testing

@testable import SwitchboardCommand

/// Mistakes, and the exit codes that the documents and the help promise for them.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ExitCodeTests {
  /// A directory with one file of each kind.
  private final class Folder {
    let path = NSTemporaryDirectory() + "codes-\(UUID().uuidString)"

    init() throws {
      try FileManager.default.createDirectory(atPath: path + "/folder", withIntermediateDirectories: true)
      for (name, text) in [
        "broken.proto": "message {", "text": "nonsense", "headers": "no colon\n", "config.json": "{}",
        "misspelled.json": #"{"methodConfg": []}"#, "a/Package.swift": "",
        "plugin.json": #"{"protos": ["shop.proto"], "options": {"Sever": true}}"#,
        "shop.proto": try String(contentsOfFile: Run.protos + "/shop.proto", encoding: .utf8),
      ] {
        let file = URL(fileURLWithPath: path + "/" + name)
        let folder = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
      }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  /// `SHOP` stands for a method of a server that is not there, `AGENT` for an agent that is not there either, and `''` for
  /// a word that is empty.
  private static let mistakes: [Int32: String] = [
    0: """
    list --proto shop.proto
    check-config config.json
    migrate a
    help
    man
    """,
    5: """
    list --proto shop.proto shop.Nothing
    describe --proto shop.proto Nothing
    call 127.0.0.1:1 shop.Shop/Nothing --proto shop.proto
    """,
    14: """
    list 127.0.0.1:1
    call SHOP
    health 127.0.0.1:1
    load SHOP -n 1
    load SHOP AGENT
    channelz 127.0.0.1:1
    xds 127.0.0.1:1
    mock --record 127.0.0.1:1 --output new.yaml
    load-agent --listen 192.0.2.1:0
    mock shop.proto --listen 192.0.2.1:0
    """,
    64: """

    nothing
    -v
    list
    call localhost:1
    list http://localhost:1/path
    call SHOP -t 0
    call SHOP -H text
    call SHOP --compress x
    call SHOP {}
    call SHOP --emit-defaults --format text
    call 127.0.0.1:1 shop.Shop --proto shop.proto
    list --proto shop.proto shop.Order
    list --proto shop.proto --tls
    list --proto shop.proto -l --json
    list --descriptor-set text -I folder
    channelz 127.0.0.1:1 --interval 1s
    load SHOP --step 1s
    load SHOP -r 5 --ramp 1s
    mock shop.proto --only-rules
    mock shop.proto --listen 7000
    mock shop.proto --listen 300.1.1.1:0
    load-agent --listen 300.1.1.1:0
    migrate
    migrate a --switchboard ''
    new 1
    new a --switchboard ''
    completions sh
    help nothing
    """,
    65: """
    list --proto broken.proto
    mock text
    list --descriptor-set text
    check-config text
    check-config misspelled.json
    call SHOP -d nonsense
    call SHOP -d @text
    call SHOP -H @headers
    call SHOP --service-config @text
    call SHOP --service-config {
    call SHOP --cacert text
    call SHOP --cert text --key text
    load SHOP -d @text
    load SHOP --compare text
    load SHOP AGENT --agent-cacert text
    load-agent --tls-cert text --tls-key text
    mock shop.proto --rules text
    """,
    66: """
    list --proto none.proto
    list --proto folder
    describe --proto none.proto
    openapi --proto none.proto
    mock none.proto
    migrate nothing
    migrate text
    migrate a --switchboard nothing
    mock folder
    call 127.0.0.1:1 shop.Shop/Buy --proto none.proto
    list --descriptor-set none
    list --descriptor-set folder
    check-config none
    check-config folder
    call SHOP -d @none
    call SHOP -d @folder
    call SHOP -H @none
    call SHOP --service-config @none
    call SHOP --cacert none
    call SHOP --cert none --key none
    load SHOP -d @none
    load SHOP --compare none
    load SHOP AGENT --agent-cacert none
    load-agent --tls-cert none --tls-key none
    load-agent --token @none
    mock shop.proto --rules none
    new a --switchboard none
    """,
    74: """
    load SHOP --save none/a.json
    mock --record 127.0.0.1:1 --output text
    mock --record 127.0.0.1:1 --output none/rules.yaml
    new a --switchboard a
    new b --switchboard a --directory text
    """,
  ]

  /// Those of `generate`, which builds rely on.
  private static let generating: [Int32: String] = [
    0: "--output out shop.proto",
    1: """
    --output out none.proto
    --output out folder
    --output out broken.proto
    --output text shop.proto
    --output /proc/none shop.proto
    --output out --configuration none
    --output out --configuration text
    --output out --configuration plugin.json
    --output out --descriptor-set none
    --output out --descriptor-set text
    --output out --option PayloadMappings=none shop.proto
    """,
    2: """

    --output out
    --wrong
    --output out --option Sever=true shop.proto
    --output out --option Server shop.proto
    --output a --output b shop.proto
    """,
  ]

  private static func lines(_ text: String) -> [[String]] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.split(separator: " ").flatMap { word -> [String] in
        switch word {
        case "SHOP": ["127.0.0.1:1", "shop.Shop/Buy", "--proto", "shop.proto"]
        case "AGENT": ["-n", "4", "--agents", "127.0.0.1:1", "--agent-token", "x"]
        case "''": [""]
        default: [String(word)]
        }
      }
    }
  }

  @Test func eachMistakeHasTheCodeOfTheDocuments() throws {
    let folder = try Folder()
    for (code, text) in Self.mistakes {
      for line in Self.lines(text) {
        let run = try Command.product("switchboard", line, in: folder.path)
        #expect(run.exitCode == code, "\(line): \(run.errors)")
        if code != 0 { #expect(!run.errors.isEmpty || line.first == "check-config", "\(line)") }
      }
    }
  }

  @Test func eachMistakeOfGeneratingHasTheCodeOfTheHelp() throws {
    let folder = try Folder()
    for (code, text) in Self.generating {
      for line in Self.lines(text) {
        for (program, verb) in [("switchboard", ["generate"]), ("switchboard-generate", [])] {
          let run = try Command.product(program, verb + line, in: folder.path)
          #expect(run.exitCode == code, "\(line): \(run.errors)")
        }
      }
    }
  }

  @Test func aFullDiskIsOutputThatCannotBeWritten() throws {
    for line in ["man", "help", "completions bash", "list --proto \(Run.protos)/shop.proto"] {
      let program = Command.path(ofProduct: "switchboard")
      let run = try Command.run("/bin/sh", ["-c", "'\(program)' \(line) > /dev/full"])
      #expect(run.exitCode == 74 && run.errors.contains("No space left on device"), "\(line): \(run.errors)")
    }
  }

  /// The document, the help and the code have the same codes.
  @Test func theDocumentAndTheHelpHaveAllCodes() throws {
    let document = try String(
      contentsOf: TestFolders.root.appending(path: "docs/reference/Command.md"),
      encoding: .utf8
    )
    let table = try #require(document.split(separator: "| Code | Means |\n|---|---|\n").last)
    let rows = table.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("| ") }
    let codes = rows.compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Int32($0) } }
    let own: [ExitCode] = [
      .success, .conditionHolds, .usage, .data, .noInput, .output, .interrupted, .brokenPipe,
    ]
    // The first of 1 to 16.
    #expect(codes.filter { $0 != 1 } == own.map(\.rawValue))
    let help = HelpText.exitCodes.text
    for code in own { #expect(help.split { !$0.isNumber }.contains("\(code.rawValue)"), "\(code)") }
    for code in own where ![.conditionHolds, .interrupted, .brokenPipe].contains(code) {
      #expect(Self.mistakes[code.rawValue]?.isEmpty == false, "\(code)")
    }
  }
}
