@_exported public import SwitchboardBalancing
@_exported public import SwitchboardCall
@_exported public import SwitchboardCallObjects
@_exported public import SwitchboardHTTP2
@_exported public import SwitchboardMarshalling
