import Foundation
import Switchboard

/// The identity of a caller, from the JSON file of a service account.
struct ServiceAccount: Sendable {
  let email: String
  let keyID: String
  let key: SigningKey

  private struct File: Decodable {
    let clientEmail: String
    let privateKeyId: String
    let privateKey: String
  }

  init(path: String) throws {
    let file: File
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    do {
      file = try decoder.decode(File.self, from: Data(contentsOf: URL(filePath: path)))
    } catch {
      throw Arguments.UsageError(description: "\(path) is not a service account file: \(error)")
    }
    email = file.clientEmail
    keyID = file.privateKeyId
    key = try SigningKey(.bytes(Array(file.privateKey.utf8)))
  }
}
