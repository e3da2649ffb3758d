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
    // A marshaller's status is not the call's, which is always `INTERNAL`.
    let reason = (error as? GRPCStatus).map { $0.message ?? "\($0.code)" } ?? "\(error)"
    return GRPCStatus(
      code: .internalError,
      message: "a message could not be \(what): \(reason)",
      origin: .user
    )
  }

  /// The same on a server, where a failure ends the call whatever the handler does.
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

  /// The same on a server, where a failure ends the call whatever the handler does.
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

  /// The same for a writer of requests, where a failure ends the call whatever its caller does.
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
      // First, so that the server does not take the requests for complete before the cancellation arrives.
      requests.abort(error)
      throw error
    }
  }
}
