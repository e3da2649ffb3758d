extension GRPCStatus {
  /// Runs a decoder; its errors become `INTERNAL`. `failed` ends a call that such an error ends in any case.
  @inlinable
  package static func decoding<Message>(
    failed: (GRPCStatus) -> Void = { _ in },
    _ body: () throws -> Message
  ) throws(GRPCStatus) -> Message {
    do {
      return try body()
    } catch {
      let status = marshalling(error, "decoded")
      failed(status)
      throw status
    }
  }

  /// Runs the encoder of a request, in the same way.
  @inlinable
  package static func encoding<Bytes>(
    failed: (GRPCStatus) -> Void = { _ in },
    _ body: () throws -> Bytes
  ) throws(GRPCStatus) -> Bytes {
    do {
      return try body()
    } catch {
      let status = marshalling(error, "encoded")
      failed(status)
      throw status
    }
  }

  /// Runs the encoder of a response, whose error ends its call.
  @inlinable
  static func encoding<Bytes>(
    for stream: any ServerStream,
    _ body: () throws -> Bytes
  ) throws(GRPCStatus) -> Bytes {
    do {
      return try body()
    } catch {
      let status = stream.status(ofEncoding: error)
      stream.finish(status)
      throw status
    }
  }

  @usableFromInline
  package static func marshalling(_ error: any Error, _ what: String) -> GRPCStatus {
    if let refused = error as? RefusedMessage { return refused.status }
    // The status of the call is `INTERNAL`, even if the marshaller throws another.
    let reason = (error as? GRPCStatus).map { $0.message ?? "\($0.code)" } ?? "\(error)"
    return GRPCStatus(
      code: .internalError,
      message: "a message could not be \(what): \(reason)",
      origin: .user
    )
  }
}
