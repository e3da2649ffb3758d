import Synchronization

/// Stores the metadata, the trailers and the status of a call for its call object, each as it arrives.
@usableFromInline
package final class CallRecord: Sendable {
  private let initialMetadata = OneShot<HPACKHeaders>()
  private let end = OneShot<End>()
  /// Why a streamed response could not be decoded.
  private let failure = RareValue<GRPCStatus>()
  /// Set before the response is delivered.
  let responseWasCompressed = Atomic(false)

  struct End: Sendable {
    var status: GRPCStatus
    var trailers: HPACKHeaders
  }

  @usableFromInline
  package init() {}

  package var hadCompressedResponse: Bool { responseWasCompressed.load(ordering: .relaxed) }

  @usableFromInline
  func receive(headers: HPACKHeaders) { initialMetadata.settle(.success(headers)) }

  @usableFromInline
  func close(_ status: GRPCStatus, _ trailers: HPACKHeaders) {
    // A missing `receive(headers:)` is an error only if the call failed.
    initialMetadata.settle(status.isOk ? .success(HPACKHeaders()) : .failure(status))
    end.settle(.success(End(status: status, trailers: trailers)))
  }

  /// A streamed response could not be decoded. From now on this is the status, also if the server has reported a success.
  @usableFromInline
  func fail(_ status: GRPCStatus) { failure.change(from: status) { _ in } }

  package var hasEnded: Bool { end.isSettled }

  nonisolated(nonsending) package func metadata() async throws -> HPACKHeaders {
    try await initialMetadata.valueOfCall()
  }

  nonisolated(nonsending) package func trailers() async throws -> HPACKHeaders {
    try await end.valueOfCall().trailers
  }

  nonisolated(nonsending) package func status() async -> GRPCStatus {
    do {
      let status = try await end.valueOfCall().status
      return failure.value ?? status
    } catch {
      return GRPCStatus(describing: error)
    }
  }
}
