extension GRPCStatus {
  /// Runs a decoder; its errors become `INTERNAL`.
  @inlinable
  package static func decoding<Message>(_ body: () throws -> Message) throws(GRPCStatus) -> Message {
    do {
      return try body()
    } catch {
      throw marshalling(error, "decoded")
    }
  }

  /// Runs an encoder; its errors become `INTERNAL`.
  @inlinable
  package static func encoding<Bytes>(_ body: () throws -> Bytes) throws(GRPCStatus) -> Bytes {
    do {
      return try body()
    } catch {
      throw marshalling(error, "encoded")
    }
  }

  @usableFromInline
  static func marshalling(_ error: any Error, _ what: String) -> GRPCStatus {
    // The status of the call is always `INTERNAL`, even if the marshaller throws another.
    let reason = (error as? GRPCStatus).map { $0.message ?? "\($0.code)" } ?? "\(error)"
    return GRPCStatus(
      code: .internalError,
      message: "a message could not be \(what): \(reason)",
      origin: .user
    )
  }

  /// The same on a server, where a failure ends the call regardless of the handler.
  @inlinable
  static func decoding<Message>(
    for stream: any ServerStream,
    _ body: () throws -> Message
  ) throws(GRPCStatus) -> Message {
    do {
      return try decoding(body)
    } catch {
      stream.finish(error)
      throw error
    }
  }

  /// The same on a server, where a failure ends the call regardless of the handler.
  @inlinable
  static func encoding<Bytes>(
    for stream: any ServerStream,
    _ body: () throws -> Bytes
  ) throws(GRPCStatus) -> Bytes {
    do {
      return try encoding(body)
    } catch {
      stream.finish(error)
      throw error
    }
  }

  /// The same for a writer of requests, where a failure ends the call regardless of the caller.
  @inlinable
  static func encoding<Bytes>(
    for call: any ByteCall,
    _ requests: MessagePipe,
    _ body: () throws -> Bytes
  ) throws(GRPCStatus) -> Bytes {
    do {
      return try encoding(body)
    } catch {
      call.cancel(error)
      // The cancellation comes first, so that the server does not mistake the requests for complete.
      requests.abort(error)
      throw error
    }
  }
}
