@_exported import SwitchboardBalancing
@_exported import SwitchboardCall
@_exported import SwitchboardCallObjects
@_exported import SwitchboardMarshalling
@_exported import SwitchboardNetwork
@_exported import SwitchboardTransport
