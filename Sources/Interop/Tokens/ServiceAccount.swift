import Foundation
import Switchboard

/// Who calls, by the JSON file that services are given to prove who they are.
struct ServiceAccount: Sendable {
  let email: String
  let keyID: String
  let key: SigningKey

  private struct File: Decodable {
    let client_email: String
    let private_key_id: String
    let private_key: String
  }

  init(path: String) throws {
    let file: File
    do {
      file = try JSONDecoder().decode(File.self, from: Data(contentsOf: URL(filePath: path)))
    } catch {
      throw Arguments.UsageError(description: "\(path) is no service account's file: \(error)")
    }
    email = file.client_email
    keyID = file.private_key_id
    key = try SigningKey(.bytes(Array(file.private_key.utf8)))
  }
}
