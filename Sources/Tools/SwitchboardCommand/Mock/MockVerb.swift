import Switchboard
import SwitchboardDescriptors
import SwitchboardMock
import SwitchboardToolSupport

/// The verb `mock`.
enum MockVerb {
  static let listen = Flag(
    "--listen",
    value: "HOST:PORT",
    help: "Where to listen; the default is 127.0.0.1:50051. Port 0 lets the system choose."
  )
  static let rules = Flag(
    "--rules",
    value: "FILE",
    completion: .file,
    help: "Answer according to the rules in this JSON or YAML file."
  )
  static let onlyRules = Flag(
    "--only-rules",
    help: "Fail calls that no rule matches, instead of answering with an example."
  )
  static let record = Flag(
    "--record",
    value: "TARGET",
    help:
      "Forward calls to this server, and record its answers as rules. The connection flags apply to it; --header adds to "
      + "the metadata of forwarded calls, and is not recorded."
  )
  static let output = Flag(
    "--output",
    value: "FILE",
    completion: .file,
    help: "Where --record writes; the default is rules.yaml."
  )
  static let overwrite = Flag("--overwrite", help: "Let --record replace a file that exists.")
  static let origin = Flag(
    "--origin",
    value: "URL|any",
    repeats: true,
    help:
      "Let pages of this origin call from a browser, such as http://localhost:5173, or any. Other clients need no "
      + "permission."
  )
  static let quiet = Flag("-q", "--quiet", help: "Do not report each call.")

  static let verb = Verb(
    "mock",
    summary: "serve the methods of a schema, with example answers or by rules",
    usage: [
      "FILE.proto... [-I DIR]... [FLAG]...", "--descriptor-set FILE [FLAG]...", "--record TARGET [FLAG]...",
    ],
    details: [
      "Serves every method of the files, with reflection, by gRPC, gRPC-Web and Connect, and over HTTP/1.1 too. Answers come from --rules, or are examples made from the types of "
        + "responses, in which strings contain the name of their field. With --record and no files, the descriptors come "
        + "from the server."
    ],
    operands: [
      Operand("FILE", isOptional: true, repeats: true, completion: .file, "A .proto file with services.")
    ],
    flags: [
      FlagGroup("Serving", [listen, origin, rules, onlyRules, quiet]),
      FlagGroup("Recording", [record, output, overwrite]),
      SchemaFlags.group, TargetFlags.group,
    ],
    flagRules: [
      .unused([rules, onlyRules], beside: record, "forwards calls, and writes rules"),
      .unused([quiet], beside: record, "forwards calls, and reports none of them"),
      .need([onlyRules], rules, as: "--rules FILE"),
      .need([output, overwrite] + TargetFlags.group.flags, record, as: "--record TARGET"),
    ],
    examples: [
      Example("mock shop.proto", "Example answers on 127.0.0.1:50051."),
      Example(
        "mock shop.proto --origin http://localhost:5173",
        "The same for a page that is being developed."
      ),
      Example("mock shop.proto --rules rules.yaml --listen 127.0.0.1:0", "Answers by rules, on a free port."),
      Example("mock --record shop.example:443 --output rules.yaml", "Record rules from a server."),
    ],
    run
  )

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let listener = try ListeningAddress.parse(arguments[listen] ?? "127.0.0.1:50051", listen)
    if arguments.has(record) { return try await MockRecording(arguments, listener).run() }
    let schema = try MockSchema(try files(arguments))
    var settings = MockService.Settings()
    settings.hasExamples = !arguments.has(onlyRules)
    if let path = arguments[rules] {
      let bytes: [UInt8]
      do { bytes = try readFile(path) } catch { throw Failure.unreadable(error) }
      do {
        settings.rules = try MockRules(String(decoding: bytes, as: UTF8.self), schema)
        if settings.rules.isEmpty { Output.warn("\(path) has no rule, so that no call is answered by one") }
      } catch {
        throw Failure("\(path): \(error)", hints: FieldHint.hints(for: "\(error)", schema.pool), code: .data)
      }
    }
    if !arguments.has(quiet) {
      settings.called = { path, matched in
        Output.note("\(path): \(matched ? "by a rule" : "no rule")")
      }
    }
    let server = try makeServer(try MockService.providers(schema, settings), at: listener.host, arguments)
    let address = try ListeningAddress.bind(server, listener, listen)
    try await Interrupts.first {
      try Output.write("serving \(schema.serviceNames.joined(separator: ", ")) on \(address)")
    }
    await server.shutDown(grace: .seconds(1))
    return .success
  }

  /// A server that answers by all protocols, at an address of this host.
  static func makeServer(
    _ providers: [any CallHandlerProvider],
    at host: String,
    _ arguments: Arguments
  ) throws -> Server {
    let origins = arguments.all(origin)
    guard !origins.contains("any") || origins.count == 1 else {
      throw Failure.usage("--origin any lets all pages call, so that the others have no effect")
    }
    if let wrong = origins.first(where: { $0 != "any" && !WebOptions.isOrigin($0) }) {
      throw Failure.origin(wrong)
    }
    var options = ServerOptions()
    options.logger = FlagLog.ofServer(origin: origin)
    // Its handlers are not the user's, who could do nothing about one that takes long.
    options.blockedLoopLimit = nil
    // Through a name that leads here, a page of somebody else's could call it (DNS rebinding).
    if HostNames.isLocal(host) { options.hosts = HostNames([host]) }
    // Whoever calls it wants to know why a backend cannot be reached.
    options.sendsErrorDescriptions = true
    options.web = WebOptions(origins: origins.contains("any") ? .any : .only(Set(origins)))
    do {
      return try Server(providers: providers, options: options)
    } catch {
      throw Failure.usage("\(error.message ?? "\(error)")")
    }
  }

  /// Whether a word in the place of a file is the address of a server.
  private static func isServer(_ word: String) -> Bool {
    guard !word.hasSuffix(".proto"), !TextOrFile.isFile(word) else { return false }
    return word.contains("://") || (try? ListeningAddress.parse(word, listen)) != nil
  }

  /// The files that the arguments name.
  static func files(_ arguments: Arguments) throws -> [Google_Protobuf_FileDescriptorProto] {
    var files: [Google_Protobuf_FileDescriptorProto] = []
    let sources = arguments.operands + arguments.all(SchemaFlags.proto)
    if sources.isEmpty, arguments.has(SchemaFlags.include) { throw Failure.usage("-I needs a FILE.proto") }
    if let server = sources.first(where: isServer) {
      throw Failure(
        "'\(server)' is not a FILE.proto",
        hints: [
          "'\(record.name) \(server)' records from that server, and '\(listen.name) \(server)' serves there."
        ],
        code: .usage
      )
    }
    if !sources.isEmpty {
      files += try SchemaFiles.compile(sources, includes: arguments.all(SchemaFlags.include))
    }
    for path in arguments.all(SchemaFlags.descriptorSet) { files += try SchemaFiles.descriptorSet(path) }
    guard !files.isEmpty else {
      throw Failure.usage("a FILE.proto is missing, or --descriptor-set FILE", verb: "mock")
    }
    guard files.contains(where: { !$0.service.isEmpty }) else {
      throw Failure("the files have no services", code: .data)
    }
    return files
  }
}

extension Failure {
  /// What is no origin of pages.
  fileprivate static func origin(_ text: String) -> Failure {
    let flag = MockVerb.origin.name
    return Failure(
      "\(flag) '\(text)' is not an origin as browsers write it: such as https://app.example, in lower case, without a path, "
        + "a wildcard and the scheme's own port",
      hints: ["'\(flag) any' lets the pages of all origins call."],
      code: .usage
    )
  }
}
