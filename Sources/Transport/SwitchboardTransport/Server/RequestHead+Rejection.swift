// unsafe: the path of a method that does not exist, for its status

import SwitchboardCall
import SwitchboardText

extension RequestHead {
  /// Why a request is not passed to a handler.
  enum Rejection {
    /// See `DialectDecision.refuse`.
    case http(status: StaticString, message: String, header: (name: StaticString, value: String)? = nil)
    /// A preflight request: a browser asks whether a page may call.
    case preflight
    case status(GRPCStatus)
  }

  /// The rejection that the request's protocol requires; `nil` if the request may be passed to the handler or the page.
  @inline(__always) var rejection: Rejection? { isValidCall ? nil : rejectionOfInvalid }

  // In parts, because the compiler's time grows with the square of how often one reads a head that cannot be copied.
  private var rejectionOfInvalid: Rejection? {
    if isTooLarge, terms.isGRPC || isCallOfDialect { return .status(.headersTooLarge) }
    if isTooLarge {
      return .http(
        status: "431",
        message: "the request's headers are larger than the server's limit (ServerOptions.maxMetadataSize)"
      )
    }
    if hosts != nil {
      return .http(
        status: "421",
        message:
          "the server answers under the names and addresses of this machine, and those that its program gives it, and not under "
          + "this host"
      )
    }
    if hasManyContentTypes {
      return .http(status: "400", message: "the request has more than one content-type")
    }
    if !terms.isGRPC, !isCallOfDialect, origin.isRefused(metadata) {
      return .http(status: "403", message: "pages of this origin may not call")
    }
    if origin.isPreflight(metadata) { return .preflight }
    if let outcome, outcome.isCall { return rejection(of: outcome) }
    if let refusal = outcome?.refusal { return refusal }
    return page == nil ? grpcRejection : nil
  }

  private var grpcRejection: Rejection? {
    guard request.isPost else {
      return .http(status: "405", message: "a gRPC call is a POST", header: ("allow", "POST"))
    }
    guard terms.isGRPC, carriesGRPC else {
      let message =
        if terms.isGRPC {
          "gRPC needs HTTP/2; over HTTP/1.1 the content type is application/grpc-web"
        } else if origin.rules == nil {
          "the content type is not application/grpc; ServerOptions.web lets a server answer Connect and gRPC-Web"
        } else {
          "the content type is not that of a call, such as application/json, application/connect+json for streams, "
            + "application/grpc-web or application/grpc"
        }
      return .http(status: "415", message: message)
    }
    guard terms.acceptsTrailers else { return .status(.missingTrailersSupport) }
    guard !terms.hasBadTimeout else { return .status(.badTimeout) }
    guard let method else { return .status(unknownMethod) }
    guard !terms.hasUnknownFormat else { return .status(.unknownFormat(of: method)) }
    guard terms.encoding != nil else { return .status(.unknownEncoding(terms.unknownEncoding)) }
    return nil
  }

  private func rejection(of outcome: DialectOutcome) -> Rejection? {
    if let failure = outcome.failure { return .status(failure) }
    // A dialect with its own settings answers with HTTP statuses, and HTTP has one for mistakes of the client.
    guard !terms.hasBadTimeout else {
      return .status(!outcome.hasSettings ? .badTimeout : .badTimeoutOfHTTP)
    }
    guard method != nil else { return .status(unknownMethod) }
    guard terms.encoding != nil else { return .status(.unknownEncoding(terms.unknownEncoding)) }
    return nil
  }

  private var unknownMethod: GRPCStatus {
    guard !request.otherTarget.isEmpty else { return GRPCStatus(code: .unimplemented) }
    return request.otherTarget.withUnsafeBufferPointer { .unknownMethod($0) }
  }
}

extension GRPCStatus {
  static func unknownMethod(_ path: UnsafeBufferPointer<UInt8>) -> GRPCStatus {
    GRPCStatus(
      code: .unimplemented,
      message: "there is no method \(path.excerpt(200).debugDescription) here",
      origin: .library
    )
  }
}
