/// What is to be generated from one `.proto` file.
public struct GeneratorOutput: Sendable {
  /// The paths of the generated files, below the output directory.
  public let names: [String]

  private let schema: Schema
  private let options: GeneratorOptions
  private let payloads: PayloadMappings
  private let index: Int
  private let qualifiesScalars: Bool

  private let messagesName: String?
  private let servicesName: String?

  init(
    schema: Schema,
    options: GeneratorOptions,
    payloads: PayloadMappings,
    index: Int,
    qualifiesScalars: Bool
  ) {
    self.schema = schema
    self.options = options
    self.payloads = payloads
    self.index = index
    self.qualifiesScalars = qualifiesScalars
    let file = schema.files[index].name
    let naming = options.fileNaming
    messagesName = options.generatesMessages ? naming.fileName(for: file, extension: ".pb.swift") : nil
    servicesName =
      options.generatesServices && !schema.files[index].services.isEmpty
      ? naming.fileName(for: file, extension: ".grpc.swift") : nil
    names = [messagesName, servicesName].compactMap(\.self)
  }

  /// Generates the files, which have ``names``.
  public func files() throws(GeneratorError) -> [GeneratedFile] {
    let context = FileContext(
      schema: schema,
      options: options,
      payloads: payloads,
      index: index,
      qualifiesScalars: qualifiesScalars
    )
    var files: [GeneratedFile] = []
    if let messagesName {
      files.append(GeneratedFile(name: messagesName, content: FileEmitter(context: context).emit()))
    }
    if let servicesName {
      files.append(
        GeneratedFile(name: servicesName, content: try ServiceFileEmitter(context: context).emit())
      )
    }
    return files
  }
}
