import Foundation
import TestSupport
import Testing

@testable import SwitchboardCommand

/// What `new` makes of names and places; `scripts/test/examples` builds what it makes.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct NewTests {
  private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "new-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  @Test(arguments: [
    ("https://example.com/grpc/switchboard.git", "switchboard"), ("https://example.com/Fork", "fork"),
    ("git@example.com:someone/Fork.Of.It.git", "fork.of.it"), ("ssh://git@example.com/a/b/", "b"),
    ("git@example.com:a/b", "b"), ("file:///srv/git/fork.git", "fork"),
  ]) func aDependencyIsNamedByItsPackageIdentity(_ url: String, _ name: String) {
    #expect(PackageDependency(url: url)?.name == name)
  }

  @Test(arguments: ["https://", "https:///", "https://example.com", "://", "git@"])
  func otherURLsAreRefused(_ url: String) throws {
    #expect(PackageDependency(url: url) == nil)
  }

  @Test func aPackageOfARepositoryResolves() throws {
    try withFolder { folder in
      // A repository of another name, with the products that the new package takes from it.
      let manifest = """
        // swift-tools-version: 6.1
        import PackageDescription
        let package = Package(
          name: "anything",
          products: [
            .library(name: "Switchboard", targets: ["Switchboard"]),
            .library(name: "SwitchboardTesting", targets: ["Switchboard"]),
            .library(name: "SwitchboardServices", targets: ["Switchboard"]),
            .library(name: "SwitchboardTelemetry", targets: ["Switchboard"]),
            .plugin(name: "SwitchboardPlugin", targets: ["SwitchboardPlugin"]),
          ],
          targets: [
            .target(name: "Switchboard"), .plugin(name: "SwitchboardPlugin", capability: .buildTool()),
          ]
        )
        """
      let files = [
        "Package.swift": manifest, "Sources/Switchboard/Empty.swift": "",
        "Plugins/SwitchboardPlugin/Plugin.swift": "",
      ]
      let repository = folder.appending(path: "A-Fork")
      for (path, text) in files {
        let file = repository.appending(path: path)
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(),
          withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: file)
      }
      let script = """
        git init -q -b main && git add -A
        git -c user.name=a -c user.email=a@example.com -c commit.gpgsign=false commit -qm a
        """
      let commit = try Command.run("sh", ["-ec", script], in: repository.path)
      try #require(commit.exitCode == 0, "\(commit.errors)")
      let made = try Command.product(
        "switchboard",
        ["new", "greeter", "--switchboard", "file://\(repository.path)"],
        in: folder.path
      )
      #expect(made.exitCode == 0, "\(made.errors)")
      let package = folder.appending(path: "greeter").path
      let resolved = try Command.run(
        "swift",
        ["package", "--package-path", package, "--disable-sandbox", "show-dependencies"]
      )
      #expect(resolved.exitCode == 0, "\(resolved.errors)")
    }
  }

  /// A checkout and a package next to it can be moved together.
  @Test(arguments: [
    ("checkout", "greeter", "../checkout"), ("./checkout/", "apps/greeter", "../../checkout"),
    ("apps/../checkout", "apps/inner/greeter", "../../../checkout"),
  ])
  func aRelativePathStaysRelative(_ given: String, _ directory: String, _ written: String) throws {
    try withFolder { folder in
      for path in ["checkout", "apps"] {
        try FileManager.default.createDirectory(
          at: folder.appending(path: path),
          withIntermediateDirectories: true
        )
      }
      try Data().write(to: folder.appending(path: "checkout/Package.swift"))
      let words = ["new", "greeter", "--switchboard", given, "--directory", directory]
      let made = try Command.product("switchboard", words, in: folder.path)
      #expect(made.exitCode == 0, "\(made.errors)")
      let package = folder.appending(path: directory)
      let manifest = try String(contentsOf: package.appending(path: "Package.swift"), encoding: .utf8)
      #expect(manifest.contains(#"path: "\#(written)")"#), "\(manifest)")
      #expect(
        FileManager.default.fileExists(atPath: package.appending(path: written + "/Package.swift").path)
      )
    }
  }

  /// Where a directory is a link, `..` leads to the parent of what it links to.
  @Test func aRelativePathLeadsOutOfALink() throws {
    try withFolder { folder in
      let manager = FileManager.default
      for path in ["checkout", "elsewhere/deep"] {
        try manager.createDirectory(at: folder.appending(path: path), withIntermediateDirectories: true)
      }
      try Data().write(to: folder.appending(path: "checkout/Package.swift"))
      try manager.createSymbolicLink(
        at: folder.appending(path: "link"),
        withDestinationURL: folder.appending(path: "elsewhere/deep")
      )
      let words = ["new", "greeter", "--switchboard", "checkout", "--directory", "link/greeter", "--minimal"]
      let made = try Command.product("switchboard", words, in: folder.path)
      #expect(made.exitCode == 0, "\(made.errors)")
      let manifest = folder.appending(path: "link/greeter/Package.swift")
      #expect(try String(contentsOf: manifest, encoding: .utf8).contains(#"path: "../../../checkout")"#))
    }
  }

  /// The package manager would find neither of the two.
  @Test func aPackageWithTheNameOfItsDependencyIsRefused() throws {
    try withFolder { folder in
      let checkout = folder.appending(path: "checkout")
      try FileManager.default.createDirectory(at: checkout, withIntermediateDirectories: true)
      try Data().write(to: checkout.appending(path: "Package.swift"))
      let made = try Command.product(
        "switchboard",
        ["new", "Switchboard", "--switchboard", "checkout"],
        in: folder.path
      )
      #expect(made.exitCode == 64)
      #expect(made.errors.contains("a package cannot have the name of one that it depends on: Switchboard"))
      #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "Switchboard").path))
    }
  }

  @Test func anAbsolutePathStaysAbsolute() throws {
    try withFolder { folder in
      let words = ["new", "greeter", "--switchboard", TestFolders.root.path]
      let made = try Command.product("switchboard", words, in: folder.path)
      #expect(made.exitCode == 0, "\(made.errors)")
      let manifest = folder.appending(path: "greeter/Package.swift")
      let text = try String(contentsOf: manifest, encoding: .utf8)
      #expect(text.contains("path: \"\(TestFolders.root.path)"))
    }
  }

  @Test func theDefaultIsMadeForProduction() throws {
    try withFolder { folder in
      func make(_ name: String, _ flags: String...) throws -> Set<String> {
        let words = ["new", name, "--switchboard", TestFolders.root.path] + flags
        let made = try Command.product("switchboard", words, in: folder.path)
        #expect(made.exitCode == 0, "\(made.errors)")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.appending(path: name).path)
        return Set(files.map { $0.split(separator: "/").last.map(String.init) ?? "" })
      }
      let whole = try make("whole")
      let least = try make("least", "--minimal")
      let client = try make("client-side", "--client-only")
      let extra: Set = [
        "Dockerfile", "kubernetes.yaml", "KeyGuard.swift", "KeyGuardTests.swift", "Backend.swift",
      ]
      #expect(extra.isSubset(of: whole))
      #expect(extra.isDisjoint(with: least.union(client)))
      #expect(least.contains("GreeterProvider.swift") && !client.contains("GreeterProvider.swift"))
      let both = try Run("new", "x", "--minimal", "--client-only", "--switchboard", TestFolders.root.path)
      #expect(both.exitCode == 64 && both.errors.contains("--client-only has none"))
    }
  }

  /// Without a container: what the build copies of the library is all that its manifest reads.
  @Test func theDockerfileCopiesAllThatTheManifestReads() throws {
    try withFolder { folder in
      let words = ["new", "my_greeter", "--switchboard", TestFolders.root.path]
      let made = try Command.product("switchboard", words, in: folder.path)
      #expect(made.exitCode == 0, "\(made.errors)")
      let package = folder.appending(path: "my_greeter")
      let dockerfile = try String(contentsOf: package.appending(path: "Dockerfile"), encoding: .utf8)
      let steps = dockerfile.split(separator: "\n").compactMap { line -> String? in
        let words = line.split(separator: " ")
        if line.hasPrefix("COPY --from=switchboard ") {
          return "ln -s '\(TestFolders.root.path)/\(words[2])' '\(folder.path)/switchboard/\(words[2])'"
        }
        guard line.hasPrefix("RUN sed ") else { return nil }
        return String(line.dropFirst(4)).replacing("/switchboard\"", with: "\(folder.path)/switchboard\"")
      }
      #expect(steps.count == 8, "\(steps)")
      let script = "mkdir ../switchboard\n" + steps.joined(separator: "\n")
      let copied = try Command.run("sh", ["-ec", script], in: package.path)
      #expect(copied.exitCode == 0, "\(copied.errors)")
      for path in ["switchboard", "my_greeter"] {
        let words = ["package", "--package-path", "\(folder.path)/\(path)", "--disable-sandbox", "describe"]
        let described = try Command.run("swift", words)
        #expect(described.exitCode == 0, "\(described.errors)")
      }
      let written = try String(contentsOf: package.appending(path: "Package.swift"), encoding: .utf8)
      #expect(written.contains("path: \"\(folder.path)/switchboard\""))
    }
  }

  @Test func kubernetesHasTheFieldsOfTheManifest() throws {
    try withFolder { folder in
      let words = ["new", "my_greeter", "--switchboard", TestFolders.root.path]
      let made = try Command.product("switchboard", words, in: folder.path)
      #expect(made.exitCode == 0, "\(made.errors)")
      let script = TestFolders.peers().appending(path: "kubernetes_fields.py").path
      let manifest = folder.appending(path: "my_greeter/kubernetes.yaml")
      let check = try Command.run(TestFolders.python, [script, manifest.path])
      #expect(
        check.exitCode == 0 && check.output == [10],
        "\(String(decoding: check.output, as: UTF8.self))\(check.errors)"
      )
      // A probe that is misspelled is found.
      let text = try String(contentsOf: manifest, encoding: .utf8)
      try Data(text.replacing("grpc: {port: 50051}", with: "grcp: {port: 50051}").utf8).write(to: manifest)
      let found = try Command.run(TestFolders.python, [script, manifest.path])
      #expect(String(decoding: found.output, as: UTF8.self).hasSuffix(".livenessProbe.grcp is unknown\n"))
    }
  }

  @Test func nothingThatExistsIsOverwritten() throws {
    try withFolder { folder in
      let readme = folder.appending(path: "README.md")
      try Data("mine".utf8).write(to: readme)
      let words = ["new", "greeter", "--switchboard", TestFolders.root.path, "--directory", folder.path]
      let run = try Command.product("switchboard", words)
      #expect(run.exitCode == 74)
      #expect(run.errors.contains("README.md already"))
      #expect(try Data(contentsOf: readme) == Data("mine".utf8))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["README.md"])
    }
  }

  @Test(arguments: ["protocol", "import", "message", "a-", "a--b", "Foundation", "any", "echo"])
  func namesMakeFilesThatCompile(_ name: String) throws {
    try withFolder { folder in
      let words = ["new", name, "--switchboard", TestFolders.root.path]
      let made = try Command.product("switchboard", words, in: folder.path)
      #expect(made.exitCode == 0, "\(made.errors)")
      let names = try #require(PackageName(name))
      #expect(!["Foundation", "Any", "Protocol", "Echo"].contains(names.type))
      let proto = "\(name)/Sources/\(names.type)Service/\(names.proto).proto"
      let list = try Command.product("switchboard", ["list", "--proto", proto], in: folder.path)
      #expect(list.exitCode == 0, "\(list.errors)")
    }
  }
}
