/// The maximum size of a message, and the option that sets it.
package struct MessageLimit: Sendable, Equatable {
  /// Whose limit it is, for the message of the failure.
  package enum Option: Sendable {
    /// The server's.
    case maxRequestSize
    /// The client's, for one call or for all calls of its channel.
    case responseSizeOfCall, responseSizeOfChannel
    /// The client's, of the status and the trailers, where they are in the body.
    case statusInBody
  }

  package var byteCount: Int
  package var option: Option

  package init(_ byteCount: Int, _ option: Option) {
    self.byteCount = byteCount
    self.option = option
  }

  /// Why a limit is at least one byte.
  package static let nothingFits = "no message with content could arrive (the largest number means no limit)"

  /// A server's limit of requests.
  package static func request(_ byteCount: Int) -> MessageLimit { MessageLimit(byteCount, .maxRequestSize) }

  /// The failure of a message of this size.
  package func exceeded(by size: Int) -> GRPCStatus { exceeded("a \(noun) of \(size) bytes is larger than") }

  /// The failure of a message of which this much has arrived, and more may follow.
  package func exceeded(byAtLeast size: Int) -> GRPCStatus {
    exceeded("a \(noun) of at least \(size) bytes is larger than")
  }

  /// The failure of a compressed message, whose size is not known.
  package var exceededByDecompression: GRPCStatus { exceeded("a compressed \(noun) holds more than") }

  private func exceeded(_ what: String) -> GRPCStatus {
    GRPCStatus(
      code: .resourceExhausted,
      message: "\(what) the \(option.shown): \(byteCount) bytes",
      origin: .peer
    )
  }

  private var noun: String {
    switch option {
    case .maxRequestSize: "request"
    case .responseSizeOfCall, .responseSizeOfChannel: "response"
    case .statusInBody: "status with trailers"
    }
  }
}

extension MessageLimit.Option {
  fileprivate var shown: String {
    switch self {
    case .maxRequestSize: "server's limit (ServerOptions.maxRequestSize)"
    case .responseSizeOfCall:
      "client's limit (CallOptions.responseSizeLimit, or maxResponseMessageBytes of a service config)"
    case .responseSizeOfChannel: "client's limit (ChannelOptions.responseSizeLimit)"
    case .statusInBody: "client's limit (64 KiB, or four times ChannelOptions.maxMetadataSize)"
    }
  }
}
