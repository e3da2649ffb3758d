import SwitchboardServices

/// The verb `check-config`: finds what is wrong with a service config, and what has no effect in it.
enum CheckConfigVerb {
  static let quiet = Flag("-q", "--quiet", help: "Write nothing if all is well.")

  static let verb = Verb(
    "check-config",
    summary: "find what is wrong with a service config",
    usage: ["FILE [--quiet]", "FILE --proto FILE..."],
    details: [
      "Reads a service config in JSON, and shows each finding with its path and its line in the file. Clients ignore members "
        + "that they do not know, so only this finds a misspelled one before it is missed.",
      "A client cannot know which services there are, and ignores what is for others. With --proto or --descriptor-set, names "
        + "of services and methods that the files do not have are found, too. Those of health checks, reflection, channelz and "
        + "load reports are known.",
      "The exit code is 0 if there is nothing to correct, and 65 otherwise. What may be meant is only noted: a load balancing "
        + "policy that other clients may have, a hedgingPolicy without hedgingDelay, or another attempt after a code such as "
        + "NOT_FOUND.",
    ],
    operands: [Operand("FILE", completion: .file, "The file; - is standard input.")],
    flags: [FlagGroup("Check", [quiet]), SchemaFlags.group],
    examples: [
      Example("check-config service-config.json", "Check a file, in a script or before a commit."),
      Example(
        "check-config service-config.json --proto shop.proto",
        "See whether it is for services and methods that exist, too."
      ),
    ],
    run
  )

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let source = TextOrFile(path: arguments.operand(0) ?? "-")
    let shown = ShownText(source.fileName ?? "")
    let json = String(decoding: try source.bytes(), as: UTF8.self)
    let schema = try await SchemaSource.files(arguments)?.wholeSchema()
    let remarks = ConfigRemark.all(
      in: json,
      for: schema?.methodNames.merging(bundledMethods) { own, _ in own }
    )
    // Of a file that is not UTF-8, the text is longer.
    let bytes = Array(json.utf8)
    for remark in remarks { try Output.write(remark.line(in: shown, bytes)) }
    guard remarks.contains(where: \.isMistake) else {
      if !arguments.has(quiet) { Output.note("\(shown): nothing to correct") }
      return .success
    }
    return .data
  }

  /// The methods of services that servers have beside their own, by the names of the services.
  private static let bundledMethods: [String: [String]] = {
    let services = [
      Grpc_Health_V1_HealthMetadata.service, Grpc_Reflection_V1_ServerReflectionMetadata.service,
      Grpc_Channelz_V1_ChannelzMetadata.service, Xds_Service_Orca_V3_OpenRcaServiceMetadata.service,
    ]
    let alpha = ("grpc.reflection.v1alpha.ServerReflection", ["ServerReflectionInfo"])
    return Dictionary(uniqueKeysWithValues: services.map { ($0.name, $0.methods.map(\.method)) } + [alpha])
  }()
}
