/// A process that runs a script in a test module's `Peers`, with the Python that `make test` installs.
public final class PythonPeer {
  private let process: ChildProcess

  /// A script of the calling module.
  public init(_ script: String, _ arguments: [String], file: String = #fileID) throws {
    let peers = TestFolders.peers(of: file)
    process = try ChildProcess(TestFolders.python, [peers.appending(path: script).path] + arguments)
  }

  /// The next line it prints; `nil` at the end.
  public func line() -> String? { process.line() }

  public func stop() { process.stop() }
}
