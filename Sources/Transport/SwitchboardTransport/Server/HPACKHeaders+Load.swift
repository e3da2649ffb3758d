import SwitchboardBalancing
import SwitchboardCall

extension HPACKHeaders {
  /// The metadata to send with a status: the handler's, and the load that it and the recorder of the server's options
  /// report.
  @inline(__always)
  static func trailers(_ own: HPACKHeaders?, _ load: (any CallLoad)?, _ recorder: LoadRecorder?)
    -> HPACKHeaders?
  {
    load == nil && recorder == nil ? own : withLoad(own, load, recorder)
  }

  @inline(never)
  private static func withLoad(_ own: HPACKHeaders?, _ load: (any CallLoad)?, _ recorder: LoadRecorder?)
    -> HPACKHeaders?
  {
    var report = LoadReport(load)
    if let recorder { report = report.completed(by: recorder.report) }
    let bytes = report.serializedBytes
    guard !bytes.isEmpty else { return own }
    var all = own?.withoutLoad ?? HPACKHeaders()
    all.add(name: loadName, binary: bytes)
    return all
  }

  /// The same without a report of load.
  var withoutLoad: HPACKHeaders {
    var others = self
    others.remove(name: Self.loadName)
    return others
  }

  private static let loadName = LoadReportMessages.trailer.description
}
