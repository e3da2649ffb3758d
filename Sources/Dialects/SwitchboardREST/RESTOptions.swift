import Switchboard
import SwitchboardOpenAPI
import SwitchboardProtobuf

/// The options of a server for REST.
public struct RESTOptions: Sendable {
  /// Rules in addition to the annotations. The rules for a method replace its annotation.
  public var rules: [HTTPRule] = []
  /// Whether to ignore unknown fields in the JSON and the query of a request instead of rejecting the request.
  public var ignoresUnknownFields = false
  /// How deeply the JSON of a request may be nested.
  public var depthLimit = 100
  /// The size limit of each JSON message in a stream of requests. Like other requests, they are limited by the server's
  /// `maxRequestSize` too.
  public var valueLimit = 4 * 1024 * 1024
  /// The options for the JSON of responses. The types of the services, and those of
  /// `google/rpc/error_details.proto`, are added to the type registry. Details of errors that have other types are left
  /// out.
  public var json = JSONEncodingOptions()
  /// A document that describes the API, such as an OpenAPI document in JSON, and the path at which `GET` returns it.
  public var document: (path: String, json: [UInt8])?

  /// The defaults: unknown fields are rejected, and JSON is as short as possible.
  public init() {}
}

extension RESTOptions: RuledOptions {
  package static let rules: [OptionRule<RESTOptions>] = [
    OptionRule(\.depthLimit, "depthLimit", .atLeast(1), because: "a message is an object"),
    OptionRule(\.valueLimit, "valueLimit", .atLeast(2), because: "an empty message takes two bytes"),
  ]
}
