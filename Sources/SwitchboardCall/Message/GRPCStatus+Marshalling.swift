extension GRPCStatus {
  /// Runs a decode; what it throws becomes `INTERNAL`.
  @inlinable
  package static func decoding<Message>(_ body: () throws -> Message) throws(GRPCStatus) -> Message {
    do {
      return try body()
    } catch {
      throw marshalling(error, "decoded")
    }
  }

  /// Runs an encode; what it throws becomes `INTERNAL`.
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
    // A marshaller's status is not the call's: the call fails on it, whatever its code says.
    let reason = (error as? GRPCStatus).map { $0.message ?? "\($0.code)" } ?? "\(error)"
    return GRPCStatus(
      code: .internalError,
      message: "a message could not be \(what): \(reason)",
      origin: .user
    )
  }

  /// The same on a server, where a failure ends the call, whatever the handler makes of it.
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

  /// The same on a server, where a failure ends the call, whatever the handler makes of it.
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

  /// The same for a writer of requests, where a failure ends the call, whatever its caller makes of it.
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
      // Before the cancellation gets through, nobody is to take the requests for complete.
      requests.abort(error)
      throw error
    }
  }
}
