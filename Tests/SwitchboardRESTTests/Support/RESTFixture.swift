import RESTService
import Switchboard
import SwitchboardDescriptors
import SwitchboardOpenAPI
import SwitchboardProtobuf

@testable import SwitchboardREST

/// The descriptors of the tests' service.
enum RESTFixture {
  static var files: [[UInt8]] {
    Testing_Rest_RestMetadata.reflectionData.map { Base64.decode(Array($0.utf8)[...]) ?? [] }
  }

  static func table(_ rules: [HTTPRule] = []) throws -> RESTTable {
    try RESTTable(try DescribedAPI(files: files, services: ["testing.rest.Rest"], rules: rules))
  }

  /// The request that a route makes of an HTTP request.
  static func request(
    _ method: String,
    _ target: String,
    body: String = "",
    options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws -> Testing_Rest_Everything {
    let parts = Array(target.utf8)
      .split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    guard case .route(let route, let path) = try table().match(Array(method.utf8), Array(parts[0]))
    else {
      throw NoRoute()
    }
    let query = parts.count > 1 ? Array(parts[1]) : []
    let assembly = RequestAssembly(route: route, path: path, query: query, options: options)
    let bytes = try assembly.message(body: Array(body.utf8), contentType: "application/json")
    return try Testing_Rest_Everything(serializedBytes: bytes)
  }

  struct NoRoute: Error {}
}
