import EchoService
import EchoTestSupport
import Foundation
import ServerTestSupport
import Switchboard
import TestSupport
import Testing

/// `mock --record` and the file that it writes.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct MockRecordingTests {
  private struct Echo: EchoingProvider {
    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      .with { $0.text = context.headers.first(name: "authorization") ?? "nobody" }
    }
  }

  private let folder = NSTemporaryDirectory() + "recording-\(UUID().uuidString)"
  private var path: String { folder + "/rules.yaml" }
  private let proto = ["--proto", TestFolders.root.appending(path: "Protos/echo/echo.proto").path]

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

  private func content() -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

  private func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  /// Records until `body` returns. Returns what the command wrote to standard error.
  private func record(_ flags: [String], _ body: (String) throws -> Void) async throws -> Int32 {
    try await withServer([Echo()]) { _, address async throws in
      let process = try ChildProcess(
        Command.path(ofProduct: "switchboard"),
        ["mock", "--record", "\(address)", "--listen", "127.0.0.1:0", "--output", path] + proto + flags
      )
      let line = try #require(process.line())
      let words = line.split(separator: " ")
      try body(String(try #require(words.firstIndex(of: "on").map { words[$0 + 1] })))
      process.send(SIGINT)
      _ = process.allOutput()
      return process.exitCode()
    }
  }

  @Test func anExistingFileIsKeptUntilThereIsSomethingToWrite() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try write("mine", to: path)
    let refused = try Run("mock", "--record", "127.0.0.1:1", "--output", path)
    #expect(refused.exitCode == 74)
    #expect(refused.errors.hasPrefix("switchboard: \(path) exists already\n'--overwrite' replaces it"))
    // It cannot serve: the file is as it was.
    let taken = try Command.product(
      "switchboard",
      ["mock", "--record", "127.0.0.1:1", "--output", path, "--overwrite", "--listen", "256.0.0.1:0"] + proto
    )
    #expect(taken.exitCode != 0)
    #expect(content() == "mine")
    // Nobody calls.
    #expect(try await record(["--overwrite"]) { _ in } == 0)
    #expect(content() == "mine")
    let code = try await record(["--overwrite"]) { target in
      let call = try Command.product("switchboard", ["call", target, "echo.Echo/Get"] + proto)
      #expect(call.exitCode == 0, "\(call.errors)")
    }
    #expect(code == 0)
    #expect(content()?.hasPrefix("rules:\n") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["rules.yaml"])
  }

  /// The answer is recorded as for a call by gRPC, and nothing of HTTP reaches the server.
  @Test func callsByConnectAreRecordedToo() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let code = try await record([]) { target in
      let call = try Command.run(
        "curl",
        [
          "-s", "--max-time", "60", "-H", "content-type: application/json", "-H", "authorization: me", "-d",
          #"{"text":"x"}"#,
          "http://\(target.split(separator: ":").suffix(2).joined(separator: ":"))/echo.Echo/Get",
        ]
      )
      #expect(String(decoding: call.output, as: UTF8.self) == #"{"text":"me"}"#, "\(call.errors)")
    }
    #expect(code == 0)
    #expect(content()?.contains(#"match: {"text":"x"}"#) == true, "\(content() ?? "")")
  }

  @Test func headersAreForwardedFromAFile() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let headers = folder + "/headers"
    try write("authorization: Bearer 1234\n\nother: x\r\n", to: headers)
    let code = try await record(["-H", "@" + headers]) { target in
      let call = try Command.product("switchboard", ["call", target, "echo.Echo/Get"] + proto)
      #expect(
        String(decoding: call.output, as: UTF8.self) == "{\"text\":\"Bearer 1234\"}\n",
        "\(call.errors)"
      )
    }
    #expect(code == 0)
    // The answer is recorded, and repeats it; nothing else does.
    #expect(content()?.split(separator: "\n").filter { $0.contains("1234") }.count == 1)
  }
}
