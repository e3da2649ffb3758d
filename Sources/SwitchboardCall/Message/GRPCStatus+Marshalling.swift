extension GRPCStatus {
  /// Runs a decode; what it throws becomes `INTERNAL`, unless it is a status already.
  @inlinable
  public static func decoding<Message>(_ body: () throws -> Message) throws(GRPCStatus) -> Message {
    do {
      return try body()
    } catch {
      throw marshalling(error, "decoded")
    }
  }

  /// Runs an encode; what it throws becomes `INTERNAL`, unless it is a status already.
  @inlinable
  public static func encoding<Bytes>(_ body: () throws -> Bytes) throws(GRPCStatus) -> Bytes {
    do {
      return try body()
    } catch {
      throw marshalling(error, "encoded")
    }
  }

  @usableFromInline
  static func marshalling(_ error: any Error, _ what: String) -> GRPCStatus {
    if let status = error as? GRPCStatus { return status }
    return GRPCStatus(
      code: .internalError,
      message: "a message could not be \(what): \(error)",
      origin: .user
    )
  }
}
