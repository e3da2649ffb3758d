import SwitchboardToolSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The verb `new`.
enum NewVerb {
  static let clientOnly = Flag("--client-only", help: "Make only a client, without a server.")
  static let minimal = Flag(
    "--minimal",
    help:
      "Make the least that serves and calls, without health, reflection, telemetry, a guard and containers."
  )
  static let package = Flag(
    "--switchboard",
    value: "PATH|URL",
    completion: .directory,
    help: "The Switchboard that the package depends on: a checkout, or the URL of a repository."
  )
  static let directory = Flag(
    "--directory",
    value: "DIR",
    completion: .directory,
    help: "Where to make it; the default is a directory NAME in the current one."
  )

  static let verb = Verb(
    "new",
    summary: "make a package with a service, a client, an interceptor and a test",
    usage: ["NAME [FLAG]..."],
    details: [
      "The package has a .proto file, from which each build generates code; 'make run' in it starts the server and calls "
        + "it, and 'make test' runs its tests. Existing files are not overwritten. On a terminal, the command asks for missing "
        + "arguments.",
      "The server has what production needs: health and reflection, a guard with a test, an end that lets calls finish, "
        + "telemetry if the environment asks for it, a Dockerfile, and probes.",
    ],
    operands: [Operand("NAME", isOptional: true, "The name of the package: letters, digits, '-' and '_'.")],
    flags: [FlagGroup("Package", [minimal, clientOnly, package, directory])],
    examples: [
      Example("new greeter --switchboard ../switchboard", "A package that depends on a checkout."),
      Example("new greeter-cli --client-only --switchboard ../switchboard", "Only the client's side."),
    ],
    run
  )

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let given = try arguments.operand(0) ?? prompt("The name of the package", flag: "NAME")
    guard let name = PackageName(given) else {
      throw Failure.usage(
        "'\(given)' is not a package name: a letter and up to 59 letters, digits, '-' and '_'"
      )
    }
    let folder = arguments[directory] ?? name.package
    let dependency = try self.dependency(arguments, in: folder)
    guard name.package.lowercased() != dependency.name else {
      throw Failure(
        "a package cannot have the name of one that it depends on: \(name.package)",
        hints: ["Choose another NAME; '--directory \(folder)' keeps the folder."],
        code: .usage
      )
    }
    let files = PackageFiles(name: name, dependency: dependency, shape: try shape(arguments)).all
    let present = files.map(\.path).filter { access("\(folder)/\($0)", F_OK) == 0 }
    guard present.isEmpty else {
      throw Failure(
        "\(folder) has \(present.joined(separator: ", ")) already",
        hints: ["Nothing was written. '--directory DIR' makes the package elsewhere."],
        code: .output
      )
    }
    let output = try OutputDirectory(making: folder)
    for file in files { try output.write(Array(file.text.utf8), to: file.path) }
    try Output.write("created \(folder). In it, 'make run' runs the program, and 'make test' its test.")
    return .success
  }

  private static func shape(_ arguments: Arguments) throws(Failure) -> PackageFiles.Shape {
    switch (arguments.has(minimal), arguments.has(clientOnly)) {
    case (false, false): return .production
    case (true, false): return .minimal
    case (false, true): return .clientOnly
    case (true, true): throw .usage("--minimal has a server, and --client-only has none")
    }
  }

  private static func dependency(_ arguments: Arguments, in folder: String) throws -> PackageDependency {
    let origin =
      try arguments[package]
      ?? prompt("A checkout of Switchboard, or the URL of a repository", flag: package.name)
    return try PackageDependency(of: origin, from: folder)
  }

  private static func prompt(_ question: String, flag: String) throws -> String {
    guard Terminal.current(.input).isTerminal, Terminal.current(.errors).isTerminal else {
      throw Failure.usage("\(flag) is missing: \(question)", verb: "new")
    }
    try Descriptor.standardError.writeAll(Array("\(question): ".utf8))
    guard let line = readLine(), !line.isEmpty else { throw Failure.usage("\(flag) is missing", verb: "new") }
    return line
  }
}

/// The name of a package, and the names that are derived from it.
struct PackageName: Hashable {
  /// As the user wrote it.
  let package: String
  /// The Swift name: `MyGreeter` for `my-greeter`.
  let type: String
  /// The name in `.proto` files: `my_greeter`.
  let proto: String

  init?(_ text: String) {
    let letters = text.utf8
    guard let first = text.first, first.isASCII, first.isLetter, letters.count <= 60,
      letters.allSatisfy({ Self.isAllowed($0) })
    else { return nil }
    package = text
    let words = text.split { $0 == "-" || $0 == "_" }
    let joined = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    // A module whose name equals that of one of its types or of a library hides one of the two.
    let taken: Set = [
      "Switchboard", "Swift", "Testing", "Main", "Greeter", "Client", "Server", "Echo", "Foundation",
      "Backend", "KeyGuard", "Telemetry", "Logger",
      "Dispatch",
      "Synchronization", "Observation", "Glibc", "Musl", "Darwin", "XCTest", "Any", "Type", "Self",
      "Protocol",
    ]
    type = taken.contains(joined) ? joined + "App" : joined
    proto = words.map { $0.lowercased() }.joined(separator: "_")
  }

  private static func isAllowed(_ letter: UInt8) -> Bool {
    switch letter {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

/// The package that a new one depends on.
struct PackageDependency: Hashable {
  /// The name that targets use.
  let name: String
  let declaration: String
  /// The directory of a checkout.
  let path: String?

  init(name: String, declaration: String, path: String? = nil) {
    self.name = name
    self.declaration = declaration
    self.path = path
  }

  init(path: String) {
    self.init(
      name: "switchboard",
      declaration: ".package(name: \"switchboard\", path: \(SwiftText.literal(path)))",
      path: path
    )
  }

  /// The checkout or the repository that a user names for the manifest in a folder. A relative path refers to the current
  /// directory and is converted to one from the folder.
  init(of origin: String, from folder: String) throws(Failure) {
    if origin.contains("://") || origin.hasPrefix("git@") {
      guard let dependency = PackageDependency(url: origin) else {
        throw Failure.usage("'\(origin)' is not the URL of a repository")
      }
      self = dependency
      return
    }
    guard access(origin, F_OK) == 0 else {
      let isURL = origin.split(separator: "/").first?.dropFirst().contains(".") ?? false
      throw Failure(
        "there is no directory \(origin)\(isURL ? "; the URL of a repository is https://\(origin)" : "")",
        code: .noInput
      )
    }
    guard access("\(origin)/Package.swift", R_OK) == 0 else {
      throw Failure("\(origin) is not a checkout of Switchboard: it has no Package.swift", code: .noInput)
    }
    self.init(path: try PackagePath(of: origin, from: folder).text)
  }

  /// SwiftPM identifies a repository by the last part of its URL; nil if there is none.
  init?(url: String) {
    var end = url[...]
    while end.last == "/" { end.removeLast() }
    guard end.contains("/") else { return nil }
    var last = end.split { $0 == "/" || $0 == ":" }.last ?? ""
    if last.hasSuffix(".git") { last.removeLast(4) }
    guard !last.isEmpty, !end.hasSuffix("://\(last)") else { return nil }
    self.init(
      name: last.lowercased(),
      declaration: ".package(url: \(SwiftText.literal(url)), branch: \"main\")"
    )
  }
}

enum SwiftText {
  /// A Swift string literal.
  static func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": literal += "\\\(scalar)"
      case _ where scalar.value < 0x20 || scalar.value == 0x7f:
        literal += "\\u{\(String(scalar.value, radix: 16))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }
}
