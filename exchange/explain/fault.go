package explain

import (
	"pingpost/engine/exclusion"
	"pingpost/engine/market"
)

// FaultName is the name of a market.OutboundRequestFault, such as a timeout: the reason why a ping, post or
// webhook got no usable answer. It is "" without a fault.
type FaultName string

func nameOfFault(fault market.OutboundRequestFault) FaultName {
	if fault == market.FaultNone {
		return ""
	}
	return FaultName(fault.String())
}

// faultByName has the faults by their names.
var faultByName = func() map[FaultName]market.OutboundRequestFault {
	all := make(map[FaultName]market.OutboundRequestFault)
	for fault := market.FaultEndpoint; fault <= market.FaultMalformed; fault++ {
		all[nameOfFault(fault)] = fault
	}
	return all
}()

// Description returns the fault in words for an operator. It returns the fault's name if this
// version of the program has no words for it.
func (f FaultName) Description() string {
	if fault, ok := faultByName[f]; ok {
		return exclusion.DescribeFault(fault)
	}
	return string(f)
}
