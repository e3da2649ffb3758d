import ConnectConformanceService
import Switchboard
import SwitchboardProtobuf

/// The server under test.
enum TesteeServer {
  static func start(
    _ request: Connectrpc_Conformance_V1_ServerCompatRequest
  ) throws -> (Server, Connectrpc_Conformance_V1_ServerCompatResponse) {
    var options = ServerOptions()
    options.web = WebOptions(origins: .any)
    options.payloadFormats = [ProtobufFormat(), .conformance]
    if request.messageReceiveLimit > 0 { options.maxRequestSize = Int(request.messageReceiveLimit) }
    if request.useTls {
      options.tls = ServerTLS(
        credentials: TLSCredentials(request.serverCreds),
        clientCertificates: request.clientTlsCert.isEmpty ? .none : .required,
        trustRoots: request.clientTlsCert.isEmpty ? nil : .bytes(request.clientTlsCert)
      )
    }
    let server = try Server(providers: [ConformanceProvider()], options: options)
    let address = try server.bind(host: "127.0.0.1", port: 0)
    return (
      server,
      .with {
        $0.host = "127.0.0.1"
        $0.port = UInt32(address.port)
        if request.useTls { $0.pemCert = request.serverCreds.cert }
      }
    )
  }
}

extension TLSCredentials {
  init(_ credentials: Connectrpc_Conformance_V1_TLSCreds) {
    self.init(certificateChain: .bytes(credentials.cert), privateKey: .bytes(credentials.key))
  }
}

extension PayloadFormat where Self == JSONFormat {
  /// JSON in which an `Any` may hold what the suite puts there.
  static var conformance: JSONFormat {
    let types: TypeRegistry = [
      Connectrpc_Conformance_V1_UnaryRequest.self, Connectrpc_Conformance_V1_IdempotentUnaryRequest.self,
      Connectrpc_Conformance_V1_ServerStreamRequest.self, Connectrpc_Conformance_V1_ClientStreamRequest.self,
      Connectrpc_Conformance_V1_BidiStreamRequest.self, Connectrpc_Conformance_V1_UnimplementedRequest.self,
      Connectrpc_Conformance_V1_UnaryResponse.self, Connectrpc_Conformance_V1_IdempotentUnaryResponse.self,
      Connectrpc_Conformance_V1_ServerStreamResponse.self,
      Connectrpc_Conformance_V1_ClientStreamResponse.self,
      Connectrpc_Conformance_V1_BidiStreamResponse.self, Connectrpc_Conformance_V1_ConformancePayload.self,
      Connectrpc_Conformance_V1_Header.self, Connectrpc_Conformance_V1_ConformancePayload.RequestInfo.self,
    ]
    var encoding = JSONEncodingOptions()
    encoding.typeRegistry = types
    var decoding = JSONDecodingOptions()
    decoding.typeRegistry = types
    return JSONFormat(encoding: encoding, decoding: decoding)
  }
}
