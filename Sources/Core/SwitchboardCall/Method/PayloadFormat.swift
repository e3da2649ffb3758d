// text: the paths of the program's methods

/// A format for messages of many types, with a marshaller for each type.
///
/// Clients choose one with `CallOptions.payloadFormat`. Servers accept a method's own format and those registered for
/// the server, its services and their methods.
///
/// ```swift
/// struct CodableFormat: PayloadFormat {
///   var contentSubtype: ContentSubtype { .json }
///   func marshaller<Message: Sendable>(for type: Message.Type) -> (any Marshaller<Message>)? {
///     guard let type = type as? any (Codable & Sendable).Type else { return nil }
///     func json<T: Codable & Sendable>(_: T.Type) -> any Marshaller { CodableJSONMarshaller<T>() }
///     return json(type) as? any Marshaller<Message>
///   }
/// }
/// ```
public protocol PayloadFormat: Sendable {
  /// The content subtype of calls in this format.
  var contentSubtype: ContentSubtype { get }

  /// The marshaller for a message type, if the format has one.
  func marshaller<Message: Sendable>(for type: Message.Type) -> (any Marshaller<Message>)?
}

extension PayloadFormat {
  /// The marshaller for a message type, with the format's content subtype.
  func named<Message: Sendable>(for type: Message.Type) -> AnyMarshaller<Message>? {
    marshaller(for: type).map { AnyMarshaller($0, as: contentSubtype) }
  }
}

/// The format of calls: one for all, and others for some services or methods.
///
/// ```swift
/// var options = CallOptions()
/// options.payloadFormat = .json
/// options.payloadFormat = PayloadChoice(JSONFormat()).with(ProtobufFormat(), service: "echo.Echo")
/// ```
@frozen
public struct PayloadChoice: Sendable {
  // One word, so that options without a choice stay small.
  @usableFromInline let formats: Formats

  @usableFromInline
  final class Formats: Sendable {
    let general: (any PayloadFormat)?
    /// By the full name of a service or the path of a method.
    let special: [String: any PayloadFormat]
    /// Why calls fail: a service that was named has no name of a service.
    let fault: GRPCStatus?

    init(
      _ general: (any PayloadFormat)?,
      _ special: [String: any PayloadFormat],
      _ fault: GRPCStatus? = nil
    ) {
      self.general = general
      self.special = special
      self.fault = fault
    }
  }

  /// Chooses one format for all calls. With `nil`, calls use their methods' own formats. `with` adds exceptions.
  public init(_ format: (any PayloadFormat)?) {
    formats = Formats(format, [:])
  }

  private init(_ formats: Formats) { self.formats = formats }

  /// A copy with another format for a service, by its full name, such as `echo.Echo`. With a name that no service can have,
  /// such as a path, calls fail with `INVALID_ARGUMENT`.
  public func with(_ format: any PayloadFormat, service: String) -> PayloadChoice {
    let fault = MethodDescriptor.isName(service) ? nil : GRPCStatus.noService(service)
    return adding(format, service, fault)
  }

  /// A copy with another format for one method.
  public func with(_ format: any PayloadFormat, method: MethodDescriptor) -> PayloadChoice {
    adding(format, method.path)
  }

  private func adding(
    _ format: any PayloadFormat,
    _ name: String,
    _ fault: GRPCStatus? = nil
  ) -> PayloadChoice {
    let special = formats.special.merging([name: format]) { $1 }
    return PayloadChoice(Formats(formats.general, special, formats.fault ?? fault))
  }

  /// The format chosen for a method; `nil` for the method's own.
  package func format(for method: MethodDescriptor) -> (any PayloadFormat)? {
    guard !formats.special.isEmpty else { return formats.general }
    return formats.special[method.path] ?? formats.special[method.service] ?? formats.general
  }
}

extension GRPCStatus {
  fileprivate static func noService(_ name: String) -> GRPCStatus {
    GRPCStatus(
      code: .invalidArgument,
      message: """
        PayloadChoice.with(_:service:) has \(name.debugDescription), which is not the name of a service: write \
        with(_:service: "shop.Shop"), or with(_:method:) for one method
        """
    )
  }
}
