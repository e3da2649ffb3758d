/// What is to be generated from one `.proto` file.
public struct GeneratorOutput: Sendable {
  /// The paths of the generated files, below the output directory.
  public let names: [String]

  private let source: FileSource
  private let messagesName: String?
  private let servicesName: String?

  init(_ source: FileSource) {
    self.source = source
    let (file, options) = (source.file, source.options)
    let naming = options.fileNaming ?? .fullPath
    messagesName = options.generatesMessages ? naming.fileName(for: file.name, extension: ".pb.swift") : nil
    servicesName =
      options.generatesServices && !file.services.isEmpty
      ? naming.fileName(for: file.name, extension: ".grpc.swift") : nil
    names = [messagesName, servicesName].compactMap(\.self)
  }

  /// Generates the files, which have ``names``.
  public func files() throws(GeneratorError) -> [GeneratedFile] {
    let context = FileContext(source)
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
