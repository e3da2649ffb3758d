/// A method in the format chosen for one call. Its code is not inlinable, which keeps users' modules small.
@usableFromInline
final class ChosenFormat<Request: Sendable, Response: Sendable>: Sendable {
  private let method: Method<AnyMarshaller<Request>, AnyMarshaller<Response>>

  @usableFromInline
  init<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ options: CallOptions
  ) where RequestMarshaller.Message == Request, ResponseMarshaller.Message == Response {
    self.method = method.inFormat(of: options)
  }

  @usableFromInline
  var contentSubtype: ContentSubtype { .of(method.requests, method.responses) }

  @usableFromInline
  func encode(_ message: Request) throws -> MessageBuffer { try method.requests.encode(message) }

  @usableFromInline
  func decode(_ bytes: RawSpan) throws -> Response { try method.responses.decode(bytes) }

  /// See `Marshaller.decodesOnLoop`.
  @usableFromInline
  func decodesOnLoop(_ bytes: RawSpan) -> Bool { method.responses.decodesOnLoop(bytes) }
}

extension Method {
  /// The method in the format that the options choose, or else in its own.
  func inFormat(of options: CallOptions) -> InFormat {
    guard let format = options.payloadFormat?.format(for: descriptor) else {
      return InFormat(descriptor, requests: AnyMarshaller(requests), responses: AnyMarshaller(responses))
    }
    return inFormat(format)
  }
}
