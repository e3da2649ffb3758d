/// A process that runs one of the scripts in a test module's `Peers`, with the Python that `make test` prepares.
public final class PythonPeer {
  private let process: ChildProcess

  /// A script of the module that makes it.
  public init(_ script: String, _ arguments: [String], file: String = #fileID) throws {
    let peers = TestFolders.peers(of: file)
    process = try ChildProcess(TestFolders.python, [peers.appending(path: script).path] + arguments)
  }

  /// The next line it prints; `nil` at the end.
  public func line() -> String? { process.line() }

  public func stop() { process.stop() }
}
