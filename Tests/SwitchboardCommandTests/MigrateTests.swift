import Foundation
import SwitchboardCommand
import TestSupport
import Testing

/// The verb `migrate` on folders; `SwitchboardMigrationTests` has what it makes of files.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct MigrateTests {
  /// A folder with files, which is removed.
  private final class Folder {
    let path = NSTemporaryDirectory() + "migrate-\(UUID().uuidString)"

    init(_ files: [String: String]) throws {
      for (name, text) in files { try write(text, to: name) }
    }

    func write(_ text: String, to name: String) throws {
      let file = URL(fileURLWithPath: path + "/" + name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(),
        withIntermediateDirectories: true
      )
      try Data(text.utf8).write(to: file)
    }

    func text(_ name: String) throws -> String {
      try String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }

    /// All files, with what is in them and when they were written.
    func state() throws -> [String: String] {
      let manager = FileManager.default
      var state: [String: String] = [:]
      for name in try manager.subpathsOfDirectory(atPath: path) where !name.hasSuffix("/") {
        let attributes = try manager.attributesOfItem(atPath: path + "/" + name)
        guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
        state[name] = "\(try text(name)) \(attributes[.modificationDate] ?? "")"
      }
      return state
    }

    func migrate(_ flags: String...) throws -> (output: String, errors: String, exitCode: Int32) {
      let run = try Command.product("switchboard", ["migrate", "."] + flags, in: path)
      return (String(decoding: run.output, as: UTF8.self), run.errors, run.exitCode)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  private static let client = """
    import GRPC
    import NIOCore

    func echo(_ channel: GRPCChannel) async throws {
      let client = Echo_EchoAsyncClient(channel: channel)  // Echo_EchoAsyncClient
      try channel.close().wait()
    }

    """

  /// Where the sources are, there is nothing that depends on a package.
  @Test func aFolderWithoutAManifestHasNoDependency() throws {
    let folder = try Folder(["main.swift": "import GRPC\n", "switchboard/readme": ""])
    let run = try folder.migrate("--write", "--switchboard", "https://host.example/switchboard")
    #expect(run.exitCode == 64)
    #expect(run.errors.contains("has no Package.swift, which --switchboard is for"))
    #expect(try folder.text("main.swift") == "import GRPC\n")
  }

  @Test func reportsEachPlaceAndWritesNothing() throws {
    let folder = try Folder([
      "Sources/App/Client.swift": Self.client, "Sources/App/Other.swift": "import Foundation\n",
    ])
    let before = try folder.state()
    let (output, errors, exitCode) = try folder.migrate()
    #expect(
      output == """
        Sources/App/Client.swift:1: change: import GRPC -> import Switchboard
        Sources/App/Client.swift:2: change: import NIOCore removed (Switchboard is imported already)
        Sources/App/Client.swift:4: change: GRPCChannel -> Channel
        Sources/App/Client.swift:5: change: Echo_EchoAsyncClient -> Echo_EchoClient
        Sources/App/Client.swift:6: look: channel.close: Use await channel.shutDown(grace: .zero), which cannot be in a 'defer'; or leave it out: a channel closes when nothing keeps it.
        Sources/App/Client.swift:6: look: .wait(): Nothing blocks a thread here: try await the call, or 'response', 'status', 'get()' of what is waited for.

        """
    )
    #expect(errors.hasPrefix("4 certain changes, which --write makes, and 2 to look at;"))
    #expect(exitCode == 0)
    #expect(try folder.state() == before)
  }

  @Test func writesWhatIsCertainOnce() throws {
    let folder = try Folder(["Sources/App/Client.swift": Self.client])
    let (output, errors, exitCode) = try folder.migrate("--write")
    #expect(
      output.hasPrefix(
        "Sources/App/Client.swift: changed in 4 places\nSources/App/Client.swift:5: look: channel.close:"
      )
    )
    #expect(errors.hasPrefix("4 changes in 1 files, and 2 to look at;"))
    #expect(exitCode == 0)
    #expect(
      try folder.text("Sources/App/Client.swift") == """
        import Switchboard

        func echo(_ channel: Channel) async throws {
          let client = Echo_EchoClient(channel: channel)  // Echo_EchoAsyncClient
          try channel.close().wait()
        }

        """
    )
    let before = try folder.state()
    let again = try folder.migrate("--write")
    #expect(again.errors.hasPrefix("0 changes in 0 files, and 2 to look at;"))
    #expect(try folder.state() == before)
  }

  /// A changed file may no longer show what a person has to look at.
  @Test func whatIsToBeLookedAtIsNotLostByWriting() throws {
    let text = """
      import GRPCCore

      func send(_ client: Echo.Client<T>) async throws {
        try await client.get(message, metadata: ["a": "b"])
      }

      """
    let folder = try Folder(["Sources/App/Client.swift": text])
    let shown = try folder.migrate().output
    let places = shown.split(separator: "\n").filter { $0.contains("look: metadata:") }
    try #require(places.count == 1, "\(shown)")
    let written = try folder.migrate("--write").output
    #expect(written.contains(places[0].drop { $0 != " " }), "\(written)")
  }

  @Test func staysInTheFolder() throws {
    let outside = try Folder(["Secret.swift": Self.client, "Folder/Other.swift": Self.client])
    let folder = try Folder([
      ".build/checkouts/a.swift": Self.client, ".hidden/b.swift": Self.client, ".c.swift": Self.client,
      "Sources/d.txt": Self.client, "Sources/Run.swift": Self.client,
    ])
    let manager = FileManager.default
    try manager.createSymbolicLink(
      atPath: folder.path + "/Sources/Link.swift",
      withDestinationPath: outside.path + "/Secret.swift"
    )
    try manager.createSymbolicLink(
      atPath: folder.path + "/Sources/Linked",
      withDestinationPath: outside.path + "/Folder"
    )
    try manager.createSymbolicLink(atPath: folder.path + "/Sources/Round", withDestinationPath: "..")
    #expect(mkfifo(folder.path + "/Sources/Pipe.swift", 0o600) == 0)
    try manager.setAttributes([.posixPermissions: 0o751], ofItemAtPath: folder.path + "/Sources/Run.swift")
    let before = try outside.state()
    let (output, _, exitCode) = try folder.migrate("--write")
    #expect(exitCode == 0)
    #expect(Set(output.split(separator: "\n").map { $0.prefix { $0 != ":" } }) == ["Sources/Run.swift"])
    #expect(try outside.state() == before)
    for name in [".build/checkouts/a.swift", ".hidden/b.swift", ".c.swift", "Sources/d.txt"] {
      #expect(try folder.text(name) == Self.client)
    }
    let attributes = try manager.attributesOfItem(atPath: folder.path + "/Sources/Run.swift")
    #expect(attributes[.posixPermissions] as? Int == 0o751)
    #expect(try manager.contentsOfDirectory(atPath: folder.path + "/Sources").count == 6)
  }

  @Test func namesWhatIsGenerated() throws {
    let services =
      "// DO NOT EDIT.\n// Generated by the protocol buffer compiler.\nimport GRPC\npublic struct EchoAsyncClient {}\n"
    let folder = try Folder([
      "Sources/Model/a.grpc.swift": services, "Sources/Model/b.grpc.swift": services,
      "Sources/App/c.swift": "import GRPC\nlet c: EchoAsyncClient\n",
      "Sources/Model/grpc-swift-config.json": "{}",
    ])
    let (output, _, _) = try folder.migrate("--write")
    #expect(
      output == """
        Sources/App/c.swift: changed in 2 places
        Sources/Model: look: 2 files, such as Sources/Model/a.grpc.swift, are generated by protoc-gen-grpc-swift: generate again, with SwitchboardPlugin or 'switchboard generate'
        Sources/Model/grpc-swift-config.json: look: is for another generator: write a switchboard.json (docs/reference/Generator.md)

        """
    )
    #expect(try folder.text("Sources/Model/a.grpc.swift") == services)
  }

  @Test func generatedMessagesMayStay() throws {
    let messages =
      "// DO NOT EDIT.\n// Generated by the Swift generator plugin for the protocol buffer compiler.\n"
    let folder = try Folder(["a.pb.swift": messages, "b/c.pb.swift": messages, "d.pb.swift": messages])
    let output = try folder.migrate().output
    #expect(output.contains(".: look: 2 files, such as a.pb.swift, are generated by protoc-gen-swift:"))
    #expect(output.contains("b: look: b/c.pb.swift is generated by protoc-gen-swift:"))
    #expect(try folder.migrate("--keep-messages").output == "")
  }

  @Test func theManifestGetsWhatTheUserNames() throws {
    let manifest = #"let d = [.package(url: "https://github.com/grpc/grpc-swift.git", from: "1.0.0")]"#
    let folder = try Folder([
      "app/Package.swift": manifest, "app/a/b/Package.swift": manifest, "checkout/Package.swift": "",
    ])
    let words = ["migrate", "app", "--write", "--switchboard", "checkout"]
    let run = try Command.product("switchboard", words, in: folder.path)
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(
      try folder.text("app/Package.swift") == #"let d = [.package(name: "switchboard", path: "../checkout")]"#
    )
    #expect(
      try folder.text("app/a/b/Package.swift")
        == #"let d = [.package(name: "switchboard", path: "../../../checkout")]"#
    )
    let none = try Command.product(
      "switchboard",
      ["migrate", "app", "--switchboard", "none"],
      in: folder.path
    )
    #expect(none.exitCode == 66)
  }

  @Test func mistakes() throws {
    let folder = try Folder(["a.swift": "import Foundation\n"])
    let nothing = try folder.migrate()
    #expect((nothing.output, nothing.errors, nothing.exitCode) == ("", "nothing of grpc-swift found\n", 0))
    let none = try Run("migrate", "/none")
    #expect(none.exitCode == 66 && none.errors == "switchboard: /none: No such file or directory\n")
    let file = try Run("migrate", folder.path + "/a.swift")
    #expect(file.exitCode == 66)
    #expect(try Run("migrate").exitCode == 64)
  }

  /// What was written in the style of grpc-swift 1 compiles after the changes, but for what generators write.
  @Test func aPackageCompilesAfterwards() throws {
    let source = TestFolders.root.appending(path: "Tests/SwitchboardCommandTests/Migrated")
    let folder = try Folder([:])
    try FileManager.default.copyItem(at: source, to: URL(fileURLWithPath: folder.path))
    let (output, errors, exitCode) = try folder.migrate("--write", "--switchboard", TestFolders.root.path)
    #expect(exitCode == 0, "\(errors)")
    #expect(!output.contains("look"), "\(output)")
    let products = URL(fileURLWithPath: Command.path(ofProduct: "switchboard")).deletingLastPathComponent()
    let built = ["CLoopThread", "CTLSMemory", "CTicks"].map {
      products.appending(path: "\($0).build/module.modulemap").path
    }
    let modules = TestFolders.root.appending(path: "Sources/C")
    let maps = try FileManager.default.contentsOfDirectory(atPath: modules.path)
      .map { modules.appending(path: "\($0)/module.modulemap").path }
      .filter { FileManager.default.fileExists(atPath: $0) }
    let sources = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/Sources/Lines")
      .map { "Sources/Lines/\($0)" }
    let words = [
      "-typecheck", "-swift-version", "6", "-parse-as-library", "-module-name", "Lines",
      "-warnings-as-errors",
    ]
    let check = try Command.run(
      "swiftc",
      words + ["-I", products.appending(path: "Modules").path]
        + (maps + built).flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] } + sources,
      in: folder.path
    )
    #expect(check.exitCode == 0, "\(check.errors)")
  }
}
