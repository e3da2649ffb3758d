import Switchboard
import SwitchboardOpenAPI
import SwitchboardProtobuf

/// How a server answers REST.
public struct RESTOptions: Sendable {
  /// Rules in addition to the annotations; those of a method replace its annotation.
  public var rules: [HTTPRule] = []
  /// Whether to skip what requests say of fields that messages do not have, in JSON and in queries, instead of refusing
  /// the request.
  public var ignoresUnknownFields = false
  /// How deep the JSON of a request may be nested.
  public var depthLimit = 100
  /// The largest message, in JSON, of a stream of requests. Others are limited by the server's `maxRequestSize`.
  public var valueLimit = 4 * 1024 * 1024
  /// How responses are written in JSON. The types of the services are added to the registry.
  public var json = JSONEncodingOptions()
  /// A document that describes the API, such as OpenAPI's in JSON, and the path at which it is read by GET.
  public var document: (path: String, json: [UInt8])?

  /// The defaults: unknown fields are refused, JSON is in its shortest form.
  public init() {}
}
