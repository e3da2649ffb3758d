@_exported public import SwitchboardCall
@_exported public import SwitchboardHTTP2
@_exported public import SwitchboardMarshalling
