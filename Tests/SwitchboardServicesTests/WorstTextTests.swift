import EchoService
import Switchboard
import SwitchboardProtobuf
import TestSupport
import Testing

@testable import SwitchboardServices

/// The worst text of Unicode in requests to the services of every server takes a time in proportion to its length.
@Suite struct WorstTextTests {
  private typealias Request = Grpc_Reflection_V1_ServerReflectionRequest

  private static let index = Result {
    var index = DescriptorIndex()
    try index.add(
      service: Grpc_Reflection_V1_ServerReflectionMetadata.service.name,
      Grpc_Reflection_V1_ServerReflectionMetadata.reflectionData
    )
    return index
  }

  private static func answer(_ populate: (inout Request) -> Void) throws {
    var answers = ReflectionAnswers(index: try index.get())
    _ = answers.answer(.with(populate))
  }

  private static let places: [(name: String, work: @Sendable (String) throws -> Void)] = [
    ("a file", { text in try answer { $0.fileByFilename = "grpc\(text)" } }),
    ("a symbol", { text in try answer { $0.fileContainingSymbol = ".grpc\(text)" } }),
    ("a message", { text in try answer { $0.allExtensionNumbersOfType = text } }),
    (
      "an extension",
      { text in
        try answer {
          $0.fileContainingExtension.containingType = text
          $0.fileContainingExtension.extensionNumber = 1
        }
      }
    ),
    ("a service", { #expect(HealthService().status(of: $0) == nil) }),
  ]

  @Test(arguments: places.indices, WorstText.allCases)
  func textTakesLinearTime(place: Int, text: WorstText) {
    let (name, work) = Self.places[place]
    Growth.check("\(name): \(text)", text.text) { try? work($0) }
  }
}
