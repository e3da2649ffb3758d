/// How pages in browsers may call a server, by gRPC-Web.
///
/// A server that is given these answers gRPC-Web calls beside those of gRPC, over HTTP/2 and over HTTP/1.1 on the same
/// port, and the questions that browsers ask before a page calls another origin (CORS).
public struct WebOptions: Sendable {
  /// Whose pages may call.
  public enum Origins: Sendable {
    /// Everybody's.
    case any
    /// Those of these origins, each as browsers write it: `https://app.example`, `http://localhost:8080`.
    case only(Set<String>)
  }

  /// Whose pages may call. Calls of other pages are refused; clients that are no browsers name no origin, and may call.
  public var origins: Origins
  /// The names of the metadata that pages may send. `nil`: whatever they ask for.
  public var allowedHeaders: [String]?
  /// The names of response headers that pages may read, beside those of gRPC's own.
  public var exposedHeaders: [String] = []
  /// How long a browser may remember the answer to what it has asked before a call.
  public var maxAge = Duration.seconds(7200)
  /// Whether pages may send cookies and certificates of the browser's. Ignored where `origins` is `any`.
  public var allowsCredentials = false
  /// How long a connection of HTTP/1.1 is kept open for a next call.
  public var idleTimeout = Duration.seconds(75)

  /// Lets the pages of some origins call.
  public init(origins: Origins) {
    self.origins = origins
  }
}
