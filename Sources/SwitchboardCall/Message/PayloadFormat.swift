/// A way to write messages of many types: where a marshaller for a type is to be had by name.
///
/// Clients choose one by `CallOptions.payloadFormat`. Servers take, beside what a method is written in by itself,
/// what is registered for the server, its services and their methods.
public protocol PayloadFormat: Sendable {
  /// What the content type of a call says of it.
  var contentSubtype: ContentSubtype { get }

  /// The marshaller for messages of a type; `nil` where there is none.
  func marshaller<Message: Sendable>(for type: Message.Type) -> (any Marshaller<Message>)?
}

extension PayloadFormat {
  /// The marshaller under the format's own name.
  func named<Message: Sendable>(for type: Message.Type) -> AnyMarshaller<Message>? {
    marshaller(for: type).map { AnyMarshaller($0, as: contentSubtype) }
  }
}

/// Which format calls are made in: one for all, and others for some services or methods.
@frozen
public struct PayloadChoice: Sendable {
  // One word, so that options which choose nothing stay small.
  @usableFromInline let formats: Formats

  @usableFromInline
  final class Formats: Sendable {
    let general: (any PayloadFormat)?
    /// By the full name of a service, or the path of a method.
    let special: [String: any PayloadFormat]

    init(_ general: (any PayloadFormat)?, _ special: [String: any PayloadFormat]) {
      self.general = general
      self.special = special
    }
  }

  /// One format for all calls. With `nil`, calls are made as their methods are written, but for what is said by
  /// `with`.
  public init(_ format: (any PayloadFormat)?) {
    formats = Formats(format, [:])
  }

  private init(_ formats: Formats) {
    self.formats = formats
  }

  /// The same choice, but another format for the service of this full name, such as `echo.Echo`.
  public func with(_ format: any PayloadFormat, service: String) -> PayloadChoice {
    adding(format, service)
  }

  /// The same choice, but another format for one method.
  public func with(_ format: any PayloadFormat, method: MethodDescriptor) -> PayloadChoice {
    adding(format, method.path)
  }

  private func adding(_ format: any PayloadFormat, _ name: String) -> PayloadChoice {
    PayloadChoice(Formats(formats.general, formats.special.merging([name: format]) { $1 }))
  }

  /// What is chosen for a method; `nil` where it is called as it is written.
  package func format(for method: MethodDescriptor) -> (any PayloadFormat)? {
    guard !formats.special.isEmpty else { return formats.general }
    return formats.special[method.path] ?? formats.special[method.service] ?? formats.general
  }
}
