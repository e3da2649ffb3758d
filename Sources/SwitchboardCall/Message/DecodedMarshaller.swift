/// A marshaller that returns an already decoded message, regardless of the bytes.
struct DecodedMarshaller<Message: Sendable>: Marshaller {
  private let marshaller: AnyMarshaller<Message>
  private let message: Result<Message, any Error>

  init(_ marshaller: AnyMarshaller<Message>, _ bytes: RawSpan) {
    self.marshaller = marshaller
    do {
      message = .success(try marshaller.decode(bytes))
    } catch {
      message = .failure(error)
    }
  }

  func encode(_ message: Message) throws -> MessageBuffer { try marshaller.encode(message) }

  func decode(_ bytes: RawSpan) throws -> Message { try message.get() }
}
