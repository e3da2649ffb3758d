import SwitchboardDescriptors
import SwitchboardDynamic

extension Target: ReflectionPeer {
  func knownFiles(_ names: [String]) -> [Google_Protobuf_FileDescriptorProto] {
    (try? SchemaFiles.compile(names, includes: [])) ?? []
  }

  func error(for failure: SchemaFailure) -> any Error {
    if case .call(let status) = failure.reason { return self.failure(status) }
    return Failure(failure)
  }
}

extension Failure {
  /// Descriptors that there are not, or that are of no use.
  init(_ failure: SchemaFailure) {
    let message = ShownText(failure.description)
    switch failure.reason {
    case .noReflection:
      self.init(
        message,
        hints: ["'--proto FILE' or '--descriptor-set FILE' take the descriptors from files."],
        code: .status(.unimplemented)
      )
    case .data: self.init(message, code: .data)
    case .refusal(let code): self.init(message, code: .status(code))
    case .call(let status): self.init(message, code: .status(status.code))
    }
  }
}
