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

  /// Runs an encoder, in the same way. `describe` makes the status of its error.
  @inlinable
  package static func encoding<Bytes>(
    describing describe: (any Error) -> GRPCStatus = { .marshalling($0, "encoded") },
    failed: (GRPCStatus) -> Void = { _ in },
    _ body: () throws -> Bytes
  ) throws(GRPCStatus) -> Bytes {
    do {
      return try body()
    } catch {
      let status = describe(error)
      failed(status)
      throw status
    }
  }

  @usableFromInline
  package static func marshalling(_ error: any Error, _ what: String) -> GRPCStatus {
    // The status of the call is always `INTERNAL`, even if the marshaller throws another.
    let reason = (error as? GRPCStatus).map { $0.message ?? "\($0.code)" } ?? "\(error)"
    return GRPCStatus(
      code: .internalError,
      message: "a message could not be \(what): \(reason)",
      origin: .user
    )
  }
}
