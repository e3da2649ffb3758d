import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// What is kept of a request's head for requests with an equal one.
@Suite struct KnownHeadTests {
  private static let traceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
  private let method = TestService().methodHandlers.first.map { RPCMethod($0) }

  /// Calls `body` with the head of a call with more fields, or with others.
  private func withHead<Result>(
    _ fields: [(String, String)],
    isWhole: Bool = false,
    isTraced: Bool = false,
    limit: Int = 1000,
    _ body: (borrowing RequestHead) -> Result
  ) -> Result {
    let collector = FieldCollector()
    var head = RequestHead(listSizeLimit: limit, keepsTraceParent: true)
    collector.begin()
    if isTraced, let identity = Array(Self.traceParent.utf8).withUnsafeBytes({ SpanIdentity(text: $0) }) {
      head.addLateTraceParent(identity)
    }
    for (name, value) in isWhole ? fields : FramePeer.call("Get") + fields {
      Array(name.utf8).withUnsafeBufferPointer { name in
        Array(value.utf8).withUnsafeBufferPointer { value in
          if name.equals(":path") {
            head.addPath(value, of: method)
          } else {
            head.add(name, value, collector)
          }
        }
      }
    }
    head.fieldsDidEnd(collector)
    if !head.terms.format.isUnnamed { head.settleFormat() }
    return body(head)
  }

  private func isKept(_ fields: [(String, String)], isWhole: Bool = false, isTraced: Bool = false) -> Bool {
    withHead(fields, isWhole: isWhole, isTraced: isTraced) { KnownHead($0, nil) != nil }
  }

  @Test func validCallsAreKept() {
    #expect(isKept([]))
    #expect(isKept([("a", "b"), ("grpc-timeout", "1S"), ("grpc-encoding", "gzip"), ("content-length", "5")]))
    #expect(isKept([("a", "b")], isTraced: true))
  }

  @Test func otherRequestsAreNotKept() {
    for (name, value) in [
      (":method", "GET"), ("te", "gzip"), ("content-type", "application/json"),
    ] {
      let fields = FramePeer.call("Get").map { $0.0 == name ? (name, value) : $0 }
      #expect(!isKept(fields, isWhole: true), "\(name): \(value)")
    }
    for field in [
      ("grpc-timeout", "soon"), ("grpc-encoding", "foo"), ("origin", "http://a"), ("traceparent", "none"),
      ("traceparent", Self.traceParent), ("large", String(repeating: "v", count: 1024)),
    ] {
      #expect(!isKept([field]), "\(field)")
    }
    #expect(!isKept([("traceparent", Self.traceParent)], isTraced: true))
  }

  /// The first of several is not the last one, whether the session has taken that out of the block or not.
  @Test(arguments: [false, true]) func severalTraceParentsKeepTheirOrder(_ isTraced: Bool) {
    let other = "00-1bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    let fields = [("traceparent", other)] + (isTraced ? [] : [("traceparent", Self.traceParent)])
    let seen = withHead(fields, isTraced: isTraced) { $0.metadata["traceparent"] }
    #expect(seen == [other, Self.traceParent])
  }

  /// A later one may have a `traceparent`, which counts.
  @Test func headsNearTheLimitAreNotKept() {
    // The path is that of a method, and not counted.
    let size = FramePeer.call("Get").reduce(0) {
      $1.0 == ":path" ? $0 : $0 + $1.0.utf8.count + $1.1.utf8.count + 32
    }
    for (limit, isKept) in [
      (size + SpanIdentity.listSize, true), (size + SpanIdentity.listSize - 1, false),
    ] {
      let known = withHead([], limit: limit) { KnownHead($0, nil) }
      #expect((known != nil) == isKept)
    }
  }

  @Test func anEqualHeadSaysTheSame() throws {
    let fields = [
      ("a", "b"), ("grpc-timeout", "1S"), ("grpc-encoding", "gzip"), ("grpc-accept-encoding", "zstd"),
    ]
    let known = try #require(withHead(fields) { KnownHead($0, nil) })
    var head = RequestHead(listSizeLimit: 1000, keepsTraceParent: true)
    head.repeatKnown(known)
    let (isValid, isKnown) = (head.rejection == nil && head.terms.isGRPC, head.likeness.isKnown)
    #expect(isValid && isKnown)
    let (found, metadata, number) = (head.method, head.metadata, head.likeness.repeatedFields)
    #expect(found === method && metadata == ["a": "b"] && number == known.fieldsNumber)
    let (timeout, encoding) = (head.terms.timeout, head.terms.encoding)
    #expect(timeout?.nanoseconds == 1_000_000_000 && encoding == .gzip)
    let accepted = [head.terms.negotiated(.zstd), head.terms.negotiated(.gzip)]
    #expect(accepted == [.zstd, .none])
    #expect(known.value(of: "a") == "b" && known.value(of: "content-length") == nil)
  }
}
