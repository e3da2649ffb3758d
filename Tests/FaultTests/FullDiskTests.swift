import Foundation
import TestSupport
import Testing

/// Tools whose output does not fit on the disk: they report it, exit with 1, and keep the existing files.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct FullDiskTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("full-disk-\(UUID().uuidString)").path

  private static let isRoot = getuid() == 0
  /// The thread sanitizer writes larger files.
  private static let mayLimitFiles = ProcessInfo.processInfo.environment["SWITCHBOARD_SANITIZER"] != "thread"
  private static let tool = Command.path(ofProduct: "switchboard")

  /// Runs a shell script in a folder with two .proto files, whose generated code takes a kilobyte or two hundred times
  /// as much. `generate` generates `order.pb.swift` from one of them in `out`.
  private func run(_ script: String, inNamespace: Bool = false) throws -> Command {
    try FileManager.default.createDirectory(atPath: folder + "/out", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, count) in [("small", 1), ("large", 200)] {
      let messages = (0..<count).map { "message Order\($0) { string name = 1; repeated int32 lines = 2; }\n" }
      let directory = "\(folder)/\(name)"
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let proto = "syntax = \"proto3\";\n" + messages.joined()
      try Data(proto.utf8).write(to: URL(fileURLWithPath: directory + "/order.proto"))
    }
    let generate = "generate() { \(Self.tool) generate -I $1 -o out order.proto; }\n"
    let words = ["/bin/sh", "-c", generate + script]
    let command = inNamespace ? ["unshare", "--mount"] + words : words
    return try Command.run(command[0], Array(command.dropFirst()), in: folder)
  }

  private func expectFailure(_ command: Command, _ reason: String) {
    #expect(command.exitCode == 1)
    #expect(command.errors.hasPrefix("switchboard: out/order.pb.swift"))
    #expect(command.errors.hasSuffix(": \(reason)\n"))
  }

  @Test(
    .enabled("the thread sanitizer needs larger files", { FullDiskTests.mayLimitFiles }),
    arguments: ["ulimit -f 64", "true"]
  )
  func aFileAboveTheSizeLimitLeavesNothing(_ limit: String) throws {
    let command = try run("(\(limit); generate large); code=$?; ls -A out; exit $code")
    let output = String(decoding: command.output, as: UTF8.self)
    // The baseline: without a limit there is enough room.
    guard limit != "true" else {
      #expect(command.exitCode == 0)
      #expect(output == "order.pb.swift\n")
      return
    }
    expectFailure(command, "File too large")
    #expect(output.isEmpty)
  }

  @Test(.enabled("the thread sanitizer needs larger files", { FullDiskTests.mayLimitFiles }))
  func exceedingTheFileSizeLimitKeepsTheOldFile() throws {
    let command = try run(
      """
      generate small && cp out/order.pb.swift before || exit 3
      (ulimit -f 64; generate large); code=$?
      cmp before out/order.pb.swift || exit 4
      ls -A out
      exit $code
      """
    )
    expectFailure(command, "File too large")
    #expect(String(decoding: command.output, as: UTF8.self) == "order.pb.swift\n")
  }

  @Test(.enabled("a disk of one's own needs root", { FullDiskTests.isRoot }))
  func aFullDiskKeepsTheOldFile() throws {
    let command = try run(
      """
      mount -t tmpfs -o size=64k tmpfs out || exit 3
      generate small && cp out/order.pb.swift before || exit 3
      generate large; code=$?
      cmp before out/order.pb.swift || exit 4
      ls -A out
      exit $code
      """,
      inNamespace: true
    )
    expectFailure(command, "No space left on device")
    #expect(String(decoding: command.output, as: UTF8.self) == "order.pb.swift\n")
  }

  /// A request without files gets a response too.
  @Test func aPluginThatCannotAnswerFails() throws {
    let plugin = Command.path(ofProduct: "protoc-gen-switchboard")
    let command = try Command.run("/bin/sh", ["-c", "exec \(plugin) >/dev/full"])
    #expect(command.exitCode == 1)
    #expect(command.errors == "protoc-gen-switchboard: standard output: No space left on device\n")
  }
}
