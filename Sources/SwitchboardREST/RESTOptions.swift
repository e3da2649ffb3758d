import Switchboard
import SwitchboardOpenAPI
import SwitchboardProtobuf

/// How a server answers REST.
public struct RESTOptions: Sendable {
  /// Rules in addition to the annotations; those of a method replace its annotation.
  public var rules: [HTTPRule] = []
  /// Whether to ignore fields of a request that the message does not have, in JSON and in queries, instead of rejecting
  /// the request.
  public var ignoresUnknownFields = false
  /// How deeply the JSON of a request may be nested.
  public var depthLimit = 100
  /// The largest message, in JSON, of a stream of requests. Others are limited by the server's `maxRequestSize`.
  public var valueLimit = 4 * 1024 * 1024
  /// The options for the JSON of responses. The types of the services are added to its registry.
  public var json = JSONEncodingOptions()
  /// A document that describes the API, such as OpenAPI's in JSON, and the path at which it is read by GET.
  public var document: (path: String, json: [UInt8])?

  /// The defaults: unknown fields are rejected, and JSON is as short as possible.
  public init() {}
}
