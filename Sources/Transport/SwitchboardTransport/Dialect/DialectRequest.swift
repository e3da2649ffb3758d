// unsafe: bodies that a session lends until its connection has processed them

import SwitchboardCall
import SwitchboardText

/// The head of a request in the form for protocols other than gRPC. It is a part of `RequestHead`, which lends it to them: a
/// copy would count a reference for each field.
package struct DialectRequest: ~Copyable {
  /// The method whose RPC path is exactly `target`.
  package internal(set) var method: RPCMethod?
  /// All headers but `content-type`, without pseudo headers and gRPC's own.
  package internal(set) var headers = HPACKHeaders()
  /// The value of `content-type`; empty without one, and if it is gRPC's.
  package internal(set) var contentType: [UInt8] = []
  /// The path with its query, if it is not that of a method.
  var otherTarget: [UInt8] = []
  /// The HTTP method, unless it is POST.
  var otherMethod: String?
  var isPost = false
  /// Whether the request ends with its head.
  package internal(set) var hasNoBody = false

  /// Such as `GET`, as it was sent.
  package var httpMethod: String { isPost ? "POST" : otherMethod ?? "" }

  /// The path and the query, as they were sent: nothing is decoded. It begins with a slash, or is `*`.
  package var target: [UInt8] { method?.descriptor.pathBytes ?? otherTarget }

  /// The target up to the query.
  package var path: ArraySlice<UInt8> { target.prefix { $0 != UInt8(ascii: "?") } }

  /// The query: everything after the first question mark; `nil` without one.
  package var query: ArraySlice<UInt8>? {
    target.firstIndex(of: UInt8(ascii: "?")).map { target[($0 + 1)...] }
  }

  /// Whether the content type is exactly this one.
  package func hasContentType(_ type: StaticString) -> Bool {
    contentType.withUnsafeBufferPointer { $0.equals(type) }
  }

  /// The content type in lower case, without parameters.
  package var mediaType: String {
    let type = contentType.prefix { $0 != UInt8(ascii: ";") }
    return String(decoding: HTTP1Syntax.trimmed(type).map(\.lowercased), as: UTF8.self)
  }

  /// Whether a client of Connect may have sent the request: it has no content type, or one of an application that is not
  /// gRPC's.
  var mayBeConnect: Bool {
    let type = mediaType
    return type.isEmpty || type.begins(with: "application/") && !type.begins(with: "application/grpc")
  }
}

/// The methods of a server's services, and its pages.
package struct RPCMethods: Sendable {
  let router: Router
  let pages: HTTPPages

  /// All methods, in no particular order.
  package var all: [RPCMethod] { router.methods }

  /// Finds a method by its path, such as `/echo.Echo/Get`.
  package func method(_ path: some Collection<UInt8>) -> RPCMethod? {
    Array(path).withUnsafeBufferPointer { router.method(for: $0) }
  }

  /// Whether a page has this path, with any HTTP method.
  package func hasPage(at path: some Collection<UInt8>) -> Bool {
    !pages.at(path).isEmpty
  }

  /// Whether a page answers requests with this HTTP method and path.
  package func hasPage(_ httpMethod: String, at path: some Collection<UInt8>) -> Bool {
    pages.at(path).contains { $0.answers(httpMethod) }
  }
}
