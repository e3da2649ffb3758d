import CallTestSupport
import Foundation
import Switchboard
import SwitchboardCall
import SwitchboardProtobuf
import TestSupport
import Testing

@testable import SwitchboardXDS

/// Tokens for control planes.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TokenFileTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID())")

  /// Writes a token with these claims, as one who renews it does, and returns its path.
  private func write(_ claims: String, to name: String = "token") throws -> String {
    let part = Data(claims.utf8).base64EncodedString()
      .replacing("=", with: "").replacing("/", with: "_").replacing("+", with: "-")
    return try write(text: "e30.\(part).c2lnbmF0dXJl\n", to: name)
  }

  private func write(text: String, to name: String = "token") throws -> String {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: name)
    try Data(text.utf8).write(to: file, options: .atomic)
    return file.path
  }

  private func file(_ path: String, at seconds: Int64 = 1_000_000) -> TokenFile {
    TokenFile(path: path) { .with { $0.seconds = seconds } }
  }

  @Test func aTokenIsUsedUntilShortlyBeforeItExpires() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = try write(#"{"sub": "ÿÿÿ~~~", "exp": 1000100}"#)
    let token = try await file(path, at: 1_000_069).token()
    #expect(token?.split(separator: ".").count == 3 && token?.hasSuffix("\n") == false)
    let failure = await #expect(throws: GRPCStatus.self) { try await file(path, at: 1_000_070).token() }
    #expect(failure?.code == .unauthenticated && failure?.message?.contains("has expired") == true)
  }

  @Test(arguments: ["", "a.b", "e30.e30.x", "e30.!.x", "e30.eyJleHAiOiAiMSJ9.x"])
  func whatIsNoTokenIsNotSent(_ text: String) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = try write(text: text)
    let failure = await #expect(throws: GRPCStatus.self) { try await file(path).token() }
    #expect(failure?.code == .unauthenticated)
  }

  @Test func aFileThatIsNotThereMayCome() async throws {
    let failure = await #expect(throws: GRPCStatus.self) { try await file("/nowhere/token").token() }
    #expect(failure?.code == .unavailable)
    #expect(failure?.message?.hasPrefix("the token in /nowhere/token cannot be used:") == true)
  }

  /// Each stream has the token that the file has then.
  @Test func aControlPlaneGetsTheToken() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let plane = try PlanePeer()
    var bootstrap = plane.bootstrap
    bootstrap.servers[0].security = .automatic
    bootstrap.servers[0].tokenFile = try write(#"{"exp": 99999999999}"#)
    var environment = XDSEnvironment()
    environment.options.logger = .quiet
    let client = XDSClient(bootstrap, environment)
    let watch = try client.watch(ResourceKey(.listener, "l")) { _ in }
    let first = try plane.next("asked", "listeners").token
    #expect(first.hasPrefix("Bearer e30."))
    _ = try write(#"{"exp": 88888888888}"#)
    try plane.command(["cut": true])
    let second = try plane.next("asked", "listeners").token
    #expect(second.hasPrefix("Bearer e30.") && second != first)
    withExtendedLifetime(watch) {}
  }

  @Test func aTokenIsNotSentInPlaintext() throws {
    let bootstrap = try XDSBootstrap(
      json: """
        {"xds_servers": [{"server_uri": "plane.example:80", "channel_creds": [{"type": "insecure"}],
          "call_creds": [{"type": "jwt_token_file", "config": {"jwt_token_file": "/token"}}]}]}
        """
    )
    var options = ChannelOptions()
    options.resolvers = [XDSResolver(bootstrap: bootstrap, logger: .quiet)]
    let failure = #expect(throws: GRPCStatus.self) { try Channel(target: "xds:///a", options: options) }
    #expect(failure?.code == .invalidArgument)
    #expect(
      failure?.message
        == "xDS bootstrap: xds_servers[0].call_creds: a token is not sent in plaintext: channel_creds have to be tls"
    )
  }
}
