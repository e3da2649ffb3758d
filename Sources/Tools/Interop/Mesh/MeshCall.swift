import InteropService

/// The calls that the client of a mesh makes.
enum MeshCall: CaseIterable, Sendable {
  case empty, unary

  /// As in flags, and in answers about the next calls.
  var method: String {
    switch self {
    case .empty: "EmptyCall"
    case .unary: "UnaryCall"
    }
  }

  /// As in answers about all calls.
  var type: String {
    switch self {
    case .empty: "EMPTY_CALL"
    case .unary: "UNARY_CALL"
    }
  }

  init?(method: some StringProtocol) {
    guard let kind = Self.allCases.first(where: { $0.method == method }) else { return nil }
    self = kind
  }

  /// `nil` for one that is not known.
  init?(_ type: Grpc_Testing_ClientConfigureRequest.RpcType) {
    switch type {
    case .emptyCall: self = .empty
    case .unaryCall: self = .unary
    case .UNRECOGNIZED: return nil
    }
  }
}
