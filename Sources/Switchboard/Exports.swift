@_exported import SwitchboardBalancing
@_exported import SwitchboardCall
@_exported import SwitchboardCallObjects
@_exported import SwitchboardHTTP2
@_exported import SwitchboardMarshalling
