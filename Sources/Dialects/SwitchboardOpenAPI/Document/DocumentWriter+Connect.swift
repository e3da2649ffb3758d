/// Operations of methods whose messages are not protobuf: what they have, only the server knows.
extension DocumentWriter {
  mutating func connectOperation(_ method: DescribedAPI.Method, _ format: String) -> JSONTree {
    let type = "application/\(format)"
    let isJSON = format == "json"
    let schema: JSONTree =
      isJSON
      ? ["description": "Any value; the server knows which it takes."]
      : ["type": "string", "format": "binary"]
    let content: JSONTree = .object([.init(name: type, value: ["schema": schema])])
    return commonParts(method, 0).adding([
      "requestBody": ["required": true, "content": content],
      "responses": [
        "200": ["description": "Success.", "content": content], "default": Self.connectError,
      ],
    ])
  }

  /// An error by Connect, whose codes have names.
  private static var connectError: JSONTree {
    [
      "description": "An error of Connect.",
      "content": [
        "application/json": [
          "schema": [
            "type": "object",
            "properties": [
              "code": ["type": "string"], "message": ["type": "string"],
              "details": ["type": "array", "items": ["type": "object", "additionalProperties": true]],
            ],
          ]
        ]
      ],
    ]
  }
}
