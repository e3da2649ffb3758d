import SwitchboardCall

/// How others can call a server, for those that describe it.
extension Server {
  package var usesTLS: Bool { core.tlsContexts != nil }

  /// Whether it speaks Connect and gRPC-Web: `ServerOptions.web`.
  package var speaksConnect: Bool { core.options.web != nil }

  /// Whether a method, named by `package.Service/Method`, takes its messages in JSON.
  package func takesJSON(_ name: String) -> Bool {
    let path = Array("/\(name)".utf8)
    return core.methods.method(path)?.inFormat(.json) != nil
  }
}
